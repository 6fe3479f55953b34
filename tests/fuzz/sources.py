"""Damaged source files of every language, through outline, chunks, symbol rows and search terms.

A case is a file name, a newline, and the file's bytes.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from random import Random

from asterism.analysis.chunks.units import ChunkOptions
from asterism.analysis.chunks.validation import RULES
from asterism.analysis.resolve.offers import exported_signatures, wanted_names
from asterism.analysis.source.text import decode
from asterism.analysis.syntax.language import TABLE, DialectEntry
from asterism.analysis.syntax.outlines import UNFOLLOWED, language_of, outline_tree
from asterism.analysis.terms import joined_terms, name_terms, path_terms
from tests.analysis.chunks.invariants import inspected
from tests.analysis.syntax.material import SOURCES, sources_of
from tests.fuzz.mutations import crossed, damaged, window
from tests.fuzz.target import Check, Target, one_by_one

SMALL = ChunkOptions(max_tokens=200)
"""A small limit, so that functions are split into parts."""


@cache
def _material(entry: DialectEntry) -> list[bytes]:
    return [path.read_bytes() for path in sources_of(entry)]


@cache
def _everything() -> list[bytes]:
    return [path.read_bytes() for path in SOURCES]


def _case(random: Random) -> bytes:
    entry = random.choice(TABLE)
    data = window(random.choice(_material(entry)), random)
    chance = random.random()
    if chance < 0.15:
        data = crossed(data, window(random.choice(_material(entry)), random), random)
    elif chance < 0.2:
        data = crossed(data, window(random.choice(_everything()), random), random)
    extension = random.choice(entry.extensions) if entry.extensions else ".unknown"
    return f"sample{extension}\n".encode() + damaged(data, random)


@contextmanager
def _opened(_place: Path) -> Iterator[Check]:
    yield _check


def _check(case: bytes) -> list[str]:
    head, _, data = case.partition(b"\n")
    name = head.decode("utf-8", "replace") or "sample"
    # Every eighth by its length: the same for a case wherever it is checked.
    options = SMALL if len(data) % 8 == 0 else None
    found = inspected(name, data, options)
    if UNFOLLOWED in found.outline.problems:
        source = decode(data)
        # Raises what was caught: the file is readable, so it is a defect of Asterism.
        outline_tree(name, language_of(name, source), source)
    # What an index stores beside the chunks; that it can be made is all that is asked.
    for chunk in found.chunks:
        joined_terms(chunk.full_source).encode()
        name_terms(chunk.qualified_name.split(".")).encode()
    path_terms(name).encode()
    exported_signatures(found.outline, ChunkOptions())
    tuple(wanted_names(found.outline))
    extension = name.rpartition(".")[2]
    return [f"{extension}: {_shortened(text)}" for text in found.complaints]


def _shortened(text: str) -> str:
    """A broken rule by its name, so that different rules count as different mistakes."""
    for number, rule in RULES.items():
        text = text.replace(f"Violation(rule={number}, ", f"not so: {rule}: Violation(")
    return text


TARGET = Target(
    name="sources",
    about="damaged source files of every language",
    cases=one_by_one(_case),
    opened=_opened,
)
