"""Rows that look like those of real code, made from a seed: files, identifiers, vectors."""

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from asterism.store.chunk_table import Matrix
from asterism.types.index import Chunk, Entry

DIMENSIONS = 256
ROWS_PER_FILE = 20
_WORDS = 6_000
"""Distinct parts of identifiers; a repository of 100,000 chunks has some thousands."""
_TOPICS, _SUBJECTS = 300, 6_000
"""Centres the vectors lie around, as chunks of one subject do, in two levels."""
_COMMON, _TOPIC, _SUBJECT, _NOISE = 0.53, 0.6, 0.45, 0.4
"""Weights of what all vectors share, of their topic, subject and own part: the cosines of the
10th and 100th neighbour and the median come out at 0.83, 0.65 and 0.28, as they do with the
built-in model on a repository of 26,638 chunks (0.83, 0.67, 0.28)."""
_LANGUAGES = (("python", ".py"), ("typescript", ".ts"), ("go", ".go"), ("rust", ".rs"))
_KINDS = ("function", "method", "class", "import", "variable", "interface")


class Corpus:
    """Makes files of rows; the same seed makes the same rows."""

    def __init__(self, seed: int = 7) -> None:
        """Draw the vocabulary and the centres."""
        self._random = np.random.default_rng(seed)
        letters = self._random.integers(97, 123, size=(_WORDS, 7), dtype=np.uint8)
        lengths = self._random.integers(3, 8, size=_WORDS)
        self.words = [
            bytes(row[:length]).decode() for row, length in zip(letters, lengths, strict=True)
        ]
        weights = 1.0 / np.arange(1, _WORDS + 1) ** 1.05
        self._cumulative = np.cumsum(weights / weights.sum())
        self._common = _unit(self._random.standard_normal((1, DIMENSIONS)))
        self._topics = _unit(self._random.standard_normal((_TOPICS, DIMENSIONS)))
        self._subjects = _unit(self._random.standard_normal((_SUBJECTS, DIMENSIONS)))

    def file(self, number: int, version: int) -> tuple[list[Entry], Matrix]:
        """All rows of one reading of one file."""
        language, extension = _LANGUAGES[number % len(_LANGUAGES)]
        folder = "/".join(self.words[(number // 40 + step * 97) % _WORDS] for step in range(3))
        stem = f"{self.words[number % _WORDS]}_{number}"
        path = f"{folder}/{stem}{extension}"
        entries = [
            self._entry(path, language, extension, version, place) for place in range(ROWS_PER_FILE)
        ]
        return entries, self.vectors(ROWS_PER_FILE)

    def vectors(self, count: int) -> Matrix:
        """Unit vectors around a few centres, as queries and rows have."""
        subjects = self._random.integers(0, _SUBJECTS, size=count)
        own = _unit(self._random.standard_normal((count, DIMENSIONS)))
        mixed = (
            _COMMON * self._common
            + _TOPIC * self._topics[subjects % _TOPICS]
            + _SUBJECT * self._subjects[subjects]
            + _NOISE * own
        )
        return _unit(mixed).astype(np.float32)

    def query(self, words: int = 3) -> list[str]:
        """Terms as a person asks for them: neither the commonest nor the rarest."""
        picks = self._random.integers(20, 2_000, size=words)
        return [self.words[pick] for pick in picks]

    def _draw(self, count: int) -> list[str]:
        picks = np.searchsorted(self._cumulative, self._random.random(count))
        return [self.words[min(pick, _WORDS - 1)] for pick in picks]

    def _entry(self, path: str, language: str, extension: str, version: int, place: int) -> Entry:
        size = int(min(600, 8 + self._random.lognormal(3.2, 1.1)))
        terms = self._draw(size)
        name = "_".join(terms[:2])
        kind = _KINDS[place % len(_KINDS)]
        source = " ".join(f"{first}_{second}()" for first, second in _pairs(terms))
        digest = hashlib.sha256(f"{path} {place} {version}".encode()).hexdigest()
        chunk = Chunk(
            id=hashlib.sha256(f"{path} {place}".encode()).hexdigest()[:32],
            file_path=f"/src/benchmark/{path}",
            relative_path=path,
            repo="benchmark",
            language=language,
            extension=extension,
            filename=path.rsplit("/", 1)[-1],
            node_kind=kind,
            name=name,
            qualified_name=f"{terms[0]}.{name}",
            parent_name=None,
            parent_chunk_id=None,
            child_chunk_ids=(),
            depth=0,
            part=0,
            signature=f"def {name}({terms[-1]})",
            full_source=source,
            start_line=place * 30 + 1,
            end_line=place * 30 + 29,
            jsdoc=None,
            docstring=" ".join(terms[:12]) if place % 3 == 0 else None,
            decorator_names=("route",) if place % 10 == 0 else (),
            modifiers=(),
            tags=(),
            is_exported=place % 2 == 0,
            relevant_imports=(),
            embedding_text=f"[{language}] {path} > {name}\n---\n{source}",
            content_hash=digest,
            last_modified=1.7e9,
        )
        body = " ".join(terms)
        return Entry(
            chunk,
            version,
            bytes.fromhex(digest)[:16],
            body,
            name.replace("_", " "),
            path_terms(path),
        )


def path_terms(path: str) -> str:
    """The words of a path."""
    return " ".join(path.replace("/", " ").replace("_", " ").replace(".", " ").split())


def _pairs(terms: Sequence[str]) -> list[tuple[str, str]]:
    return list(zip(terms[::2], terms[1::2], strict=False))


def _unit(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    lengths: NDArray[np.float64] = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: NDArray[np.float64] = vectors / lengths
    return unit
