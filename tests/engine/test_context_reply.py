"""Context for an agent: the hits as their files are now, and an account of what is left out."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from asterism.engine.context_reply import (
    MOST_CHARS,
    ContextOptions,
    ContextReply,
    context,
    pooled,
)
from asterism.engine.engine import Engine
from asterism.engine.search import SearchRequest
from asterism.engine.stores import DataDirectories
from asterism.store.registry import Registered
from asterism.types.errors import UsageError
from asterism.types.search import Detail, Reason
from tests.engine.conftest import NO_SERVERS, SETTINGS, make

OFF = replace(SETTINGS, structure=replace(NO_SERVERS, typescript="off", python="off"))

SHOP = """\
import os
import sys

LIMIT = 3


def total(prices):
    return round(sum(prices), LIMIT)


def receipt(prices):
    sys.stdout.write(str(total(prices)))
"""


class Shop(NamedTuple):
    engine: Engine
    registered: Registered

    @property
    def file(self) -> Path:
        return Path(self.registered.repository.root, "shop.py")

    def show(self, name: str, meanwhile: Callable[[], object] = lambda: None) -> ContextReply:
        """What is shown of a name after something happened since it was looked up."""
        reply = self.engine.search(self.registered, pooled(SearchRequest(text=f"symbol = {name}")))
        with self.engine.snapshot(self.registered) as snapshot:
            meanwhile()
            return context(reply, snapshot, self.engine.connector(self.registered))

    def ask(self, text: str, budget: int | None = None, gate: float | None = None) -> ContextReply:
        return self.engine.context(self.registered, SearchRequest(text=text), budget, gate)


@pytest.fixture
def open_shop(places: DataDirectories, tmp_path: Path) -> Iterator[Callable[..., Shop]]:
    """Makes an engine that connects by name, with a repository of these files."""
    engine = Engine(places, lambda _root: OFF)

    def make_shop(**files: str) -> Shop:
        registered = engine.register(make(tmp_path / "shop", **files))
        engine.index(registered)
        return Shop(engine, registered)

    yield make_shop
    engine.close()


def balance(reply: ContextReply) -> None:
    """Every hit is accounted for once."""
    account = reply.account
    assert account.total_count == account.returned_count + sum(account.dropped)
    assert account.returned_count == reply.shown


def test_a_symbol_with_what_it_uses(open_shop: Callable[..., Shop]) -> None:
    reply = open_shop(shop=SHOP).show("total")
    graph, code = (part.text for part in reply.assembly.parts)
    assert graph.startswith('Search: "symbol = total" | 1 result across 1 file | ')
    assert "Called by (by name): receipt (0.95)" in graph
    assert code.splitlines() == [
        *("# shop.py", "", "LIMIT = 3", "", ""),
        *("def total(prices):", "    return round(sum(prices), LIMIT)"),
    ]
    assert reply.notes == ("Connected by name: The setting structure.python is off.",)
    balance(reply)


def test_a_file_that_is_gone(open_shop: Callable[..., Shop]) -> None:
    shop = open_shop(shop=SHOP)
    reply = shop.show("total", shop.file.unlink)
    assert "shop.py is gone since it was indexed; total is left out." in reply.notes
    assert reply.assembly.parts[0].text.startswith('Search: "symbol = total" | 0 results')
    assert (reply.shown, reply.account.total_count) == (0, 0)
    balance(reply)


CHANGED = {
    # What stands above it may change: the symbol itself is the same.
    "moved": ("LIMIT = 3\n", "LIMIT = 3\nMORE = 4\n", None, "sum(prices)"),
    "body": ("sum(prices)", "sum(prices, 1)", "has changed", "sum(prices, 1)"),
    "last line": (", LIMIT)", ", LIMIT + 1)", "has changed", "LIMIT + 1"),
    "renamed": ("def total", "def tally", "is not in shop.py any more", None),
    "binary": ("import os", "\0\0\0\0", "is gone", None),
}


@pytest.mark.parametrize("what", CHANGED)
def test_a_file_that_was_edited(open_shop: Callable[..., Shop], what: str) -> None:
    before, after, note, text = CHANGED[what]
    shop = open_shop(shop=SHOP)
    reply = shop.show("total", lambda: shop.file.write_text(SHOP.replace(before, after)))
    said = [one for one in reply.notes if "since it was indexed" in one]
    assert [note is not None and note in one for one in said] == ([] if note is None else [True])
    assert (text is None) == (len(reply.assembly.parts) == 1)
    assert text is None or text in reply.assembly.parts[1].text
    balance(reply)


def test_a_statement_that_moved_or_went(open_shop: Callable[..., Shop]) -> None:
    shop = open_shop(shop=SHOP)
    asked = pooled(SearchRequest(text="import sys", limit=50))
    reply = shop.engine.search(shop.registered, asked)
    connector = shop.engine.connector(shop.registered)
    assert "import" in {kept.hit.chunk.node_kind for kept in reply.selection.kept}
    for text, is_there in (("\n" + SHOP, True), (SHOP.replace("import sys\n", ""), False)):
        with shop.engine.snapshot(shop.registered) as snapshot:
            shop.file.write_text(text)
            found = context(reply, snapshot, connector, ContextOptions(gate=0.0, budget=4000))
        shown = {place.chunk.full_source for place in found.results}
        assert ("import sys" in shown) is is_there
        gone = [note for note in found.notes if "any more" in note]
        assert bool(gone) is not is_there
        balance(found)


TWICE = """\
class First:
    def run(self):
        return "first"


