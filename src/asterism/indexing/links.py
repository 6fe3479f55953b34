"""What the imported names of a file mean: signatures of other files, known or just read."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from asterism.analysis.chunks.embedding_text import cut
from asterism.analysis.chunks.options import ChunkOptions
from asterism.analysis.resolve.modules import resolve_module
from asterism.analysis.resolve.offers import Want, follow
from asterism.indexing.read import Read
from asterism.languages.file_set import FileSet
from asterism.store.catalogue.catalogue import Catalogue
from asterism.types.index import FileState, Link, Signatures


class Neighbours:
    """All files of a repository as they are after this sync: those just read, else the catalogue's.

    What one file says stays with that file; here files are joined, late.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        repo: str,
        known: Mapping[str, FileState],
        options: ChunkOptions,
    ) -> None:
        self._files = FileSet(())
        self._options = options
        self._catalogue = catalogue
        self._repo = repo
        self._known = known
        self._signatures: dict[str, Signatures | None] = {}
        self._languages: dict[str, str] = {}
        self._targets: dict[tuple[str, str], str | None] = {}

    def add(self, read: Read) -> None:
        """Take in a file that was just read."""
        self._signatures[read.path] = read.signatures
        self._languages[read.path] = read.language

    def settle(self, paths: Iterable[str]) -> None:
        """Say which files there are; imports mean these and no others."""
        self._files = FileSet(paths)
        self._targets.clear()

    def forget(self) -> None:
        """Let go of everything that was learnt."""
        self._signatures.clear()
        self._languages.clear()
        self._targets.clear()

    def resolve(self, importer: str, module: str) -> str | None:
        """The file a module means, seen from another."""
        key = (importer, module)
        if key not in self._targets:
            language = self._language(importer)
            self._targets[key] = resolve_module(importer, language, module, self._files)
        return self._targets[key]

    def links(self, read: Read) -> list[Link]:
        """One link for each module that the file imports or passes on."""
        return [
            Link(
                want.module,
                self.resolve(read.path, want.module),
                tuple(dict.fromkeys(name for _, name in want.names)),
                want.reexports,
            )
            for want in read.wants
        ]

    def imported(self, path: str, wants: Sequence[Want], mentioned: set[str]) -> dict[str, str]:
        """Signatures of the mentioned names, by the name the file calls them."""
        found: dict[str, str] = {}
        for want in wants:
            for local, name in want.names:
                if local not in mentioned or local in found:
                    continue
                target = self.resolve(path, want.module)
                if target is None:
                    continue
                signature = follow(target, name, self._signatures_of, self.resolve)
                if signature is not None:
                    found[local] = signature
        return found

    def _language(self, path: str) -> str:
        if path in self._languages:
            return self._languages[path]
        state = self._known.get(path)
        return state.language if state is not None else ""

    def stored(self, paths: Collection[str]) -> dict[str, Signatures]:
        """What files offered when they were last written."""
        limit = self._options.max_quote_chars
        return self._catalogue.signatures(self._repo, paths, lambda text: cut(text, limit))

    def _signatures_of(self, path: str) -> Signatures | None:
        if path not in self._signatures:
            self._signatures[path] = self.stored([path]).get(path)
        return self._signatures[path]
