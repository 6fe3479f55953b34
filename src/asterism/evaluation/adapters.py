"""Another tool under evaluation, through a Python file that defines a class `Adapter`.

    class Adapter:
        name = "..."                                      # may be missing
        def __init__(self, **arguments: str): ...
        def index(self, repo_dir: str) -> handle: ...
        def search(self, handle, query: str, k: int) -> [(path, start_line, end_line), ...]
        def close(self, handle): ...                      # may be missing

Lines count from 1 and are inclusive, or None for the whole file. After `index`, `last_size` may
say how large the index became. A place may have a fourth element, what it costs to read in tokens
(None to count its lines), and a fifth, how sure the tool is of it, between 0 and 1.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, TypeVar

from asterism.evaluation.labels import Found
from asterism.types.errors import PathMissing, UsageError
from asterism.types.files import display_path

# The adapter's module is known by this name while it runs, as pickling its records demands.
_MODULE = "asterism_evaluation_adapter"

_Value = TypeVar("_Value")


class AdapterSearcher:
    """A searcher over an adapter of someone else."""

    def __init__(self, file: Path, arguments: Mapping[str, str]) -> None:
        self._file = display_path(str(file))
        if not file.is_file():
            raise PathMissing(f"{self._file} does not exist; give a Python file with an Adapter.")
        self._adapter = self._do("loading", lambda: _load(file)(**arguments))
        self._handle: Any = None
        self.name: str = getattr(self._adapter, "name", None) or file.stem

    def index(self, directory: Path) -> str:
        """Let the adapter index a directory."""
        self._handle = self._do("indexing", lambda: self._adapter.index(str(directory)))
        return getattr(self._adapter, "last_size", None) or ""

    def search(self, query: str, limit: int) -> list[Found]:
        """What the adapter finds."""
        return self._do(
            "searching",
            lambda: [_place(*place) for place in self._adapter.search(self._handle, query, limit)],
        )

    def within(self, query: str, limit: int, budget: int) -> Sequence[Found] | None:
        """An adapter knows no budget."""
        return None

    def close(self) -> None:
        """Let the adapter free what it holds."""
        if hasattr(self._adapter, "close"):
            self._do("closing", lambda: self._adapter.close(self._handle))
        self._handle = None

    def _do(self, stage: str, work: Callable[[], _Value]) -> _Value:
        try:
            return work()
        except Exception as error:
            # What another's code may raise cannot be listed; none of it is a failure of ours.
            raise UsageError(
                f"{self._file} failed while {stage}: {type(error).__name__}: {error}; "
                "the adapter has to be corrected, or its arguments."
            ) from error


def _place(
    path: object,
    start: int | None,
    end: int | None,
    tokens: int | None = None,
    score: float | None = None,
) -> Found:
    return Found(str(path), start, end, tokens, score=None if score is None else float(score))


def _load(file: Path) -> Callable[..., Any]:
    spec = spec_from_file_location(_MODULE, file)
    if spec is None or spec.loader is None:
        raise ImportError("not a Python file")
    module = module_from_spec(spec)
    sys.modules[_MODULE] = module
    spec.loader.exec_module(module)
    adapter: Callable[..., Any] = module.Adapter
    return adapter
