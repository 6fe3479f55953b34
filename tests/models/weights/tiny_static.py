"""A static model of a few hundred bytes that runs like the real one."""

import json
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer, normalizers, pre_tokenizers
from tokenizers.models import WordPiece

from scripts.describe_model import describe

WORDS = ("[PAD]", "[UNK]", "cart", "pay", "token", "check", "read", "file", "how", "is", "a", "def")
DIMENSIONS = 4


def make_static(folder: Path, name: str = "tiny", seed: int = 7) -> Path:
    """A folder with a row of whole numbers for each word."""
    folder.mkdir(parents=True)
    chance = np.random.default_rng(seed)
    rows = chance.integers(-127, 128, size=(len(WORDS), DIMENSIONS), dtype=np.int8)
    np.save(folder / "embeddings.int8.npy", rows)
    tokenizer = Tokenizer(WordPiece({word: n for n, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    about = {
        "name": name,
        "kind": "static",
        "dimensions": DIMENSIONS,
        "max_tokens": 512,
        "query_tokens": 512,
    }
    (folder / "model.json").write_text(json.dumps(describe(folder, about)), "utf-8")
    return folder
