"""Are symbols found by name, exactly, in order, a page at a time?"""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from asterism.store.catalogue.catalogue import Catalogue
from asterism.types.index import Batch, FileUpdate, Role, SymbolQuery, SymbolRow, symbol_query
from tests.store.catalogue_samples import (
    OTHER,
    chunk_id,
    commit,
    definition,
    exported,
    imported,
    new_catalogue,
    state,
    update,
    usage,
)

CART = "src/cart.ts"
SHOP = "src/shop.ts"
SPEC = "test/shop.ts"

# In the order in which a look-up of `add` lists them.
ADDS = [
    definition(CART, "Cart.add", 4, kind="method", chunk=chunk_id(1), signature="add(item)"),
    definition(SHOP, "Shop.Stock.add", 7, kind="method"),
    definition(SPEC, "add", 2),
    exported(SPEC, "add", "add"),
    imported(SHOP, "./sums", "plus", 1, alias="add"),
    usage(CART, "add", 9),
    usage(SHOP, "add", 11, "cart", chunk=chunk_id(0)),
    usage(SHOP, "add", 11, "this.stock"),
    usage(SHOP, "add", 30, "cart", ordinal=1),
]


@pytest.fixture(params=["file", "memory"])
def catalogue(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Catalogue]:
    with new_catalogue(tmp_path / "project" if request.param == "file" else None) as made:
        others = [definition(CART, "Add"), usage(CART, "adds", 9), usage(CART, "plus", 9)]
        rows = [*ADDS, *others]
        commit(made, *(_file(path, rows) for path in (SPEC, SHOP, CART)))
        yield made


def _file(path: str, rows: list[SymbolRow]) -> FileUpdate:
    return update(path, *(row for row in rows if row.filepath == path))


def _found(catalogue: Catalogue, query: SymbolQuery) -> list[SymbolRow]:
    page = catalogue.find_symbols(query)
    assert page.total == len(page.rows)
    assert {found.repo for found in page.rows} <= {"shop"}
    return [found.row for found in page.rows]


def test_exact_name_in_order(catalogue: Catalogue) -> None:
    assert _found(catalogue, SymbolQuery("add")) == ADDS


def test_a_module_is_found_by_the_end_of_its_name_where_nothing_has_it(
    catalogue: Catalogue,
) -> None:
    desk = definition("lib/desk.ex", "Desk", kind="module")
    desk = desk._replace(name="Hotel.Desk", qualified_name="Hotel.Desk")
    commit(catalogue, update("lib/desk.ex", desk))
    ending = SymbolQuery("", by_end=True)
    assert _found(catalogue, symbol_query("Desk", ending)) == [desk]
    assert _found(catalogue, symbol_query("Hotel.Desk")) == [desk]
    assert _found(catalogue, symbol_query("Desk")) == []
    for other in ("esk", "desk", "Inn.Desk", "lib/other.ex > Desk", "R\ud800"):
        assert _found(catalogue, symbol_query(other, ending)) == []
    plain = definition("lib/plain.ex", "Desk")
    commit(catalogue, update("lib/plain.ex", plain))
    assert _found(catalogue, symbol_query("Desk", ending)) == [plain]


@pytest.mark.parametrize("name", ["ADD", "ad", "", "Cart", "add "])
def test_nothing_else_is_found(catalogue: Catalogue, name: str) -> None:
    assert _found(catalogue, SymbolQuery(name)) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("add", ADDS),
        ("Cart > add", ADDS[:1]),
        ("Cart.add", ADDS[:1]),
        ("Cart::add", ADDS[:1]),
        ("Stock > add", ADDS[1:2]),
        ("Shop > Stock > add", ADDS[1:2]),
        ("Shop.Stock.add", ADDS[1:2]),
        ("Shop > add", []),
        ("art.add", []),
        ("cart.add", [ADDS[6], ADDS[8]]),
        ("stock.add", [ADDS[7]]),
        ("this.stock.add", [ADDS[7]]),
        ("src/cart.ts > Cart > add", ADDS[:1]),
        ("cart.ts > Cart > add", ADDS[:1]),
        ("src/cart.ts > add", [ADDS[0], ADDS[5]]),
        ("rc/cart.ts > add", []),
        ("shop.ts > add", [ADDS[1], ADDS[2], ADDS[3], ADDS[4], *ADDS[6:]]),
        ("test/shop.ts > add", ADDS[2:4]),
        ("src/shop.ts > Cart > add", []),
    ],
)
def test_qualified_names(catalogue: Catalogue, text: str, expected: list[SymbolRow]) -> None:
    assert _found(catalogue, symbol_query(text)) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (SymbolQuery("add", kinds=("method",)), ADDS[:2]),
        (SymbolQuery("add", kinds=("function", "usage")), [ADDS[2], *ADDS[5:]]),
        (SymbolQuery("add", roles=(Role.EXPORT, Role.IMPORT)), ADDS[3:5]),
        (SymbolQuery("add", roles=(Role.USAGE,)), ADDS[5:]),
        (SymbolQuery("add", roles=(Role.USAGE,), kinds=("method",)), []),
        (SymbolQuery("add", path_prefix=("test/",)), ADDS[2:4]),
        (SymbolQuery("add", path_prefix=("test/", "src/c")), [*ADDS[:1], *ADDS[2:4], ADDS[5]]),
        (SymbolQuery("add", is_exported=True), ADDS[:4]),
        (SymbolQuery("add", is_exported=False), ADDS[4:]),
        (SymbolQuery("add", repos=("shop",)), ADDS),
        (SymbolQuery("add", repos=("tools",)), []),
    ],
)
def test_conditions(catalogue: Catalogue, query: SymbolQuery, expected: list[SymbolRow]) -> None:
    assert _found(catalogue, query) == expected


