"""Whatever is chosen of any fixture, its snapshot parses, is complete, and holds nothing more."""

from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asterism.analysis.source.text import decode
from asterism.analysis.syntax.cuts import problems_of
from asterism.analysis.syntax.outlines import outline
from asterism.reply.layout import Needs
from asterism.reply.snapshots import SnapshotForm, snapshot, targets_at
from asterism.types.outline import Outline, Reference
from asterism.types.search import Lines
from tests.fixture_checks import FIXTURES
from tests.reply.snapshot_cases import CASES, case_source
from tests.reply.snapshot_checks import faults


@cache
def files() -> dict[str, list[tuple[Outline, bytes]]]:
    """The fixtures and the written-down cases that are valid in their language, by language."""
    found: dict[str, list[tuple[Outline, bytes]]] = {}
    sources = [
        (path.name, path.read_bytes())
        for path in sorted(FIXTURES.glob("*/*"))
        if path.is_file() and path.suffix != ".json"
    ]
    for name, data in [*sources, *map(case_source, CASES)]:
        source = decode(data)
        read = outline(name, source)
        if not read.problems and read.items:
            found.setdefault(read.language, []).append((read, source))
    return found


LANGUAGES = sorted(files())


@pytest.mark.parametrize("language", LANGUAGES)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_any_targets(language: str, data: st.DataObject) -> None:
    """One to three items of one file."""
    read, source = data.draw(st.sampled_from(files()[language]))
    indices = st.integers(0, len(read.items) - 1)
    targets = data.draw(st.lists(indices, min_size=1, max_size=3, unique=True))
    made = snapshot(read, source, targets)
    if not any(read.items[index].kind == "text" for index in targets):
        assert made.form is SnapshotForm.pruned
    assert not list(faults(read, source, made))


@pytest.mark.parametrize("language", LANGUAGES)
def test_everything_of_a_file_is_the_file(language: str) -> None:
    """All items at once leave nothing out."""
    for read, source in files()[language]:
        made = snapshot(read, source, range(len(read.items)))
        text = made.text.split("\n\n", 1)[1].encode()
        if language != "php":
            assert text.split() == source.split()


def test_a_damaged_file_still_has_a_snapshot() -> None:
    """What could be read is shown; nothing is promised about the rest."""
    source = b"const a = 1;\nfunction f( { return a; }\nfunction g() { return a; }\n"
    read = outline("a.ts", source)
    assert read.problems
    index = next(i for i, item in enumerate(read.items) if item.name == "g")
    assert "function g() { return a; }" in snapshot(read, source, [index]).text


def test_a_resolver_knows_better() -> None:
    """It sees through a receiver's type, and that a name is another one's."""
    source = (
        b"const size = 1;\nclass Box { size = 2; }\nfunction f(box: Box) { return box.size; }\n"
    )
    read = outline("a.ts", source)
    target = next(i for i, item in enumerate(read.items) if item.name == "f")
    plain = snapshot(read, source, [target])
    assert plain.text.split("\n\n", 1)[1].startswith("class Box { size = 2; }\n")

    def to_constant(reference: Reference) -> int | None:
        return source.index(b"size") if reference.name == "size" else None

    told = snapshot(read, source, [target], resolver=to_constant)
    assert "const size = 1;" in told.text
    elsewhere = snapshot(read, source, [target], resolver=lambda _reference: -1)
    assert elsewhere.needs == Needs(frozenset(), {})


ENCLOSING = [
    (
        "a.py",
        "def outer():\n{}    def t():\n        return a0\n{}    return t\n",
        "    a{0} = {0}\n",
        "#",
    ),
    (
        "a.ts",
        "function outer() {{\n{}  function t() {{\n    return a0;\n  }}\n{}  return t;\n}}\n",
        "  const a{0} = {0};\n",
        "//",
    ),
    (
        "a.lua",
        "local function outer()\n{}  local function t()\n    return a0\n  end\n{}  return t\nend\n",
        "  local a{0} = {0}\n",
        "--",
    ),
]


