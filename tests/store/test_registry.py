"""Which repositories a user has: named, found, moved, removed, by several processes at once."""

import multiprocessing
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from asterism.store.project_copy import default_name, readable_id
from asterism.store.registry import Registered, Registry, RepositoryState
from asterism.store.registry_file import FILE
from asterism.telemetry.notices import taken
from asterism.types.errors import (
    AsterismError,
    IndexTooNew,
    PathMissing,
    StorageFailed,
    UsageError,
    WrongPathKind,
)


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    """A registry that nothing is in."""
    return Registry(tmp_path / "data")


def directory(tmp_path: Path, name: str, git: bool = False) -> Path:
    """A directory to register."""
    path = tmp_path / name
    (path / ".git" if git else path).mkdir(parents=True)
    if git:
        (path / ".git" / "description").write_text("Unnamed repository")
    return path


def names(found: list[Registered]) -> list[str]:
    """What the repositories are called."""
    return [entry.repository.name for entry in found]


def test_asking_makes_nothing(registry: Registry, tmp_path: Path) -> None:
    """There is no registry before something is registered."""
    assert registry.projects() == []
    assert registry.repositories() == registry.repositories("shop") == []
    assert registry.find(tmp_path) is None
    assert registry.find_by_name("shop") is None
    assert list(tmp_path.iterdir()) == []


def test_a_repository_is_its_own_project(registry: Registry, tmp_path: Path) -> None:
    """Its index is in a directory whose name can be read."""
    root = directory(tmp_path, "shop")
    found = registry.register(root)
    assert found.repository.name == found.project.name == "shop"
    assert found.repository.root == str(root)
    assert found.project.directory == tmp_path / "data" / "projects" / found.project.id
    assert found.project.id.startswith("shop-")
    assert len(found.project.id) == len("shop-") + 8
    assert registry.projects() == [found.project]
    assert registry.repositories() == [found]


def test_only_the_user_can_read_it(registry: Registry, tmp_path: Path) -> None:
    """Whatever the user's mask is."""
    before = os.umask(0)
    try:
        found = registry.register(directory(tmp_path, "shop"))
    finally:
        os.umask(before)
    data = tmp_path / "data"
    places = [data, data / "projects", found.project.directory, data / FILE]
    modes = [stat.S_IMODE(place.stat().st_mode) for place in places]
    assert modes == [0o700, 0o700, 0o700, 0o600]


def test_registering_twice_is_registering_once(registry: Registry, tmp_path: Path) -> None:
    """By whatever path; a project that is not named is the one it is in."""
    root = directory(tmp_path, "shop")
    (tmp_path / "link").symlink_to(root)
    found = registry.register(root, project="all")
    assert registry.register(tmp_path / "link") == found
    assert registry.register(root / ".." / "shop", "shop", "all") == found
    assert registry.register(root, project=found.project.id) == found
    assert len(registry.repositories()) == 1
    with pytest.raises(UsageError, match="already known as shop"):
        registry.register(root, "market")


def test_a_project_holds_several(registry: Registry, tmp_path: Path) -> None:
    """And a repository may be in several projects, once in each."""
    one, two = directory(tmp_path, "one"), directory(tmp_path, "two")
    first = registry.register(one, project="all")
    second = registry.register(two, project="all")
    own = registry.register(one, project="other")
    assert first.project == second.project
    assert first.project.name == "all"
    assert own.project != first.project
    assert own.repository.name == first.repository.name == "one"
    assert own.repository.id != first.repository.id
    assert names(registry.repositories("all")) == ["one", "two"]
    assert registry.repositories(own.project.id) == [own]
    assert registry.repositories("nothing") == []


def test_equal_directory_names_get_numbers(registry: Registry, tmp_path: Path) -> None:
    """So that each can be named in a command."""
    roots = [directory(tmp_path, f"{parent}/app") for parent in "abc"]
    assert [registry.register(root).repository.name for root in roots] == ["app", "app-2", "app-3"]
    assert len({project.id for project in registry.projects()}) == 3


