"""Graph and snapshots together keep the budget, and say what they really use."""

import re
from collections.abc import Callable
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from asterism.analysis.syntax.outlines import outline
from asterism.reply.budget import (
    Assembly,
    AssemblyOptions,
    FileSource,
    OtherCandidate,
    ReplyResult,
    assemble,
)
from asterism.reply.snapshots import stated
from asterism.types.search import Detail, Lines

SHOP = b"""\
import { Price } from './price';

const LIMIT = 10;

export class Shop {
  items: string[] = [];

  add(item: string): void {
    if (this.items.length < LIMIT) {
      this.items.push(item);
    }
  }

  total(price: Price): number {
    return this.items.length * price.value;
  }
}
"""
TILL = b"""\
import os

RATE = 19


def ring(amount):
    return amount * RATE


def home():
    return os.environ["HOME"]
"""
FILES = (
    FileSource(outline=outline("src/shop.ts", SHOP), source=SHOP),
    FileSource(outline=outline("till.py", TILL), source=TILL),
)
SCORES = {"Shop": 0.9, "ring": 0.8, "home": 0.4, "import:./price": 0.3}


def words(text: str) -> int:
    """A counter that is exact and coarse: words and punctuation."""
    return len(re.findall(r"\w+|[^\w\s]", text))


def quarters(text: str) -> int:
    """The counter for models without a tokenizer."""
    return (len(text) + 3) // 4


def results() -> list[ReplyResult]:
    """Each scored name as a result."""
    return [
        ReplyResult(
            file=number,
            targets=(index,),
            score=SCORES[item.qualified_name],
            connections=stated(file.outline, file.source, index),
        )
        for number, file in enumerate(FILES)
        for index, item in enumerate(file.outline.items)
        if item.qualified_name in SCORES
    ]


def names(found: Assembly) -> dict[str, Detail | None]:
    """What each result was given, by name."""
    named = [result.connections.symbol.name for result in results()]
    return dict(zip(named, found.details, strict=True))


def test_everything_fits() -> None:
    """The graph first, then the files by their best score, nothing twice."""
    found = assemble("sell", FILES, results(), 8000, words)
    assert set(found.details) == {Detail.full}
    assert [part.priority for part in found.parts] == [1.0, 0.9, 0.8]
    assert found.parts[0].text.startswith('Search: "sell" | 4 results across 2 files | ')
    assert found.parts[1].text.startswith("// src/shop.ts\n\nimport { Price } from './price';\n")
    assert found.parts[2].text == (
        "# till.py\n\nimport os\n\nRATE = 19\n\n\n"
        "def ring(amount):\n    return amount * RATE\n\n\n"
        'def home():\n    return os.environ["HOME"]\n'
    )
    assert found.used_tokens == sum(words(part.text) for part in found.parts)


def test_the_least_gives_up_first() -> None:
    """One token too few costs the worst result its code; the import is there for others anyway."""
    whole = assemble("sell", FILES, results(), 999, words).used_tokens
    assert set(assemble("sell", FILES, results(), whole, words).details) == {Detail.full}
    found = names(assemble("sell", FILES, results(), whole - 1, words))
    worse = {name for name, detail in found.items() if detail is not Detail.full}
    assert worse == {"home"}


def test_a_class_is_shown_without_the_code_of_its_members() -> None:
    """Before it is reduced to its signature."""
    shop = [result for result in results() if result.connections.symbol.name == "Shop"]
    whole = assemble("sell", FILES, shop, 999, words).used_tokens
    found = assemble("sell", FILES, shop, whole - 10, words)
    assert found.details == (Detail.collapsed,)
    assert "Shown: without the code of its members" in found.parts[0].text
    assert found.parts[1].text == (
        "// src/shop.ts\n\nexport class Shop {\n  items: string[] = [];\n  // ⋯ lines 8–15\n}\n"
    )


def test_the_least_that_is_given() -> None:
    """First line, names and locations; then results lose their place, then there is nothing."""
    smallest = min(
        budget
        for budget in range(200)
        if not assemble("sell", FILES, results(), budget, words).dropped
    )
    found = assemble("sell", FILES, results(), smallest, words)
    assert set(found.details) <= {Detail.location, Detail.signature}
    assert found.parts[0].text.split("\n\n")[1:] == [
        "[1] Shop\n src/shop.ts:5-17 · class · score 0.90",
        "[2] ring\n till.py:6-7 · function · score 0.80",
        "[3] home\n till.py:10-11 · function · score 0.40",
        "[4] import:./price\n src/shop.ts:1 · import · score 0.30",
    ]
    fewer = names(assemble("sell", FILES, results(), smallest - 1, words))
    assert fewer["import:./price"] is None
    assert fewer["Shop"] is not None
    assert assemble("sell", FILES, results(), 3, words).parts == ()


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 700), st.sampled_from([words, quarters, len]), st.data())
def test_never_over_and_never_wrong(
    budget: int, count: Callable[[str], int], data: st.DataObject
) -> None:
    """Whatever the budget, the counter and the results."""
    chosen = data.draw(
        st.lists(st.sampled_from(results()), unique_by=lambda r: (r.file, r.targets))
    )
    found = assemble("sell", FILES, chosen, budget, count)
    used = sum(count(part.text) for part in found.parts)
    assert used == found.used_tokens <= budget
    priorities = [part.priority for part in found.parts]
    assert priorities == sorted(priorities, reverse=True)
    if found.parts:
        assert f" {used:,}/{budget:,} tokens" in found.parts[0].text.split("\n")[0]
        kept = [detail for detail in found.details if detail is not None]
        assert f"| {len(kept)} result" in found.parts[0].text


