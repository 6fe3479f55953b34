"""The ten rules can be broken: each has chunks that break it and nothing else."""

from collections.abc import Callable

import pytest

from asterism.analysis.chunks.chunker import FileOrigin, chunk_file
from asterism.analysis.chunks.units import ChunkOptions
from asterism.analysis.chunks.validation import RULES, uncovered, violations
from asterism.analysis.syntax.outlines import outline
from asterism.types.index import Chunk

SOURCE = b"""\
import os

run(
    1,
)
stop()

class Box:
    def open(self):
        total = 0
        for step in range(100):
            total += step * step * step
        return total, os.sep

    def close(self):
        return 1

def last():
    return os.name
"""
OUTLINE = outline("box.py", SOURCE)
LINES = SOURCE.decode().split("\n")
Mutation = Callable[[dict[str, Chunk]], None]


def good() -> dict[str, Chunk]:
    chunks = chunk_file(OUTLINE, SOURCE, FileOrigin("repo", "box.py", "box.py"))
    return {chunk.qualified_name: chunk for chunk in chunks}


def spread(chunks: dict[str, Chunk], name: str, first: int, last: int) -> None:
    """Let a chunk have other lines, and the text of those lines."""
    text = "\n".join(LINES[first - 1 : last])
    chunks[name] = chunks[name]._replace(start_line=first, end_line=last, full_source=text)


def a_line_is_lost(chunks: dict[str, Chunk]) -> None:
    spread(chunks, "run( 1, )", 3, 4)


def a_line_is_in_two_siblings(chunks: dict[str, Chunk]) -> None:
    spread(chunks, "run( 1, )", 3, 6)


def the_text_is_changed(chunks: dict[str, Chunk]) -> None:
    found = chunks["stop()"]
    chunks["stop()"] = found._replace(full_source=found.full_source + " ")


def a_child_is_disowned(chunks: dict[str, Chunk]) -> None:
    found = chunks["Box"]
    chunks["Box"] = found._replace(child_chunk_ids=found.child_chunk_ids[:1])


def a_text_is_too_long(chunks: dict[str, Chunk]) -> None:
    found = chunks["last"]
    text = found.embedding_text + "x" * ChunkOptions().max_chars
    chunks["last"] = found._replace(embedding_text=text)


def a_body_is_not_left_out(chunks: dict[str, Chunk]) -> None:
    found, child = chunks["Box"], chunks["Box.open"]
    text = found.embedding_text.replace("def open(self)", child.full_source.strip())
    chunks["Box"] = found._replace(embedding_text=text)


def a_signature_is_left_out(chunks: dict[str, Chunk]) -> None:
    found = chunks["Box"]
    head, code = found.embedding_text.split("\n---\n")
    text = f"{head}\n---\n{code.replace('def close(self)', '')}"
    chunks["Box"] = found._replace(embedding_text=text)


def the_breadcrumb_is_wrong(chunks: dict[str, Chunk]) -> None:
    found = chunks["Box.close"]
    text = found.embedding_text.replace("Box > close", "Crate > close", 1)
    chunks["Box.close"] = found._replace(embedding_text=text)


def an_id_is_not_repeated(chunks: dict[str, Chunk]) -> None:
    chunks["stop()"] = chunks["stop()"]._replace(id="0" * 32)


def two_statements_are_one_chunk(chunks: dict[str, Chunk]) -> None:
    del chunks["stop()"]
    spread(chunks, "run( 1, )", 3, 6)


def an_import_is_not_listed(chunks: dict[str, Chunk]) -> None:
    chunks["last"] = chunks["last"]._replace(relevant_imports=())


def an_import_is_listed_for_nothing(chunks: dict[str, Chunk]) -> None:
    listed = ("import os",)
    chunks["Box.close"] = chunks["Box.close"]._replace(relevant_imports=listed)


BROKEN: list[tuple[int, Mutation]] = [
    (1, a_line_is_lost),
    (2, a_line_is_in_two_siblings),
    (3, the_text_is_changed),
    (4, a_child_is_disowned),
    (5, a_text_is_too_long),
    (6, a_body_is_not_left_out),
    (6, a_signature_is_left_out),
    (7, the_breadcrumb_is_wrong),
    (8, an_id_is_not_repeated),
    (9, two_statements_are_one_chunk),
    (10, an_import_is_not_listed),
    (10, an_import_is_listed_for_nothing),
]


def test_good_chunks_break_no_rule() -> None:
    assert violations(OUTLINE, SOURCE, list(good().values()), ChunkOptions()) == []


@pytest.mark.parametrize(
    ("rule", "mutation"), BROKEN, ids=lambda value: getattr(value, "__name__", str(value))
)
def test_each_rule_can_be_broken(rule: int, mutation: Mutation) -> None:
    chunks = good()
    mutation(chunks)
    found = violations(OUTLINE, SOURCE, list(chunks.values()), ChunkOptions())
    assert [violation.rule for violation in found] == [rule]
    assert found[0].path == "box.py"
    assert found[0].message


def test_every_rule_has_been_broken() -> None:
    assert {rule for rule, _ in BROKEN} == set(RULES)


def test_a_chunk_for_nothing() -> None:
    chunks = list(good().values())
    extra = chunks[0]._replace(id="1" * 32, start_line=2, end_line=2, full_source="")
    found = violations(OUTLINE, SOURCE, [*chunks, extra], ChunkOptions())
    assert [violation.rule for violation in found] == [9]


def test_no_chunks_at_all() -> None:
    found = violations(OUTLINE, SOURCE, [], ChunkOptions())
    assert {violation.rule for violation in found} == {1, 9}


def test_uncovered_counts_lines_with_text() -> None:
    chunk = next(iter(good().values()))
    assert uncovered(["import os", "", "x", " \t", "y"], [chunk]) == [3, 5]