def test_equal_names_that_were_given_get_distinct_ids(registry: Registry, tmp_path: Path) -> None:
    """In different projects they are allowed; a request by name has to choose."""
    first = registry.register(directory(tmp_path, "a/app"), "app")
    second = registry.register(directory(tmp_path, "b/app"), "app")
    assert first.project.name == second.project.name
    assert first.project.id != second.project.id
    with pytest.raises(UsageError) as caught:
        registry.find_by_name("app")
    for entry in (first, second):
        assert f"{entry.repository.id} ({entry.repository.root})" in str(caught.value)
        assert registry.find_by_name(entry.repository.id) == entry
    with pytest.raises(UsageError, match="several projects called app"):
        registry.register(directory(tmp_path, "c"), project="app")


def test_a_name_is_unique_in_its_project(registry: Registry, tmp_path: Path) -> None:
    """Also where a file system would not tell two names apart."""
    registry.register(directory(tmp_path, "a"), "App", "all")
    for name in ("App", "app"):
        with pytest.raises(UsageError, match=f"a repository called {name}; give another name"):
            registry.register(directory(tmp_path, f"b-{name}"), name, "all")
    assert len(registry.repositories()) == 1


@pytest.mark.parametrize(
    "name", ["", ".a", "-a", "a b", "a/b", "..", "a\n", "ä", "a" * 65, "\udcff"]
)
def test_a_name_that_cannot_be_one_is_refused(
    registry: Registry, tmp_path: Path, name: str
) -> None:
    """Names become parts of paths and of commands; nothing is written before the check."""
    root = directory(tmp_path, "shop")
    with pytest.raises(UsageError, match="cannot be the name of a repository: give 1 to 64"):
        registry.register(root, name)
    with pytest.raises(UsageError, match="cannot be the name of a project"):
        registry.register(root, project=name)
    assert registry.find_by_name(name) is None
    assert registry.repositories() == []


@pytest.mark.parametrize(
    ("folder", "taken", "expected"),
    [
        ("shop", [], "shop"),
        ("shop", ["shop", "shop-2"], "shop-3"),
        ("my shop (old)", [], "my-shop-old"),
        (".config", [], "config"),
        ("--x", [], "x"),
        ("проект", [], "repository"),
        ("\udcff\udcfe", ["repository"], "repository-2"),
        ("", [], "repository"),
        ("a" * 80, [], "a" * 64),
        ("a" * 80, ["a" * 64], "a" * 62 + "-2"),
    ],
)
def test_a_directory_gives_a_name(folder: str, taken: list[str], expected: str) -> None:
    """As much of its own as may be in one."""
    assert default_name(folder, taken.__contains__) == expected


def test_ids_are_short_and_never_given_twice() -> None:
    """Equal digits of two paths do not make one of two projects."""
    made: list[str] = []
    for _ in range(3):
        made.append(readable_id("a" * 64, b"/path", made.__contains__))
    assert len(set(made)) == 3
    assert {len(each) for each in made} == {64}


def test_the_innermost_repository_is_found(registry: Registry, tmp_path: Path) -> None:
    """For any path in it, existing or not, straight or through a link."""
    outer = registry.register(directory(tmp_path, "shop"))
    inner = registry.register(directory(tmp_path, "shop/vendor/tool"))
    registry.register(directory(tmp_path, "shop-two"))
    root = Path(outer.repository.root)
    (tmp_path / "link").symlink_to(root / "vendor" / "tool")
    cases = {
        root: outer,
        root / "src" / "gone.py": outer,
        root / "vendor": outer,
        root / "vendor" / "tool" / "x.py": inner,
        root / "vendor" / "toolbox": outer,
        tmp_path / "link" / "x.py": inner,
        tmp_path: None,
        tmp_path / "sho": None,
    }
    assert {path: registry.find(path) for path in cases} == cases


def test_of_two_projects_the_first_is_found(registry: Registry, tmp_path: Path) -> None:
    """The answer does not depend on anything but the order of registering."""
    root = directory(tmp_path, "shop")
    first = registry.register(root, project="zebra")
    registry.register(root, project="ant")
    assert registry.find(root / "x") == registry.register(root) == first


@pytest.mark.skipif(sys.platform == "darwin", reason="paths are text there")
def test_paths_need_not_be_text(registry: Registry, tmp_path: Path) -> None:
    """A root keeps its bytes."""
    root = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    root.mkdir()
    found = registry.register(root)
    assert os.fsencode(found.repository.root).endswith(b"/caf\xe9")
    assert found.repository.name == "caf"
    assert registry.find(root / "x.py") == found
    assert registry.register(root) == found
    assert registry.state(found) is RepositoryState.present


