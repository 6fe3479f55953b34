"""Examples of functions among their neighbours: what was asked, and the whole file around it.

    python -m training.examples.functions CLONE... --out FOLDER [--most 260] [--processes 2]

A question is the message of a commit, its answers are the functions that the commit changed, read
in the state before it; or it is the documentation of a function, and its answer the function without
it. All other symbols of the same files are wrong answers. One file of JSON for each clone.
"""

import argparse
import json
import random
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from multiprocessing import Pool
from pathlib import Path
from typing import NamedTuple

from asterism.analysis.chunks.chunker import FileOrigin, chunk_file
from asterism.analysis.source.text import decode, is_binary
from asterism.analysis.syntax.outlines import outline
from asterism.models.embed.encoder import place_and_code
from asterism.search.ranking.priors import FUNCTIONS
from asterism.types.index import Chunk
from training.examples.documentation import first_sentences, without_documentation
from training.examples.mine import LINE_CHARS, source_name
from training.inputs import present
from training.sources.exclusions import named_like_excluded
from training.sources.functions import FUNCTIONS_AT_MOST, Commit, commits, source_of

MOST = 260
TEXT_CHARACTERS = 1_200
SYMBOLS_AT_MOST = 60
"""Of a file: the answers and the nearest others."""
LARGEST_CHARACTERS = 150_000
DOCUMENTED = 6
"""Questions made of the documentation of one file."""
SHORTEST_DOCUMENTATION = 4


class Asked(NamedTuple):
    """A question about the texts of a source, by number."""

    query: str
    kind: str
    answers: tuple[int, ...]
    others: tuple[int, ...]
    """The other symbols of the same files."""


class Source:
    """The questions and the texts of one source; each text is kept once."""

    def __init__(self, name: str) -> None:
        """Nothing is known yet."""
        self.name = name
        self.asked: list[Asked] = []
        self._numbers: dict[str, int] = {}
        self._documented: set[str] = set()

    def number(self, text: str) -> int:
        """The number of a text."""
        return self._numbers.setdefault(text[:TEXT_CHARACTERS], len(self._numbers))

    def add_commit(self, clone: Path, commit: Commit) -> bool:
        """The question of a commit, and what the documentation of its files asks."""
        files = [
            (path, hunks, chunks_of(path, source_of(clone, commit.parent, path)))
            for path, hunks in commit.hunks.items()
        ]
        if any(not chunks or named_like_excluded(path) for path, _hunks, chunks in files):
            return False
        answers: list[Chunk] = []
        beside: list[Chunk] = []
        for _path, hunks, chunks in files:
            changed = list(dict.fromkeys(changed_chunks(chunks, hunks)))
            answers += changed
            near = [chunk for chunk in chunks if chunk not in changed]
            beside += _nearest(near, hunks[0][0], SYMBOLS_AT_MOST)
        if not 1 <= len({chunk.qualified_name for chunk in answers}) <= FUNCTIONS_AT_MOST:
            return False
        names = {chunk.qualified_name for chunk in answers}
        others = [chunk for chunk in beside if chunk.qualified_name not in names]
        right, wrong = (
            tuple(dict.fromkeys(self.number(place_and_code(chunk.embedding_text)) for chunk in some))
            for some in (answers, others)
        )
        self.asked.append(Asked(commit.query, "commit", right, wrong))
        for path, _hunks, chunks in files:
            if path not in self._documented:
                self._documented.add(path)
                self._add_documentation(path, chunks)
        return True

    def _add_documentation(self, path: str, chunks: Sequence[Chunk]) -> None:
        """Questions made of documentation; all texts of the file are read without theirs."""
        chance = random.Random(path)
        some = chance.sample(chunks, min(len(chunks), SYMBOLS_AT_MOST))
        numbers = [self.number(undocumented(chunk)) for chunk in some]
        told = [
            (number, sentences)
            for number, chunk in zip(numbers, some, strict=True)
            if (sentences := first_sentences(chunk.docstring or chunk.jsdoc or ""))
            and len(sentences.split()) >= SHORTEST_DOCUMENTATION
        ]
        for number, sentences in chance.sample(told, min(len(told), DOCUMENTED)):
            others = tuple(other for other in dict.fromkeys(numbers) if other != number)
            self.asked.append(Asked(sentences, "documentation", (number,), others))

    def written(self, folder: Path) -> int:
        """Write all of it; the number of questions."""
        told = {"source": self.name, "texts": [*self._numbers], "asked": self.asked}
        text = json.dumps(told, ensure_ascii=False, separators=(",", ":"))
        (folder / f"{self.name}.json").write_text(text, encoding="utf-8")
        return len(self.asked)


def chunks_of(path: str, source: bytes) -> list[Chunk]:
    """The symbols of a file as the index reads them; nothing for data and generated code."""
    if not source or is_binary(source):
        return []
    text = decode(source)
    if len(text) > min(LARGEST_CHARACTERS, LINE_CHARS * (text.count(b"\n") + 1)):
        return []
    found = chunk_file(outline(path, text), text, FileOrigin("", path, path))
    return [chunk for chunk in found if chunk.signature]


def changed_chunks(
    chunks: Sequence[Chunk], hunks: Sequence[tuple[int, int]]
) -> Iterator[Chunk]:
    """The innermost function around each replaced line."""
    functions = [chunk for chunk in chunks if chunk.node_kind in FUNCTIONS]
    for first, removed in hunks:
        for line in range(first, first + max(removed, 1)):
            around = [chunk for chunk in functions if chunk.start_line <= line <= chunk.end_line]
            if around:
                yield min(around, key=lambda chunk: chunk.end_line - chunk.start_line)


def undocumented(chunk: Chunk) -> str:
    """A chunk as the encoder reads it, without its documentation."""
    text = place_and_code(chunk.embedding_text)
    return without_documentation(text, chunk.docstring or chunk.jsdoc or "")


def _nearest(chunks: Sequence[Chunk], line: int, most: int) -> list[Chunk]:
    return sorted(chunks, key=lambda chunk: abs(chunk.start_line - line))[:most]


def _mine(task: tuple[str, str, int]) -> str:
    clone, folder, most = Path(task[0]), Path(task[1]), task[2]
    source = Source(source_name(clone))
    kept = islice((True for commit in commits(clone) if source.add_commit(clone, commit)), most)
    return f"{source.name}: {sum(kept)} commits, {source.written(folder)} questions"


def main(arguments: Sequence[str] | None = None) -> int:
    """Mine each clone that has not been mined yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clones", nargs="+", type=present)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--most", type=int, default=MOST)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    tasks = [
        (str(clone), str(options.out), options.most)
        for clone in options.clones
        if not (options.out / f"{source_name(clone)}.json").exists()
    ]
    if options.processes == 1:
        _report(map(_mine, tasks))
        return 0
    with Pool(options.processes, maxtasksperchild=1) as pool:
        _report(pool.imap_unordered(_mine, tasks))
    return 0


def _report(mined: Iterable[str]) -> None:
    for told in mined:
        sys.stderr.write(told + "\n")


if __name__ == "__main__":
    sys.exit(main())
