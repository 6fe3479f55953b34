"""What files offer and want, and how an import finds its signature through other files."""

from pathlib import Path
from textwrap import dedent

import pytest

from asterism.analysis.chunks.chunker import FileOrigin, chunk_file
from asterism.analysis.chunks.units import ChunkOptions
from asterism.analysis.resolve.offers import (
    MAX_HOPS,
    exported_signatures,
    follow,
    resolve_module,
    wanted_names,
)
from asterism.analysis.source.text import decode
from asterism.analysis.symbols import symbol_rows
from asterism.analysis.syntax.outlines import outline
from asterism.languages.facets import FileSet
from asterism.types.index import Role, Signatures
from asterism.types.outline import Declared, Outline, offered
from tests.analysis.syntax.material import SOURCES

OPTIONS = ChunkOptions()


def read(path: str, text: str) -> Outline:
    return outline(path, dedent(text).lstrip("\n").encode())


@pytest.mark.parametrize(
    ("path", "text", "own", "passed_on", "all_of"),
    [
        (
            "a.ts",
            """
            import d, { x as y, z } from "./m";
            import * as ns from "./ns";
            export default function foo() {}
            export { y as why, own as mine, ns, hidden as default2 };
            export { default as Q, k as l } from "./q";
            export * from "./w";
            export * from "./v";
            export * as all from "./u";
            export const one = 1;
            export function over(a: A): void;
            export function over(a: B): void;
            const own = 2;
            const secret = 3;
            """,
            {
                "default": "export default function foo()",
                "mine": "const own = 2",
                "one": "export const one = 1",
                "over": "export function over(a: A): void",
            },
            {
                "why": ("./m", "x"),
                "ns": ("./ns", "*"),
                "Q": ("./q", "default"),
                "l": ("./q", "k"),
                "all": ("./u", "*"),
            },
            ("./w", "./v"),
        ),
        ("a.ts", "export default class {}\n", {"default": "export default class"}, {}, ()),
        ("a.ts", "export default { a: 1 };\n", {}, {}, ()),
        (
            "a.js",
            "module.exports = foo;\nfunction foo() {}\n",
            {"*": "function foo()", "default": "function foo()"},
            {},
            (),
        ),
        (
            "a.js",
            'module.exports = require("./lib");\n',
            {},
            {"*": ("./lib", "*"), "default": ("./lib", "*")},
            ("./lib",),
        ),
        (
            "a.js",
            'const { a } = require("./m");\nmodule.exports = { a, foo };\nfunction foo() {}\n',
            {"foo": "function foo()"},
            {"a": ("./m", "a")},
            (),
        ),
        (
            "a.py",
            """
            from x import y, z
            __all__ = ["f", "z"]
            def f(): ...
            def _g(): ...
            class A:
                def m(self): ...
            """,
            {"__all__": '__all__ = ["f", "z"]', "f": "def f()", "_g": "def _g()", "A": "class A"},
            {"z": ("x", "z")},
            (),
        ),
        (
            "p/__init__.py",
            """
            from .a import b as c, d
            from .e import *
            import os.path
            def d(): ...
            """,
            {"d": "def d()"},
            {"c": (".a", "b"), "os": ("os.path", "*")},
            (".e",),
        ),
        ("A.java", "public class A { class I {} }\nclass P {}\n", None, {}, ()),
        (
            "a.rs",
            "pub use b::C as D;\npub use e::*;\nuse f::G;\nfn h() {}\n",
            {"h": "fn h()"},
            {"D": ("b", "C")},
            ("e",),
        ),
        (
            "a.php",
            "<?php\nnamespace A;\nuse B\\C;\nclass Q {}\n",
            {"Q": "class Q"},
            {},
            (),
        ),
    ],
)
def test_what_a_file_offers(
    path: str,
    text: str,
    own: dict[str, str] | None,
    passed_on: dict[str, tuple[str, str]],
    all_of: tuple[str, ...],
) -> None:
    own = {"A": "public class A", "P": "class P"} if own is None else own
    found = exported_signatures(read(path, text), OPTIONS)
    assert found == Signatures(own, passed_on, all_of)


