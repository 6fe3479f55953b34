"""Do filters say what the user said, and does a real index then find exactly that?"""

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asterism.analysis.syntax.language import TABLE
from asterism.search.filters import SYMBOL_KINDS, applied, parse_filter_words, parse_filters
from asterism.search.query.parse import understand
from asterism.search.ranking.options import RankOptions
from asterism.search.ranking.symbol_order import SymbolRecall, rank_symbols, ranks_symbols
from asterism.search.recall import Sources, recall
from asterism.search.symbol_recall import recall_symbols
from asterism.types.errors import UsageError
from asterism.types.index import Chunk
from asterism.types.search import FILTER_KEYS, NO_FILTER, Filter
from tests.search.harbor_index import PROJECT, HarborIndex, harbor_index

ROOT = "/home/me/shop"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, NO_FILTER),
        ({"path": None}, NO_FILTER),
        ({"path": "src"}, Filter(paths=("src",))),
        ({"path": ["src", "./lib/", "src/"]}, Filter(paths=("src", "lib"))),
        ({"path": "."}, Filter(paths=(".",))),
        ({"path": ROOT}, Filter(paths=(".",))),
        ({"path": f"{ROOT}/src/a.ts"}, Filter(paths=("src/a.ts",))),
        ({"path": "src\\auth\\a.ts"}, Filter(paths=("src/auth/a.ts",))),
        ({"path": "caf\\xe9.py"}, Filter(paths=("caf\\xe9.py",))),
        ({"path": "src/../lib//x/./y"}, Filter(paths=("lib/x/y",))),
        ({"path": "*.ts"}, Filter(paths=("**/*.ts",))),
        ({"path": "src/*.ts"}, Filter(paths=("src/*.ts",))),
        ({"path_prefix": "src/"}, Filter(path_prefixes=("src/",))),
        ({"path_prefix": ["./src/a", "lib"]}, Filter(path_prefixes=("src/a", "lib"))),
        ({"path_prefix": f"{ROOT}/src/"}, Filter(path_prefixes=("src/",))),
        ({"path_prefix": "./"}, Filter(path_prefixes=("",))),
        ({"path_contains": "auth"}, Filter(path_contains=("auth",))),
        ({"path_contains": ["auth\\", "a"]}, Filter(path_contains=("auth/", "a"))),
        ({"path_not_contains": ["test", ".spec."]}, Filter(path_not_contains=("test", ".spec."))),
        ({"path_glob": "src/**/*.ts"}, Filter(path_globs=("src/**/*.ts",))),
        ({"path_glob": "./src/"}, Filter(path_globs=("src/**",))),
        ({"path_glob": ["*.ts", "**"]}, Filter(path_globs=("**/*.ts", "**"))),
        ({"type": "Class"}, Filter(kinds=("class",))),
        ({"type": ["function", "constant"]}, Filter(kinds=("function", "const"))),
        ({"extension": "ts"}, Filter(extensions=(".ts",))),
        ({"extension": [".ts", "*.tsx", "ts"]}, Filter(extensions=(".ts", ".tsx"))),
        ({"extension": ""}, Filter(extensions=("",))),
        ({"languages": ["TypeScript", "py", "C++", "c#"]},
         Filter(languages=("typescript", "python", "cpp", "csharp"))),
        ({"languages": "tsx"}, Filter(languages=("typescript",))),
        ({"is_exported": False}, Filter(is_exported=False)),
        ({"decorator_contains": "@app.route()"}, Filter(decorator_contains="app.route")),
        ({"has_docstring": True}, Filter(has_docstring=True)),
        ({"context_filepaths": ["a.ts", "./b.ts"]}, Filter(paths=("a.ts", "b.ts"))),
        ({"context_filepaths": "app/[id]/p.ts"}, Filter(paths=("app/[[]id]/p.ts",))),
        ({"context_filepaths": ["a/x.ts", "b/x.ts"], "path": "a"}, Filter(paths=("a/x.ts",))),
        ({"context_filepaths": ["a/x.ts", "b/[x].ts"], "path": "b/*.ts"},
         Filter(paths=("b/[[]x].ts",))),
        ({"context_path_prefix": "src/"}, Filter(path_prefixes=("src/",))),
        ({"context_path_prefix": "src/", "path_prefix": ["src/a", "s", "lib"]},
         Filter(path_prefixes=("src/a", "src/"))),
        ({"repo": "harbor"}, Filter(repos=("harbor",))),
        ({"repo": ["b", "a"]}, Filter(repos=("b", "a"))),
        ({"type": "class", "is_exported": True}, Filter(kinds=("class",), is_exported=True)),
    ],
)  # fmt: skip
def test_meaning(given: Mapping[str, object], expected: Filter) -> None:
    assert parse_filters(given, ROOT) == expected


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"paths": "src"}, r"no filter paths\. Did you mean path\? The filters are path, path_p"),
        ({"kind": "class"}, "Did you mean type"),
        ({"language": "go"}, "Did you mean languages"),
        ({"path_prefx": "a"}, "Did you mean path_prefix"),
        ({"zzz": 1}, r"no filter zzz\. The filters are"),
        ({"path": 3}, "path has a number; give a string or a list of strings"),
        ({"path": ["a", None]}, "path has null inside its list"),
        ({"path": {"a": 1}}, "path has an object"),
        ({"path": []}, "path has an empty list"),
        ({"path": " "}, "path has an empty value"),
        ({"type": [""]}, "type has an empty value"),
        ({"is_exported": "true"}, "is_exported has a string; give true or false"),
        ({"has_docstring": 1}, "has_docstring has a number; give true or false"),
        ({"decorator_contains": ["a"]}, "decorator_contains has a list; give a string"),
        ({"type": "classs"}, "no kind classs; did you mean class"),
        ({"languages": "pyton"}, "no language pyton; did you mean python"),
        ({"extension": ".d.ts"}, r"path_glob=\*\*/\*\.d\.ts"),
        ({"path": "/etc/passwd"}, "not inside /home/me/shop"),
        ({"path": "/home/me/shopping"}, "not inside"),
        ({"path": "../other"}, "not inside"),
        ({"path_prefix": "src/../../x"}, "not inside"),
        ({"path_glob": "C:\\other\\*.ts"}, "not inside"),
        ({"context_filepaths": "a.ts", "path": "lib"}, "leave one of them out"),
        ({"context_path_prefix": "a", "path_prefix": "b"}, "leave one of them out"),
    ],
)
def test_what_is_refused(given: Mapping[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        parse_filters(given, ROOT)


def test_filters_are_an_object() -> None:
    with pytest.raises(UsageError, match="filters is a list; give an object"):
        parse_filters(["path=src"])  # type: ignore[arg-type]


def test_an_absolute_path_needs_a_root() -> None:
    with pytest.raises(UsageError, match="not inside the repository"):
        parse_filters({"path": f"{ROOT}/src"})


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], {}),
        (["path=src/"], {"path": "src/"}),
        (["type=class,function"], {"type": ["class", "function"]}),
        (["type=class", "type = function"], {"type": ["class", "function"]}),
        (["is_exported=true", "has_docstring=No"], {"is_exported": True, "has_docstring": False}),
        (["decorator_contains=a,b"], {"decorator_contains": "a,b"}),
        (["path_contains=a=b"], {"path_contains": "a=b"}),
    ],
)
def test_words(words: list[str], expected: Mapping[str, object]) -> None:
    assert parse_filter_words(words) == parse_filters(expected)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["path"], "path has no value"),
        (["nope=1"], "no filter nope"),
        (["is_exported=maybe"], "write true or false"),
        (["is_exported=true", "is_exported=false"], "given twice"),
        (["path="], "empty value"),
    ],
)
def test_refused_words(words: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        parse_filter_words(words)


def test_what_is_echoed() -> None:
    given = {"path": "./src/", "type": ["class"], "is_exported": False, "decorator_contains": "@a"}
    assert applied(parse_filters(given)) == {
        "path": ["src"],
        "type": ["class"],
        "is_exported": False,
        "decorator_contains": "a",
    }
    assert applied(NO_FILTER) == {}


def test_kinds_are_those_of_the_page() -> None:
    page = (PROJECT / "docs" / "outlines.md").read_text()
    table = page.split("### Kinds")[1].split("### ")[0]
    rows = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
    assert set(SYMBOL_KINDS) == {kind for row in rows for kind in re.findall(r"`(\w+)`", row)}


def test_every_language_can_be_named() -> None:
    for entry in TABLE:
        assert parse_filters({"languages": entry.language}).languages == (entry.language,)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HarborIndex]:
    with harbor_index(tmp_path_factory.mktemp("filters")) as made:
        yield made