CANDIDATES = [
    OtherCandidate("src/a.ts", Lines(3, 9), "Shop.total", 0.21),
    OtherCandidate("b.py", Lines(4, 4), "home", 0.04),
]


def test_other_candidates_follow_the_code() -> None:
    """With the number of those that are not named, and under a title of their own without code."""
    options = AssemblyOptions(candidates=CANDIDATES, left_out=14)
    lines = [" src/a.ts:3-9  Shop.total  0.21", " b.py:4  home  0.04"]
    found = assemble("sell", FILES, results(), 8000, words, options)
    assert found.parts[-1].text.split("\n") == ["Other candidates (12 more below 0.04):", *lines]
    assert found.used_tokens == sum(words(part.text) for part in found.parts)
    nothing = assemble("sell", [], [], 8000, words, options)
    assert nothing.parts[-1].text.split("\n") == [
        "Nothing certain. Other candidates (12 more below 0.04):",
        *lines,
    ]
    few = assemble("sell", [], [], nothing.used_tokens - 5, words, options)
    assert (few.candidates, len(few.parts)) == (1, 2)
    assert few.parts[-1].text.endswith("(13 more below 0.21):\n src/a.ts:3-9  Shop.total  0.21")


def test_beyond_the_goal_only_the_best_has_code() -> None:
    """Others are a line with their signature, and their place; the budget itself is a ceiling."""
    found = assemble("sell", FILES, results(), 8000, words, AssemblyOptions(goal=220))
    shown = names(found)
    assert shown["Shop"] in (Detail.full, Detail.collapsed)
    assert shown["home"] is Detail.signature
    assert " till.py:10-11 · function · score 0.40 · def home()" in found.parts[0].text
    assert not found.is_over
    least = assemble("sell", FILES, results(), 8000, words, AssemblyOptions(goal=10))
    assert names(least)["Shop"] is Detail.collapsed
    assert names(least)["home"] is Detail.location


MATCHES = ((11, 'return os.environ["HOME"]'),)


def test_without_code_a_result_has_the_lines_that_match() -> None:
    """With their numbers, below the line with its signature."""
    matched = [replace(one, matches=MATCHES) for one in results()]
    options = AssemblyOptions(goal=900, most_code=1)
    found = assemble("sell", FILES, matched, 8000, words, options)
    assert names(found)["home"] is Detail.lines
    assert (
        "[3] home\n till.py:10-11 · function · score 0.40 · def home()\n"
        ' 11: return os.environ["HOME"]\n'
    ) in found.parts[0].text
    assert sum(detail is Detail.full for detail in found.details) == 1


def test_a_long_result_leaves_its_place_to_the_next() -> None:
    """Code goes by score, to each result that fits; the second here does not."""
    long = b"def long():\n" + b"    step()\n" * 200
    file = FileSource(outline=outline("long.py", long), source=long)
    second = ReplyResult(
        file=2, targets=(0,), score=0.85, connections=stated(file.outline, file.source, 0)
    )
    options = AssemblyOptions(goal=250)
    found = assemble("sell", [*FILES, file], [*results(), second], 8000, words, options)
    named = [result.connections.symbol.name for result in [*results(), second]]
    shown = dict(zip(named, found.details, strict=True))
    assert shown["long"] is Detail.signature
    assert (shown["Shop"], shown["ring"]) == (Detail.full, Detail.full)


def test_a_weak_result_is_shown_without_what_it_uses() -> None:
    """And without the connections that its code shows."""
    ring = next(one for one in results() if one.connections.symbol.name == "ring")
    strong = assemble("sell", FILES, [ring], 8000, words).parts[1].text
    assert "RATE = 19" in strong
    weak = assemble("sell", FILES, [replace(ring, is_weak=True)], 8000, words).parts[1].text
    assert weak == "# till.py\n\ndef ring(amount):\n    return amount * RATE\n"


DOCUMENTED = (
    b"""\
/**
 * Adds up.
 *
"""
    + b" * An example.\n" * 20
    + b""" */
export function add(a: number): number {
  return a;
}
"""
)


def test_a_long_comment_above_a_result_is_shortened() -> None:
    """To its first paragraph, with a mark inside of the comment; what was looked up is whole."""
    file = FileSource(outline=outline("add.ts", DOCUMENTED), source=DOCUMENTED)
    known = stated(file.outline, file.source, 0)
    result = ReplyResult(file=0, targets=(0,), score=0.9, connections=known)
    found = assemble("sell", [file], [result], 8000, words)
    assert found.parts[1].text == (
        "// add.ts\n\n/**\n * Adds up.\n * ⋯ lines 3–23\n */\n"
        "export function add(a: number): number {\n  return a;\n}\n"
    )
    named = assemble("sell", [file], [replace(result, is_ranked=False)], 8000, words)
    assert named.parts[1].text.count("An example.") == 20


def test_a_head_has_no_code_of_its_own() -> None:
    """A type whose member is a result is one line; the member's snapshot has its head."""
    heads = [replace(one, is_head=True) for one in results()[:2]]
    found = assemble("sell", FILES, heads, 8000, words)
    assert set(found.details) == {Detail.signature}
    assert len(found.parts) == 1
