"""Collects the chunks and queries that training is measured with.

python -m training.evaluation.questions FILE --repos-dir DIR
"""

import argparse
import json
import pickle
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from asterism.analysis.chunks.embedding_text import RULE
from asterism.analysis.contents import read_chunks
from asterism.analysis.source.discovery import discover
from asterism.evaluation.datasets import load_dataset
from asterism.types.errors import AsterismError
from asterism.types.index import Chunk
from training.evaluation.scoring import Collection, Place
from training.examples.documentation import without_documentation
from training.inputs import present

# More than any model reads.
TEXT_CHARS = 3_000


class Texts(NamedTuple):
    """How much of a chunk's text models are given."""

    characters: int | None = TEXT_CHARS
    documented: bool = True
    """Without documentation only the code itself can answer."""


def collection(root: Path, language: str, wanted: Texts = Texts()) -> Collection:  # noqa: B008 - immutable
    """Every chunk below a root, as the index would embed it."""
    places: list[Place] = []
    texts: list[str] = []
    for file in discover(str(root)).files:
        try:
            chunks = read_chunks(str(root / file.path), file.path, root.name).chunks
        except AsterismError:
            continue
        for chunk in chunks:
            text = chunk.embedding_text if wanted.documented else undocumented(chunk)
            places.append(Place(file.path, chunk.start_line, chunk.end_line))
            texts.append(text[: wanted.characters])
    return Collection(language, places, texts)


def undocumented(chunk: Chunk) -> str:
    """A chunk's text without what its documentation says."""
    head, rule, code = chunk.embedding_text.partition(f"\n{RULE}\n")
    if not rule or not chunk.docstring:
        return chunk.embedding_text
    kept = (line for line in head.split("\n") if not line.startswith("Purpose: "))
    return "\n".join((*kept, RULE, without_documentation(code, chunk.docstring)))


def main(arguments: Sequence[str] | None = None) -> int:
    """Write questions and chunks into one file, so that models can be measured anywhere."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("questions", type=present)
    parser.add_argument("--repos-dir", type=present, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--undocumented", action="store_true", help="code without documentation")
    options = parser.parse_args(arguments)
    dataset = load_dataset(options.questions)
    file = options.questions / "queries.jsonl" if options.questions.is_dir() else options.questions
    lines = file.read_text(encoding="utf-8").split("\n")
    asked = [json.loads(line) for line in lines if line.strip()]
    collections = {}
    for name in dict.fromkeys(query.repo for query in dataset.queries):
        checkout = dataset.checkouts[name]
        language = checkout.language or name
        wanted = Texts(documented=not options.undocumented)
        found = collection(options.repos_dir / name / checkout.root, language, wanted)
        collections[name] = (found.language, [tuple(place) for place in found.places], found.texts)
        sys.stderr.write(f"{name}: {len(found.texts)} chunks\n")
    with options.out.open("wb") as file:
        pickle.dump((asked, collections), file, protocol=5)
    return 0


if __name__ == "__main__":
    sys.exit(main())
