"""What reading the candidates adds to the evidence of their files."""

import pytest

from asterism.search.query.parse import understand
from asterism.search.ranking.evidence import Evidence, Strengths
from asterism.search.ranking.options import RankOptions
from asterism.search.ranking.text import read, weigh, weigh_chunks
from asterism.search.recall import FileKey, Pools
from asterism.store.chunk_table import ChunkKey, Match
from asterism.types.index import Chunk
from asterism.types.search import Question
from tests.search.selection_hits import hit

ISSUE = hit("issue", text="def issue(user):\n    raise Refused('no such user here')").chunk
ISSUE = ISSUE._replace(signature="def issue(user)")
CHECK = hit("check", text="def check(token):\n    return token.user").chunk._replace(
    signature="def check(token)", is_exported=False
)
NOTHING_FOUND = Strengths({}, {}, {}, {})


def evidence(
    question: Question,
    *chunks: Chunk,
    importers: dict[str, set[str]] | None = None,
    vector: tuple[Match, ...] = (),
    strengths: Strengths = NOTHING_FOUND,
) -> dict[str, Evidence]:
    files = {
        ChunkKey(chunk.repo, chunk.id): FileKey(chunk.repo, chunk.relative_path) for chunk in chunks
    }
    found: dict[FileKey, Evidence] = {file: {} for file in files.values()}
    imported = {FileKey("shop", path): some for path, some in (importers or {}).items()}
    pools = Pools(importers=imported, vector=vector)
    text = weigh(question, read(question, chunks, files), found, pools)
    weigh_chunks(text, found, strengths, RankOptions())
    return {file.path: own for file, own in found.items()}


def test_words_in_signatures_count_apart_from_words_in_the_text() -> None:
    found = evidence(Question(text="token user", terms=("token", "user")), ISSUE, CHECK)
    # All of it, and as the question is short that counts for less.
    assert found["check.py"]["said"] == pytest.approx(0.7)
    assert 0 < found["check.py"]["signature"] < 1
    assert 0 < found["issue.py"]["signature"] < 1


def test_only_a_file_with_an_exported_candidate_offers_something() -> None:
    found = evidence(Question(text="user", terms=("user",)), ISSUE, CHECK)
    assert "offers" in found["issue.py"]
    assert "offers" not in found["check.py"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('what says "No such user"', 1.0),
        ("no such user here", 0.8),
        ("no user such here", 0.0),
        ("user", 0.0),
    ],
)
def test_a_text_that_stands_there_as_it_is(text: str, expected: float) -> None:
    found = evidence(understand(text), ISSUE, CHECK)
    assert found["issue.py"].get("phrase", 0.0) == pytest.approx(expected)
    assert "phrase" not in found["check.py"]


@pytest.mark.parametrize(
    ("text", "path", "found_there"),
    [
        ("Refuse users who are gone", "CHANGELOG.md", False),
        ("Refuse users who are gone", "docs/changelog/2026.md", False),
        ("Refuse users who are gone", "HISTORY.rst", False),
        ("Refuse users who are gone", "docs/releases/1.2.txt", False),
        ("Refuse users who are gone", "NEWS", False),
        ("Refuse users who are gone", "src/history/store.py", True),
        ("Refuse users who are gone", "docs/users.md", True),
        ("Refuse users who are gone", "src/history.py", True),
        ('what says "Refuse users who are gone"', "CHANGELOG.md", True),
        ("what the changelog says: Refuse users who are gone", "CHANGELOG.md", False),
    ],
)
def test_phrases_do_not_count_in_a_changelog(text: str, path: str, found_there: bool) -> None:
    page = hit("page", text="- Refuse users who are gone").chunk._replace(relative_path=path)
    assert ("phrase" in evidence(understand(text), page)[path]) == found_there


def test_a_long_question_that_is_said_in_one_place_weighs_more() -> None:
    few = ("issue", "user", "raise", "refused")
    many = (*few, "such", "here", "token", "return", "check", "plain", "other", "more")
    short = evidence(Question(text="", terms=few), ISSUE)["issue.py"]
    long = evidence(Question(text="", terms=many), ISSUE)["issue.py"]
    assert "said_at_length" not in short
    assert 1.5 * long["said_at_length"] == pytest.approx(long["said_at_once"])


