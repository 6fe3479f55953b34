"""Filters mean the same in SQL, in Python and in plain words."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asterism.store.chunk_table import ChunkTable
from asterism.store.lance.table import LanceTable
from asterism.types.index import Chunk
from asterism.types.search import Filter
from tests.store.chunk_samples import DIMENSIONS, chunk, entry, units
from tests.store.memory_table import MemoryTable

PATHS = (
    "src/app.py",
    "src/app/main.py",
    "src/app/[id]/page.tsx",
    "src/app/i/page.tsx",
    "src/application.py",
    "src/it's.py",
    "src/100%_done.md",
    "src/100x-done.md",
    "lib/a+b(c).rs",
    "lib/back\\slash.rs",
    "lib/ünï/漢字.go",
    "lib/deep/er/still/x.go",
    "README",
    "a-b.py",
)
KINDS = ("function", "class", "import")
LANGUAGES = ("python", "go", "o'caml")
DECORATORS = ((), ("app.route",), ("cached", "it's"), ("route%",))


def rows() -> list[Chunk]:
    return [
        chunk(
            path,
            f"n{number}",
            repo=("harbor", "o'hare")[number % 2],
            node_kind=KINDS[number % 3],
            language=LANGUAGES[number % 3],
            decorator_names=DECORATORS[number % 4],
            is_exported=number % 5 < 2,
            docstring=None if number % 3 else "Says what.",
        )
        for number, path in enumerate(PATHS * 2)
    ]


@pytest.fixture(scope="module")
def tables() -> Iterator[tuple[ChunkTable, ChunkTable]]:
    with TemporaryDirectory() as directory:
        pair = (LanceTable.create(Path(directory), DIMENSIONS), MemoryTable(DIMENSIONS))
        for table in pair:
            table.append([entry(row) for row in rows()], units(len(rows())))
            table.maintain()
        yield pair


CASES: list[tuple[Filter, set[str]]] = [
    (Filter(paths=("src/app",)), {"src/app/main.py", "src/app/[id]/page.tsx", "src/app/i/page.tsx"}),
    (Filter(paths=("./src/app/",)), {"src/app/main.py", "src/app/[id]/page.tsx", "src/app/i/page.tsx"}),
    (Filter(paths=("src/app.py",)), {"src/app.py"}),
    (Filter(paths=("src/app/[id]",)), {"src/app/[id]/page.tsx"}),
    (Filter(paths=("src/app/[id]/page.tsx",)), {"src/app/[id]/page.tsx", "src/app/i/page.tsx"}),
    (Filter(paths=(".",)), set(PATHS)),
    (Filter(paths=("src/it's.py",)), {"src/it's.py"}),
    (Filter(paths=("*.py", "lib/*.rs")), {"a-b.py", "lib/a+b(c).rs", "lib/back\\slash.rs"}),
    (Filter(path_globs=("src/*.py",)), {"src/app.py", "src/application.py", "src/it's.py"}),
    (Filter(path_globs=("**/*.py",)), {"src/app.py", "src/app/main.py", "src/application.py", "src/it's.py", "a-b.py"}),
    (Filter(path_globs=("src/**/page.tsx",)), {"src/app/[id]/page.tsx", "src/app/i/page.tsx"}),
    (Filter(path_globs=("lib/**",)), {path for path in PATHS if path.startswith("lib/")}),
    (Filter(path_globs=("lib/*/?*.go",)), {"lib/ünï/漢字.go"}),
    (Filter(path_globs=("src/100[%x][!_]done.md",)), {"src/100x-done.md"}),
    (Filter(path_globs=("src/100%_done.md",)), {"src/100%_done.md"}),
    (Filter(path_globs=("lib/a+b(c).rs", "REA")), {"lib/a+b(c).rs"}),
    (Filter(path_globs=("lib/back\\*",)), {"lib/back\\slash.rs"}),
    (Filter(path_globs=("a[a-c+--]b.py",)), {"a-b.py"}),
    (Filter(path_globs=("a[z-a]b.py", "[unclosed*")), set()),
    (Filter(path_globs=("lib[.-9]deep/er/**",)), set()),
    (Filter(path_prefixes=("src/app", "READ")), {path for path in PATHS if path.startswith(("src/app", "READ"))}),
    (Filter(path_contains=("0%", "_d")), {"src/100%_done.md"}),
    (Filter(path_not_contains=("src", "lib")), {"README", "a-b.py"}),
    (Filter(extensions=(".tsx",), path_contains=("[",)), {"src/app/[id]/page.tsx"}),
    (Filter(paths=("src/app.py",), path_not_contains=("app",)), set()),
]  # fmt: skip


@pytest.mark.parametrize(
    ("where", "expected"), CASES, ids=[str(number) for number in range(len(CASES))]
)
def test_paths(tables: tuple[ChunkTable, ChunkTable], where: Filter, expected: set[str]) -> None:
    for table in tables:
        assert {row.relative_path for row in table.snapshot().scan(where)} == expected


def glob_matches(glob: str, path: str) -> bool:
    """What a glob means, said as plainly as possible; the tests' globs have no ranges."""
    names, parts = glob.split("/"), path.split("/")

    @cache
    def from_name(name: int, part: int) -> bool:
        if name == len(names):
            return part == len(parts)
        if names[name] == "**" and name == len(names) - 1:
            return part < len(parts)
        if names[name] == "**":
            return any(from_name(name + 1, later) for later in range(part, len(parts) + 1))
        return (
            part < len(parts)
            and in_name(names[name], parts[part])
            and from_name(name + 1, part + 1)
        )

    return from_name(0, 0)


