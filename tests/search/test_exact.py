"""Does exact search find every place that plain reading of the files finds?"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from asterism.analysis.terms import terms_of
from asterism.search.exact.search import (
    ExactAnswer,
    ExactOptions,
    Found,
    chunks_found,
    find_exact,
    needles_of,
)
from asterism.search.query.parse import understand
from asterism.store.chunk_table import ChunkKey, Source
from asterism.types.errors import UsageError
from asterism.types.search import NO_FILTER, Filter
from tests.search.harbor_index import HARBOR, SAMPLES, HarborIndex, harbor_index

ROOTS = {"harbor": HARBOR, "samples": SAMPLES}
Place = tuple[str, str, int]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HarborIndex]:
    with harbor_index(tmp_path_factory.mktemp("exact")) as made:
        yield made


def find(index: HarborIndex, text: str, where: Filter = NO_FILTER) -> ExactAnswer:
    return find_exact(index.snapshot, understand(text), where)


def places(found: tuple[Found, ...]) -> list[Place]:
    return [(one.key.repo, one.path, line) for one in found for line in one.lines]


def read(index: HarborIndex, matches: Callable[[str], bool], where: str = "") -> list[Place]:
    """Every line of an indexed file that matches, by reading the files."""
    files = dict.fromkeys((chunk.repo, chunk.relative_path) for chunk in index.chunks)
    return [
        (repo, path, number)
        for repo, path in files
        if where in path
        for number, line in enumerate((ROOTS[repo] / path).read_text().split("\n"), start=1)
        if matches(line)
    ]


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ('"revoked"', lambda line: "revoked" in line.lower()),
        ('"Revocation"', lambda line: "Revocation" in line),
        ("`this.`", lambda line: "this." in line),
        ('"=>"', lambda line: "=>" in line),
        ('"no such thing anywhere"', lambda line: False),
        ("token", lambda line: "token" in terms_of(line)),
        ("TokenService", lambda line: "tokenservice" in terms_of(line)),
        ("MAX_RETRIES", lambda line: "max_retries" in terms_of(line)),
        (r"regex:def \w+\(self", lambda line: re.search(r"def \w+\(self", line)),
        (r"regex:^\s*return\b", lambda line: re.search(r"^\s*return\b", line)),
        (r"regex:;$", lambda line: line.endswith(";")),
        (r"regex:(?i)TOKEN", lambda line: "token" in line.lower()),
        (r"regex:\d{3,}", lambda line: re.search(r"\d{3,}", line)),
    ],
)
def test_every_line_once(index: HarborIndex, text: str, matches: Callable[[str], bool]) -> None:
    answer = find(index, text)
    expected = read(index, matches)
    assert sorted(places(answer.found)) == sorted(expected)
    assert answer.total_matches == len(expected)


def test_the_order_is_stable(index: HarborIndex) -> None:
    answer = find(index, "regex:token")
    order = [(one.key.repo, one.path, one.lines) for one in answer.found]
    assert order == sorted(order)
    assert answer == find(index, "regex:token")
    assert len(answer.found) > 20


def test_each_line_is_in_its_innermost_chunk(index: HarborIndex) -> None:
    sizes: dict[Place, int] = {}
    for chunk in index.chunks:
        for line in range(chunk.start_line, chunk.end_line + 1):
            place = (chunk.repo, chunk.relative_path, line)
            size = chunk.end_line - chunk.start_line
            sizes[place] = min(size, sizes.get(place, size))
    for chunk, found in chunks_found(index.snapshot, find(index, r"regex:\w").found):
        for line in found.lines:
            place = (chunk.repo, chunk.relative_path, line)
            assert chunk.end_line - chunk.start_line == sizes[place]


def test_a_filter_is_applied_first(index: HarborIndex) -> None:
    where = Filter(kinds=("method",), repos=("harbor",))
    found = find(index, "regex:token", where).found
    kinds = [chunk.node_kind for chunk, _ in chunks_found(index.snapshot, found)]
    assert set(kinds) == {"method"}
    lines = {
        (chunk.repo, chunk.relative_path, line)
        for chunk in index.chunks
        if chunk.node_kind == "method" and chunk.repo == "harbor"
        for line, text in enumerate(chunk.full_source.split("\n"), start=chunk.start_line)
        if "token" in text
    }
    assert set(places(found)) == lines


def test_lines_that_a_filter_hides_are_their_parents(index: HarborIndex) -> None:
    path = Filter(paths=("web/src/auth/tokenService.ts",))
    classes = Filter(paths=path.paths, kinds=("class",))
    (whole,) = find(index, '"rest.length > 0"', path).found
    (outer,) = find(index, '"rest.length > 0"', classes).found
    assert whole.lines == outer.lines
    assert index.snapshot.chunks([outer.key])[0].name == "TokenService"
    assert index.snapshot.chunks([whole.key])[0].node_kind == "method"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("constantTimeEqual sign", {"parse"}),
        ('"Buffer.from" length', {"constantTimeEqual", "TokenService"}),
        ("constantTimeEqual nowhereatall", set()),
    ],
)
def test_all_words_in_one_chunk(index: HarborIndex, text: str, names: set[str]) -> None:
    where = Filter(paths=("web/src/auth/tokenService.ts",))
    answer = find(index, text, where)
    found = chunks_found(index.snapshot, answer.found)
    for chunk, one in found:
        words = set(terms_of(chunk.full_source))
        assert all(word in words or word in chunk.full_source for word in answer.looked_for)
        assert all(chunk.start_line <= line <= chunk.end_line for line in one.lines)
    assert {chunk.name for chunk, _ in found} == names


def test_a_match_may_run_over_lines(index: HarborIndex) -> None:
    answer = find(index, r"regex:issue\(subject[^)]*\)[^{]*\{\n\s+const")
    ((chunk, found),) = chunks_found(index.snapshot, answer.found)
    assert chunk.name == "issue"
    assert found.lines == (99,)


def test_code_is_found_line_by_line(index: HarborIndex) -> None:
    lines = (HARBOR / "web/src/auth/tokenService.ts").read_text().split("\n")[179:184]
    answer = find(index, "\n".join(line.strip() for line in lines))
    names = [chunk.name for chunk, _ in chunks_found(index.snapshot, answer.found)]
    assert names == ["constantTimeEqual"]


@pytest.mark.parametrize(
    ("text", "looked_for"),
    [
        ("how does the TokenService issue tokens", ("tokenservice", "issue", "tokens")),
        ("is it", ("is", "it")),
        ('"Exact Phrase" more', ("Exact Phrase", "more")),
        ("token token Token", ("token",)),
        ("const x = f(y);", ("const x = f(y);",)),
        ("検証する", ("検証する",)),
    ],
)
def test_what_is_looked_for(text: str, looked_for: tuple[str, ...]) -> None:
    assert tuple(needle.text for needle in needles_of(understand(text))) == looked_for


@pytest.mark.parametrize(
    ("text", "source", "lines"),
    [
        ('"Abc"', "abc\nAbc\nxAbcx", [1, 2]),
        ('"abc"', "ABC\nx\nxabcx", [0, 2]),
        ('"a b"', "a  b\na b a b\n", [1]),
        ("abc", "abcd\nABC\nx_abc\nabcDef", [1, 2, 3]),
        ("getUser", "getUser()\nget_user\ngetUsers", [0]),
        ("検証する", "これを検証する。\n検証", [0]),
        ("straße", "STRASSE", [0]),
    ],
)
def test_what_a_needle_matches(text: str, source: str, lines: list[int]) -> None:
    (needle,) = needles_of(understand(text))
    assert [first for first, _ in needle.spans(source, source.casefold())] == lines


def test_small_batches_find_the_same(index: HarborIndex) -> None:
    question = understand("regex:token")
    small = ExactOptions(batch_characters=500)
    assert find_exact(index.snapshot, question, options=small) == find(index, "regex:token")


def test_a_pattern_without_end_is_refused(index: HarborIndex) -> None:
    options = ExactOptions(batch_seconds=0.3)
    question = understand(r"regex:^((\w|\s)+)+@@$")
    with pytest.raises(UsageError, match="make it simpler"):
        find_exact(index.snapshot, question, options=options)


@pytest.mark.parametrize("kind", ["lance", "memory"])
def test_sources_are_the_scan(tmp_path: Path, kind: str) -> None:
    with harbor_index(tmp_path, "lance" if kind == "lance" else "memory") as made:
        for where in (NO_FILTER, Filter(kinds=("method",))):
            expected = [
                Source(
                    ChunkKey(chunk.repo, chunk.id),
                    chunk.relative_path,
                    chunk.start_line,
                    chunk.end_line,
                    chunk.depth,
                    chunk.full_source,
                )
                for chunk in made.snapshot.scan(where)
            ]
            assert list(made.snapshot.sources(where)) == expected
            assert expected
