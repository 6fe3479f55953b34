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