def run():
    return "one"


def run():
    return "two"
"""


def test_two_symbols_of_one_name(open_shop: Callable[..., Shop]) -> None:
    reply = open_shop(shop=TWICE).show("run")
    assert len(reply.results) == 3
    assert len({place.targets for place in reply.results}) == 3
    (code,) = (part.text for part in reply.assembly.parts[1:])
    assert [code.count(f'return "{word}"') for word in ("first", "one", "two")] == [1, 1, 1]


def test_a_class_of_six_thousand_lines(open_shop: Callable[..., Shop]) -> None:
    methods = "".join(f"    def m{n}(self):\n        return {n}\n\n" for n in range(2000))
    shop = open_shop(shop=f"class Large:\n    size = 1\n\n{methods}")
    reply = shop.ask("symbol = Large", 2000)
    assert reply.assembly.used_tokens <= 2000
    assert sum(-(-len(part.text) // 4) for part in reply.assembly.parts) <= 2000
    assert reply.assembly.details != (Detail.full,)
    assert reply.account.truncation_info.reason is Reason.single_result_too_large
    graph = reply.assembly.parts[0].text
    assert "\n\nLarge\n" in graph
    assert "and 1989 more" in graph
    balance(reply)


def test_pieces_of_one_function_are_one_result(open_shop: Callable[..., Shop]) -> None:
    body = "".join(f"    basket.append({n})\n" for n in range(4000))
    shop = open_shop(shop=f"def fill(basket):\n{body}")
    reply = shop.show("fill")
    assert len(reply.results) == 1
    assert reply.results[0].lines == (1, 4001)
    balance(reply)


OVERLOADS = """\
import { round } from "./round";

export function price(of: string): number;
export function price(of: number): number;
export function price(of: unknown): number {
  return round(of);
}