@pytest.mark.parametrize(
    ("path", "error", "message"),
    [
        ("nothing", PathMissing, "does not exist"),
        ("file", WrongPathKind, "is not a directory"),
        ("file/below", PathMissing, "does not exist"),
        ("nul\0", PathMissing, "does not exist"),
        ("", UsageError, "holds Asterism's own data"),
        ("data", UsageError, "holds Asterism's own data"),
        ("data/projects", UsageError, "holds Asterism's own data"),
        ("link-to-data", UsageError, "holds Asterism's own data"),
        ("loop", AsterismError, "cannot be read"),
    ],
)
def test_what_cannot_be_indexed_is_refused(
    registry: Registry, tmp_path: Path, path: str, error: type[AsterismError], message: str
) -> None:
    """Before anything is written."""
    directory(tmp_path, "data/projects")
    (tmp_path / "file").write_text("")
    (tmp_path / "link-to-data").symlink_to(tmp_path / "data")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(error, match=message):
        registry.register(tmp_path / path)
    assert registry.repositories() == []


def test_the_last_repository_takes_its_project_along(registry: Registry, tmp_path: Path) -> None:
    """Removing twice is removing once, and no file is touched."""
    one = registry.register(directory(tmp_path, "one"), project="all")
    two = registry.register(directory(tmp_path, "two"), project="all")
    registry.remove(one)
    assert registry.repositories() == [two]
    assert registry.projects() == [two.project]
    registry.remove(two)
    registry.remove(two)
    assert registry.repositories() == []
    assert registry.projects() == []
    assert two.project.directory.is_dir()


def test_a_repository_can_be_moved_by_hand(registry: Registry, tmp_path: Path) -> None:
    """Its name, id and index stay; another directory at the old place is another repository."""
    old = directory(tmp_path, "shop")
    found = registry.register(old)
    moved = registry.move(found, directory(tmp_path, "elsewhere/market"))
    assert moved.repository.root == str(tmp_path / "elsewhere/market")
    assert moved._replace(repository=found.repository) == found
    assert moved.repository.id == found.repository.id
    other = registry.register(old)
    assert other.repository.name == "shop-2"
    assert other.project.id != moved.project.id
    assert len(registry.repositories()) == 2


def test_a_move_onto_another_repository_is_refused(registry: Registry, tmp_path: Path) -> None:
    """In one project a root is there once."""
    one = registry.register(directory(tmp_path, "one"), project="all")
    two = registry.register(directory(tmp_path, "two"), project="all")
    with pytest.raises(UsageError, match="already in the project all"):
        registry.move(one, Path(two.repository.root))
    assert registry.move(one, Path(one.repository.root)) == one
    registry.remove(one)
    with pytest.raises(UsageError, match="not known any more"):
        registry.move(one, directory(tmp_path, "three"))


@pytest.mark.parametrize("git", [True, False])
@pytest.mark.parametrize("target", ["market", "deep/shop", "deep/market"])
def test_a_directory_that_was_moved_keeps_its_index(
    registry: Registry, tmp_path: Path, target: str, git: bool
) -> None:
    """It is recognised where it is registered again, in each of its projects."""
    root = directory(tmp_path, "shop", git)
    directory(tmp_path, "deep")
    first, second = registry.register(root), registry.register(root, project="all")
    root.rename(tmp_path / target)
    renamed = target == "market"
    for found in (first, second):
        assert registry.state(found) is (
            RepositoryState.moved if renamed else RepositoryState.missing
        )
        assert registry.new_root(found) == (tmp_path / target if renamed else None)
    if git:
        (tmp_path / target / "new.py").write_text("")
    again = registry.register(tmp_path / target)
    assert again.project == first.project
    assert again.repository == first.repository._replace(root=str(tmp_path / target))
    roots = {entry.repository.root for entry in registry.repositories()}
    assert roots == {str(tmp_path / target)}
    assert registry.state(again) is RepositoryState.present


@pytest.mark.parametrize("git", [True, False])
def test_a_new_directory_is_not_an_old_one(registry: Registry, tmp_path: Path, git: bool) -> None:
    """Even if the file system gives it the number of one that was removed."""
    root = directory(tmp_path, "shop", git)
    os.utime(root / ".git" / "description" if git else root, ns=(1, 1))
    found = registry.register(root)
    shutil.rmtree(root)
    other = directory(tmp_path, "market", git)
    assert registry.state(found) is RepositoryState.missing
    assert registry.register(other).repository.id != found.repository.id


