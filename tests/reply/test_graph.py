"""Connection graphs have exactly the text that was written down for them."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from asterism.reply.graph import GraphEntry, GraphOptions, Numbers, first_line, graph_body
from asterism.types.search import Detail, Lines
from asterism.types.structure import (
    Connections,
    Edge,
    Fact,
    Gap,
    Known,
    Member,
    SymbolPlace,
    TypeFlow,
)

_DEFAULT = GraphOptions()


def graph(
    query: str, entries: list[GraphEntry], numbers: Numbers, options: GraphOptions = _DEFAULT
) -> str:
    """The text of a connection graph."""
    return first_line(query, entries, numbers, options) + graph_body(entries, options)


CASES = sorted((Path(__file__).parents[1] / "golden" / "graphs").glob("*.json"))


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_text(case: Path) -> None:
    """Edges are lists of name, path, line, module, kind and, if by name, confidence."""
    data = json.loads(case.read_text(encoding="utf-8"))
    options = GraphOptions(
        max_listed=data.get("max_listed", 12), is_test=lambda path: path.startswith("tests/")
    )
    numbers = Numbers(data["used"], data["budget"])
    entries = [_entry(result) for result in data["results"]]
    found = graph(data["query"], entries, numbers, options)
    assert found + "\n" == case.with_suffix(".txt").read_text(encoding="utf-8")


def test_a_mention_without_line_means_the_only_result_of_that_name() -> None:
    """Of two results with one name in one file, neither is meant."""
    caller = _entry(
        {"symbol": ["f", "a.c", 9], "kind": "macro", "signature": "", "calls": [["g", "b.c"]]}
    )
    twice = [
        _entry({"symbol": ["g", "b.c", line], "kind": "macro", "signature": ""}) for line in (1, 5)
    ]
    assert "★" in graph("q", [caller, twice[0]], Numbers(1, 1))
    assert "★" not in graph("q", [caller, *twice], Numbers(1, 1))


def _calling(line: int, confidence: float | None) -> GraphEntry:
    calls = [["g", "b.c", line, None, "method", confidence]]
    data = {"symbol": ["f", "a.c", 9], "kind": "method", "signature": "", "calls": calls}
    return _entry(data)


def test_names_do_not_tell_overloads_apart() -> None:
    """A compiler does: it says which declaration of the name is called."""
    called = _entry({"symbol": ["g", "b.c", 5, "method"], "kind": "method", "signature": ""})
    other = _entry({"symbol": ["g", "b.c", 5, "property"], "kind": "property", "signature": ""})
    assert "g ★" in graph("q", [_calling(1, 0.95), called], Numbers(1, 1))
    assert "★" not in graph("q", [_calling(1, 0.95), other], Numbers(1, 1))
    assert "★" not in graph("q", [_calling(1, None), called], Numbers(1, 1))
    overloads = called._replace(overloads=(1, 5))
    assert "g ★" in graph("q", [_calling(1, None), overloads], Numbers(1, 1))


def test_files_that_refer_to_it_are_counted_where_they_are_known() -> None:
    """No file is no answer if no search was made."""
    entry = _entry(
        {"symbol": ["g", "b.md", 1], "kind": "section", "signature": "", "references": []}
    )
    assert "refs: 0 other files" in graph("q", [entry], Numbers(1, 1))
    gap = Gap((Fact.references,), "no search was made")
    unknown = entry._replace(connections=replace(entry.connections, gaps=(gap,)))
    assert "refs:" not in graph("q", [unknown], Numbers(1, 1)).replace("Not known: refs", "")


def test_a_long_question_is_cut() -> None:
    """The first line stays a line."""
    line = graph("long " * 100, [], Numbers(1, 1), GraphOptions(max_query=12))
    assert line == 'Search: "long long l…" | 0 results across 0 files | 1/1 tokens'


def _entry(data: dict[str, Any]) -> GraphEntry:
    edges: dict[str, Any] = {
        name: tuple(_edge(edge) for edge in data.get(name, ()))
        for name in ("extends", "implements", "subtypes", "calls", "callers")
    }
    flows: dict[str, Any] = {
        name: tuple(
            TypeFlow(flow.get("name"), flow["type"], tuple(_edge(e) for e in flow["origins"]))
            for flow in data.get(name, ())
        )
        for name in ("types_in", "types_out")
    }
    references = data.get("references")
    known = Connections(
        symbol=SymbolPlace(*data["symbol"]),
        kind=data["kind"],
        signature=data["signature"],
        modifiers=tuple(data.get("modifiers", ())),
        is_exported=data.get("is_exported", False),
        references=None if references is None else tuple(references),
        members=tuple(Member(n, kind, n, line) for n, kind, line in data.get("members", ())),
        type=data.get("type"),
        value=data.get("value"),
        gaps=tuple(
            Gap(tuple(Fact(fact) for fact in gap["facts"]), gap["why"])
            for gap in data.get("gaps", ())
        ),
        **edges,
        **flows,
    )
    line = known.symbol.line or 1
    lines = Lines(line, data.get("last_line", line))
    return GraphEntry(known, Detail(data.get("detail", "full")), lines, data.get("score", 0.87))


def _edge(values: list[Any]) -> Edge:
    padded = values + [None] * (6 - len(values))
    name, path, line, module, kind, confidence = padded
    place = SymbolPlace(name, path, line, kind, module)
    if confidence is None:
        return Edge(place, Known.resolved)
    return Edge(place, Known.by_name, confidence)


def test_callers_in_tests_are_a_number() -> None:
    """Production code is named; results are, wherever they are."""
    callers = [["main", "src/a.c", 1], ["t1", "tests/a.c", 1], ["t2", "tests/a.c", 9]]
    data = {"symbol": ["f", "src/f.c", 9], "kind": "function", "signature": "", "callers": callers}
    options = GraphOptions(is_test=lambda path: path.startswith("tests/"))
    text = graph("q", [_entry(data)], Numbers(1, 1), options)
    assert " Called by: main (src/a.c) and 2 in 1 test file" in text.split("\n")
    data["callers"] = callers[1:]
    assert " Called by: 2 in 1 test file" in graph("q", [_entry(data)], Numbers(1, 1), options)
    caller = _entry({"symbol": ["t1", "tests/a.c", 1], "kind": "function", "signature": ""})
    both = graph("q", [_entry(data), caller], Numbers(1, 1), options)
    assert " Called by: t1 ★ and 1 in 1 test file" in both.split("\n")


def test_what_all_results_share_of_the_library_is_not_marked() -> None:
    """`◆` is for symbols of the repository."""
    calls = [["len", None, None, "builtins"], ["log", "log.py", 1]]
    two = [
        _entry({"symbol": [name, "a.py", 1], "kind": "function", "signature": "", "calls": calls})
        for name in ("f", "g")
    ]
    text = graph("q", two, Numbers(1, 1))
    assert text.count("◆") == 3
    assert "len ◆" not in text


def test_a_remark_on_all_results_is_said_once() -> None:
    """How connections are known, and what is not known of any result."""
    gap = {"facts": ["callers"], "why": "no search was made"}
    two = [
        _entry(
            {"symbol": [name, "a.py", 1], "kind": "function", "signature": "", "gaps": [gap]}
            | {"calls": [["log", "log.py", 1, None, None, sure]]}
        )
        for name, sure in (("f", 0.85), ("g", 0.85), ("h", 0.6))
    ]
    text = graph("q", two, Numbers(1, 1))
    assert text.count("no search was made") == 1
    assert text.count("by name") == 1
    assert "All connections are known by name with confidence 0.85 where none is given." in text
    assert "Calls: log ◆ (0.6)" in text


def test_a_weak_result_has_its_callers_and_the_results_it_calls() -> None:
    """Three names of a list; what it shares with others is not said."""
    callers = [[f"c{n}", "b.py", n] for n in range(5)]
    calls = [["log", "log.py", 1], ["f", "a.py", 1]]
    strong, weak = (
        _entry(
            {"symbol": [name, "a.py", line], "kind": "function", "signature": "", "calls": calls}
            | {"callers": callers if name == "g" else []}
        )
        for name, line in (("f", 1), ("g", 5))
    )
    text = graph("q", [strong, weak._replace(is_weak=True)], Numbers(1, 1))
    assert " Calls: f ★\n Called by: c0 (b.py), c1 (b.py), c2 (b.py) and 2 more" in text
    assert "◆" not in text
    assert "log ◆" in graph("q", [strong, weak], Numbers(1, 1))


def test_what_is_not_known_of_some_results_is_said_once_with_their_numbers() -> None:
    gap = {"facts": ["callers"], "why": "no search was made"}
    entries = [
        _entry(
            {"symbol": [name, "a.py", 1], "kind": "function", "signature": ""}
            | {"gaps": [gap] if name != "g" else []}
        )
        for name in "fgh"
    ]
    text = graph("q", entries, Numbers(1, 1))
    assert text.endswith("\n\nNot known of [1], [3]: Called by (no search was made)")