# Of each key two values that some chunks of the index pass and some do not.
SAMPLES: dict[str, tuple[Any, Any]] = {
    "path": (["web/src", "docs/webhooks.md"], "*.rs"),
    "path_prefix": ("web/src/a", ["pricing/", "ledger/src/m"]),
    "path_contains": (["web", "auth"], "e"),
    "path_not_contains": (["web", "test"], "src"),
    "path_glob": ("**/src/**/*.ts", ["pricing/*/*.py", "*.md"]),
    "type": (["class", "function"], "method"),
    "extension": (["ts", ".go"], "py"),
    "languages": (["Rust", "python"], "typescript"),
    "is_exported": (True, False),
    "decorator_contains": ("a", "property"),
    "has_docstring": (True, False),
    "context_filepaths": (
        ["web/src/auth/tokenService.ts", "web/src/types.ts"],
        ["ledger/src/money.rs"],
    ),
    "context_path_prefix": ("web/src/", "pricing/"),
    "repo": ("harbor", ["samples"]),
}


def in_words(chunk: Chunk, key: str, value: Any) -> bool:
    """Whether a chunk passes, by what the key says; knows nothing of `Filter`."""
    path = chunk.relative_path
    values = value if isinstance(value, list) else [value]
    lowered = [str(item).lower() for item in values]
    answers: dict[str, Callable[[], bool]] = {
        "path": lambda: any(
            path == item or path.startswith(f"{item}/") or _glob(item, path) for item in values
        ),
        "path_prefix": lambda: any(path.startswith(item) for item in values),
        "path_contains": lambda: all(item in path for item in values),
        "path_not_contains": lambda: not any(item in path for item in values),
        "path_glob": lambda: any(_glob(item, path) for item in values),
        "type": lambda: chunk.node_kind in lowered,
        "extension": lambda: chunk.extension.lstrip(".") in [item.lstrip(".") for item in lowered],
        "languages": lambda: chunk.language in lowered,
        "is_exported": lambda: chunk.is_exported == value,
        "decorator_contains": lambda: any(value in name for name in chunk.decorator_names),
        "has_docstring": lambda: (chunk.docstring is not None) == value,
        "context_filepaths": lambda: path in values,
        "context_path_prefix": lambda: path.startswith(value),
        "repo": lambda: chunk.repo in values,
    }
    return bool(answers[key]())


