"""Whatever happens to a repository, its index is what a fresh one would be, and costs no more."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from asterism.indexing.report import Listener, Progress, SyncStage
from asterism.store.chunk_table import ChunkKey
from tests.indexing.workshop import Kind, Workshop, workshop


class World(NamedTuple):
    """Paths that a language's files may have, and lines that they may contain.

    Few names for much: most imports can mean several files, and most files shadow another.
    """

    paths: tuple[str, ...]
    lines: tuple[str, ...]
    """`MOD` is replaced by a module, `NAME` and `OTHER` by names, `ARGS` by parameters."""
    modules: tuple[str, ...]


NAMES = ("f", "g")
ARGUMENTS = ("", "x", "x, y")

TYPESCRIPT = World(
    (
        *("a.ts", "b.ts", "a.js", "a.d.ts", "index.ts", "a/index.ts", "a/index.js", "a/b.ts"),
        *("a/a/index.ts", "b/a.tsx", "b/index.ts", "x/a.ts", "x/c.service.ts"),
    ),
    (
        'import { NAME } from "MOD";',
        'import { NAME as OTHER } from "MOD";',
        'import * as NAME from "MOD";',
        'import NAME from "MOD";',
        'export * from "MOD";',
        'export * as NAME from "MOD";',
        'export { NAME } from "MOD";',
        'export { NAME as OTHER } from "MOD";',
        'export { default as NAME } from "MOD";',
        'import { NAME } from "MOD";\nexport { NAME as OTHER };',
        "export function NAME(ARGS) { return 1; }",
        "export default function NAME(ARGS) { return 1; }",
        "function NAME(ARGS) { return OTHER(); }",
        "export const use_ = () => [f(), g()];",
    ),
    (
        "./a",
        "./b",
        "../a",
        ".",
        "..",
        "./a/b",
        "./a.js",
        "./a?raw",
        "./a/..",
        "./c.service",
        "./a/a",
    ),
)
PYTHON = World(
    (
        *("a.py", "b.py", "a/__init__.py", "a/b.py", "a/a.py", "a/c/__init__.py", "b/__init__.py"),
        *("b/a.py", "src/a/b.py", "x/a/b.py", "x/__init__.py", "x/a/__init__.py", "x/y/b.py"),
        *("a/b.pyi", "x/b/__init__.pyi", "x/y/main.py"),
    ),
    (
        "from MOD import NAME",
        "from MOD import NAME as OTHER",
        "from MOD import *",
        "import MODULE",
        "def NAME(ARGS):\n    return 1",
        "class NAME:\n    def m(self, ARGS):\n        return OTHER()",
        "def use():\n    return f(), g()",
        '__all__ = ["NAME"]',
    ),
    (".", "..", ".a", "..a", ".b", "a", "b", "a.b", "a.c", "a.a", "b.a", "x.a.b", "y.b"),
)
JAVA_PHP = World(
    (
        *("p/com/shop/f.java", "q/com/shop/f.java", "com/shop/g.kt", "q/com/shop/g.java"),
        *("Main.java", "src/Shop/f.php", "lib/Shop/f.php", "App/Shop/g.php", "Shop/g.php"),
    ),
    (
        "package com.shop;",
        "import com.shop.NAME;",
        "import com.shop.NAME;\nclass Use { void m() { NAME.make(); } }",
        "class NAME { void m(ARGS) {} }",
        "<?php\nuse App\\Shop\\NAME;\nfunction u() { return new NAME(); }",
        "<?php\nnamespace App\\Shop;\nclass NAME { }",
    ),
    ("",),
)
RUST = World(
    (
        *("src/lib.rs", "src/main.rs", "src/a.rs", "src/a/mod.rs", "src/a/b.rs", "src/a/main.rs"),
        *("src/a/b/mod.rs", "src/b.rs", "src/bin/x.rs", "lib.rs"),
    ),
    (
        "use MOD::NAME;",
        "pub use MOD::NAME;",
        "pub use MOD::*;",
        "use MOD::NAME as OTHER;",
        "pub fn NAME(ARGS) -> u32 { 1 }",
        "fn usage() { f(); g(); }",
        "mod a;",
    ),
    ("crate::a", "crate", "self::a", "super", "a", "a::b", "crate::a::b", "super::b", "b"),
)
IGNORES = ("", "a/\n", "*.js\n", "/b*\n", "x/\n!x/a\n", "__init__.py\n")
FOLDERS = ("a", "b", "x", "src", "p", "x/a", "src/a", "y")

Step = tuple[str, ...]


def files_of(world: World) -> st.SearchStrategy[Step]:
    """A file is put there, with other imports, definitions or nothing at all."""
    line = st.tuples(
        st.sampled_from(world.lines),
        st.sampled_from(world.modules),
        st.permutations(NAMES),
        st.sampled_from(ARGUMENTS),
    )
    return st.builds(
        lambda path, lines: ("put", path, "\n".join(written(*line) for line in lines) + "\n"),
        st.sampled_from(world.paths),
        st.lists(line, max_size=5),
    )


def written(line: str, module: str, names: Sequence[str], arguments: str) -> str:
    plain = module.lstrip(".") or "a"
    line = line.replace("MODULE", plain).replace("MOD", module)
    return line.replace("NAME", names[0]).replace("OTHER", names[1]).replace("ARGS", arguments)


def steps_of(world: World) -> st.SearchStrategy[Step]:
    path = st.sampled_from(world.paths)
    folder = st.sampled_from(FOLDERS)
    return st.one_of(
        files_of(world),
        files_of(world),
        files_of(world),
        st.tuples(st.just("remove"), path),
        st.tuples(st.just("touch"), path),
        st.tuples(st.just("move"), path, path),
        st.tuples(st.just("move"), folder, folder),
        st.tuples(st.just("put"), st.just(".gitignore"), st.sampled_from(IGNORES)),
        st.just(("sync",)),
        st.just(("sync",)),
        st.just(("cut short",)),
    )


def histories() -> st.SearchStrategy[list[Step]]:
    return st.sampled_from((TYPESCRIPT, PYTHON, JAVA_PHP, RUST)).flatmap(history_of)


def history_of(world: World) -> st.SearchStrategy[list[Step]]:
    """A repository with some files, indexed once, and what happens to it then."""
    files = st.lists(files_of(world), min_size=4, max_size=12)
    later = st.lists(steps_of(world), min_size=2, max_size=16)
    return st.builds(lambda before, after: [*before, ("sync",), *after], files, later)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(history=histories())
def test_any_history(history: list[Step]) -> None:
    with TemporaryDirectory() as folder:
        live(Path(folder), history)


# Where the file that decides is neither the one that imports nor the one that is imported.
HISTORIES: dict[str, list[Step]] = {
    "a folder becomes a package": [
        ("put", "b/a.py", "import a\n"),
        ("sync",),
        ("put", "b/__init__.py", ""),
    ],
    "a package above a namesake": [
        ("put", "main.py", "from a.b import f\n\n\ndef use():\n    return f()\n"),
        ("put", "x/a/b.py", "def f(x):\n    return 1\n"),
        ("sync",),
        ("put", "x/__init__.py", ""),
        ("sync",),
        ("remove", "x/__init__.py"),
    ],
    "a package called like an extension": [
        ("put", "main.py", "from a.c import f\n"),
        ("sync",),
        ("put", "a/c/__init__.py", ""),
    ],
    "a suffix that becomes ambiguous": [
        ("put", "main.py", "from a.b import f\n\n\ndef use():\n    return f()\n"),
        ("put", "x/a/b.py", "def f(x):\n    return 1\n"),
        ("sync",),
        ("put", "y/a/b.py", "def f(x, y):\n    return 1\n"),
        ("sync",),
        ("remove", "x/a/b.py"),
    ],
    "what a bundler adds": [
        ("put", "b.ts", 'import { f } from "./a?raw";\n'),
        ("sync",),
        ("put", "a.ts", ""),
    ],
    "down and up again": [
        ("put", "b.ts", 'export * from "./a/..";\n'),
        ("sync",),
        ("put", "index.ts", ""),
    ],
    "a module between": [
        ("put", "src/lib.rs", "use a::b::g;\n"),
        ("put", "src/a/b.rs", ""),
        ("sync",),
        ("put", "src/a.rs", ""),
    ],
    "the target of an unwritten file vanishes": [
        *(
            ("put", f"a/m{n}.py", "from b.late import f\n\n\ndef use():\n    return f()\n")
            for n in range(33)
        ),
        ("put", "b/late.py", "def f(x):\n    return 1\n"),
        ("cut short",),
        ("remove", "b/late.py"),
    ],
}


@pytest.mark.parametrize("kind", ["memory", "lance"])
@pytest.mark.parametrize("name", HISTORIES)
def test_history(name: str, kind: Kind, tmp_path: Path) -> None:
    live(tmp_path, HISTORIES[name], kind)


@pytest.mark.parametrize("later", [None, "", "def g(x, y):\n    return 1\n"])
def test_a_file_that_changes_before_it_is_read_again(tmp_path: Path, later: str | None) -> None:
    """A signature changes, and the file that quotes it is edited or removed during the sync."""
    with workshop(tmp_path / "old") as old:
        old.put("a.py", "def f(x):\n    return 1\n")
        old.put("b.py", "from a import f\n\n\ndef g(x):\n    return f(x)\n")
        old.put("c.py", "from b import g\n\n\ndef use():\n    return g(1)\n")
        old.sync()
        old.put("a.py", "def f(x, y):\n    return 1\n")

        def hear(progress: Progress) -> None:
            if progress == (SyncStage.reading, 1, 1, 0, ""):
                happen(old, ("remove", "b.py") if later is None else ("put", "b.py", later))

        old.sync(Listener(hear))
        sync_and_compare(old, tmp_path / "fresh")


def live(folder: Path, history: Sequence[Step], kind: Kind = "memory") -> None:
    """Do what the history says; after each sync compare with a fresh index."""
    with workshop(folder / "old", kind) as old:
        # The smallest batches, so that a sync that is cut short has written only a part.
        old.options = replace(old.options, batch_bytes=1)
        for number, step in enumerate([*history, ("sync",)]):
            if step == ("sync",):
                sync_and_compare(old, folder / f"fresh{number}")
            elif step == ("cut short",):
                cut_short(old)
            else:
                happen(old, step)


def happen(shop: Workshop, step: Step) -> None:
    verb, path, *more = step
    place = shop.root / path
    if verb == "put":
        shop.put(path, more[0])
    elif verb == "touch" and place.exists():
        shop.touch(path)
    elif verb == "remove":
        place.unlink(missing_ok=True)
    elif verb == "move" and place.exists():
        there = shop.root / more[0]
        if not there.exists() and not there.is_relative_to(place):
            there.parent.mkdir(parents=True, exist_ok=True)
            place.rename(there)


def cut_short(shop: Workshop) -> None:
    """Sync until the first batch is committed."""
    written: list[Progress] = []

    def hear(progress: Progress) -> None:
        if progress.stage is SyncStage.writing:
            written.append(progress)

    shop.sync(Listener(hear, lambda: bool(written)))


def sync_and_compare(old: Workshop, folder: Path) -> None:
    before = texts(old)
    report = old.sync()
    after = texts(old)
    assert sorted(old.embedder.documents) == sorted(text for text in after - before if text.strip())
    assert report.embedded == len(after - before)
    with workshop(folder) as fresh:
        fresh.repository = old.repository
        fresh.sync()
        expected = content(fresh)
        for part, rows in content(old).items():
            assert rows == expected[part], part
    version = old.index.catalogue.chunks_version()
    again = old.sync()
    assert (again.parsed, again.chunks_written, again.touched) == (0, 0, 0)
    assert not again.did_something
    assert old.index.catalogue.chunks_version() == version


def texts(shop: Workshop) -> set[str]:
    return {chunk.embedding_text for chunk in shop.chunks()}


def content(shop: Workshop) -> dict[str, Any]:
    """Everything an index holds, but for the numbers of its readings."""
    catalogue, repo = shop.index.catalogue, shop.repository.name
    states = catalogue.files(repo)
    chunks = shop.chunks()
    keys = [ChunkKey(chunk.repo, chunk.id) for chunk in chunks]
    vectors = shop.index.table().snapshot().vectors(keys) if chunks else {}
    return {
        "files": {path: state._replace(version=0, scanned_ns=0) for path, state in states.items()},
        "links": {path: catalogue.links(repo, path) for path in states},
        # A file that was only touched keeps its rows, and with them the time of its last change.
        "chunks": [chunk._replace(last_modified=0) for chunk in chunks],
        "keys": {path: catalogue.chunk_keys(repo, path) for path in states},
        "vectors": {key: vector.tobytes() for key, vector in vectors.items()},
        "symbols": catalogue._database.rows("SELECT * FROM symbols ORDER BY repo, id, line"),
        "skipped": catalogue.skipped(repo),
    }
