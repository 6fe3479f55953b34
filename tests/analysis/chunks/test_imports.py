"""The imports a chunk lists are exactly those it uses."""

import pytest

from tests.analysis.chunks.cutting import chunk_named, chunks_of


@pytest.mark.parametrize(
    ("path", "imported", "used", "expected"),
    [
        ("a.py", "import os", "return os.sep", True),
        ("a.py", "import os.path", "return os.sep", True),
        ("a.py", "import numpy as np", "return np.zeros(1)", True),
        ("a.py", "import numpy as np", "return numpy.zeros(1)", False),
        ("a.py", "from a import b as c", "return c", True),
        ("a.py", "from a import b as c", "return b", False),
        ("a.py", "from a import b", "return x.b", False),
        ("a.py", "from a import b", "b = 1; return b", False),
        ("a.py", "from a import b", 'return "b"', False),
        ("a.py", "from a import b", 'return f"{b}"', True),
        ("a.py", "from a import b", "return 1  # b", False),
    ],
)
def test_python(path: str, imported: str, used: str, expected: bool) -> None:
    source = f"{imported}\n\ndef f(x):\n    {used}\n"
    assert chunk_named(path, source, "f").relevant_imports == ((imported,) if expected else ())


@pytest.mark.parametrize(
    ("imported", "used", "expected"),
    [
        ('import a from "m";', "return a;", True),
        ('import { a as b } from "m";', "return b;", True),
        ('import { a as b } from "m";', "return a;", False),
        ('import * as ns from "m";', "return ns.a;", True),
        ('import type { T } from "m";', "let v: T; return v;", True),
        ('import "m";', "return m;", False),
        ('import { x } from "m";', "return x;", False),
        ('import { a } from "m";', "return `${a}`;", True),
        ('import { a } from "m";', "return { a };", True),
        ('import { a } from "m";', "return { a: 1 };", False),
        ('export { a } from "m";', "return a;", False),
        ('const a = require("m");', "return a;", True),
    ],
)
def test_typescript(imported: str, used: str, expected: bool) -> None:
    """The parameter `x` hides whatever is imported under that name."""
    found = chunk_named("a.ts", f"{imported}\n\nfunction f(x) {{ {used} }}\n", "f")
    assert found.relevant_imports == ((imported,) if expected else ())


def test_a_parent_lists_what_its_children_use() -> None:
    source = """
        import { a } from "m";
        import { b } from "n";

        class C {
          f() { return a; }
          g() { return 1; }
        }
        """
    found = {chunk.qualified_name: chunk.relevant_imports for chunk in chunks_of("a.ts", source)}
    line = 'import { a } from "m";'
    assert found["C"] == (line,)
    assert found["C.f"] == (line,)
    assert found["C.g"] == ()


def test_one_statement_is_listed_once() -> None:
    source = "import { a, b } from 'm';\n\nfunction f() { return a + b; }\n"
    assert chunk_named("a.ts", source, "f").relevant_imports == ("import { a, b } from 'm';",)


def test_both_ways_to_get_a_name_are_listed() -> None:
    source = """
        try:
            import fast as codec
        except ImportError:
            import slow as codec

        def f():
            return codec
        """
    found = chunk_named("a.py", source, "f").relevant_imports
    assert found == ("import fast as codec", "import slow as codec")


def test_an_imported_extension_is_used_on_its_receiver() -> None:
    """Kotlin writes `path.readText()` for a function that the file imports."""
    source = "import kotlin.io.readText\n\nfun f(path: Path) = path.readText()\n"
    assert chunk_named("a.kt", source, "f").relevant_imports == ("import kotlin.io.readText",)
