"""Are items found that a message mentions by name, and nothing else?"""

import pytest

from asterism.context.choice import key_named, mentions
from asterism.types.context import ItemKey, ReferenceKey, RuleKey, ToolKey

KNOWN: tuple[ItemKey, ...] = (
    RuleKey("errors"),
    RuleKey("Error handling"),
    RuleKey("Error handling in jobs"),
    ReferenceKey("API v2.1"),
    ReferenceKey("errors"),
    ToolKey("web", "fetch.page"),
)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("see @rule:errors please", ["rule:errors"]),
        ("@rule:error handling in jobs, then", ["rule:Error handling in jobs"]),
        ("@rule:Error handling.", ["rule:Error handling"]),
        ("@rule:Error handlings", []),
        ("@ref:errors and @rule:errors", ["ref:errors", "rule:errors"]),
        ("@reference:API v2.1", ["ref:API v2.1"]),
        ('@ref:"api V2.1"!', ["ref:API v2.1"]),
        ("@REF:errors @ref:errors", ["ref:errors"]),
        ("call @tool:web.fetch.page", ["tool:web.fetch.page"]),
        ("mail to me@rule:errors", []),
        ("@rule: errors", []),
        ("@rules:errors", []),
    ],
)
def test_mentions(message: str, expected: list[str]) -> None:
    found = mentions(message, KNOWN)
    assert [str(mention.key) for mention in found if mention.key] == expected


@pytest.mark.parametrize(
    ("message", "written"),
    [
        ("@rule:nothing.", "@rule:nothing"),
        ("@ref:'no such thing' here", "@reference:no such thing"),
        ("@rule:errors-of-mine", "@rule:errors-of-mine"),
    ],
)
def test_an_unknown_name_is_kept_as_written(message: str, written: str) -> None:
    (mention,) = mentions(message, KNOWN)
    assert mention == (None, written)


def test_a_pasted_text_has_bounded_mentions() -> None:
    assert len(mentions("".join(f"@rule:x{number} " for number in range(500)), KNOWN)) == 50


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("rule:ERRORS", RuleKey("errors")),
        ("@ref:errors", ReferenceKey("errors")),
        ("Error handling", RuleKey("Error handling")),
        ("web.fetch.page", ToolKey("web", "fetch.page")),
        ("errors", None),
        ("ref:Error handling", None),
    ],
)
def test_an_argument_of_a_command(written: str, expected: ItemKey | None) -> None:
    assert key_named(written, KNOWN) == expected
