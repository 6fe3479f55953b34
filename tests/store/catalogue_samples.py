"""Small catalogues and their parts, for the tests of the catalogue."""

from pathlib import Path

from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.catalogue.schema import SCHEMA_VERSION
from asterism.types.index import (
    Batch,
    FileState,
    FileUpdate,
    Link,
    Manifest,
    ModelIdentity,
    Repository,
    Role,
    SymbolRow,
)

MANIFEST = Manifest(SCHEMA_VERSION, ModelIdentity("local", "tiny", 8), 3, "0.1.0", 1700000000.5)
REPO = Repository("r-1", "shop", "/home/ann/shop")
OTHER = Repository("r-2", "tools", "/home/ann/tools")


def new_catalogue(directory: Path | None) -> Catalogue:
    """A catalogue with one empty repository, in a directory or in memory."""
    if directory is None:
        catalogue = Catalogue.in_memory(MANIFEST)
    else:
        catalogue = Catalogue.create(directory, MANIFEST)
    catalogue.add_repository(REPO, "options-1")
    return catalogue


def state(path: str, version: int = 1, language: str = "python", problems: int = 0) -> FileState:
    return FileState(path, 100, 5_000, bytes(32), version, 6_000, language, 0, problems)


def chunk_id(number: int) -> str:
    return f"{number:032x}"


def definition(path: str, qualified: str, line: int = 1, **other: str) -> SymbolRow:
    return SymbolRow(
        qualified.rpartition(".")[2],
        qualified,
        other.get("kind", "function"),
        Role.DEFINITION,
        path,
        line,
        True,
        other.get("chunk"),
        0,
        other.get("signature", f"def {qualified}()"),
    )


def usage(
    path: str, name: str, line: int, receiver: str = "", ordinal: int = 0, chunk: str | None = None
) -> SymbolRow:
    qualified = f"{receiver}.{name}" if receiver else name
    return SymbolRow(name, qualified, "usage", Role.USAGE, path, line, False, chunk, ordinal)


def imported(path: str, module: str, name: str, line: int = 1, alias: str = "") -> SymbolRow:
    return SymbolRow(
        alias or name,
        f"{module}.{name}",
        "import",
        Role.IMPORT,
        path,
        line,
        False,
        None,
        0,
        None,
        module,
    )


def exported(path: str, name: str, local: str, module: str | None = None) -> SymbolRow:
    kind = "export" if module is None else "re-export"
    return SymbolRow(name, local, kind, Role.EXPORT, path, 9, True, None, 0, None, module)


def update(path: str, *symbols: SymbolRow, chunks: int = 2, version: int = 1) -> FileUpdate:
    keys = [(chunk_id(n), bytes([n] * 16)) for n in range(chunks)]
    return FileUpdate(state(path, version)._replace(chunks=chunks), keys, symbols, ())


def linked(path: str, *links: Link) -> FileUpdate:
    return FileUpdate(state(path), (), (), links)


def commit(catalogue: Catalogue, *updates: FileUpdate, version: int = 1) -> None:
    catalogue.commit(Batch(REPO.name, version, updates))
