"""What names add where a language server knows only a part."""

from asterism.structure.shapes import completed
from asterism.types.structure import Connections, Edge, Fact, Known, SymbolPlace


def known(known: Known, confidence: float = 1.0, **edges: tuple[int, ...]) -> tuple[Edge, ...]:
    return tuple(
        Edge(SymbolPlace(name, f"{name}.go"), known, confidence, lines)
        for name, lines in edges.items()
    )


def answer(calls: tuple[Edge, ...], references: tuple[str, ...] | None = ()) -> Connections:
    place = SymbolPlace("it", "it.go")
    return Connections(
        symbol=place,
        kind="function",
        signature="",
        calls=calls,
        callers=calls,
        references=references,
    )


SERVER = answer(known(Known.resolved, a=(1,), b=(2,)), ("a.go",))
NAMES = answer(
    (
        *known(Known.by_name, 0.9, b=(2,), c=(3,)),
        *known(Known.by_name, 0.6, guess=(4,)),
        Edge(SymbolPlace("Other.a", "other.go"), Known.by_name, 0.9, (1,)),
    ),
    ("b.go",),
)


def test_only_what_is_missing_is_added() -> None:
    found = completed(SERVER, NAMES, {Fact.calls})
    assert [(edge.target.name, edge.known) for edge in found.calls] == [
        ("a", Known.resolved),
        ("b", Known.resolved),
        ("c", Known.by_name),
    ]
    assert (found.callers, found.references) == (SERVER.callers, ("a.go",))


def test_files_and_callers() -> None:
    found = completed(SERVER, NAMES, {Fact.callers, Fact.references, Fact.subtypes})
    assert [edge.target.name for edge in found.callers] == ["a", "b", "c"]
    assert found.references == ("a.go", "b.go")
    assert found.calls == SERVER.calls
