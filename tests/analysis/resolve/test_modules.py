"""Which file of a repository an import means."""

import pytest

from asterism.analysis.resolve.offers import resolve_module
from asterism.languages.facets import FileSet


def check(language: str, files: str, importer: str, module: str, expected: str | None) -> None:
    """`files` are the repository's paths beside the importer, separated by blanks."""
    known = FileSet([importer, *files.split()])
    assert resolve_module(importer, language, module, known) == expected


@pytest.mark.parametrize(
    ("files", "module", "expected"),
    [
        ("src/b.ts", "./b", "src/b.ts"),
        ("src/b.ts", "./b.js", "src/b.ts"),
        ("src/b.tsx", "./b.js", "src/b.tsx"),
        ("src/b.tsx", "./b.jsx", "src/b.tsx"),
        ("src/b.mts", "./b.mjs", "src/b.mts"),
        ("src/b.cts", "./b.cjs", "src/b.cts"),
        ("src/b.ts src/b.js", "./b.js", "src/b.ts"),
        ("src/b.js", "./b.js", "src/b.js"),
        ("src/b.js.ts", "./b.js", "src/b.js.ts"),
        ("src/b.ts src/b.tsx src/b/index.ts", "./b", "src/b.ts"),
        ("src/b.d.ts src/b.js", "./b", "src/b.d.ts"),
        ("src/b/index.tsx", "./b", "src/b/index.tsx"),
        ("src/b.ts src/b/index.ts", "./b/", "src/b/index.ts"),
        ("src/b/c.ts", "./b/c", "src/b/c.ts"),
        ("b.ts", "../b", "b.ts"),
        ("index.ts", "..", "index.ts"),
        ("src/index.ts", ".", "src/index.ts"),
        ("src/index.ts", "./", "src/index.ts"),
        ("src/b.component.ts", "./b.component", "src/b.component.ts"),
        ("src/b.json", "./b.json", "src/b.json"),
        ("src/b.css", "./b.css?inline", "src/b.css"),
        ("src/b.ts", "../../src/b", None),
        ("src/b.ts", "b", None),
        ("src/b.ts", "src/b", None),
        ("src/b.ts", "@/b", None),
        ("src/b.ts", "/src/b", None),
        ("src/b.ts", "./c", None),
        ("src/b.ts", "", None),
    ],
)
def test_typescript(files: str, module: str, expected: str | None) -> None:
    check("typescript", files, "src/a.ts", module, expected)


@pytest.mark.parametrize(
    ("files", "module", "expected"),
    [
        ("src/b.ts src/b.js", "./b.js", "src/b.js"),
        ("src/b.ts src/b.js", "./b", "src/b.js"),
        ("src/b.ts", "./b.js", "src/b.ts"),
        ("src/b/index.js", "./b", "src/b/index.js"),
        ("src/b.json", "./b", "src/b.json"),
    ],
)
def test_javascript_means_scripts_first(files: str, module: str, expected: str) -> None:
    check("javascript", files, "src/a.js", module, expected)


@pytest.mark.parametrize(
    ("files", "importer", "module", "expected"),
    [
        # Relative.
        ("p/b.py", "p/a.py", ".b", "p/b.py"),
        ("p/__init__.py", "p/a.py", ".", "p/__init__.py"),
        ("p/b.py", "p/q/a.py", "..b", "p/b.py"),
        ("p/b/c.py", "p/q/a.py", "..b.c", "p/b/c.py"),
        ("p/b.py", "p/__init__.py", ".b", "p/b.py"),
        ("b.py", "p/a.py", "...b", None),
        ("b.py", "p/a.py", "....b", None),
        # Absolute, at the root, below `src`, and in the folder of a script.
        ("p/b.py", "p/a.py", "p.b", "p/b.py"),
        ("p/b/__init__.py p/b.py", "x.py", "p.b", "p/b/__init__.py"),
        ("p/b.pyi", "x.py", "p.b", "p/b.pyi"),
        ("p/b.pyi p/b.py", "x.py", "p.b", "p/b.py"),
        ("src/p/__init__.py", "tests/test_a.py", "p", "src/p/__init__.py"),
        ("lib/src/p/__init__.py", "lib/tests/test_a.py", "p", "lib/src/p/__init__.py"),
        ("scripts/tool.py", "scripts/a.py", "tool", "scripts/tool.py"),
        # Inside a package a plain name is no neighbour.
        ("p/__init__.py p/json.py", "p/a.py", "json", None),
        ("x/json.py", "y/a.py", "json", None),
        # The nearest root first.
        ("one/t/u.py t/u.py", "one/t/a.py", "t.u", "one/t/u.py"),
        # Anywhere, if there is one.
        ("libs/x/p/b.py", "apps/a.py", "p.b", "libs/x/p/b.py"),
        ("libs/x/p/b/__init__.py", "apps/a.py", "p.b", "libs/x/p/b/__init__.py"),
        ("libs/x/p/b.py libs/y/p/b.py", "apps/a.py", "p.b", None),
        ("libs/x/__init__.py libs/x/p/b.py", "apps/a.py", "p.b", None),
        ("libs/xp/b.py", "apps/a.py", "p.b", None),
        ("p/b.py", "a.py", "os.path", None),
    ],
)
def test_python(files: str, importer: str, module: str, expected: str | None) -> None:
    check("python", files, importer, module, expected)


