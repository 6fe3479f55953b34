"""A repository in memory, as the resolver may ask about it."""

from collections.abc import Mapping, Sequence

from asterism.analysis.resolve.candidates import NamedDefinition
from asterism.analysis.resolve.offers import module_file
from asterism.analysis.resolve.scopes import FileScope
from asterism.analysis.syntax.outlines import outline
from asterism.languages.facets import FileSet


class InMemoryWorld:
    """Files by path, outlined at once."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = FileSet(files)
        self._scopes = {
            path: FileScope(outline(path, text.encode()), text.encode())
            for path, text in files.items()
        }

    def scope(self, path: str) -> FileScope | None:
        """A file, if there is one."""
        return self._scopes.get(path)

    def module(self, importer: str, language: str, module: str) -> str | None:
        """The file that a module means."""
        return module_file(importer, language, module, self._files)

    def defined(self, name: str) -> Sequence[NamedDefinition]:
        """Where a name is defined."""
        return [
            NamedDefinition(path, item.qualified_name, item.start_line, scope.language)
            for path, scope in self._scopes.items()
            for _, item in scope.outline.symbols()
            if item.name == name
        ]
