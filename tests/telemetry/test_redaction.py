"""Does a secret, or a piece of a file, ever get into a line of the log?"""

from pathlib import Path

import pytest

from asterism.telemetry.events import HIDDEN, excerpt, hide, loggable, redacted
from asterism.types.search import Reason

SECRET = "sk-proj-4711abcdefghijkl"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"key {SECRET} refused", SECRET),
        ("Authorization: Bearer abc.def-123", "abc.def-123"),
        ("bearer   qwertyuiop", "qwertyuiop"),
        ("GET https://me:hunter2@example.org/v1", "hunter2"),
        ("GET /x?access_token=hunter2&y=1", "hunter2"),
        ("VOYAGE_API_KEY=hunter2", "hunter2"),
        ("{'password': 'hunter2'}", "hunter2"),
        ('"api_key": "hunter2"', "hunter2"),
        ("pa-AbCdEfGhIjKlMnOp", "AbCdEfGhIjKlMnOp"),
        ("ghp_AbCdEfGhIjKlMnOpQrSt", "AbCdEfGhIjKlMnOpQrSt"),
        ("github_pat_11AAAA_bcdefghijk", "11AAAA_bcdefghijk"),
        ("xoxb-123456789012-abc", "123456789012"),
        ("AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"),
        ("eyJhbGciOi.eyJzdWIiOiIx.c2lnbmF0dXJl", "eyJzdWIiOiIx"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END", "MIIabc"),
    ],
)
def test_what_looks_like_a_secret_is_hidden(text: str, secret: str) -> None:
    assert secret in text
    assert secret not in redacted(text)
    assert HIDDEN in redacted(text)


@pytest.mark.parametrize(
    "text",
    [
        "where is the token checked?",
        "class TokenService validates a password",
        "https://example.org/v1/embeddings",
        "42 tokens, limit_tokens 8000",
        "src/auth/api_keys.py",
        "ask-something-long-with-dashes",
    ],
)
def test_ordinary_words_stay(text: str) -> None:
    assert redacted(text) == text


def test_a_secret_that_is_known_is_hidden_in_any_form() -> None:
    hide(["correcthorsebattery", "correcthorse", "abc"])
    assert redacted("said:correcthorsebattery; abc") == f"said:{HIDDEN}; abc"
    assert redacted("correcthorse!") == f"{HIDDEN}!"


def test_a_secret_that_is_cut_in_two_is_not_shown() -> None:
    """Short as the text becomes without its secrets, the half at its end does not come up."""
    text = " ".join(["password=" + "x" * 300, "token=" + "y" * 80, SECRET, "z" * 1000])
    assert len(text[: 4 * 100]) < text.index(SECRET) + len(SECRET)
    shown = excerpt(text, 100)
    assert "sk-" not in shown
    assert shown == f"password={HIDDEN} token={HIDDEN}"


def test_a_long_text_is_not_read_to_its_end() -> None:
    assert excerpt("a-" * 5_000_000, 100) == HIDDEN
    assert excerpt("a b" * 5_000_000, 100) == f"{'a ba b' * 17}"[:99] + HIDDEN


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("seconds", 0.123456789, 0.123457),
        ("count", 3, 3),
        ("count", 10**4000, "<large number>"),
        ("share", float("nan"), "nan"),
        ("share", float("-inf"), "-inf"),
        ("table", {"k" * 99: 1, 5: 2}, {"k" * 59 + HIDDEN: 1, "5": 2}),
        ("table", {"password=hunter2": 1}, {f"password={HIDDEN}": 1}),
        ("truncated", True, True),
        ("nothing", None, None),
        ("reason", Reason.token_budget, "token_budget"),
        ("path", Path("src/a.py"), "src/a.py"),
        ("api_key", "anything", HIDDEN),
        ("X-Api-Key", "anything", HIDDEN),
        ("auth_token", "anything", HIDDEN),
        ("token", "", ""),
        ("limit_tokens", 8000, 8000),
        ("key", 5, 5),
        ("code_snippet", "return 1", "<8 characters>"),
        ("content", "x", "<1 characters>"),
        ("query", "def f():\n    return 1", "<21 characters>"),
        ("query", "q" * 101, "q" * 99 + HIDDEN),
        ("detail", "d" * 301, "d" * 299 + HIDDEN),
        ("raw", b"secret bytes", "<12 bytes>"),
        ("names", ("a", "b"), ["a", "b"]),
        ("names", list(range(50)), list(range(20))),
        ("filters", {"token": "t", "path": "src"}, {"token": HIDDEN, "path": "src"}),
        ("deep", [[[["x"]]]], [[["<list>"]]]),
        ("thing", object(), "<object>"),
    ],
)
def test_a_value_in_a_line(name: str, value: object, expected: object) -> None:
    assert loggable(name, value) == expected
