"""Do rows hold what the index would read, whatever files are thrown in?"""

from pathlib import Path

import pytest

from tests.training.source_trees import (
    FILES,
    GO,
    LANGUAGES,
    PYTHON,
    RUST,
    clone,
    run,
    tarball,
    wheel,
    write_tree,
)
from training.examples.mine import ROWS_PER_FILE, rows_of_file, rows_of_source, source_name
from training.examples.rows import Row, read
from training.sources.archives import LARGEST_BYTES, SourceFile
from training.sources.exclusions import Exclusions

NOTHING = Exclusions(frozenset(), frozenset())


def rows_of(path: Path) -> list[Row]:
    lines = (
        line
        for file in sorted(path.glob("*.jsonl"))
        for line in file.read_text("utf-8").split("\n")
    )
    return list(read(line for line in lines if line))


def test_what_a_row_says() -> None:
    [row] = [
        row
        for row in rows_of_file(SourceFile("src/sessions.py", PYTHON.encode()), "shop")
        if row.name == "renew_session"
    ]
    assert (row.source, row.language, row.path) == ("shop", "python", "src/sessions.py")
    assert row.doc == "Moves the end of a session to an hour from now."
    assert row.doc not in row.code
    assert "self.kept[token] = time.time() + self.seconds" in row.code
    assert row.head.startswith("[Python] src/sessions.py > SessionStore > renew_session")
    assert "Purpose:" not in row.head
    assert row.said == ("no session with such a token is open",)
    assert row.heading == "Keeps sessions of users between two requests."


def test_every_language(tmp_path: Path) -> None:
    rows = rows_of_source(write_tree(tmp_path), "shop", NOTHING)
    documented = {row.language: row for row in rows if row.doc}
    assert tuple(sorted(documented)) == LANGUAGES
    for row in rows:
        assert row.doc not in row.code or not row.doc


def test_members_are_counted(tmp_path: Path) -> None:
    rows = rows_of_source(write_tree(tmp_path, {"a.py": PYTHON}), "shop", NOTHING)
    assert {row.name: row.members for row in rows}["SessionStore"] == 2


LONG_LINES = "const data = [" + "1234567890, " * 400 + "];\nfunction read(path) { return path }\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("binary.py", b"\x7fELF\x00\x00\x01\x02" * 200),
        ("huge.py", (PYTHON * (LARGEST_BYTES // len(PYTHON) + 1)).encode()),
        ("minified.js", LONG_LINES.encode()),
        ("empty.py", b""),
        ("notes.txt", b"a text " * 100),
        ("generated/api.py", PYTHON.encode()),
    ],
)
def test_files_that_give_nothing(tmp_path: Path, name: str, content: bytes) -> None:
    root = write_tree(tmp_path, {name: content, "kept.go": GO})
    assert {row.path for row in rows_of_source(root, "shop", NOTHING)} == {"kept.go"}


@pytest.mark.parametrize(
    "content",
    [
        b"\xff\xfe" + PYTHON.encode("utf-16-le"),
        PYTHON.encode() + b'\nname = "caf\xe9"\n',
        PYTHON.encode().replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + PYTHON.encode(),
        PYTHON.encode() + b"def broken(:\n    ((((\n",
    ],
    ids=["utf-16", "latin-1", "crlf", "bom", "broken"],
)
def test_files_in_other_clothes(tmp_path: Path, content: bytes) -> None:
    root = write_tree(tmp_path, {"a.py": content})
    names = {row.name for row in rows_of_source(root, "shop", NOTHING)}
    assert {"renew_session", "expired_sessions"} <= names


def test_the_same_file_counts_once(tmp_path: Path) -> None:
    once = rows_of_source(write_tree(tmp_path / "a", {"x.go": GO}), "shop", NOTHING)
    twice = rows_of_source(write_tree(tmp_path / "b", {"x.go": GO, "y.go": GO}), "shop", NOTHING)
    assert once == twice


def test_no_file_drowns_the_others(tmp_path: Path) -> None:
    many = "\n".join(
        f'def take_number_{n}(queue):\n    """Takes job number {n} from a queue."""\n'
        f"    first = queue[{n}]\n    queue.remove(first)\n    return first + {n}\n"
        for n in range(2 * ROWS_PER_FILE)
    )
    rows = rows_of_source(write_tree(tmp_path, {"a.py": many, "b.go": GO}), "shop", NOTHING)
    assert sum(row.path == "a.py" for row in rows) == ROWS_PER_FILE
    assert any(row.path == "b.go" for row in rows)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("shop-1.0.2.tar.gz", "shop"),
        ("shop_1.0.orig.tar.xz", "shop"),
        ("haskell-async_2.2.4.orig.tar.gz", "haskell-async"),
        ("shop-1.0-py3-none-any.whl", "shop"),
        ("@scope-pkg-2.0.0.tgz", "@scope-pkg"),
    ],
)
def test_names_of_sources(name: str, expected: str) -> None:
    assert source_name(Path("/archives") / name) == expected


def test_names_of_folders(tmp_path: Path) -> None:
    (tmp_path / "owner+name" / "repo").mkdir(parents=True)
    assert source_name(tmp_path / "owner+name" / "repo") == "owner+name"
    assert source_name(tmp_path / "owner+name") == "owner+name"


def test_same_rows_with_any_number_of_processes(tmp_path: Path) -> None:
    """Damaged archives are named, and the others go on; what was mined is not mined again."""
    none = tmp_path / "none.bin"
    none.write_bytes((0).to_bytes(8, "little"))
    damaged = tmp_path / "damaged-1.0.whl"
    wheel(damaged, {"a.py": PYTHON})
    damaged.write_bytes(damaged.read_bytes()[:-60])
    broken = tmp_path / "broken-1.0.tar.gz"
    tarball(broken).write_bytes(b"\x1f\x8b" + b"nonsense" * 9)
    sources = [
        damaged,
        tarball(tmp_path / "packed-2.0.tar.gz"),
        write_tree(tmp_path / "folder", {"a.py": PYTHON, "b.rs": RUST}),
        clone(tmp_path / "cloned", dict(FILES)),
        broken,
    ]
    for processes in (1, 2):
        out = tmp_path / f"rows{processes}"
        done = run(
            "examples.mine", *sources, "--out", out, "--exclude", none, "--processes", processes
        )
        assert done.returncode == 0, done.stderr
        assert "damaged: 0 File is not a zip file" in done.stderr
        assert "broken: 0 " in done.stderr
        assert sorted(path.stem for path in out.iterdir()) == ["cloned", "folder", "packed"]
    one, two = (tmp_path / "rows1", tmp_path / "rows2")
    for path in one.iterdir():
        assert path.read_bytes() == (two / path.name).read_bytes()
    assert {row.source for row in rows_of(one)} == {"cloned", "folder", "packed"}
    again = run("examples.mine", sources[2], "--out", one, "--exclude", none)
    assert "folder:" not in again.stderr
