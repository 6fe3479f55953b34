"""Chunks and questions to measure with: `python -m training.questions FILE --repos-dir DIR`."""

import argparse
import json
import pickle
import sys
from collections.abc import Sequence
from pathlib import Path

from asterism.analysis.reading import read_chunks
from asterism.analysis.source.discovery import discover
from asterism.domain.errors import AsterismError
from training.scoring import Collection, Place

# More than any model reads.
TEXT_CHARS = 3_000


def collection(root: Path, language: str) -> Collection:
    """Every chunk below a root, as the index would embed it."""
    places: list[Place] = []
    texts: list[str] = []
    for file in discover(str(root)).files:
        try:
            chunks = read_chunks(str(root / file.path), file.path, root.name).chunks
        except AsterismError:
            continue
        for chunk in chunks:
            places.append(Place(file.path, chunk.start_line, chunk.end_line))
            texts.append(chunk.embedding_text[:TEXT_CHARS])
    return Collection(language, places, texts)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write questions and chunks into one file, so that models can be measured anywhere."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--repos-dir", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args(arguments)
    asked = [json.loads(line) for line in options.questions.open(encoding="utf-8")]
    collections = {}
    for name, language in {
        question["repo"]: question.get("language", question["repo"]) for question in asked
    }.items():
        root = options.repos_dir / name
        found = collection(root, language)
        collections[name] = (found.language, [tuple(place) for place in found.places], found.texts)
        sys.stderr.write(f"{name}: {len(found.texts)} chunks\n")
    with options.out.open("wb") as file:
        pickle.dump((asked, collections), file, protocol=5)
    return 0


if __name__ == "__main__":
    sys.exit(main())
