"""Are the frames of a stack trace found, with their paths, lines and names?"""

import pytest

from asterism.search.query.paths import frames_in

Expected = tuple[list[tuple[str, int | None]], list[str]]

TRACES: dict[str, tuple[str, Expected]] = {
    "dart": (
        """
        #0      Cart.add (package:shop/src/cart.dart:12:5)
        #1      main.<anonymous closure> (file:///srv/shop/bin/main.dart:4:3)
        """,
        ([("src/cart.dart", 12), ("/srv/shop/bin/main.dart", 4)], ["Cart.add", "main"]),
    ),
    "dart, as package:stack_trace writes it": (
        "package:shop/src/cart.dart 12:5  Cart.add\n",
        ([("src/cart.dart", 12)], ["Cart.add"]),
    ),
    "objective_c": (
        "3   Shop   0x0000000104a2c1f4 -[Cart add:at:] + 52 (Cart.m:17)\n",
        ([("Cart.m", 17)], ["add:at:"]),
    ),
    "perl": (
        """
        no lid at lib/Shop/Cart.pm line 12.
        \tShop::Cart::add('Shop::Cart=HASH(0x55)', 1) called at bin/shop.pl line 3
        """,
        ([("lib/Shop/Cart.pm", 12), ("bin/shop.pl", 3)], ["Shop.Cart.add"]),
    ),
    "ocaml": (
        """
        Fatal error: exception Failure("lid")
        Raised at Stdlib.failwith in file "stdlib.ml", line 29, characters 17-33
        Called from Shop__Cart.add in file "src/cart.ml" (inlined), line 12, characters 2-9
        """,
        ([("stdlib.ml", 29), ("src/cart.ml", 12)], ["Stdlib.failwith", "Shop__Cart.add"]),
    ),
    "julia": (
        """
        ERROR: LoadError: no lid
        Stacktrace:
         [1] add!(cart::Cart, x::Int64)
           @ Shop ~/shop/src/cart.jl:12
         [2] top-level scope
           @ main.jl:3
        """,
        ([("~/shop/src/cart.jl", 12), ("main.jl", 3)], ["add!"]),
    ),
    "solidity": (
        "    at Cart.add (contracts/Cart.sol:12)\n",
        ([("contracts/Cart.sol", 12)], ["Cart.add"]),
    ),
    "powershell": (
        """
        at Add-Item, /srv/shop/Cart.ps1: line 12
        At C:\\shop\\Cart.ps1:12 char:5
        """,
        ([("/srv/shop/Cart.ps1", 12), ("C:/shop/Cart.ps1", 12)], ["Add-Item"]),
    ),
    "nix": (
        "       at /srv/shop/module.nix:12:5:\n",
        ([("/srv/shop/module.nix", 12)], []),
    ),
}


@pytest.mark.parametrize("name", TRACES)
def test_frames(name: str) -> None:
    text, expected = TRACES[name]
    found = frames_in(text)
    assert ([(place.path, place.line) for place in found.places], [*found.names]) == expected
