"""One file from disk to outline and chunks, in this process or in several."""

import hashlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple, TypeVar

from asterism.analysis.chunks.chunker import Place, chunk_file
from asterism.analysis.chunks.options import ChunkOptions
from asterism.analysis.source.text import decode, is_binary, read
from asterism.analysis.syntax.outlines import outline
from asterism.domain.chunk import Chunk
from asterism.domain.errors import NotText
from asterism.domain.files import display_path
from asterism.domain.outline import Outline

# Files handed to a worker at once: fewer, and the hand-over costs more than the parsing.
BATCH = 32

# Batches under way per worker: one being worked on, one waiting, so that memory stays bounded.
AHEAD = 2

Task = TypeVar("Task")
Result = TypeVar("Result")


class Reading(NamedTuple):
    """A file's decoded text and what was read in it."""

    source: bytes
    outline: Outline
    chunks: list[Chunk]


def read_outline(path: str, relative_path: str) -> Outline:
    """The outline of a file; a binary file is an error that says so."""
    return outline(relative_path, decode(_text(path)))


def read_chunks(
    path: str, relative_path: str, repo: str, options: ChunkOptions | None = None
) -> Reading:
    """The decoded text, outline and chunks of a file; a binary file is an error that says so."""
    data = _text(path)
    source = decode(data)
    found = outline(relative_path, source)
    digest = hashlib.sha256(data).hexdigest()
    place = Place(repo, path, relative_path, digest, Path(path).stat().st_mtime)
    return Reading(source, found, chunk_file(found, source, place, options))


def _text(path: str) -> bytes:
    data = read(path)
    if is_binary(data):
        raise NotText(f"{display_path(path)} is a binary file; outlines and chunks need text.")
    return data


def in_parallel(
    work: Callable[[Sequence[Task]], Result], tasks: Iterable[Task], workers: int
) -> Iterator[Result]:
    """Apply `work` to batches of tasks in order, holding only a few batches at a time.

    `work` is a module-level function. One worker means this very process.
    """
    batches = _batches(tasks)
    if workers <= 1:
        yield from map(work, batches)
        return
    # A fork server: plain forks are unsafe beside threads, spawning costs an import per worker.
    context = get_context("forkserver")
    context.set_forkserver_preload(["asterism.analysis.reading"])
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        waiting: deque[Future[Result]] = deque()
        for batch in islice(batches, workers * AHEAD):
            waiting.append(pool.submit(work, batch))
        while waiting:
            result = waiting.popleft().result()
            for batch in islice(batches, 1):
                waiting.append(pool.submit(work, batch))
            yield result


def _batches(tasks: Iterable[Task]) -> Iterator[Sequence[Task]]:
    pending = iter(tasks)
    while batch := list(islice(pending, BATCH)):
        yield batch
