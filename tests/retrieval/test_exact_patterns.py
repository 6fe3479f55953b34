"""Are patterns matched in another process, and is that ended in time?"""

import re

import pytest

from asterism.domain.errors import UsageError, WorkerDied
from asterism.retrieval.exact_patterns import guarded
from asterism.retrieval.exact_worker import Span, spans

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
    # The child cannot read this pattern and ends.
    with guarded("(", SECONDS) as matcher, pytest.raises(WorkerDied, match="try again"):
        matcher(["a" * size])
