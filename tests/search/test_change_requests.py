"""Change requests are told from topic queries."""

import pytest

from asterism.search.query.parse import understand


@pytest.mark.parametrize(
    "text",
    [
        "Fix a leak in uploads",
        "fix memory leak",
        "Support uploads larger than memory",
        "added retries to webhook deliveries",
        "Fixes uploads without a name",
        "Don't retry uploads that were cancelled",
        "don’t retry cancelled uploads",
        "Could you please add a flag that prints nothing?",
        "We should allow empty names.",
        "I'd like to remove the old cache",
        "Uploads fail on Windows. Fix how paths are joined.",
        "Two things:\n- rename the flag `--quiet`\n- keep the old name",
        "Add `--quiet` to the command line",
    ],
)
def test_change_requests(text: str) -> None:
    assert understand(text).is_change_request


@pytest.mark.parametrize(
    "text",
    [
        "how uploads are retried",
        "How do I add a command?",
        "where is the token checked",
        "verify the signature of a webhook",
        "retry policy of uploads",
        "sessions are renewed before they end",
        "Returns the first match",
        "addition of numbers",
        "use cases",
        "use of locks in the scheduler",
        "changes to the cache of sessions",
        "support for proxies in the client",
        "fix",
        "add_to_cart price_of item_id",
        "the fix for leaking uploads",
        "令牌在哪里签发",
        "symbol = fix",
        "regex:fix the .* leak",
        "use std::fmt::Display;",
        "TypeError: add is not a function",
        '"Fix a leak in uploads"',
    ],
)
def test_others(text: str) -> None:
    assert not understand(text).is_change_request
