"""Trees of calls: depth and circles are marked, what is left out is counted."""

from asterism.structure.uses import TreeOptions, call_tree
from asterism.types.structure import CallTree, Edge, Known, SymbolPlace

CALLS = {"a": "bcd", "b": "ae", "c": "e", "d": "", "e": "f", "f": "g", "g": "a"}


def place(name: str) -> SymbolPlace:
    return SymbolPlace(name, None if name == "d" else f"{name}.go")


def edges(at: SymbolPlace) -> list[Edge]:
    return [Edge(place(name), Known.by_name, 0.9) for name in CALLS[at.name]]


def drawn(tree: CallTree) -> str:
    marks = {None: "", "cycle": "@", "depth": "…"}
    inner = " ".join(map(drawn, tree.children))
    left = f"+{tree.left_out}" if tree.left_out else ""
    return f"{tree.edge.target.name}{marks[tree.mark]}{f'({inner})' if inner else ''}{left}"


def check(options: TreeOptions, expected: str) -> None:
    assert drawn(call_tree(place("a"), edges, options)) == expected


def test_depth() -> None:
    check(TreeOptions(depth=0), "a…")
    check(TreeOptions(depth=1), "a(b… c… d)")
    check(TreeOptions(depth=2), "a(b(a@ e…) c(e…) d)")


def test_circles() -> None:
    check(TreeOptions(depth=9), "a(b(a@ e(f(g(a@)))) c(e(f(g(a@)))) d)")


def test_width_and_size_leave_out_and_count() -> None:
    check(TreeOptions(depth=2, width=1), "a(b(a@)+1)+2")
    check(TreeOptions(depth=2, places=4), "a(b(a@)+1 c+1 d)")


def test_each_place_is_asked_once() -> None:
    asked: list[str] = []

    def counted(at: SymbolPlace) -> list[Edge]:
        asked.append(at.name)
        return edges(at)

    call_tree(place("a"), counted, TreeOptions(depth=9))
    assert sorted(asked) == [*"abcefg"]
