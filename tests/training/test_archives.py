"""Does every kind of archive give the same source files, and nothing that is not source?"""

import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from subprocess import CalledProcessError

import pytest

from tests.training.source_trees import FILES, PYTHON, clone, git, tarball, wheel, write_tree
from training.sources.archives import LARGEST_BYTES, SMALLEST_BYTES, source_files, wanted

DAMAGE = (OSError, EOFError, tarfile.TarError, zipfile.BadZipFile, CalledProcessError)


def bare(path: Path) -> Path:
    folder = clone(path.with_name("origin"))
    git(folder.parent, "clone", "--quiet", "--bare", str(folder), str(path))
    return path


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("folder", write_tree),
        ("clone", clone),
        ("bare.git", bare),
        ("shop-1.0.tar.gz", tarball),
        ("shop-1.0.whl", wheel),
        ("shop.zip", wheel),
    ],
)
def test_same_files_from_everywhere(
    tmp_path: Path, name: str, make: Callable[[Path], Path]
) -> None:
    archive = make(tmp_path / name)
    found = {file.path: file.data.decode() for file in source_files(archive)}
    assert found == dict(FILES)


@pytest.mark.parametrize(
    ("path", "size", "is_wanted"),
    [
        ("src/app.py", SMALLEST_BYTES, True),
        ("src/App.PY", 1_000, True),
        ("src/app.py", SMALLEST_BYTES - 1, False),
        ("src/app.py", LARGEST_BYTES, True),
        ("src/app.py", LARGEST_BYTES + 1, False),
        ("README.md", 1_000, False),
        ("Makefile", 1_000, False),
        ("vendor/github.com/x/y.go", 1_000, False),
        ("web/node_modules/a/b.js", 1_000, False),
        ("web/app.min.js", 1_000, False),
        ("api/service_pb2.py", 1_000, False),
        ("api/service.pb.go", 1_000, False),
        ("src/vendors.go", 1_000, True),
        ("../outside.py", 1_000, False),
        ("src/../../outside.py", 1_000, False),
        ("/etc/outside.py", 1_000, False),
        ("src/..outside.py", 1_000, True),
    ],
)
def test_what_is_worth_reading(path: str, size: int, is_wanted: bool) -> None:
    assert wanted(path, size) is is_wanted


def test_nothing_leads_out_of_an_archive(tmp_path: Path) -> None:
    escapes = {"../up.py": PYTHON, "a/../../up.py": PYTHON, "/root.py": PYTHON, "kept.py": PYTHON}
    for archive in (tarball(tmp_path / "a.tar.gz", escapes), wheel(tmp_path / "a.whl", escapes)):
        assert [file.path for file in source_files(archive)] == ["kept.py"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.tar.gz", "a.whl"]


def test_links_are_not_followed(tmp_path: Path) -> None:
    outside = write_tree(tmp_path / "outside", {"secret.py": PYTHON})
    root = write_tree(tmp_path / "root", {"own.py": PYTHON})
    (root / "link.py").symlink_to(outside / "secret.py")
    (root / "linked").symlink_to(outside)
    assert [file.path for file in source_files(root)] == ["own.py"]
    archive = tmp_path / "linked.tar"
    with tarfile.open(archive, "w") as members:
        about = tarfile.TarInfo("shop/link.py")
        about.type, about.linkname, about.size = tarfile.SYMTYPE, "../../secret.py", 0
        members.addfile(about)
        about = tarfile.TarInfo("shop/own.py")
        about.size = len(PYTHON)
        members.addfile(about, io.BytesIO(PYTHON.encode()))
    assert [file.path for file in source_files(archive)] == ["own.py"]


def half(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


def spoilt(path: Path) -> None:
    data = bytearray(path.read_bytes())
    for place in range(60, len(data) - 400, 7):
        data[place] ^= 0x5A
    path.write_bytes(bytes(data))


def nothing(path: Path) -> None:
    path.write_bytes(b"")


def a_page(path: Path) -> None:
    path.write_text("<html>404</html>")


@pytest.mark.parametrize("name", ["shop.tar.gz", "shop.whl"])
@pytest.mark.parametrize("damage", [half, spoilt, nothing, a_page])
def test_a_damaged_archive_is_an_error_that_is_expected(
    tmp_path: Path, name: str, damage: Callable[[Path], None]
) -> None:
    archive = tmp_path / name
    (wheel if name.endswith("whl") else tarball)(archive)
    damage(archive)
    with pytest.raises(DAMAGE):
        list(source_files(archive))


def test_a_clone_without_a_commit(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "empty")
    with pytest.raises(CalledProcessError):
        list(source_files(tmp_path / "empty"))


def test_a_clone_that_lacks_a_blob(tmp_path: Path) -> None:
    folder = clone(tmp_path / "shop")
    digest = git(folder, "rev-parse", "HEAD:web/cart.ts").strip()
    (folder / ".git" / "objects" / digest[:2] / digest[2:]).unlink()
    found = {file.path for file in source_files(folder)}
    assert found == FILES.keys() - {"web/cart.ts"}