def test_becoming_a_checkout_does_not_hide_a_move(registry: Registry, tmp_path: Path) -> None:
    """What is known of a directory is brought up to date whenever it is registered."""
    root = directory(tmp_path, "shop")
    found = registry.register(root)
    (root / ".git").mkdir()
    registry.register(root)
    root.rename(tmp_path / "market")
    assert registry.register(tmp_path / "market").repository.id == found.repository.id


def test_a_copy_is_another_repository(registry: Registry, tmp_path: Path) -> None:
    """Also when the first one is removed later."""
    root = directory(tmp_path, "shop", git=True)
    found = registry.register(root)
    shutil.copytree(root, tmp_path / "copy")
    shutil.rmtree(root)
    assert registry.state(found) is RepositoryState.missing
    assert registry.register(tmp_path / "copy").repository.id != found.repository.id


def test_a_link_beside_it_is_no_move(registry: Registry, tmp_path: Path) -> None:
    """As long as the directory is there, it is there."""
    root = directory(tmp_path, "shop")
    found = registry.register(root)
    (tmp_path / "link").symlink_to(root)
    assert registry.new_root(found) is None
    os.utime(root, ns=(1, 1))
    registry.register(root)
    root.rmdir()
    root.write_text("a file now")
    assert registry.state(found) is RepositoryState.missing


def register_some(data: Path, roots: list[Path], project: str | None) -> None:
    """One process among several."""
    registry = Registry(data)
    for root in roots:
        registry.register(root, project=project)


@pytest.mark.parametrize("project", ["all", None])
def test_processes_register_at_once(tmp_path: Path, project: str | None) -> None:
    """All of them begin without a registry; no entry is lost, none is there twice."""
    shared = [directory(tmp_path, f"shared/{number}") for number in range(5)]
    own = [
        [directory(tmp_path, f"{worker}/{number}") for number in range(5)] for worker in range(4)
    ]
    spawn = multiprocessing.get_context("spawn")
    workers = [
        spawn.Process(target=register_some, args=(tmp_path / "data", [*shared, *mine], project))
        for mine in own
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0, 0, 0]
    registry = Registry(tmp_path / "data")
    found = registry.repositories()
    everything = {str(root) for root in (*shared, *(root for mine in own for root in mine))}
    assert len(found) == len(everything)
    assert {entry.repository.root for entry in found} == everything
    assert len(registry.projects()) == (1 if project else 25)
    assert len(set(names(found))) == 25


@pytest.mark.parametrize(
    "content", [b"no database at all" * 100, b"SQLite format 3\0" + b"\1" * 500]
)
def test_a_damaged_registry_is_made_again_and_kept(
    registry: Registry, tmp_path: Path, content: bytes
) -> None:
    """It is the user's list; nothing throws it away by itself."""
    shop = registry.register(directory(tmp_path, "shop"), project="both")
    registry.register(directory(tmp_path, "bar"), project="both")
    known = registry.repositories()
    (tmp_path / "data" / FILE).write_bytes(content)
    taken()
    assert registry.repositories() == known
    (said,) = taken()
    assert "was damaged (it is kept as registry.sqlite.damaged-" in said
    assert "made again from the directories of 1 project." in said
    assert registry.register(Path(shop.repository.root)) == shop
    (aside,) = (tmp_path / "data").glob("registry.sqlite.damaged-*")
    assert aside.read_bytes() == content
    assert taken() == []


def test_the_registry_of_a_newer_version_is_left_alone(registry: Registry, tmp_path: Path) -> None:
    """An older program could not keep what it does not know."""
    root = directory(tmp_path, "shop")
    registry.register(root)
    connection = sqlite3.connect(tmp_path / "data" / FILE)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    for action in (registry.repositories, lambda: registry.register(root)):
        with pytest.raises(IndexTooNew, match="a newer Asterism; update"):
            action()


def test_a_place_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    """It says how to choose another."""
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageFailed, match="ASTERISM_DATA_DIR"):
        Registry(tmp_path / "file" / "data").register(directory(tmp_path, "shop"))


def test_the_registry_is_light() -> None:
    """Commands that only ask where an index is do not load what reads it."""
    script = (
        "import sys, asterism.store.registry as _;"
        "print(sorted({'numpy', 'lance', 'pyarrow'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
