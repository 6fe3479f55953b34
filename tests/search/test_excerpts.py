"""Which lines of a hit are shown, and which words in them are marked?"""

import pytest

from asterism.search import snippets
from asterism.search.query.parse import understand, understand_code
from asterism.search.snippets import Mark, marker_for, marking, shown_lines
from asterism.types.search import Hit, Mode
from tests.search import selection_hits


def marked(question: str, line: str, mode: Mode = Mode.hybrid) -> list[str]:
    with marking(understand(question), mode) as marker:
        marks = marker(line)
    assert marks == sorted(marks)
    return [line[mark.start : mark.end] for mark in marks]


@pytest.mark.parametrize(
    ("question", "line", "words"),
    [
        ("rate limits", "def limitRate(generated):", ["limit", "Rate"]),
        (
            "parsing tokens",
            "parse_token(Tokenizer.parser)",
            ["parse", "token", "Tokenizer", "parser"],
        ),
        ("TokenService", "x = TokenService()", ["TokenService"]),
        ("the cache", "the cache of the", ["cache"]),
        ('find "of the" cache', "the cache of the", ["cache", "of the"]),
        ("symbol = A > run", "def run(a): rerun()", ["run"]),
        ("regex:r.n", "run ran rerun", ["run"]),
        ("regex:a\\nb", "a", []),
        ("regex:x*", "abc", []),
        ("größe", "die Größe = 3", ["Größe"]),
        ("anything", "", []),
    ],
)
def test_marks(question: str, line: str, words: list[str]) -> None:
    assert marked(question, line) == words


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine the process that matches patterns may start slowly."""
    monkeypatch.setattr(snippets, "MARK_SECONDS", 600.0)


def test_marks_of_a_pattern() -> None:
    with marking(understand(r"regex:(a+)+b"), Mode.exact) as marker:
        assert marker("xaab") == [Mark(1, 4, "")]
        assert marker("plain") == []
        assert marker("xaab aab") == [Mark(1, 4, "")]


def test_a_pattern_without_end_marks_nothing_and_does_not_hang(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(snippets, "MARK_SECONDS", 0.2)
    with marking(understand(r"regex:(a+)+b"), Mode.exact) as marker:
        assert marker("a" * 60) == []
        # The process was ended with the first failure.
        assert marker("xaab") == []


def test_all_marks_together_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    with marking(understand(r"regex:aab"), Mode.exact) as marker:
        assert marker("xaab") == [Mark(1, 4, "")]
        monkeypatch.setattr(snippets, "MARK_SECONDS", 0.0)
        assert marker("xaab") == []


def test_exact_words_and_phrases() -> None:
    assert marked('token "is_ok("', "if is_ok(token):", Mode.exact) == ["is_ok(", "token"]
    assert marked("the of", "the end of it", Mode.exact) == ["the", "of"]


def test_code_is_not_marked() -> None:
    marker = marker_for(understand_code("x = parse(y)"), Mode.similar)
    assert marker("x = parse(y)") == []


def hit(source: str, signature: str = "", lines: tuple[int, ...] = ()) -> Hit:
    span = (10, 10 + source.count("\n"))
    found = selection_hits.hit("work", text=source, signature=signature, lines=span)
    return found._replace(lines=lines)


BODY = "\n".join(["# about", "@odd", "def work(a):", *(f"    step_{n}()" for n in range(30))])


@pytest.mark.parametrize(
    ("question", "lines", "shown"),
    [
        # Nothing says anything: from the signature on, with a little of what is above it.
        ("elsewhere", (), [0, 1, 2, 3, 4, 5]),
        # Far below: the signature, then the lines around the match.
        ("step_20", (), [2, 22, 23, 24, 25, 26]),
        # A last line that is left is shown as well.
        ("step_25", (), [2, 27, 28, 29, 30, 31, 32]),
        # At the end there is less below.
        ("step_29", (), [2, 28, 29, 30, 31, 32]),
        # Near the signature: all from there on, with the little that is above it.
        ("step_1", (), [0, 1, 2, 3, 4, 5]),
        # Where each match is known, those lines count.
        ("elsewhere", (30, 31), [2, 19, 20, 21, 22, 23]),
    ],
)
def test_a_long_hit(question: str, lines: tuple[int, ...], shown: list[int]) -> None:
    marker = marker_for(understand(question), Mode.hybrid)
    assert shown_lines(hit(BODY, "def work(a)", lines), marker, 6) == shown


def test_documentation_is_shown_from_its_beginning_or_not() -> None:
    source = "\n".join(["/**", *(f" * about {n}" for n in range(8)), " */", BODY])
    marker = marker_for(understand("elsewhere"), Mode.hybrid)
    assert shown_lines(hit(source, "def work(a)"), marker, 6) == [12, 13, 14, 15, 16, 17]
    told = marker_for(understand("about"), Mode.hybrid)
    assert shown_lines(hit(source, "def work(a)"), told, 6) == [0, 1, 2, 3, 4, 5]


def test_lines_that_do_it_come_before_documentation_that_tells_of_it() -> None:
    """Above the signature and below it: the words of a query count in the code, if it has any."""
    body = "\n".join(["def work(a):", '    """How limits work:', "", "    limits, limits."])
    body += '\n    """\n' + "\n".join(f"    step_{n}()" for n in range(20)) + "\n    limit(a)"
    found = hit(body, "def work(a)")
    doc = "How limits work:\n\nlimits, limits."
    found = found._replace(chunk=found.chunk._replace(docstring=doc))
    marker = marker_for(understand("limits"), Mode.hybrid)
    assert shown_lines(found, marker, 6) == [0, 21, 22, 23, 24, 25]
    above = "\n".join(["# limits", "# limits", "# limits", "# limits", body.replace("limits", "")])
    assert shown_lines(hit(above, "def work(a)"), marker, 6)[0] == 4


def test_blank_lines_at_the_end_say_nothing() -> None:
    source = "\n".join(["def work():", "    a", "    b", "", "", "", *BODY.split("\n")])
    marker = marker_for(understand("elsewhere"), Mode.hybrid)
    assert shown_lines(hit(source, "def work()"), marker, 6) == [0, 1, 2]


def test_a_short_hit_is_shown_whole() -> None:
    marker = marker_for(understand("x"), Mode.hybrid)
    assert shown_lines(hit("a\nb\nc\nd\ne\nf\ng"), marker, 6) == [0, 1, 2, 3, 4, 5, 6]
    assert shown_lines(hit("a\nb\nc\nd\ne\nf\ng\nh"), marker, 6) == [0, 1, 2, 3, 4, 5]
    assert shown_lines(hit(""), marker, 6) == [0]
