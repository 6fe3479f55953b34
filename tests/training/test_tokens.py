"""Do tokenizers split identifiers, and is a tokenizer that was cut still the same for what is left?"""

from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers

from tests.training.source_trees import FILES
from training.models.tokens import Padded, cut, train_words, with_code_normalizer

TEXTS = [*FILES.values(), *(f"read file {n} of {n % 7} carts" for n in range(200))]
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]


@pytest.fixture(scope="module")
def words() -> Tokenizer:
    return train_words(TEXTS, 400)


@pytest.fixture(scope="module")
def bytes_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A byte-level tokenizer in the shape of RoBERTa's."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=600, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator([text.lower() for text in TEXTS], trainer)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    path = tmp_path_factory.mktemp("bytes") / "tokenizer.json"
    tokenizer.save(str(path))
    return path


@pytest.mark.parametrize(
    ("text", "same_as"),
    [
        ("readFile", "read file"),
        ("READ_FILE", "read file"),
        ("(read, file);", "read file"),
        ("HTTPFile", "http file"),
        ("ﬁle", "file"),
    ],
)
def test_words(words: Tokenizer, text: str, same_as: str) -> None:
    assert words.encode(text).ids == words.encode(same_as).ids


def test_unknown_words(words: Tokenizer) -> None:
    assert words.get_vocab()["[PAD]"] == 0
    assert words.get_vocab()["[UNK]"] == 1
    assert words.encode("x" * 41).ids == [1]
    assert words.encode("").ids == []
    assert words.get_vocab_size() <= 400


def test_code_normalizer(bytes_file: Path) -> None:
    tokenizer = with_code_normalizer(bytes_file)
    assert tokenizer.encode("readFile\t\t(cart)").ids == tokenizer.encode("read file (cart)").ids


def test_cut(bytes_file: Path) -> None:
    full = with_code_normalizer(bytes_file)
    size = 420
    small, old = cut(full, TEXTS, size)
    assert small.get_vocab_size() == len(old)
    # A token brings those that it is merged from, so there may be a few more.
    assert size <= len(old) < size + 20
    before, after = full.get_vocab(), small.get_vocab()
    assert all(before[token] == old[number] for token, number in after.items())
    for text in (*TEXTS[:8], "日本 ÿ unknown \x00"):
        ids = small.encode(text).ids
        assert ids[0] == after["<s>"]
        assert ids[-1] == after["</s>"]
        assert "".join(small.encode(text).tokens) == "".join(full.encode(text).tokens)
        assert after["<unk>"] not in ids
    # Whatever stayed whole in the large one and is known to the small one stays whole.
    whole = full.encode("cart", add_special_tokens=False)
    if all(token in after for token in whole.tokens):
        assert small.encode("cart", add_special_tokens=False).tokens == whole.tokens


def test_padded(words: Tokenizer) -> None:
    texts = ["read file", "", "cart " * 50, "carts"]
    found = Padded(words, texts, 8, special=False)
    assert len(found) == 4
    assert found.sizes.tolist()[1:3] == [0, 8]
    for number, text in enumerate(texts):
        assert found.of(number).tolist() == words.encode(text).ids[:8]
    matrix = found.matrix(np.array([2, 1, 0], dtype=np.int64), padding=7)
    assert matrix.shape == (3, 16)
    assert matrix[0, :8].tolist() == found.of(2).tolist()
    assert (matrix[0, 8:] == 7).all()
    assert (matrix[1] == 7).all()


def test_no_texts(words: Tokenizer) -> None:
    assert len(Padded(words, [], 8)) == 0
