"""Small entries and vectors for tests of chunk tables."""

import hashlib
from typing import Any

import numpy as np

from asterism.store.chunk_table import Matrix, Vector
from asterism.types.index import Chunk, Entry

DIMENSIONS = 4


def chunk(path: str = "src/app.py", name: str = "run", **fields: Any) -> Chunk:
    """A chunk that has something in every field, but for what the call says."""
    extension = "." + path.rsplit(".", 1)[-1] if "." in path else ""
    values: dict[str, Any] = {
        "id": hashlib.sha256(f"{path} {name}".encode("utf-8", "surrogatepass")).hexdigest()[:32],
        "file_path": f"/work/{path}",
        "relative_path": path,
        "repo": "harbor",
        "language": "python",
        "extension": extension,
        "filename": path.rsplit("/", 1)[-1],
        "node_kind": "function",
        "name": name,
        "qualified_name": f"Outer.{name}",
        "parent_name": "Outer",
        "parent_chunk_id": "parent",
        "child_chunk_ids": ("first", "second"),
        "depth": 1,
        "part": 0,
        "signature": f"def {name}():",
        "full_source": f"def {name}():\n    return 1\n",
        "start_line": 3,
        "end_line": 4,
        "jsdoc": None,
        "docstring": "What it does.",
        "decorator_names": ("app.route", "cached"),
        "modifiers": ("async",),
        "tags": ("a", "b"),
        "is_exported": True,
        "relevant_imports": ("import os",),
        "embedding_text": f"[Python] {path} > {name}\n---\ncode",
        "content_hash": "0f" * 32,
        "last_modified": 1234567890.25,
    }
    return Chunk(**{**values, **fields})


def entry(
    row: Chunk, version: int = 1, terms: str = "", name_terms: str = "", path_terms: str = ""
) -> Entry:
    """An entry of a chunk, with the terms that a test is about."""
    return Entry(row, version, bytes(16), terms, name_terms, path_terms)


def unit(*values: float) -> Vector:
    """A vector of length one in this direction."""
    vector = np.zeros(DIMENSIONS, dtype=np.float32)
    vector[: len(values)] = values
    scaled: Vector = vector / np.linalg.norm(vector)
    return scaled


def units(count: int, seed: int = 0, dimensions: int = DIMENSIONS) -> Matrix:
    """Unit vectors in any direction."""
    drawn = np.random.default_rng(seed).standard_normal((count, dimensions))
    scaled: Matrix = (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)
    return scaled
