"""Is every reply within its limit as it is sent, with a true account of what went?"""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asterism.operations.limits import (
    MOST_CHARS,
    CallReply,
    TextPart,
    fitted,
    limit_for,
    measured,
    plain_account,
    with_size,
    written,
)

TEXTS = st.text(max_size=400)


def listing(texts: list[str]) -> CallReply:
    """A reply whose rows hold these texts, and whose text lists them."""
    rows = [{"text": text} for text in texts]
    found = {"rows": rows, **plain_account(len(rows), len(rows), MOST_CHARS)}

    def render(structured: dict[str, object]) -> str:
        shown = structured["rows"]
        assert isinstance(shown, list)
        return "\n".join(row["text"] for row in shown)

    return CallReply(parts=(TextPart(render(found)),), structured=found, rows="rows", render=render)


@given(st.lists(TEXTS, max_size=40), st.integers(1_000, 6_000))
def test_rows_go_until_the_rest_fits(texts: list[str], limit: int) -> None:
    reply = with_size(fitted(listing(texts), limit))
    structured = reply.structured or {}
    kept = structured["rows"]
    assert measured(reply) <= limit + 10
    assert [row["text"] for row in kept] == texts[: len(kept)]
    assert structured["returned_count"] == len(kept)
    assert structured["returned_count"] + structured["dropped"]["budget"] == len(texts)
    assert structured["truncated"] == (len(kept) < len(texts))
    if structured["truncated"]:
        fuller = measured(listing(texts[: len(kept) + 1]))
        assert fuller > limit - 100, "another row would have fitted"


def test_a_size_is_that_of_the_text_that_is_sent() -> None:
    reply = listing(['a"b', "ü\n"])
    sent = json.dumps(written(reply), ensure_ascii=False, separators=(",", ":"))
    assert measured(reply) == len(sent)


@pytest.mark.parametrize(
    "parts", [["x" * 5_000], ["short", "y" * 5_000, "z" * 5_000], ['"' * 3_000]]
)
def test_a_reply_without_rows_keeps_its_first_part(parts: list[str]) -> None:
    reply = fitted(CallReply(parts=tuple(TextPart(text) for text in parts)), 2_000)
    assert measured(reply) <= 2_000
    assert reply.parts[0].text[:5] == parts[0][:5]


@pytest.mark.parametrize(
    ("tokens", "client", "chars"),
    [
        (None, None, MOST_CHARS),
        (None, "unheard-of", MOST_CHARS),
        (None, "claude-code", 40_000),
        (1_000, "claude-code", 4_000),
        (25_000, None, MOST_CHARS),
    ],
)
def test_nothing_raises_the_ceiling(tokens: int | None, client: str | None, chars: int) -> None:
    assert limit_for(tokens, client) == chars
