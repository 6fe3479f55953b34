"""The names and signatures that programs are written against, pinned."""

import ast
import dataclasses
import inspect
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

import asterism

ROOT = Path(__file__).resolve().parents[2]

SIGNATURES: dict[Callable[..., object], str] = {
    asterism.open: (
        "path: str | os.PathLike[str] | None=None, *, name: str | None=None, "
        "project: str | None=None, jobs: int=1, settings: Mapping[str, object] | None=None, "
        "listener: Callable[[Progress], None] | None=None -> Codebase"
    ),
    asterism.context_for: (
        "request: str, path: str | os.PathLike[str] | None=None, *, "
        "settings: Mapping[str, object] | None=None, **options: Unpack[RequestKeywords] "
        "-> GivenContext"
    ),
    asterism.Codebase.sync: "self, *, force: bool=False -> SyncReport",
    asterism.Codebase.upgrade: "self -> UpgradeReport",
    asterism.Codebase.search: (
        "self, query: str='', *, filters: Mapping[str, object] | None=None, "
        "**options: Unpack[SearchKeywords] -> Reply"
    ),
    asterism.Codebase.similar: (
        "self, file_path: str | os.PathLike[str], start_line: int | None=None, "
        "end_line: int | None=None, *, filters: Mapping[str, object] | None=None, "
        "**options: Unpack[SimilarKeywords] -> Reply"
    ),
    asterism.Codebase.context: (
        "self, query: str, *, filters: Mapping[str, object] | None=None, "
        "**options: Unpack[ContextKeywords] -> Context"
    ),
    asterism.Codebase.callers: "self, name: str, *, depth: int=1 -> Relations",
    asterism.Codebase.callees: "self, name: str, *, depth: int=1 -> Relations",
    asterism.Codebase.references: "self, name: str -> Relations",
    asterism.Codebase.symbols: (
        "self, name: str, *, kind: Texts=(), role: RoleName | Sequence[RoleName]=(), "
        "limit: int=50 -> Symbols"
    ),
    asterism.Codebase.ask: (
        "self, question: str, *, on_event: Callable[[TurnEvent], None] | None=None, "
        "**options: Unpack[AskKeywords] -> Answer"
    ),
    asterism.Codebase.status: "self -> IndexStatus",
    asterism.Codebase.close: "self -> None",
}

FIELDS = {
    asterism.Answer: (
        "text citations model provider agent conversation turn status notes input_tokens "
        "output_tokens"
    ),
    asterism.Hit: (
        "chunk_id repo file_path language content detail start_line end_line similarity_score "
        "distance kind qualified_name signature context_before context_after matching_lines gaps "
        "within below_threshold why absolute_path"
    ),
    asterism.Reply: (
        "hits total total_is_exact account filters cursor did_you_mean notes behind seconds"
    ),
    asterism.Context: ("parts found used_tokens budget account did_you_mean notes behind seconds"),
    asterism.Relations: "related total did_you_mean notes behind",
    asterism.Related: "connections tree unknown",
    asterism.Symbol: (
        "name qualified_name kind role file_path line is_exported chunk_id repo signature module "
        "context"
    ),
    asterism.Symbols: "symbols counts did_you_mean",
    asterism.RequestContext: (
        "agent items code left_out used_tokens budget session request_id notes"
    ),
}
TUPLES = {
    asterism.Cited: "file_path start_line end_line qualified_name repo distance exists",
    asterism.Part: "text priority",
    asterism.IndexStatus: "state sentence behind files chunks is_building upgrade",
    asterism.Progress: "stage files_done files_total chunks_done detail",
    asterism.ContextItem: ("type name text mode score server description priority why schema"),
    asterism.CodePart: "place text detail score",
    asterism.LeftOut: "what reason score detail",
}
FILTERS = (
    "path path_prefix path_contains path_not_contains path_glob type extension languages "
    "is_exported decorator_contains has_docstring context_filepaths context_path_prefix repo"
)


def test_names() -> None:
    assert asterism.__all__ == [
        *("Answer", "AsterismError", "Cited", "CodePart", "Codebase", "Context", "ContextItem"),
        *("Filters", "Hit", "IndexStatus", "LeftOut", "Part", "Progress", "Related", "Relations"),
        *("Reply", "RequestContext", "Symbol", "Symbols", "SyncReport", "UpgradeReport"),
        *("__version__", "context_for", "open"),
    ]
    assert all(getattr(asterism, name) is not None for name in asterism.__all__)
    assert set(asterism.__all__) <= set(dir(asterism))
    with pytest.raises(AttributeError, match="no attribute 'close'"):
        asterism.close  # type: ignore[attr-defined]  # noqa: B018


def test_methods() -> None:
    public = {name for name in vars(asterism.Codebase) if not name.startswith("_")}
    assert public == {
        *("ask", "callees", "callers", "close", "context", "name", "references", "root", "search"),
        *("similar", "status", "symbols", "sync", "upgrade"),
    }


@pytest.mark.parametrize("function", list(SIGNATURES), ids=lambda function: function.__name__)
def test_signatures(function: Callable[..., object]) -> None:
    written = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(written, ast.FunctionDef)
    assert written.returns is not None
    found = f"{ast.unparse(written.args)} -> {ast.unparse(written.returns)}"
    assert found == SIGNATURES[function]


@pytest.mark.parametrize("record", list(FIELDS), ids=lambda record: record.__name__)
def test_fields(record: type) -> None:
    assert dataclasses.is_dataclass(record)
    assert [field.name for field in dataclasses.fields(record)] == FIELDS[record].split()


@pytest.mark.parametrize("record", list(TUPLES), ids=lambda record: record.__name__)
def test_tuples(record: type) -> None:
    assert list(record._fields) == TUPLES[record].split()  # type: ignore[attr-defined]


def test_filters_are_those_of_the_command() -> None:
    from asterism.types.search import FILTER_KEYS

    assert list(asterism.Filters.__annotations__) == FILTERS.split() == list(FILTER_KEYS)


def test_everything_public_is_documented() -> None:
    for name in asterism.__all__:
        assert getattr(asterism, name).__doc__, name
    for function in SIGNATURES:
        assert function.__doc__, function


def loaded_by(code: str) -> set[str]:
    script = f"{code}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={"PYTHONPATH": str(ROOT / "src"), "HOME": "/nowhere"},
        capture_output=True,
        check=True,
        text=True,
    )
    return set(done.stdout.split())


def test_importing_loads_nothing() -> None:
    ours = {name for name in loaded_by("import asterism") if name.startswith("asterism")}
    assert ours == {"asterism"}


def test_errors_come_alone() -> None:
    loaded = loaded_by("import asterism\nasterism.AsterismError")
    assert {name for name in loaded if name.startswith("asterism.")} == {
        *("asterism.types", "asterism.types.errors")
    }


def test_naming_the_records_loads_nothing_heavy() -> None:
    names = [name for name in asterism.__all__ if name != "__version__"]
    loaded = loaded_by(f"from asterism import {', '.join(names)}")
    heavy = {"numpy", "lance", "pyarrow", "tokenizers", "httpx", "rich"}
    assert {name.partition(".")[0] for name in loaded} & heavy == set()