@pytest.mark.parametrize("size", [1, 2, 4, 50])
def test_pages_join_to_the_whole(catalogue: Catalogue, size: int) -> None:
    rows: list[SymbolRow] = []
    for offset in range(0, len(ADDS) + size, size):
        page = catalogue.find_symbols(SymbolQuery("add", limit=size, offset=offset))
        assert page.total == len(ADDS)
        assert len(page.rows) <= size
        rows += [found.row for found in page.rows]
    assert rows == ADDS


def test_several_repositories(catalogue: Catalogue) -> None:
    catalogue.add_repository(OTHER, "")
    row = definition("a.py", "add")
    catalogue.commit(Batch("tools", 2, [update("a.py", row)]))
    page = catalogue.find_symbols(SymbolQuery("add", roles=(Role.DEFINITION,)))
    assert [found.repo for found in page.rows] == ["tools", "shop", "shop", "shop"]
    only = catalogue.find_symbols(SymbolQuery("add", repos=("tools",)))
    assert [found.row for found in only.rows] == [row]


def test_prefixes_of_paths_that_are_no_utf8(catalogue: Catalogue) -> None:
    path = "caf\udce9/a.py"
    commit(catalogue, update(path, definition(path, "add"), usage(path, "add", 5)))
    assert len(_found(catalogue, SymbolQuery("add", path_prefix=("caf\udce9/",)))) == 2
    assert len(_found(catalogue, symbol_query(f"{path} > add"))) == 2
    assert len(_found(catalogue, SymbolQuery("add", path_prefix=("caf",)))) == 2


def test_a_usage_with_an_odd_qualified_name_is_kept(catalogue: Catalogue) -> None:
    odd = usage("a.rs", "go", 3)._replace(qualified_name="Car::go")
    marked = usage("b.rs", "go", 4)._replace(kind="call")
    dotted = usage("c.rs", "go", 5)._replace(qualified_name=".go")
    commit(catalogue, update("a.rs", odd), update("b.rs", marked), update("c.rs", dotted))
    assert _found(catalogue, SymbolQuery("go")) == [odd, marked, dotted]
    assert catalogue.statistics().symbols[Role.USAGE] == 9


@pytest.mark.parametrize("name", [".", "..", "a.b", ">>=", "x y", 'q"', "é", ""])
def test_names_of_any_form(catalogue: Catalogue, name: str) -> None:
    rows = [usage("a.hs", name, 1), usage("a.hs", name, 2, "M.N"), usage("a.hs", name, 2, name)]
    commit(catalogue, update("a.hs", *rows))
    assert sorted(_found(catalogue, SymbolQuery(name))) == sorted(rows)


def test_similar_names_are_names_of_definitions(catalogue: Catalogue) -> None:
    assert catalogue.similar_names("ad") == ["add", "Add"]
    assert catalogue.similar_names("add") == ["Add"]
    assert catalogue.similar_names("plu") == []
    assert catalogue.similar_names("ad", limit=1) == ["add"]


def test_the_view_has_the_columns_and_rows_for_people(tmp_path: Path) -> None:
    chunks = [(chunk_id(n), b"h") for n in range(2)]
    with new_catalogue(tmp_path) as catalogue:
        commit(
            catalogue,
            *(
                _file(path, ADDS)._replace(chunks=chunks, state=state(path))
                for path in (CART, SHOP, SPEC)
            ),
        )
    connection = sqlite3.connect(tmp_path / "catalogue.sqlite")
    rows = connection.execute(
        "SELECT id, name, qualified_name, kind, role, filepath, line, is_exported, chunk_id"
        " FROM symbols"
    ).fetchall()
    connection.close()
    assert set(rows) == {(row.id, *row[:8]) for row in ADDS}