def in_name(pattern: str, text: str) -> bool:
    if not pattern:
        return not text
    if pattern[0] == "*":
        return any(in_name(pattern[1:], text[start:]) for start in range(len(text) + 1))
    if pattern[0] == "[" and "]" in pattern[2:]:
        end = pattern.index("]", 2)
        return bool(text) and text[0] in pattern[1:end] and in_name(pattern[end + 1 :], text[1:])
    return bool(text) and pattern[0] in ("?", text[0]) and in_name(pattern[1:], text[1:])


def passes(row: Chunk, where: Filter) -> bool:
    """The filter's documentation, word for word."""
    path = row.relative_path
    conditions = [
        not where.repos or row.repo in where.repos,
        not where.paths
        or any(
            path == given or path.startswith(given + "/") or glob_matches(given, path)
            for given in where.paths
        ),
        not where.path_prefixes or any(path.startswith(given) for given in where.path_prefixes),
        all(given in path for given in where.path_contains),
        all(given not in path for given in where.path_not_contains),
        not where.path_globs or any(glob_matches(given, path) for given in where.path_globs),
        not where.kinds or row.node_kind in where.kinds,
        not where.extensions or row.extension in where.extensions,
        not where.languages or row.language in where.languages,
        where.is_exported is None or row.is_exported == where.is_exported,
        where.decorator_contains is None
        or any(where.decorator_contains in name for name in row.decorator_names),
        where.has_docstring is None or (row.docstring is not None) == where.has_docstring,
    ]
    return all(conditions)


def some(values: st.SearchStrategy[str]) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(values, max_size=2).map(tuple)


pieces = st.sampled_from(
    [
        "src",
        "app",
        "/",
        "*",
        "**",
        "?",
        "[i'a]",
        "[%x_]",
        ".py",
        "lib",
        "'",
        "%",
        "_",
        "\\",
        "ü",
        "+",
        ".",
        "(",
        "id",
    ]
)
texts = st.lists(pieces, min_size=1, max_size=4).map("".join)
cuts = st.builds(
    lambda path, a, b: path[a : a + b], st.sampled_from(PATHS), st.integers(0, 8), st.integers(1, 9)
)
# A path with a few of its characters made wild is a glob that has a chance to match.
wild = st.builds(
    lambda path, at, star: path[:at] + star + path[at + len(star) :],
    st.sampled_from(PATHS), st.integers(0, 12), st.sampled_from(["*", "?", "**", "[pa]"]),
)  # fmt: skip
globs = (texts | cuts | wild).filter(lambda glob: glob.strip("/.") == glob and "//" not in glob)
filters = st.builds(
    Filter,
    repos=some(st.sampled_from(["harbor", "o'hare", "absent"])),
    paths=some(globs.filter(bool)),
    path_prefixes=some(cuts),
    path_contains=some(cuts.map(lambda text: text[:3])),
    path_not_contains=some(cuts),
    path_globs=some(globs),
    kinds=some(st.sampled_from([*KINDS, "x"])),
    extensions=some(st.sampled_from([".py", ".tsx", ".go", ""])),
    languages=some(st.sampled_from([*LANGUAGES, "x"])),
    is_exported=st.none() | st.booleans(),
    decorator_contains=st.none() | st.sampled_from(["route", "", "it's", "%", "cachedit", "x"]),
    has_docstring=st.none() | st.booleans(),
)
# Many conditions at once let nothing pass, so most filters keep a few of them.
sparse = st.builds(
    lambda where, kept: Filter(**{name: getattr(where, name) for name in kept}),
    filters,
    st.sets(st.sampled_from(sorted(Filter.__dataclass_fields__)), max_size=3),
)


@settings(max_examples=250, deadline=None)
@given(where=sparse | filters)
def test_tables_agree_with_the_words(tables: tuple[ChunkTable, ChunkTable], where: Filter) -> None:
    lance, memory = tables
    expected = sum(passes(row, where) for row in rows())
    assert memory.snapshot().count(where) == expected
    assert lance.snapshot().count(where) == expected