@pytest.mark.parametrize(("path", "frame", "line", "comment"), ENCLOSING)
def test_a_function_is_never_incomplete_without_a_mark(
    path: str, frame: str, line: str, comment: str
) -> None:
    """A short one is whole around its inner function; in a long one the gaps are marked."""
    for count, is_whole in ((5, True), (40, False)):
        before = "".join(line.format(number) for number in range(count))
        after = "".join(line.format(number) for number in range(count, 2 * count))
        source = frame.format(before, after).encode()
        read = outline(path, source)
        (target,) = (index for index, item in enumerate(read.items) if item.name == "t")
        made = snapshot(read, source, [target])
        assert not list(faults(read, source, made))
        assert made.form is SnapshotForm.pruned
        assert (source.decode().strip() in made.text) is is_whole
        assert (f"{comment} ⋯ lines 2–41" in made.text) is not is_whole
        assert ("⋯" in made.text) is not is_whole


def test_of_a_large_type_only_the_fields_that_are_used() -> None:
    """The others are marked, whichever way the method is written."""
    fields = "".join(f"\tfield{number} int\n" for number in range(20))
    source = f"package a\n\ntype Box struct {{\n{fields}}}\n\nfunc (b *Box) t() int {{\n\treturn b.field7\n}}\n"
    read = outline("a.go", source.encode())
    (target,) = (index for index, item in enumerate(read.items) if item.name == "t")
    made = snapshot(read, source.encode(), [target])
    assert (
        "type Box struct {\n\t// ⋯ lines 4–10\n\tfield7 int\n\t// ⋯ lines 12–23\n}\n" in made.text
    )
    assert not list(faults(read, source.encode(), made))


def test_imports_are_lines_of_the_file() -> None:
    """A statement on several lines is whole, though only one name of it is used."""
    source = b"import {\n  a,\n  b,\n} from './x';\nimport { c } from './y';\nfunction t() { return a; }\n"
    read = outline("a.ts", source)
    (target,) = (index for index, item in enumerate(read.items) if item.name == "t")
    text = snapshot(read, source, [target]).text
    assert "import {\n  a,\n  b,\n} from './x';\n" in text
    assert "./y" not in text


def test_prose_keeps_the_sections() -> None:
    """A language without grammar has its parts and the path."""
    source = b"# One\n\ntext\n\n# Two\n\nmore\n"
    read = outline("README.md", source)
    made = snapshot(read, source, [1])
    assert made.text == "<!-- README.md -->\n\n# Two\n\nmore\n"


def test_chunks_are_found_by_their_lines() -> None:
    """A chunk's range is an item's, comment included; a part of it counts as all of it."""
    source = b"// About f.\nfunction f() {\n  a();\n  b();\n}\nconst x = 1, y = 2;\n"
    read = outline("a.ts", source)
    named = [read.items[index].name for index in targets_at(read, [Lines(1, 5)])]
    assert named == ["f"]
    assert targets_at(read, [Lines(3, 4)]) == targets_at(read, [Lines(1, 5)])
    both = [read.items[index].name for index in targets_at(read, [Lines(6, 6)])]
    assert both == ["x", "y"]
    assert targets_at(read, [Lines(90, 91)]) == ()


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_collapsed_parses_too(language: str) -> None:
    """Every item without the code of its members."""
    for read, source in files()[language]:
        for index, item in enumerate(read.items):
            if item.children:
                made = snapshot(read, source, [], collapsed=[index])
                assert not problems_of(read, made.text.encode()), item.qualified_name


TAMPERED = [
    ("import { a } from 'a';\n", "", "missing"),
    ("const B = 1;\n", "const B = 1;\nconst B = 1;\n", "twice"),
    ("return a(B);", "return a(B;", "unparsed"),
    ("return a(B);", "return a();", "unused"),
]


@pytest.mark.parametrize(("old", "new", "kind"), TAMPERED)
def test_the_checks_find_what_is_wrong(old: str, new: str, kind: str) -> None:
    """A spoilt snapshot is not taken for a good one."""
    source = b"import { a } from 'a';\nconst B = 1;\nfunction f() {\n  return a(B);\n}\n"
    read = outline("a.ts", source)
    target = next(i for i, item in enumerate(read.items) if item.name == "f")
    made = snapshot(read, source, [target])
    assert not list(faults(read, source, made))
    spoilt = replace(made, text=made.text.replace(old, new))
    assert kind in {fault.kind for fault in faults(read, source, spoilt)}
