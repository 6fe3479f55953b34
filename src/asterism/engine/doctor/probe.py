"""A process of its own that tries a part of the program, because a broken library may crash it."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

from asterism.types.errors import AsterismError


def main(part: str) -> int:
    """Try a part; say in a line how it went."""
    try:
        said, code = PARTS[part](), 0
    except AsterismError as error:
        said, code = str(error), 1
    except Exception as error:  # noqa: BLE001 - the outer edge: whatever is wrong is to be told
        said, code = f"{type(error).__name__}: {str(error)[:300]}", 1
    sys.stdout.write(" ".join(said.split()) + "\n")
    return code


def _parser() -> str:
    from asterism.analysis.syntax.outlines import outline

    # A library that cannot be imported would only look like a file without symbols, or like one
    # without ignore rules.
    for library in ("tree_sitter", "pathspec"):
        import_module(library)
    found = outline("ping.py", b"def ping():\n    return 1\n")
    if [item.name for item in found.items] != ["ping"]:
        raise ValueError("a function of two lines was not recognised")
    return "reads source code"


def _store() -> str:
    from asterism.store.lance.table import LanceTable

    with TemporaryDirectory() as place:
        LanceTable.create(Path(place), 8)
        version = LanceTable.open(Path(place)).version
    return f"writes and reads a table (version {version})"


def _model() -> str:
    from asterism.models.embed.options import EmbedOptions
    from asterism.models.embed.provider import make_embedder

    embedder = make_embedder(EmbedOptions())
    vector = embedder.embed_queries(["read a file"])[0]
    if not 0.9 < float((vector * vector).sum()) < 1.1:
        raise ValueError("its vectors have no length")
    return f"makes vectors of {len(vector)} numbers"


PARTS: Mapping[str, Callable[[], str]] = {"parser": _parser, "store": _store, "model": _model}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