def test_candidates_that_import_a_file_speak_for_it() -> None:
    importers = {"issue.py": {"check.py", "elsewhere.py"}, "check.py": {"elsewhere.py"}}
    found = evidence(Question(text="user", terms=("user",)), ISSUE, CHECK, importers=importers)
    assert found["issue.py"]["imported_by_hits"] > 0
    assert found["check.py"]["imported_by_hits"] == 0


def test_importers_are_not_counted_where_vectors_compare_them() -> None:
    question = Question(text="user", terms=("user",))
    near = (Match(ChunkKey("shop", "issue"), "issue.py", 0.5),)
    found = evidence(question, ISSUE, CHECK, importers={"issue.py": {"check.py"}}, vector=near)
    assert "imported_by_hits" not in found["issue.py"]


@pytest.mark.parametrize(
    ("lines", "kind", "expected"),
    [
        (1, "function", 0.0),
        (10, "function", 0.5),
        (400, "method", 1.0),
        (400, "class", 0.3),
        (100, "comment", 0.09),
    ],
)
def test_the_longest_candidate_of_a_file_says_how_much_there_is(
    lines: int, kind: str, expected: float
) -> None:
    long = ISSUE._replace(id="long", start_line=7, end_line=6 + lines, node_kind=kind)
    short = ISSUE._replace(start_line=3, end_line=3)
    found = evidence(Question(text="user", terms=("user",)), short, long)
    assert found["issue.py"]["length"] == pytest.approx(expected)


def test_properties_among_the_candidates_are_counted() -> None:
    limit = ISSUE._replace(id="limit", start_line=9, node_kind="property")
    found = evidence(Question(text="user", terms=("user",)), ISSUE, limit, CHECK)
    assert (found["issue.py"]["properties"], found["check.py"]["properties"]) == (0.5, 0.0)


def test_a_second_near_chunk_speaks_for_its_file() -> None:
    again = ISSUE._replace(id="again", start_line=9)
    near = {"issue": 1.0, "again": 0.5, "check": 0.2}
    strengths = Strengths({}, {ChunkKey("shop", key): value for key, value in near.items()}, {}, {})
    question = Question(text="user", terms=("user",))
    found = evidence(question, ISSUE, again, CHECK, strengths=strengths)
    assert (found["issue.py"]["vector"], found["issue.py"]["vector_second"]) == (1.0, 0.5)
    assert (found["check.py"]["vector"], found["check.py"]["vector_second"]) == (0.2, 0.0)


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("refused users", "class", True),
        ("refused users", "protocol", True),
        ("refused users", "function", False),
        ("refused users", "struct", False),
        ("Refused", "class", False),
    ],
)
def test_a_type_that_holds_code_says_so_unless_it_may_be_what_is_named(
    text: str, kind: str, expected: bool
) -> None:
    found = evidence(understand(text), ISSUE._replace(node_kind=kind), CHECK)
    assert ("type_found" in found["issue.py"]) == expected
    assert "type_found" not in found["check.py"]


@pytest.mark.parametrize(
    ("kind", "line", "expected"),
    [
        ("comment", 1, 0.8),
        ("docstring", 15, 0.8),
        ("comment", 16, 0.24),
        ("import", 1, 0.24),
        ("function", 400, 0.8),
    ],
)
def test_what_a_file_begins_with_is_said_of_all_of_it(
    kind: str, line: int, expected: float
) -> None:
    chunk = ISSUE._replace(node_kind=kind, start_line=line, end_line=line + 2)
    scores = {ChunkKey(chunk.repo, chunk.id): 0.8}
    found = evidence(understand("user"), chunk, strengths=Strengths(scores, scores, {}, {}))
    assert found["issue.py"]["text"] == pytest.approx(expected)
    assert found["issue.py"]["vector"] == pytest.approx(expected)
