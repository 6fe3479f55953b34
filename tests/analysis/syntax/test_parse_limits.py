"""The limit of a parse is CPU time: what a file is read as does not depend on how busy the machine is.

A clock of CPU time that stands still is a machine so busy that every parse is broken off by the
wall time, again and again, without having used any of its CPU time.
"""

from itertools import islice

import pytest
from tree_sitter import Tree

from asterism.analysis.source.text import decode
from asterism.analysis.syntax import tables
from asterism.analysis.syntax.catalogue import detect, entry_of
from asterism.analysis.syntax.tables import Table, ended
from tests.fuzz.sources import TARGET

BUSY_SECONDS = 0.0003
"""So short that nearly every parse is broken off."""
HARD = b"{(" * 20_000 + b"\n"
"""Recovery from it takes much longer than a hundredth of a second."""
Nodes = list[tuple[int, int, int, int]]


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slow the machine is, the last parse is not broken off."""
    monkeypatch.setattr(tables, "MOST_FACTOR", 10_000_000.0)


def _nodes(tree: Tree | None) -> Nodes | None:
    """All nodes of a tree: depth, kind, start and end."""
    if tree is None:
        return None
    cursor, depth, nodes = tree.walk(), 0, []
    while True:
        node = cursor.node
        assert node is not None
        nodes.append((depth, node.kind_id, node.start_byte, node.end_byte))
        if cursor.goto_first_child():
            depth += 1
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return nodes
            depth -= 1


def test_damaged_files_have_the_same_tree_on_a_busy_machine() -> None:
    """Also where a parse that is resumed would give another one, as for every seventh damaged file."""
    for case in islice(TARGET.cases("parse-limits", 120), 120):
        name, _, data = case.partition(b"\n")
        source, entry = ended(decode(data)), detect(name.decode())
        if entry.home in ("text", "prose") or len(source) > 20_000:
            continue
        language = tables.table_of(entry).language
        idle = Table(language, seconds=1_000)
        busy = Table(language, seconds=BUSY_SECONDS, clock=lambda: 0.0)
        assert _nodes(busy.parse(source)) == _nodes(idle.parse(source)), case


@pytest.mark.parametrize(
    ("ticks", "is_done"),
    [
        ([0.0] * 100, True),
        ([0.0, BUSY_SECONDS / 2] * 50, True),
        ([0.0, BUSY_SECONDS], False),
        ([0.0, 0.0, 0.0, BUSY_SECONDS], False),
    ],
    ids=["no time at all", "half of it", "all of it", "all of it in the second parse"],
)
def test_a_file_is_parsed_again_until_the_cpu_time_is_used(
    ticks: list[float], is_done: bool
) -> None:
    """A tick is the CPU time at the beginning or the end of a parse that is broken off."""
    language = tables.table_of(entry_of("javascript")).language
    table = Table(language, seconds=BUSY_SECONDS, clock=iter(ticks).__next__)
    assert (table.parse(HARD) is not None) == is_done


def test_a_tree_that_took_more_than_the_cpu_time_is_none() -> None:
    """On an idle machine that parse had been broken off."""
    language = tables.table_of(entry_of("javascript")).language
    for seconds, is_done in ((0.9, True), (1.1, False)):
        table = Table(language, seconds=1.0, clock=iter([0.0, seconds] * 9).__next__)
        assert (table.parse(b"let x = 1\n") is not None) == is_done


def test_a_machine_without_any_time_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MOST_FACTOR", 8.0)
    language = tables.table_of(entry_of("javascript")).language
    assert Table(language, seconds=BUSY_SECONDS, clock=lambda: 0.0).parse(HARD) is None


def test_the_next_file_is_read_from_its_beginning() -> None:
    language = tables.table_of(entry_of("javascript")).language
    table = Table(language, seconds=BUSY_SECONDS, clock=iter([0.0, 1.0, 1.0, 1.0]).__next__)
    assert table.parse(HARD) is None
    small = b"let x = 1\n"
    alone = Table(language, seconds=1_000).parse(small)
    assert _nodes(table.parse(small)) == _nodes(alone)
