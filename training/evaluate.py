"""Measure finished files: `python -m training.evaluate QUESTIONS --encoder FOLDER`."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from training import scoring
from training.queries import words
from training.scoring import Collection

BATCH = 16
RERANKED = 40
# Shares of the reranker in the blend with the first stage's order.
BLENDS = (0.0, 0.35, 0.5, 0.65, 1.0)


class Model:
    """An ONNX file with its tokenizer."""

    def __init__(self, folder: Path, longest: int) -> None:
        """Load both; two threads, as on a laptop that does something else as well."""
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 2
        self._session = onnxruntime.InferenceSession(
            str(folder / "model.int8.onnx"), options, providers=["CPUExecutionProvider"]
        )
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(longest, strategy="longest_first")
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        self._padding = int(config["pad_token_id"])

    def __call__(self, texts: Sequence[str | tuple[str, str]]) -> NDArray[np.float32]:
        """A vector, or a score, for each text or pair; short ones are read together."""
        tokens = [found.ids for found in self._tokenizer.encode_batch_fast(list(texts))]
        order = sorted(range(len(tokens)), key=lambda number: len(tokens[number]))
        results: list[Any] = [None] * len(tokens)
        for start in range(0, len(order), BATCH):
            part = order[start : start + BATCH]
            width = max(len(tokens[number]) for number in part)
            ids = np.full((len(part), width), self._padding, dtype=np.int64)
            mask = np.zeros((len(part), width), dtype=np.int64)
            for row, number in enumerate(part):
                ids[row, : len(tokens[number])] = tokens[number]
                mask[row, : len(tokens[number])] = 1
            found = self._session.run(None, {"input_ids": ids, "attention_mask": mask})[0]
            for row, number in enumerate(part):
                results[number] = found[row]
        return np.array(results, dtype=np.float32)


def _texts(collection: Collection, prefixed: bool) -> list[str]:
    if not prefixed:
        return collection.texts
    prefixes = (" ".join(words(place.path.rsplit(".", 1)[0])[-5:]) for place in collection.places)
    return [f"{first}\n{text}" for first, text in zip(prefixes, collection.texts, strict=True)]


def _scaled(values: NDArray[np.float32]) -> NDArray[np.float32]:
    span = float(values.max() - values.min()) or 1.0
    scaled: NDArray[np.float32] = (values - values.min()) / np.float32(span)
    return scaled


def main(arguments: Sequence[str] | None = None) -> int:
    """Print NDCG@10 of the encoder alone, and of its first 40 blended with the reranker."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--encoder", type=Path, required=True)
    parser.add_argument("--reranker", type=Path)
    parser.add_argument("--path-prefix", action="store_true", help="for the first generation")
    parser.add_argument("--chunks-at-most", type=int, default=1_000_000)
    options = parser.parse_args(arguments)
    asked, collections = scoring.load(options.questions)
    collections = {
        name: found
        for name, found in collections.items()
        if len(found.texts) <= options.chunks_at_most
    }
    asked = [question for question in asked if question["repo"] in collections]
    encoder = Model(options.encoder, 256)
    reranker = Model(options.reranker, 160) if options.reranker else None
    vectors = {
        name: encoder(_texts(found, options.path_prefix)) for name, found in collections.items()
    }
    questions = encoder([str(question["query"]) for question in asked])
    rankings: dict[float, dict[str, list[scoring.Place]]] = {blend: {} for blend in BLENDS}
    for question, vector in zip(asked, questions, strict=True):
        found = collections[question["repo"]]
        alike = vectors[question["repo"]] @ vector
        best = np.argsort(-alike)[:100]
        first = best[:RERANKED]
        scores = np.zeros(len(first), dtype=np.float32)
        if reranker:
            scores = reranker([(str(question["query"]), found.texts[place]) for place in first])
        for blend in BLENDS if reranker else BLENDS[:1]:
            order = best
            if blend:
                mixed = blend * _scaled(scores) + (1 - blend) * _scaled(alike[first])
                order = np.concatenate((first[np.argsort(-mixed)], best[RERANKED:]))
            rankings[blend][question["id"]] = [found.places[number] for number in order]
    for blend, ranked in rankings.items():
        if ranked:
            figures = json.dumps(scoring.summary(asked, ranked))
            sys.stdout.write(f"{len(asked)} questions, reranker's share {blend}: {figures}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