def test_signatures_are_cut_like_quotes() -> None:
    found = exported_signatures(
        read("a.py", "def long_name(): ...\n"), ChunkOptions(max_quote_chars=8)
    )
    assert found.own == {"long_name": "def long …"}


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        (
            "a.ts",
            'import d, { x as y } from "./m";\nimport * as ns from "n";\nimport "./side";\n',
            [
                ("./m", (("d", "default"), ("y", "x")), False),
                ("n", (("ns", "*"),), False),
                ("./side", (), False),
            ],
        ),
        # What is only passed on has no local name.
        (
            "a.ts",
            'export { x as y } from "./m";\nexport * from "./n";\nexport * as z from "./o";\n',
            [
                ("./m", (("", "x"),), True),
                ("./n", (("", "*"),), True),
                ("./o", (("", "*"),), True),
            ],
        ),
        (
            "a.ts",
            'import { x, y } from "./m";\nimport z from "./n";\nexport { y as default };\n',
            [("./m", (("x", "x"), ("y", "y")), True), ("./n", (("z", "default"),), False)],
        ),
        (
            "a.py",
            "import a.b\nimport c as d\nfrom . import e\nfrom .f import *\n",
            [
                ("a.b", (("a", "*"),), False),
                ("c", (("d", "*"),), False),
                (".", (("e", "e"),), False),
                (".f", (("", "*"),), False),
            ],
        ),
        ("p/__init__.py", "from .a import b\n", [(".a", (("b", "b"),), True)]),
        ("a.py", "from .a import b\n__all__ = ['b']\n", [(".a", (("b", "b"),), True)]),
        (
            "A.java",
            "import a.b.C;\nimport a.b.*;\nimport static a.b.C.m;\nimport a.b.C.D;\n",
            [
                ("a.b.C", (("C", "C"),), False),
                ("a.b.*", (("", "*"),), False),
                ("a.b.C", (("m", "m"),), False),
                ("a.b.C", (("D", "D"),), False),
            ],
        ),
        ("a.kt", "import a.b.C as D\n", [("a.b.C", (("D", "C"),), False)]),
        (
            "a.scala",
            "import a.{B, C => D}\nimport e.F._\n",
            [
                ("a.B", (("B", "B"),), False),
                ("a.C", (("D", "C"),), False),
                ("e.F", (("", "*"),), False),
            ],
        ),
        (
            "a.php",
            "<?php\nuse A\\B\\C as D;\nuse Closure;\nuse E\\{F, G};\n",
            [
                ("A\\B\\C", (("D", "C"),), False),
                ("\\Closure", (("Closure", "Closure"),), False),
                ("E\\F", (("F", "F"),), False),
                ("E\\G", (("G", "G"),), False),
            ],
        ),
        # Inside a module of the file, `super` is the file.
        (
            "a.rs",
            """
            use super::a;
            pub use b::C;
            mod tests {
                use super::D;
                use super::super::e::F;
                use super::g::H;
                use self::i::J;
                use crate::k;
                mod deeper { use super::L; use super::super::M; }
            }
            """,
            [
                ("super", (("a", "a"),), False),
                ("b", (("C", "C"),), True),
                ("self", (("D", "D"),), False),
                ("super::e", (("F", "F"),), False),
                ("self::g", (("H", "H"),), False),
                ("crate", (("k", "k"),), False),
                ("self", (("M", "M"),), False),
            ],
        ),
    ],
)
def test_what_a_file_wants(
    path: str, text: str, expected: list[tuple[str, tuple[tuple[str, str], ...], bool]]
) -> None:
    assert wanted_names(read(path, text)) == expected


