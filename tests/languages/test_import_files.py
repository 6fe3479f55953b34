"""Which file of a repository does an import mean?"""

import pytest

from asterism.analysis.resolve.offers import module_file
from asterism.languages.facets import FileSet


def check(language: str, files: str, importer: str, module: str, expected: str | None) -> None:
    """`files` are the repository's paths beside the importer, separated by blanks."""
    known = FileSet([importer, *files.split()])
    assert module_file(importer, language, module, known) == expected


@pytest.mark.parametrize(
    ("files", "module", "expected"),
    [
        ("lib/b.dart", "b.dart", "lib/b.dart"),
        ("lib/src/b.dart", "src/b.dart", "lib/src/b.dart"),
        ("bin/b.dart", "../bin/b.dart", "bin/b.dart"),
        ("lib/src/b.dart", "package:shop/src/b.dart", "lib/src/b.dart"),
        ("pkgs/shop/lib/b.dart", "package:shop/b.dart", "pkgs/shop/lib/b.dart"),
        ("x/shop/lib/b.dart y/shop/lib/b.dart", "package:shop/b.dart", None),
        ("lib/async.dart", "dart:async", None),
        ("lib/b.dart", "c.dart", None),
    ],
)
def test_dart(files: str, module: str, expected: str | None) -> None:
    check("dart", files, "lib/a.dart", module, expected)


@pytest.mark.parametrize(
    ("files", "module", "expected"),
    [
        ("lib/Shop/Cart.pm", "Shop::Cart", "lib/Shop/Cart.pm"),
        ("lib/Shop/Cart.pm t/lib/Shop/Cart.pm", "Shop::Cart", "lib/Shop/Cart.pm"),
        ("a/Shop/Cart.pm b/Shop/Cart.pm", "Shop::Cart", None),
        ("bin/setup.pl", "setup.pl", "bin/setup.pl"),
        ("lib/Shop.pm", "Store", None),
    ],
)
def test_perl(files: str, module: str, expected: str | None) -> None:
    check("perl", files, "bin/a.pl", module, expected)


@pytest.mark.parametrize(
    ("files", "module", "expected"),
    [
        ("src/cart.ml", "Cart", "src/cart.ml"),
        ("src/cart.ml src/cart.mli", "Cart", "src/cart.ml"),
        ("src/cart.ml lib/cart.ml", "Cart", "src/cart.ml"),
        ("lib/cart.ml", "Shop.Cart", "lib/cart.ml"),
        ("lib/shop.ml", "Shop.Cart", "lib/shop.ml"),
        ("x/cart.ml y/cart.ml", "Cart", None),
        ("src/cart.ml", "List", None),
    ],
)
def test_ocaml(files: str, module: str, expected: str | None) -> None:
    check("ocaml", files, "src/a.ml", module, expected)


@pytest.mark.parametrize(
    ("files", "module", "expected"),
    [
        ("src/cart.jl", "cart.jl", "src/cart.jl"),
        ("src/items/cart.jl", "items/cart.jl", "src/items/cart.jl"),
        ("src/Cart.jl test/Cart.jl", "Shop.Cart", "src/Cart.jl"),
        ("lib/Cart.jl test/Cart.jl", "Cart", None),
    ],
)
def test_julia(files: str, module: str, expected: str | None) -> None:
    check("julia", files, "src/a.jl", module, expected)


@pytest.mark.parametrize(
    ("files", "module", "expected"),
    [
        ("src/Cart.sol", "./Cart.sol", "src/Cart.sol"),
        ("lib/Cart.sol", "../lib/Cart.sol", "lib/Cart.sol"),
        ("contracts/token/Cart.sol", "@shop/contracts/token/Cart.sol", "contracts/token/Cart.sol"),
        ("src/Cart.sol", "src/Cart.sol", "src/Cart.sol"),
        ("x/Cart.sol y/Cart.sol", "@shop/Cart.sol", None),
    ],
)
def test_solidity(files: str, module: str, expected: str | None) -> None:
    check("solidity", files, "src/A.sol", module, expected)


@pytest.mark.parametrize(
    ("files", "module", "expected"),
    [
        ("src/util.ps1", "./util.ps1", "src/util.ps1"),
        ("src/util.ps1", "$PSScriptRoot/util.ps1", "src/util.ps1"),
        ("lib/Cart.psm1", "..\\lib\\Cart.psm1", "lib/Cart.psm1"),
        ("modules/Cart/Cart.psm1", "Cart", "modules/Cart/Cart.psm1"),
        ("x/Cart.psm1 y/Cart.psm1", "Cart", None),
    ],
)
def test_powershell(files: str, module: str, expected: str | None) -> None:
    check("powershell", files, "src/a.ps1", module, expected)


@pytest.mark.parametrize(
    ("files", "module", "expected"),
    [
        ("pkgs/b.nix", "./b.nix", "pkgs/b.nix"),
        ("lib/b.nix", "../lib/b.nix", "lib/b.nix"),
        ("pkgs/b/default.nix", "./b", "pkgs/b/default.nix"),
        ("default.nix", "..", "default.nix"),
        ("pkgs/b.nix", "./c.nix", None),
    ],
)
def test_nix(files: str, module: str, expected: str | None) -> None:
    check("nix", files, "pkgs/a.nix", module, expected)
