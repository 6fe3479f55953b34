"""Tokenizers: one trained on the examples, and one of a known model cut to what code needs."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tokenizers import Tokenizer

# What every identifier is split at, before anything else.
_CAMEL = (r"(?<=[a-z0-9])(?=[A-Z])", r"(?<=[A-Z])(?=[A-Z][a-z])")
TOKENIZED_AT_ONCE = 20_000


def train_words(texts: Iterable[str], size: int) -> "Tokenizer":
    """A WordPiece tokenizer of words: identifiers are split, case and signs are dropped."""
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=40))
    tokenizer.normalizer = normalizers.Sequence(
        [
            *(normalizers.Replace(Regex(pattern), " ") for pattern in _CAMEL),
            normalizers.NFKC(),
            normalizers.Lowercase(),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Split(
        Regex(r"\p{L}+|\p{N}+"), behavior="removed", invert=True
    )
    trainer = trainers.WordPieceTrainer(
        vocab_size=size,
        min_frequency=6,
        special_tokens=["[PAD]", "[UNK]"],
        limit_alphabet=200,
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def with_code_normalizer(path: Path) -> "Tokenizer":
    """A byte-level tokenizer that splits identifiers, drops case and indentation first."""
    from tokenizers import Regex, Tokenizer, normalizers

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.normalizer = normalizers.Sequence(
        [
            *(normalizers.Replace(Regex(pattern), " ") for pattern in _CAMEL),
            normalizers.Replace(Regex(r"[ \t_]+"), " "),
            normalizers.Lowercase(),
        ]
    )
    return tokenizer


def cut(tokenizer: "Tokenizer", texts: Sequence[str], size: int) -> tuple["Tokenizer", list[int]]:
    """The tokenizer with the most used tokens alone, and the old id of each of them.

    A token needs the two that it is merged from, and those need theirs, or it would never appear.
    """
    from tokenizers import Tokenizer

    told: dict[str, Any] = json.loads(tokenizer.to_str())
    vocabulary: dict[str, int] = told["model"]["vocab"]
    merges = [_pair(merge) for merge in told["model"]["merges"]]
    parents: dict[str, tuple[str, str]] = {}
    for left, right in merges:
        parents.setdefault(left + right, (left, right))
    special = [entry["content"] for entry in told["added_tokens"]]
    kept = {token for token in vocabulary if len(token) == 1} | set(special)
    names = {number: token for token, number in vocabulary.items()}
    for number, _count in _counted(tokenizer, texts).most_common():
        if len(kept) >= size:
            break
        kept |= _family(names[number], parents)
    order = sorted(kept, key=lambda token: vocabulary[token])
    told["model"]["vocab"] = {token: number for number, token in enumerate(order)}
    told["model"]["merges"] = [
        [left, right] for left, right in merges if {left, right, left + right} <= kept
    ]
    for entry in told["added_tokens"]:
        entry["id"] = told["model"]["vocab"][entry["content"]]
    for name in ("sep", "cls"):
        token = told["post_processor"][name][0]
        told["post_processor"][name] = [token, told["model"]["vocab"][token]]
    return Tokenizer.from_str(json.dumps(told)), [vocabulary[token] for token in order]


def _pair(merge: str | list[str]) -> tuple[str, str]:
    left, right = merge.split(" ") if isinstance(merge, str) else merge
    return left, right


def _family(token: str, parents: dict[str, tuple[str, str]]) -> set[str]:
    found: set[str] = set()
    waiting = [token]
    while waiting:
        current = waiting.pop()
        if current not in found:
            found.add(current)
            waiting.extend(parents.get(current, ()))
    return found


def _counted(tokenizer: "Tokenizer", texts: Sequence[str]) -> Counter[int]:
    counts: Counter[int] = Counter()
    for start in range(0, len(texts), TOKENIZED_AT_ONCE):
        for encoding in tokenizer.encode_batch_fast(list(texts[start : start + TOKENIZED_AT_ONCE])):
            counts.update(encoding.ids)
    return counts


class Padded:
    """Token ids of many texts, each cut at the same length, one after the other."""

    def __init__(
        self, tokenizer: "Tokenizer", texts: Sequence[str], longest: int, special: bool = True
    ):
        """Tokenise everything, in all threads there are."""
        tokenizer.enable_truncation(longest)
        flat: list[NDArray[np.int32]] = []
        sizes = np.zeros(len(texts) + 1, dtype=np.int64)
        for start in range(0, len(texts), TOKENIZED_AT_ONCE):
            part = list(texts[start : start + TOKENIZED_AT_ONCE])
            for offset, found in enumerate(
                tokenizer.encode_batch_fast(part, add_special_tokens=special)
            ):
                flat.append(np.array(found.ids, dtype=np.int32))
                sizes[start + offset + 1] = len(found.ids)
        self.ids = np.concatenate(flat) if flat else np.zeros(0, dtype=np.int32)
        self.starts = np.cumsum(sizes)
        self.sizes = np.diff(self.starts)

    def __len__(self) -> int:
        """How many texts."""
        return len(self.sizes)

    def of(self, number: int) -> NDArray[np.int32]:
        """The tokens of one text."""
        return self.ids[self.starts[number] : self.starts[number + 1]]

    def matrix(self, numbers: NDArray[np.int64], padding: int) -> NDArray[np.int32]:
        """The tokens of some texts, padded to the longest of them."""
        sizes = self.sizes[numbers]
        width = int(-(-max(1, sizes.max(initial=1)) // 16) * 16)
        columns = np.arange(width)
        inside = columns[np.newaxis] < sizes[:, np.newaxis]
        places = np.minimum(self.starts[numbers][:, np.newaxis] + columns, len(self.ids) - 1)
        return np.where(inside, self.ids[places], padding).astype(np.int32)
