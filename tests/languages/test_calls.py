"""Does a call in one file lead to the function or method that another file declares?"""

import pytest

from asterism.analysis.resolve.resolver import Resolver
from asterism.structure.uses import is_call
from tests.analysis.resolve.in_memory_world import InMemoryWorld

CASES: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "dart": (
        {
            "lib/a.dart": "import 'b.dart';\nvoid f() { seal(1); Lid.of(2); }\n",
            "lib/b.dart": "void seal(int x) {}\nclass Lid { Lid.of(int x); }\n",
        },
        {"seal": "lib/b.dart seal", "Lid": "lib/b.dart Lid", "of": "lib/b.dart Lid.of"},
    ),
    "objective_c": (
        {
            "a.m": '#import "b.h"\nvoid f(void) { [Lid sealWith:1 at:2]; turn(3); }\n',
            "b.h": "@interface Lid\n+ (void)sealWith:(int)a at:(int)b;\n@end\nvoid turn(int a);\n",
        },
        {"Lid": "b.h Lid", "sealWith:at:": "b.h Lid.sealWith:at:", "turn": "b.h turn"},
    ),
    "perl": (
        {
            "bin/a.pl": "use Shop::Lid qw(seal);\nseal(1);\nShop::Lid::turn(2);\nShop::Lid->make;\n",
            "lib/Shop/Lid.pm": "package Shop::Lid;\nsub seal { }\nsub turn { }\nsub make { }\n1;\n",
        },
        {
            "seal": "lib/Shop/Lid.pm seal",
            "turn": "lib/Shop/Lid.pm turn",
            "make": "lib/Shop/Lid.pm make",
        },
    ),
    "ocaml": (
        {
            "a.ml": "open Jar\nlet f x = seal x; Lid.turn x\n",
            "jar.ml": "let seal x = x\n",
            "lid.ml": "let turn x = x\n",
        },
        {"seal": "jar.ml seal", "turn": "lid.ml turn"},
    ),
    "julia": (
        {
            "src/a.jl": "using Lid: seal\nimport Jar\nf(x) = seal(x) + Jar.turn(x)\n",
            "src/Lid.jl": "module Lid\nfunction seal(x) x end\nend\n",
            "src/Jar.jl": "turn(x) = x\n",
        },
        {"seal": "src/Lid.jl Lid.seal", "turn": "src/Jar.jl turn"},
    ),
    "solidity": (
        {
            "A.sol": 'import "./Lid.sol";\ncontract A is Lid { function f() { seal(1); Lib.turn(2); } }\n',
            "Lid.sol": (
                "contract Lid { function seal(uint x) {} }\nlibrary Lib { function turn(uint x) {} }\n"
            ),
        },
        {
            "Lid": "Lid.sol Lid",
            "seal": "Lid.sol Lid.seal",
            "Lib": "Lid.sol Lib",
            "turn": "Lid.sol Lib.turn",
        },
    ),
    "powershell": (
        {
            "a.ps1": ". ./lid.ps1\nfunction Get-All { Add-Lid 1; [Lid]::Make() }\n",
            "lid.ps1": "function Add-Lid($x) { }\nclass Lid { static [void] Make() { } }\n",
        },
        {"Add-Lid": "lid.ps1 Add-Lid", "Lid": "lid.ps1 Lid", "Make": "lid.ps1 Lid.Make"},
    ),
    "nix": (
        {
            "a.nix": "let lid = import ./lid.nix; in { all = lid.seal 1; }\n",
            "lid.nix": "{ seal = x: x; }\n",
        },
        {"seal": "lid.nix seal"},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_calls(name: str) -> None:
    files, expected = CASES[name]
    world = InMemoryWorld(files)
    first = next(iter(files))
    scope = world.scope(first)
    assert scope is not None
    resolver = Resolver(world)
    found = {}
    for reference in scope.outline.references:
        meaning = resolver.resolve(scope, reference)
        if meaning is not None and meaning.declaration is not None:
            item = resolver.item(meaning.declaration)
            path = meaning.declaration.path
            if path != first:
                called = "" if is_call(scope, reference, item) or item.kind == "class" else " used"
                found[reference.name] = f"{path} {item.qualified_name}{called}"
    assert found == expected
