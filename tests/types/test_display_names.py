"""Names as readers see them: a test in callbacks is named by its title."""

import pytest

from asterism.types.files import display_name

NAMES = {
    "Cart.add": "Cart.add",
    'app.post("/session/logout") callback': 'app.post("/session/logout") callback',
    'describe("cart") callback.it("is empty") callback': 'it("is empty")',
    'describe(Cart) callback.context("x") callback.it("sums … …) callback': 'it("sums … …)',
    'describe("cart") callback.beforeEach() callback': 'describe("cart").beforeEach() callback',
    'describe("cart") callback.it("adds") callback.items.map() callback': 'it("adds").items.map() callback',
    'TestCart.t.Run("empty") callback': 'TestCart.t.Run("empty")',
    'test.each([1, 2])("adds %d") callback': 'test.each([1, 2])("adds %d") callback',
    'audit("x") callback': 'audit("x") callback',
}


@pytest.mark.parametrize("name", NAMES)
def test_names(name: str) -> None:
    assert display_name(name) == NAMES[name]