export function other(): number {
  return price(1);
}
"""


def test_overloads_are_one_result(open_shop: Callable[..., Shop]) -> None:
    shop = open_shop(shop=SHOP)
    Path(shop.registered.repository.root, "price.ts").write_text(OVERLOADS)
    shop.engine.index(shop.registered)
    reply = shop.show("price")
    assert [place.lines for place in reply.results] == [(3, 7)]
    graph, code = (part.text for part in reply.assembly.parts)
    assert " | 1 result across 1 file | " in graph
    assert "◆" not in graph
    assert code.count("export function price(") == 3
    balance(reply)


def test_each_declaration_of_a_result_is_marked_as_one(open_shop: Callable[..., Shop]) -> None:
    shop = open_shop(shop=SHOP)
    text = OVERLOADS.replace("return round(of);", "return other();")
    Path(shop.registered.repository.root, "price.ts").write_text(text)
    shop.engine.index(shop.registered)
    graph = shop.ask("price other", gate=0.0).assembly.parts[0].text
    assert " price.ts:3-7 · function · score " in graph
    assert "Called by: price ★" in graph
    assert "Called by: other ★" in graph
    assert "All connections are known by name with confidence 0.95 where none is given." in graph


def test_more_definitions_than_are_wanted(open_shop: Callable[..., Shop]) -> None:
    files = {f"f{number}": "def same():\n    return 1\n" for number in range(12)}
    shop = open_shop(**files)
    assert shop.show("same").notes[0] == (
        "10 of 12 definitions are shown; ask with a higher limit, or say which by its path, as "
        "`path > A > x`."
    )
    assert not any("definitions" in note for note in shop.show("f3.py > same").notes)


def test_what_no_reply_may_exceed(open_shop: Callable[..., Shop]) -> None:
    lines = "".join(f'    "{n}":\t"\\"{n}\\"",\n' for n in range(8000))
    shop = open_shop(shop=f"TABLE = {{\n{lines}}}\n", more=SHOP)
    reply = shop.ask("symbol = TABLE", 1_000_000)
    size = sum(len(json.dumps(part.text, ensure_ascii=False)) for part in reply.assembly.parts)
    assert size <= MOST_CHARS
    assert reply.assembly.budget <= MOST_CHARS // 4
    assert any("A reply has at most 80,000 characters" in note for note in reply.notes)
    assert shop.ask("symbol = total", 1_000_000).account.truncated is False


def test_the_budget_degrades_before_it_drops(open_shop: Callable[..., Shop]) -> None:
    files = {f"f{n}": f"def handle():\n    return [{', '.join('1' * 300)}]\n" for n in range(9)}
    shop = open_shop(**files)
    reply = shop.ask("symbol = handle", 700)
    assert {Detail.full, Detail.signature} <= {*reply.assembly.details}
    assert reply.account.truncation_info.reason is Reason.token_budget
    assert f"| {reply.assembly.used_tokens:,}/700 tokens" in reply.assembly.parts[0].text
    balance(reply)
    few = shop.ask("symbol = handle", 60)
    assert few.assembly.dropped
    assert any("had no place within 60 tokens" in note for note in few.notes)
    balance(few)


def test_the_gate(open_shop: Callable[..., Shop]) -> None:
    shop = open_shop(shop=SHOP)
    nothing = shop.ask("quantum entanglement of badgers", gate=1.0)
    assert nothing.shown == 0
    assert any("Nothing here is a likely answer" in note for note in nothing.notes)
    assert shop.ask("quantum entanglement of badgers", gate=0.0).shown > 0
    # A name that is there has no score to be doubted.
    assert shop.ask("symbol = total", gate=1.0).shown == 1


def test_what_may_not_be_asked(open_shop: Callable[..., Shop], tmp_path: Path) -> None:
    shop = open_shop(shop=SHOP)
    with pytest.raises(UsageError, match="The token budget is 10; give 50 or more"):
        shop.ask("total", 10)
    request = SearchRequest(text="total", exhaustive=True)
    with pytest.raises(UsageError, match="Every match, page by page, is a list"):
        shop.engine.context(shop.registered, request)


def test_another_repository_of_the_project(places: DataDirectories, tmp_path: Path) -> None:
    engine = Engine(places, lambda _root: OFF)
    first, second = (
        engine.register(make(tmp_path / name, **{name: SHOP}), project="both")
        for name in ("first", "second")
    )
    engine.index(first)
    engine.index(second)

    def ask(*repos: str) -> ContextReply:
        request = SearchRequest(text="symbol = total")
        where = replace(request.where, repos=repos)
        return engine.context(first, replace(request, where=where))

    assert [place.path for place in ask("second").results] == ["second.py"]
    with pytest.raises(UsageError, match="Connections are those of one repository"):
        ask("first", "second")
    with pytest.raises(UsageError, match="There is no repository third"):
        ask("third")
    engine.close()


PRICES = {
    f"{word}_price": f'def {word}_price(basket):\n    """Price of a basket {word}."""\n    return basket\n'
    for word in ("gross", "net", "old", "new", "full", "half", "low", "high")
}


def test_a_question_in_words_has_several_results(open_shop: Callable[..., Shop]) -> None:
    """The others are named with place and score, in the text and in the record, and counted."""
    shop = open_shop(shop=SHOP, **PRICES)
    reply = shop.engine.context(
        shop.registered, SearchRequest(text="how is the price of a basket computed", limit=3)
    )
    assert reply.shown == 3
    best = reply.results[0]
    closing = reply.assembly.parts[-1].text.split("\n")
    assert closing[0].startswith("Other candidates")
    assert len(closing) - 1 == len(reply.candidates) > 3
    first = reply.candidates[0]
    assert closing[1].startswith(f" {first.path}:{first.lines.first}")
    assert f"  {first.name}  " in closing[1]
    assert best.score >= reply.candidates[0].score
    assert {place.path for place in reply.results}.isdisjoint({reply.candidates[0].path})
    balance(reply)


def test_a_name_alone_is_its_definition(open_shop: Callable[..., Shop]) -> None:
    """Whatever else scores beside it."""
    shop = open_shop(shop=SHOP, **PRICES)
    reply = shop.ask("net_price")
    assert [place.chunk.name for place in reply.results] == ["net_price"]
    assert reply.candidates
    assert "candidates" not in shop.ask("symbol = net_price").assembly.parts[-1].text


def test_what_every_reply_to_a_query_in_words_says(open_shop: Callable[..., Shop]) -> None:
    """The query cut to 120 characters; place, kind and score in the second line of each result."""
    shop = open_shop(shop=SHOP, **PRICES)
    reply = shop.ask("how is the price of a basket computed, " + "and what else happens " * 9)
    graph = reply.assembly.parts[0].text
    first, *blocks = graph.split("\n\n")
    query = re.match('Search: "(.*)" [|] [0-9]+ results across [0-9]+ files [|]', first)
    assert query is not None
    assert len(query[1]) == 120
    results = [block.split("\n") for block in blocks if block.startswith("[")]
    assert len(results) == reply.shown > 1
    for _name, second, *_rest in results:
        assert re.match(r" [\w./]+:[0-9]+(-[0-9]+)? · \w+ · score 0\.[0-9]{2}", second)
    closing = reply.assembly.parts[-1].text
    left = reply.account.total_count - reply.shown - len(reply.candidates)
    assert f"({left:,} more below" in closing
