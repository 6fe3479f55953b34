"""A language server that has read a repository: its documents and its files."""

from collections import OrderedDict
from collections.abc import Collection

from asterism.analysis.resolve.scopes import FileScope
from asterism.lsp.client import LanguageClient, to_uri
from asterism.structure.repository import Files

# Documents that are open at once; a server holds the whole tree of each in memory.
OPEN_DOCUMENTS = 6


class ServerSession:
    """What is open at a server, and the files that both sides speak of."""

    def __init__(self, client: LanguageClient, root: str, files: Files, limits: str = "") -> None:
        """`limits` is what the server cannot see here, as the end of a sentence."""
        self.client = client
        self.limits = limits
        self._root = root
        self._files = files
        self._paths: Collection[str] = ()
        self._scopes: dict[str, FileScope | None] = {}
        self._open: OrderedDict[str, FileScope] = OrderedDict()

    def begin(self, paths: Collection[str]) -> None:
        """A new moment: these are the files, each of which is looked at once."""
        self._paths = paths
        self._scopes.clear()

    def offers(self, capability: str) -> bool:
        """Whether the server said that it can do something."""
        return bool(self.client.capabilities.get(capability))

    def uri(self, path: str) -> str:
        """The address of a file."""
        return to_uri(f"{self._root}/{path}")

    def own(self, absolute: str) -> str | None:
        """The path of a file in the repository; None for others."""
        if not absolute.startswith(f"{self._root}/"):
            return None
        path = absolute[len(self._root) + 1 :]
        return path if path in self._paths else None

    def scope(self, path: str) -> FileScope | None:
        """A file as it is now."""
        if path not in self._scopes:
            self._scopes[path] = self._files.scope(path) if path in self._paths else None
        return self._scopes[path]

    def show(self, scope: FileScope) -> None:
        """Let the server go by this text of a file."""
        path, absolute = scope.path, f"{self._root}/{scope.path}"
        if self._open.get(path) is scope:
            self._open.move_to_end(path)
            return
        if path in self._open:
            self.client.close(absolute)
        self._open[path] = scope
        text = scope.source.decode("utf-8", "replace")
        self.client.open(absolute, scope.language, text)
        if len(self._open) > OPEN_DOCUMENTS:
            oldest, _ = self._open.popitem(last=False)
            self.client.close(f"{self._root}/{oldest}")
