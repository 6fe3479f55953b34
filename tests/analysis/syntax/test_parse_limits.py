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
HARD = b"{(" * 4_000 + b"\n"
"""Recovery from it takes much longer than a hundredth of a second."""
Nodes = list[tuple[int, int, int, int]]


@pytest.fixture(autouse=True)
def short_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "SHORTEST_SLICE", BUSY_SECONDS)
    # The last parse is not to be broken off, however busy the machine is.
    monkeypatch.setattr(tables, "UNBROKEN_FACTOR", 1_000_000)


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
    """Also where resuming would give another one, as for every seventh damaged file."""
    for case in islice(TARGET.cases("parse-limits", 120), 120):
        name, _, data = case.partition(b"\n")
        source, entry = ended(decode(data)), detect(name.decode())
        if entry.home in ("text", "prose") or len(source) > 20_000:
            continue
        language = tables.table_of(entry).language
        idle = Table(language, seconds=1_000)
        busy = Table(language, seconds=BUSY_SECONDS, clock=lambda: 0.0)
        assert _nodes(busy.parse(source)) == _nodes(idle.parse(source)), case


def test_a_parse_goes_on_until_its_cpu_time_is_used() -> None:
    """Broken off by the wall time while 2 of its 10 CPU seconds are used in each slice."""
    language = tables.table_of(entry_of("javascript")).language
    for steps, is_done in (([0.0] * 10_000, True), ([0.0, 0.0, BUSY_SECONDS * 2] * 2, False)):
        ticks = iter(steps)
        busy = Table(language, seconds=BUSY_SECONDS, clock=ticks.__next__)
        assert (busy.parse(HARD) is not None) == is_done


def test_a_parse_that_ends_after_its_cpu_time_is_none() -> None:
    """The last slice may be longer than what was left: the result is the same as on an idle machine."""
    language = tables.table_of(entry_of("javascript")).language
    used = iter([0.0, 0.0, 1.0])
    table = Table(language, seconds=BUSY_SECONDS, clock=used.__next__)
    assert table.parse(HARD) is None


def test_the_next_file_is_read_from_its_beginning() -> None:
    language = tables.table_of(entry_of("javascript")).language
    ticks = iter([0.0, 1.0, *[2.0] * 10_000])
    table = Table(language, seconds=BUSY_SECONDS, clock=ticks.__next__)
    assert table.parse(HARD) is None
    small = b"let x = 1\n"
    alone = Table(language, seconds=1_000).parse(small)
    assert _nodes(table.parse(small)) == _nodes(alone)
