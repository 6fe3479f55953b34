"""Does the built-in model follow its recipe, whatever texts are in one batch?"""

import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

import asterism.models.embed
from asterism.models.embed.provider import Embedder
from asterism.models.embed.static import BLOCK, StaticEmbedder, TextTokens, pooled
from asterism.types.index import ModelIdentity

PACKAGE = Path(asterism.models.embed.__file__).parent
ROWS = np.load(PACKAGE / "data" / "asterism-static-2" / "embeddings.int8.npy")
TOKENIZER = Tokenizer.from_file(str(PACKAGE / "data" / "asterism-static-2" / "tokenizer.json"))

SOURCES = sorted((Path(__file__).parents[2] / "fixtures").rglob("*.*"))
TEXTS = [path.read_bytes().decode("utf-8", "replace") for path in SOURCES if path.is_file()]


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return StaticEmbedder()


def by_the_recipe(text: str) -> list[float]:
    """The recipe in its plainest form, in double precision."""
    ids = TOKENIZER.encode(text, add_special_tokens=False).ids[:512]
    total = np.zeros(256)
    for token, count in Counter(token for token in ids if token > 1).items():
        total += math.sqrt(count) * ROWS[token].astype(np.float64)
    length = np.linalg.norm(total)
    vector: list[float] = (total / length if length else total).tolist()
    return vector


def test_identity_needs_no_model() -> None:
    embedder = StaticEmbedder()
    assert embedder.identity == ModelIdentity("local", "asterism-static-2", 256)
    assert embedder._model is None


def test_recipe(embedder: Embedder) -> None:
    found = embedder.embed_documents(TEXTS)
    assert found.shape == (len(TEXTS), 256)
    assert found.dtype == np.float32
    # Half precision keeps eleven bits of parts below one.
    np.testing.assert_allclose(found, [by_the_recipe(text) for text in TEXTS], atol=2**-12)


def test_neighbours_do_not_matter(embedder: Embedder) -> None:
    together = embedder.embed_documents(TEXTS)
    backwards = embedder.embed_documents(TEXTS[::-1])[::-1]
    alone = np.concatenate([embedder.embed_documents([text]) for text in TEXTS])
    assert (together == alone).all()
    assert (together == backwards).all()


def test_more_than_one_block(embedder: Embedder) -> None:
    texts = [f"handler number {number} of request {number % 7}" for number in range(2 * BLOCK + 3)]
    together = embedder.embed_documents(texts)
    places = [0, BLOCK - 1, BLOCK, 2 * BLOCK, 2 * BLOCK + 2]
    assert (together[places] == embedder.embed_documents([texts[place] for place in places])).all()


def test_rounding_is_done(embedder: Embedder) -> None:
    vectors = embedder.embed_documents(TEXTS)
    assert (vectors.astype(np.float16) == vectors).all()
    lengths = np.linalg.norm(vectors, axis=1)
    assert ((np.abs(lengths - 1) < 1e-3) | (lengths == 0)).all()


def test_pooling() -> None:
    """By hand: padding and unknown words have no part; four times the same counts twice."""
    rows = np.array([[100, 100], [100, 100], [1, 0], [0, 3]], dtype=np.int8)
    texts = np.array([0, 0, 0, 0, 0, 0, 2, 2], dtype=np.int32)
    ids = np.array([2, 1, 2, 3, 2, 2, 0, 3], dtype=np.int32)
    assert pooled(TextTokens(texts, ids), rows, 4).tolist() == [[2, 3], [0, 0], [0, 3], [0, 0]]


@pytest.mark.parametrize("text", ["", "  \n", "()!?", "x" * 41, "[PAD][UNK]"])
def test_text_without_known_words_is_zero(embedder: Embedder, text: str) -> None:
    vectors = embedder.embed_documents(["a word", text, "a word"])
    assert not vectors[1].any()
    assert (vectors[0] == vectors[2]).all()
    assert vectors[0].any()


def test_questions_are_read_like_documents(embedder: Embedder) -> None:
    texts = ["where is the router", "parse a header"]
    assert (embedder.embed_queries(texts) == embedder.embed_documents(texts)).all()


def test_related_texts_are_nearer(embedder: Embedder) -> None:
    texts = [
        "def read_json(path): return json.loads(path.read_text())",
        "class ButtonColour(Enum): RED = 1",
    ]
    query = embedder.embed_queries(["load a json file"])[0]
    near, far = embedder.embed_documents(texts) @ query
    assert near > far + 0.2


def test_no_texts(embedder: Embedder) -> None:
    assert embedder.embed_documents([]).shape == (0, 256)


def test_usable_after_closing() -> None:
    embedder = StaticEmbedder()
    first = embedder.embed_queries(["a word"])
    embedder.close()
    assert (embedder.embed_queries(["a word"]) == first).all()


def test_rows_are_whole_numbers_of_a_byte() -> None:
    assert ROWS.shape == (50_000, 256)
    assert ROWS.dtype == np.int8
