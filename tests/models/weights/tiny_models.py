"""Models of a few hundred bytes that run like the real ones: a sum over the words of a text."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

from scripts.describe_model import describe

WORDS = ("<s>", "</s>", "<pad>", "<unk>", "cart", "pay", "token", "check", "read", "file", "price")
DIMENSIONS = 4

_FLOAT, _INT64 = 1, 7


def make_encoder(folder: Path, name: str = "tiny") -> Path:
    """A folder with an encoder: the rows of a text's words added up, at unit length."""
    rows = np.random.default_rng(7).normal(size=(len(WORDS), DIMENSIONS)).astype(np.float32)
    nodes = [
        _node("Gather", ["rows", "input_ids"], "words"),
        _node("ReduceSum", ["words", "axis"], "sums", _number("keepdims", 0)),
        _node("LpNormalization", ["sums"], "v", _number("axis", -1), _number("p", 2)),
    ]
    return _folder(folder, name, "encoder", _model(nodes, rows, "v", DIMENSIONS))


def make_reranker(folder: Path, name: str = "tiny", **ranking: float) -> Path:
    """A folder with a reranker: it likes texts about carts and paying."""
    rows = np.zeros((len(WORDS), 1), dtype=np.float32)
    rows[WORDS.index("cart")] = 1.5
    rows[WORDS.index("pay")] = 2.0
    nodes = [
        _node("Gather", ["rows", "input_ids"], "words"),
        _node("ReduceSum", ["words", "axis"], "score", _number("keepdims", 0)),
    ]
    return _folder(folder, name, "reranker", _model(nodes, rows, "score", 1), ranking)


def rewrite(folder: Path, **changes: object) -> None:
    """Change what a folder's description says."""
    file = folder / "model.json"
    file.write_text(json.dumps(json.loads(file.read_text("utf-8")) | changes), "utf-8")


def _folder(
    folder: Path, name: str, kind: str, model: bytes, ranking: dict[str, float] | None = None
) -> Path:
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(model)
    tokenizer = Tokenizer(WordLevel({word: n for n, word in enumerate(WORDS)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 1)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    content = describe(
        folder,
        {
            "name": name,
            "kind": kind,
            "dimensions": DIMENSIONS if kind == "encoder" else 1,
            "max_tokens": 16,
            "query_tokens": 8,
            "ranking": ranking or {},
        },
    )
    (folder / "model.json").write_text(json.dumps(content), "utf-8")
    return folder


# What follows writes the few messages of the ONNX format that are needed, field by field.


def _model(nodes: Sequence[bytes], rows: NDArray[np.float32], output: str, width: int) -> bytes:
    graph = b"".join(_field(1, node) for node in nodes) + _field(2, b"tiny")
    graph += _field(5, _tensor("rows", _FLOAT, rows))
    graph += _field(5, _tensor("axis", _INT64, np.array([1], dtype=np.int64)))
    for name in ("input_ids", "attention_mask"):
        graph += _field(11, _value(name, _INT64, ["texts", "tokens"]))
    graph += _field(12, _value(output, _FLOAT, ["texts", width]))
    return _field(1, 8) + _field(7, graph) + _field(8, _field(1, b"") + _field(2, 18))


def _node(kind: str, inputs: Sequence[str], output: str, *attributes: bytes) -> bytes:
    named = b"".join(_field(1, name.encode()) for name in inputs) + _field(2, output.encode())
    return named + _field(4, kind.encode()) + b"".join(_field(5, one) for one in attributes)


def _number(name: str, value: int) -> bytes:
    return _field(1, name.encode()) + _field(3, value) + _field(20, 2)


def _tensor(name: str, kind: int, values: NDArray[np.float32] | NDArray[np.int64]) -> bytes:
    shape = b"".join(_field(1, size) for size in values.shape)
    return shape + _field(2, kind) + _field(8, name.encode()) + _field(9, values.tobytes())


def _value(name: str, kind: int, shape: Sequence[str | int]) -> bytes:
    sizes = [
        _field(1, size) if isinstance(size, int) else _field(2, size.encode()) for size in shape
    ]
    dimensions = b"".join(_field(1, size) for size in sizes)
    return _field(1, name.encode()) + _field(2, _field(1, _field(1, kind) + _field(2, dimensions)))


def _field(number: int, value: int | bytes) -> bytes:
    """One field of a protocol buffer: a whole number, or bytes with their length."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value & (2**64 - 1))
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    found = bytearray()
    while value >= 0x80:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])