def _glob(pattern: str, path: str) -> bool:
    """Globs of the samples: a name without a slash anywhere, `*` in a folder, `**/` across."""
    if not set("*?[") & set(pattern):
        return False
    whole = pattern if "/" in pattern else f"**/{pattern}"
    steps = re.escape(whole).replace(r"\*\*/", "(?:.*/)?").replace(r"\*", "[^/]*")
    return re.fullmatch(steps, path) is not None


def found(index: HarborIndex, wanted: Mapping[str, Any]) -> list[tuple[str, str]]:
    where = parse_filters(wanted)
    rows = [(chunk.repo, chunk.id) for chunk in index.snapshot.scan(where)]
    assert index.snapshot.count(where) == len(rows)
    return rows


def expected(index: HarborIndex, wanted: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [
        (chunk.repo, chunk.id)
        for chunk in index.chunks
        if all(in_words(chunk, key, value) for key, value in wanted.items())
    ]


def test_every_key_has_samples() -> None:
    assert list(SAMPLES) == list(FILTER_KEYS)


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("key", SAMPLES)
def test_each_alone(index: HarborIndex, key: str, which: int) -> None:
    wanted = {key: SAMPLES[key][which]}
    rows = expected(index, wanted)
    assert 0 < len(rows) < len(index.chunks)
    assert found(index, wanted) == rows


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("key", SAMPLES)
def test_each_with_symbols_that_are_ranked(index: HarborIndex, key: str, which: int) -> None:
    """A query in words finds the best of what passes, and nothing else."""
    question = understand("how is a token or the price of an order checked and returned")
    assert ranks_symbols(question)
    wanted = {key: SAMPLES[key][which]}
    sources = Sources(index.snapshot, index.catalogue, parse_filters(wanted))
    options = RankOptions()
    pools = recall(question, (), sources, 10, options.recall)
    symbols = recall_symbols(question, (), sources, options.symbols)
    hits = rank_symbols(question, SymbolRecall(pools, symbols, index.snapshot.chunks), options)
    passing = {*expected(index, wanted)}
    assert hits
    assert {(hit.chunk.repo, hit.chunk.id) for hit in hits} <= passing


def test_pairs(index: HarborIndex) -> None:
    some = 0
    for pair in combinations(SAMPLES, 2):
        wanted = {key: SAMPLES[key][0] for key in pair}
        rows = expected(index, wanted)
        assert found(index, wanted) == rows, wanted
        some += bool(rows)
    assert some > 50


@settings(max_examples=60, deadline=None)
@given(
    chosen=st.dictionaries(st.sampled_from(sorted(SAMPLES)), st.sampled_from([0, 1]), min_size=3)
)
def test_many_together(index: HarborIndex, chosen: dict[str, int]) -> None:
    wanted = {key: SAMPLES[key][which] for key, which in chosen.items()}
    rows = expected(index, wanted)
    try:
        assert found(index, wanted) == rows
    except UsageError:
        # A context that excludes the paths is refused, and indeed nothing passes.
        assert rows == []


def test_a_root_is_left_out(index: HarborIndex, tmp_path: Path) -> None:
    where = parse_filters({"path": str(tmp_path / "web" / "src")}, str(tmp_path))
    assert index.snapshot.count(where) == len(expected(index, {"path": "web/src"})) > 0
