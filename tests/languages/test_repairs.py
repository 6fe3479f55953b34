"""Is the outline of valid TypeScript and JavaScript complete where the grammars misread it?"""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asterism.analysis.syntax.cuts import problems_of
from asterism.analysis.syntax.language import detect, table_of
from asterism.analysis.syntax.outlines import outline
from asterism.analysis.syntax.trial_worker import grammar_of
from asterism.languages.ecmascript.repairs import repaired
from tests.analysis.syntax.material import SOURCES
from tests.languages.misread import CASES, Misread

SIGNS = (
    "<",
    ">",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "`",
    "${",
    "'",
    '"',
    "/",
    "\\",
    "&",
    "=",
    "\n",
    " ",
)
WORDS = (
    "in",
    "out",
    "export",
    "default",
    "function",
    "using",
    "import",
    "as",
    "x",
    "é",
    "type",
    "*",
)


def check(case: Misread) -> None:
    source = case.text.encode()
    found = outline(case.path, source)
    symbols = [item for item in found.items if item.is_symbol]
    symbols.sort(key=lambda item: (item.start_line, item.name_offset))
    assert found.problems == ()
    assert ", ".join(f"{i.name} {i.start_line}-{i.end_line}" for i in symbols) == case.symbols
    uses = {
        f"{use.name} on {use.receiver}" if use.receiver else use.name for use in found.references
    }
    assert {use for use in case.uses.split(", ") if use} - uses == set()
    assert problems_of(found, source) == ()


@pytest.mark.parametrize("construct", CASES)
def test_nothing_is_lost(construct: str) -> None:
    check(CASES[construct])


@pytest.mark.parametrize("construct", CASES)
def test_the_grammar_misreads_it(construct: str) -> None:
    """When a grammar has learnt a construct, its rewrite and its case can go."""
    from tree_sitter import Parser

    case = CASES[construct]
    grammar = table_of(detect(case.path)).language.grammar
    assert Parser(grammar_of(*grammar)).parse(case.text.encode()).root_node.has_error


def test_what_a_rewrite_hides_is_still_known() -> None:
    """Kinds of exports and imports, modifiers and names are read from the source."""
    types = outline("a.ts", CASES["export type *"].text.encode())
    assert [(each.module, each.type_only) for each in types.imports] == [
        ("./jar", True),
        ("./lid", True),
    ]
    modules = outline("a.ts", CASES["types of other modules"].text.encode())
    assert [(each.module, each.type_only) for each in modules.imports] == [
        ("./lid", True),
        ("./tap", True),
        ("./lid", True),
        ("./tap", True),
        ("./lid", False),
    ]
    used = outline("a.ts", CASES["using with a type and in a loop"].text.encode())
    assert [item.modifiers for item in used.items[:2]] == [("using",), ("await", "using")]
    case = CASES["overloads of a default export without a name"]
    default = outline("a.ts", case.text.encode())
    assert [item.modifiers for item in default.items[:4]] == [
        ("exported", "default"),
        ("exported", "default"),
        ("exported", "default"),
        ("exported", "default", "async"),
    ]
    assert [(each.name, each.line) for each in default.exports] == [("default", 1), ("make", 7)]


def test_code_that_is_not_valid_keeps_its_problems() -> None:
    source = b"interface A {\n  a: string\n  <T>(b: T): T\n}\nfunction f( {\n"
    found = outline("a.ts", source)
    assert [item.name for item in found.items if item.is_symbol][:3] == ["A", "a", "()"]
    assert {problem.line for problem in found.problems} == {5}


def same_place(source: bytes) -> None:
    """Every line of the rewritten text begins where it did."""
    result = repaired(source)
    assert len(result) == len(source)
    assert [m.start() for m in re.finditer(b"\n", result)] == [
        m.start() for m in re.finditer(b"\n", source)
    ]


@given(st.lists(st.sampled_from(SIGNS + WORDS)).map("".join))
def test_places_stay_in_any_text(text: str) -> None:
    same_place(text.encode())


@pytest.mark.parametrize("path", SOURCES[::7], ids=lambda path: path.name)
def test_places_stay_in_every_language(path: object) -> None:
    same_place(path.read_bytes())  # type: ignore[attr-defined]