REPOSITORY = {
    "own.ts": "export class Box {}\nexport default function make() {}\nconst hidden = 1;\n",
    "named.ts": 'export { Box as Crate, default as create } from "./own";\n',
    "barrel.ts": 'export * from "./empty";\nexport * from "./own";\n',
    "deep.ts": 'export * from "./barrel";\nexport * from "./named";\n',
    "again.ts": 'import make, { Box } from "./own";\nexport { make as build, Box };\n',
    "empty.ts": "",
    "round.ts": 'export * from "./trip";\nexport { lost } from "./trip";\n',
    "trip.ts": 'export * from "./round";\nexport { lost } from "./round";\nexport * from "./own";\n',
    "other.ts": "export interface Box {}\n",
    "torn.ts": 'export * from "./own";\nexport * from "./other";\n',
    "twice.ts": 'export * from "./own";\nexport * from "./barrel";\n',
    "outside.ts": 'export { Box } from "package";\n',
    "script.js": "module.exports = run;\nfunction run() {}\n",
    "lib.js": 'module.exports = require("./script");\n',
    "pkg/__init__.py": "from .inner import helper as aid\nfrom .inner import *\n",
    "pkg/inner.py": "def helper(): ...\ndef other(): ...\n",
    **{f"chain{n}.ts": f'export * from "./chain{n + 1}";\n' for n in range(12)},
    "chain12.ts": "export const far = 1;\n",
}


@pytest.mark.parametrize(
    ("path", "name", "expected"),
    [
        ("own.ts", "Box", "export class Box"),
        ("own.ts", "default", "export default function make()"),
        ("own.ts", "hidden", None),
        ("own.ts", "*", None),
        ("named.ts", "Crate", "export class Box"),
        ("named.ts", "create", "export default function make()"),
        ("named.ts", "Box", None),
        ("barrel.ts", "Box", "export class Box"),
        # The default export stays behind.
        ("barrel.ts", "default", None),
        ("deep.ts", "Box", "export class Box"),
        ("deep.ts", "Crate", "export class Box"),
        ("again.ts", "build", "export default function make()"),
        ("again.ts", "Box", "export class Box"),
        # Circles end, and do not hide what is beside them.
        ("round.ts", "Box", "export class Box"),
        ("round.ts", "nothing", None),
        ("round.ts", "lost", None),
        # Two declarations of one name give no answer; one declaration by two ways is one.
        ("torn.ts", "Box", None),
        ("twice.ts", "Box", "export class Box"),
        ("outside.ts", "Box", None),
        ("script.js", "*", "function run()"),
        ("script.js", "default", "function run()"),
        ("lib.js", "*", "function run()"),
        ("pkg/__init__.py", "aid", "def helper()"),
        ("pkg/__init__.py", "other", "def other()"),
        ("pkg/__init__.py", "inner", None),
        ("missing.ts", "Box", None),
        (f"chain{12 - MAX_HOPS}.ts", "far", "export const far = 1"),
        (f"chain{11 - MAX_HOPS}.ts", "far", None),
    ],
)
def test_follow(path: str, name: str, expected: str | None) -> None:
    outlines = {path: read(path, text) for path, text in REPOSITORY.items()}
    offers = {path: exported_signatures(found, OPTIONS) for path, found in outlines.items()}
    files = FileSet(REPOSITORY)

    def resolve(importer: str, module: str) -> str | None:
        return resolve_module(importer, outlines[importer].language, module, files)

    assert follow(path, name, offers.get, resolve) == expected


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_stored_rows_say_the_same(path: Path) -> None:
    """A catalogue keeps symbol rows and no outlines; they suffice to tell what a file offers."""
    source = decode(path.read_bytes())
    found = outline(path.name, source)
    rows = list(
        symbol_rows(found, chunk_file(found, source, FileOrigin("r", path.name, path.name)))
    )
    definitions = [row for row in rows if row.role is Role.DEFINITION]
    exports = [row for row in rows if row.role is Role.EXPORT]
    imports = [row for row in rows if row.role is Role.IMPORT and row.qualified_name != row.module]
    declared = Declared(
        [(r.name, r.signature or "") for r in definitions if r.name == r.qualified_name],
        [(row.name, row.qualified_name, row.module) for row in exports],
        [
            (row.name, row.module or "", row.qualified_name.removeprefix(f"{row.module}."))
            for row in imports
        ],
    )
    options = ChunkOptions(max_quote_chars=1_000_000)
    assert offered(path.name, found.language, declared) == exported_signatures(found, options)
