"""The paths of hits as the disk has them: rows hold a form in which everything shows."""

from collections.abc import Iterable, Mapping
from functools import cached_property

from asterism.store.catalogue.catalogue import Catalogue
from asterism.types.files import display_path
from asterism.types.search import Hit


class RowPaths:
    """Looks up paths in the catalogue, which has them verbatim; most rows need no look."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._paths: dict[str, Mapping[str, str]] = {}

    def verbatim(self, hits: Iterable[Hit]) -> list[Hit]:
        """The hits with the paths of their files; stray bytes are surrogate escapes."""
        return [self._verbatim(hit) if "\\" in hit.chunk.file_path else hit for hit in hits]

    def _verbatim(self, hit: Hit) -> Hit:
        chunk = hit.chunk
        path, root = chunk.relative_path, self._roots.get(chunk.repo)
        if root is None:
            return hit
        if "\\" in path:
            path = self._by_row(chunk.repo).get(path, path)
        named = chunk._replace(
            file_path=f"{root}/{path}", relative_path=path, filename=path.rpartition("/")[2]
        )
        return hit._replace(chunk=named)

    @cached_property
    def _roots(self) -> Mapping[str, str]:
        return {known.name: known.root for known in self._catalogue.repositories()}

    def _by_row(self, repo: str) -> Mapping[str, str]:
        if repo not in self._paths:
            shown = ((display_path(path), path) for path in self._catalogue.files(repo))
            self._paths[repo] = {row: path for row, path in shown if "\\" in row}
        return self._paths[repo]
