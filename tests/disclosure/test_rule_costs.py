"""Does any rule take more time than its text is long?"""

import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from asterism.disclosure.tokens import TokenRule, rules

MOST_REPEATS = 8_000
DEADLINE_SECONDS = 240.0
"""For texts that take three seconds together: a pattern that backtracks takes for ever."""


def repeats(parsed: Any, depth: int = 0) -> Iterator[tuple[int, int]]:
    """How often each repeat of a pattern repeats at most, and within how many others."""
    for operation, argument in parsed:
        name = str(operation)
        if "REPEAT" in name:
            yield argument[1], depth
            yield from repeats(argument[2], depth + (argument[1] > 1))
        elif name == "SUBPATTERN":
            yield from repeats(argument[3], depth)
        elif name == "BRANCH":
            for branch in argument[1]:
                yield from repeats(branch, depth)
        elif name in ("ASSERT", "ASSERT_NOT"):
            yield from repeats(argument[1], depth)
        elif name == "ATOMIC_GROUP":
            yield from repeats(argument, depth)


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: f"{rule.kind}:{rule.words[0]}")
def test_every_repeat_has_an_end_and_none_is_in_another(rule: TokenRule) -> None:
    parsed = re._parser.parse(rule.pattern.pattern, re.ASCII)
    for most, depth in repeats(parsed):
        assert most <= MOST_REPEATS
        assert depth == 0


ATTACK = """
from asterism.disclosure.tokens import find_tokens, rules
SIZE = 100_000
FILLERS = ("", "a", "A", "0", "-", "_", ".", "=", " ", '"', ":", "\\n", "://", "@", "eyJ", "a.", "a:")
texts = 0
for rule in rules():
    for word in rule.words:
        for filler in FILLERS:
            unit = word + filler
            for text in (unit * (SIZE // len(unit)), unit + "a" * SIZE, (unit + "a0-_." * 60) * 300):
                list(rule.pattern.finditer(text + "!"))
                texts += 1
BEGIN, END, LINE = "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "aB3+" * 16
for text in (
    BEGIN * 4_000, END * 4_000, "-----" * 20_000, "-----BEGIN " * 10_000, (LINE + "\\n") * 1_500,
    (BEGIN + "\\n" + LINE + "\\n") * 1_000, (LINE + "\\n" + END + "\\n") * 1_000,
    (BEGIN + " a" * 9_000 + "-") * 5, (" " * 40 + "\\n") * 2_500, ("'" * 40 + LINE) * 1_000,
    "a" * SIZE, "eyJ" + "a" * SIZE, ("eyJ" + "a" * 20 + ".") * 4_000, "://" + "a:" * SIZE,
):
    find_tokens(text)
    texts += 1
print(texts)
"""


def test_hostile_texts_are_read_in_time() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ATTACK],
        capture_output=True,
        check=False,
        encoding="utf-8",
        timeout=DEADLINE_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 5_000