@pytest.mark.parametrize(
    ("language", "files", "module", "expected"),
    [
        ("java", "src/main/java/a/b/C.java", "a.b.C", "src/main/java/a/b/C.java"),
        ("java", "src/a/b/C.kt", "a.b.C", "src/a/b/C.kt"),
        ("kotlin", "src/a/b/C.java", "a.b.C", "src/a/b/C.java"),
        ("scala", "a/b/C.scala", "a.b.C", "a/b/C.scala"),
        ("java", "x/a/b/C.java y/a/b/C.java", "a.b.C", None),
        ("kotlin", "x/a/b/C.java y/a/b/C.kt", "a.b.C", None),
        ("java", "x/ca/b/C.java", "a.b.C", None),
        ("java", "x/C.java", "C", None),
        ("java", "x/a/b.java", "a.b.*", None),
    ],
)
def test_types_of_the_jvm(language: str, files: str, module: str, expected: str | None) -> None:
    check(language, files, "src/Main.x", module, expected)


@pytest.mark.parametrize(
    ("files", "module", "expected"),
    [
        ("src/Illuminate/Support/Arr.php", r"Illuminate\Support\Arr", True),
        ("src/Exception/Broken.php", r"Guzzle\Http\Exception\Broken", True),
        ("Exception/Broken.php", r"\Guzzle\Exception\Broken", True),
        ("src/a/Exception/Broken.php src/b/Exception/Broken.php", r"G\Exception\Broken", False),
        # The folder above is called like a namespace that the module does not name.
        ("src/Illuminate/Cookie/Jar.php", r"Guzzle\Cookie\Jar", False),
        ("src/Arr.php", r"Illuminate\Support\Arr", False),
        ("src/Arr.php", r"\Arr", False),
    ],
)
def test_php(files: str, module: str, expected: bool) -> None:
    check("php", files, "src/Main.php", module, files if expected else None)


@pytest.mark.parametrize(
    ("files", "importer", "module", "expected"),
    [
        ("src/lib.rs src/a/b.rs", "src/x.rs", "crate::a::b", "src/a/b.rs"),
        ("src/lib.rs src/a/b/mod.rs", "src/x/y.rs", "crate::a::b", "src/a/b/mod.rs"),
        ("src/lib.rs src/a.rs src/a/mod.rs", "src/x.rs", "crate::a", None),
        ("src/lib.rs", "src/x.rs", "crate", "src/lib.rs"),
        ("src/lib.rs src/main.rs", "src/x.rs", "crate", None),
        ("src/lib.rs", "src/main.rs", "crate", "src/main.rs"),
        ("core/main.rs core/a.rs", "core/x.rs", "crate::a", "core/a.rs"),
        ("one/src/lib.rs src/lib.rs src/a.rs", "one/src/x.rs", "crate::a", None),
        ("src/a.rs", "src/x.rs", "crate::a", None),
        # A program beside the library is a crate of its own.
        ("src/lib.rs src/a.rs", "src/bin/tool.rs", "crate::a", None),
        ("src/lib.rs src/bin/t/a.rs src/a.rs", "src/bin/t/main.rs", "crate::a", "src/bin/t/a.rs"),
        # From here.
        ("src/lib.rs src/x/a.rs", "src/x.rs", "self::a", "src/x/a.rs"),
        ("src/lib.rs src/x/a.rs", "src/x/mod.rs", "self::a", "src/x/a.rs"),
        ("src/lib.rs", "src/x.rs", "self", "src/x.rs"),
        # Upwards.
        ("src/lib.rs src/a.rs", "src/x.rs", "super::a", "src/a.rs"),
        ("src/lib.rs src/a.rs", "src/x/mod.rs", "super::a", "src/a.rs"),
        ("src/lib.rs src/x.rs src/x/a.rs", "src/x/y.rs", "super::a", "src/x/a.rs"),
        ("src/lib.rs src/x/mod.rs", "src/x/y.rs", "super", "src/x/mod.rs"),
        ("src/lib.rs", "src/x.rs", "super", "src/lib.rs"),
        ("src/lib.rs src/a.rs src/x.rs", "src/x/y.rs", "super::super::a", "src/a.rs"),
        ("src/lib.rs a.rs", "src/x.rs", "super::super::a", None),
        # A module below, or another crate.
        ("src/lib.rs src/x/a.rs", "src/x/mod.rs", "a", "src/x/a.rs"),
        ("src/lib.rs src/x/a.rs src/x/a/b.rs", "src/x/mod.rs", "a::b", "src/x/a/b.rs"),
        ("src/lib.rs src/a.rs", "src/x.rs", "a", None),
        ("src/lib.rs src/a.rs", "src/x.rs", "std::a", None),
    ],
)
def test_rust(files: str, importer: str, module: str, expected: str | None) -> None:
    check("rust", files, importer, module, expected)


@pytest.mark.parametrize("language", ["go", "c", "cpp", "csharp", "ruby", "markdown", ""])
def test_languages_whose_imports_bind_no_names(language: str) -> None:
    check(language, "src/b.ts b.h b.rb", "src/a.x", "./b", None)
