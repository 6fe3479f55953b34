"""Which declarations a part of a file uses: scopes, receivers, and what is not counted."""

import pytest

from asterism.analysis.syntax.outlines import outline
from asterism.reply.snapshots import snapshot

CASES = [
    # A function and a class with code are not shown, a class without code is.
    (
        "a.ts",
        "const a = 1;\nfunction f() {}\nclass C { m() {} }\nfunction t() { f(new C(a)); }",
        "a",
    ),
    (
        "a.py",
        "class P:\n    x: int\n\n\nclass Q:\n    def m(self): ...\n\n\ndef t(p: P, q: Q): ...",
        "P",
    ),
    # What is used is shown with what it uses.
    ("a.ts", "type A = B[];\ntype B = C;\ntype C = 1;\ntype D = 2;\nfunction t(a: A) {}", "A B C"),
    # A local belongs to its function alone.
    ("a.ts", "const a = 1;\nconst b = 2;\nfunction t(a: number) { return a + b; }", "b"),
    ("a.py", "a = 1\nb = 2\n\n\ndef t():\n    a = b\n    return a", "b"),
    # A name in another function's import is not this one.
    ("a.py", "def t():\n    return Path\n\n\ndef u():\n    from pathlib import Path", ""),
    # Members only through a receiver, unless the language says otherwise.
    ("a.ts", "const x = 1;\nclass C {\n  x = 2;\n  t() { return x; }\n}", "x"),
    ("a.ts", "const x = 1;\nclass C {\n  x = 2;\n  t() { return this.x; }\n}", "C.x"),
    ("A.java", "class C {\n  int x = 2;\n  int t() { return x; }\n}", "C.x"),
    ("a.cpp", "class C {\n  int x;\n  int u() { return 1; }\n};\nint C::t() { return x; }", "C.x"),
    (
        "a.rs",
        "struct S {\n  x: u8,\n  y: u8,\n}\nimpl S {\n  fn t(&self) -> u8 { self.x }\n}",
        "S.x",
    ),
    ("a.ts", "class K {\n  static MAX = 1;\n  m() {}\n}\nfunction t() { return K.MAX; }", "K.MAX"),
    ("a.ts", "class K {\n  size = 1;\n  m() {}\n}\nfunction t(k: K) { return k.size; }", ""),
    # A type's extension does not declare its name.
    ("a.rs", "use a::G;\nimpl B for G {}\nfn t() -> G { G::new() }", "import:G"),
    # An import that says no names is never counted.
    ("a.py", "from x import *\nfrom y import z\n\n\ndef t():\n    return q(z)", "import:z"),
    ("a.c", "#include <stdio.h>\n#define N 3\n#define F(x) x\nint t(void) { return F(N); }", "N"),
    ("a.hs", "data T = A | B\n\nt :: Int -> Bool\nt _ = case A of { _ -> True }", "T"),
]


@pytest.mark.parametrize(("path", "text", "expected"), CASES)
def test_needs(path: str, text: str, expected: str) -> None:
    """The target is called `t`; imports are written with the name they bring in."""
    source = text.encode()
    read = outline(path, source)
    targets = [index for index, item in enumerate(read.items) if item.name == "t"]
    needs = snapshot(read, source, targets[-1:]).needs
    found = {read.items[index].qualified_name for index in needs.items}
    found |= {f"import:{name}" for names in needs.imports.values() for name in names}
    assert found == set(expected.split())
