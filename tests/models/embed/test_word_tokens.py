"""Does tokenising word by word give what the tokenizer gives for whole texts?"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

import asterism.models.embed
from asterism.models.embed import static
from asterism.models.embed.static import TOKENS_AT_MOST, WordTokens, words_of

MODEL = Path(asterism.models.embed.__file__).parent / "data" / "asterism-static-2"
TOKENIZER = Tokenizer.from_file(str(MODEL / "tokenizer.json"))
TOKENIZER.enable_truncation(TOKENS_AT_MOST)

FIXTURES = sorted(
    path
    for path in (Path(__file__).parents[2] / "fixtures").rglob("*")
    if path.is_file() and "__pycache__" not in path.parts
)


def plain(texts: Sequence[str]) -> list[list[int]]:
    """The tokenizer's own answer."""
    encodings = TOKENIZER.encode_batch_fast(list(texts), add_special_tokens=False)
    return [encoding.ids for encoding in encodings]


def known(ids: Sequence[int]) -> list[int]:
    """Tokens that have a place in a vector: neither padding nor unknown."""
    return [token for token in ids if token > 1]


def word_by_word(texts: Sequence[str], tokens: WordTokens) -> list[list[int]]:
    found = tokens(texts)
    assert (np.diff(found.texts) >= 0).all()
    return [found.ids[found.texts == position].tolist() for position in range(len(texts))]


def check(texts: Sequence[str]) -> None:
    tokens = WordTokens(plain)
    expected = plain(texts)
    first = word_by_word(texts, tokens)
    assert [known(ids) for ids in first] == [known(ids) for ids in expected]
    assert [len(ids) for ids in first] == [len(ids) for ids in expected]
    assert word_by_word(texts, tokens) == first, "remembered words gave other tokens"


PIECES = st.sampled_from(
    [
        *"aZ09_ .,()[]{}<>=\"'`~^\n\t\r\0\x1f\x7f",
        "getHTTPResponse", "XMLParser2Go", "snake_case_name", "CONST_VALUE", "x1y2", "iOS", "ABc",
        "[PAD]", "[UNK]", "[PAD", "UNK]", "[unk]", "a" * 40, "b" * 41, "aB" * 60, "0" * 45,
        # What NFKC, case folding and classes of characters treat specially.
        "e\u0301", "\u0301", "\u0338", "=\u0338", "\ufb01", "ß", "ẞ", "İ", "Σ", "ς", "ſ", "K", "Å",
        "\u1100\u1161\u11a8", "한", "漢字", "Ⅷ", "½", "²", "①", "\u00a8", "\u00a0", "\u2003", "\u3000",
        "\u200d", "\ufeff", "—", "’", "😀", "𝔘", "ǅ", "ﷺ", "\u0345", "ᾳ", "٣", "५", "naïve", "Größe",
    ]
)  # fmt: skip
TEXTS = st.lists(PIECES | st.text(max_size=4), max_size=30).map("".join)


@settings(max_examples=400, deadline=None)
@given(st.lists(TEXTS, max_size=4))
def test_any_text(texts: list[str]) -> None:
    check(texts)


@settings(max_examples=60, deadline=None)
@given(st.lists(PIECES | st.text(max_size=3), min_size=1, max_size=8), st.integers(60, 700))
def test_texts_beyond_the_last_token_that_counts(pieces: list[str], times: int) -> None:
    check(["".join(pieces) * times, " ".join(pieces) * times])


def test_every_fixture() -> None:
    texts = [path.read_bytes().decode("utf-8", "replace") for path in FIXTURES]
    assert len(texts) > 200
    check(texts)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n\t", []),
        ("()[]_-", []),
        ("get_value(x1)", [b"get", b"value", b"x1"]),
        ("Größe=naïve", ["Größe".encode(), "naïve".encode()]),
        ("a\ud800b", [b"a", b"b"]),
        ("x " * 600, [b"x"] * TOKENS_AT_MOST),
    ],
)
def test_words(text: str, expected: list[bytes]) -> None:
    assert words_of(text) == expected


def test_each_word_is_tokenised_once() -> None:
    asked: list[str] = []

    def tokenise(texts: Sequence[str]) -> list[list[int]]:
        asked.extend(texts)
        return plain(texts)

    tokens = WordTokens(tokenise)
    tokens(["def get(self): return self.value", "get value"])
    tokens(["value get self other"])
    assert asked == ["def", "get", "self", "return", "value", "other"]


@pytest.mark.parametrize("limit", ["WORDS_AT_MOST", "WORD_BYTES_AT_MOST"])
def test_memory_is_bounded(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(static, limit, 50)
    tokens = WordTokens(plain)
    for start in range(0, 1000, 20):
        texts = [f"word{number} w{number}" for number in range(start, start + 20)]
        assert word_by_word(texts, tokens) == plain(texts)
    assert len(tokens._numbers) < 100


def test_no_texts() -> None:
    assert word_by_word([], WordTokens(plain)) == []
