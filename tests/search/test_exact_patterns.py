"""Are patterns matched in another process, and is that ended in time?"""

import re
import subprocess
import sys
from threading import Event, Timer

import pytest

from asterism.search.exact.patterns import guarded
from asterism.search.exact.worker import Span, spans
from asterism.types.deadlines import limited_to
from asterism.types.errors import Cancelled, DeadlineExceeded, UsageError, WorkerDied

SECONDS = 60.0


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("b", "a\nb\nc b b\n", [(1, 1), (2, 2)]),
        ("^b", "ab\nb", [(1, 1)]),
        ("a$", "ba\na b", [(0, 0)]),
        (r"a\n\s*b", "x\na\n  b\na\nb", [(1, 2), (3, 4)]),
        ("(?s)a.*z", "a\nb\nz\na", [(0, 2)]),
        ("(?i)TOKEN", "token", [(0, 0)]),
        (r"^\s*b", "a\n\n  b", [(2, 2)]),
        (r"a[\s\S]*z", "a\nz\naz", [(2, 2)]),
        (r"a\\n", "a\n\na\\n", [(2, 2)]),
        (r"\Aa\Z", "b\na", [(1, 1)]),
        ("x", "", []),
        ("", "a\nb", [(0, 0), (1, 1)]),
        ("$", "", [(0, 0)]),
        ("(?=.*a)(?=.*b)", "ab\na\n", [(0, 0)]),
        ("(?<=a)b", "ab\ncb\nab", [(0, 0), (2, 2)]),
        ("a\n", "a\n", [(0, 0)]),
        (r"\n", "a\nb", [(0, 0)]),
        ("é", "é\ud800\né", [(0, 0), (1, 1)]),
    ],
)
def test_spans(pattern: str, text: str, expected: list[Span]) -> None:
    assert spans(re.compile(pattern, re.MULTILINE), text) == expected
    with guarded(pattern, SECONDS) as matcher:
        assert matcher([text, "", text]) == [expected, matcher([""])[0], expected]


def test_many_batches() -> None:
    with guarded("needle", SECONDS) as matcher:
        for number in range(20):
            hay = "hay\n" * (number * 10_000)
            assert matcher([hay + "needle", hay]) == [[(number * 10_000,) * 2], []]
        assert matcher([]) == []


def test_a_pattern_without_end_is_an_error() -> None:
    with guarded(r"(a+)+$", 0.2) as matcher, pytest.raises(UsageError, match=r"longer than 0\.2 s"):
        matcher(["a" * 200 + "b"])


@pytest.mark.parametrize("size", [1, 5_000_000])
def test_a_dead_process_is_no_empty_answer(size: int) -> None:
    with guarded("a", SECONDS) as matcher:
        end_of(matcher)
        with pytest.raises(WorkerDied, match="try again"):
            matcher(["a" * size])


def end_of(matcher: object) -> None:
    """End the child of a matcher as the system would."""
    process: subprocess.Popen[bytes] = vars(matcher)["_process"]
    process.kill()
    process.wait()


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("(", "at character 1"),
        ("ab[z-a]", "at character 4"),
        ("a{9999999999}", "regular expression"),
        ("a{" + "9" * 5_000 + "}", "regular expression"),
        ("*", "nothing to repeat at character 1"),
        ("(" * 4_000 + ")" * 4_000, "simplify"),
        ("(?<=a*)b", "fixed-width"),
    ],
)
def test_an_invalid_pattern_is_an_error(pattern: str, said: str) -> None:
    with pytest.raises(UsageError, match=said), guarded(pattern, SECONDS):
        pass


def test_compiling_ends_too() -> None:
    """Ten thousand characters that take Python's compiler many seconds."""
    pattern = "(?i)" + r"[\x00-\U0010ffff]" * 500_000
    with pytest.raises(UsageError, match="longer than"), guarded(pattern, 0.2):
        pass


@pytest.mark.skipif(sys.platform == "win32", reason="the system sets no limit")
def test_a_pattern_may_not_take_all_memory() -> None:
    with guarded("(?:(a)|b)*" * 30 + "x", SECONDS) as matcher:
        assert matcher(["ab"]) == [[]]
        with pytest.raises((UsageError, WorkerDied)):
            matcher(["a" * 100_000_000])


def test_a_query_that_has_to_end_ends_the_process() -> None:
    """The client leaves, or the deadline comes, while the child matches without end."""
    left = Event()
    with limited_to(SECONDS, left.is_set), guarded(r"(a+)+$", SECONDS) as matcher:
        Timer(0.1, left.set).start()
        with pytest.raises(Cancelled):
            matcher(["a" * 200 + "b"])
        assert vars(matcher)["_process"].wait(SECONDS) != 0
    with limited_to(0.5), guarded(r"(a+)+$", SECONDS) as matcher:
        with pytest.raises(DeadlineExceeded, match="may take and was ended"):
            matcher(["a" * 200 + "b"])
        assert vars(matcher)["_process"].wait(SECONDS) != 0
