"""Does a call reach the repository it means, and no path outside of one?"""

from pathlib import Path

import pytest

from asterism.engine.engine import Engine
from asterism.operations.calls import Standpoint
from asterism.operations.repositories import inside, repository_for, to_index
from asterism.types.errors import (
    AsterismError,
    IndexMissing,
    PathMissing,
    PathOutside,
    RepositoryUnclear,
)
from tests.servers.conftest import make_engine


@pytest.fixture
def own(tmp_path: Path) -> Engine:
    return make_engine(tmp_path)


def directory(path: Path) -> Path:
    path.mkdir(parents=True)
    return path


def test_ids_come_first_then_paths_then_the_own_place(own: Engine, tmp_path: Path) -> None:
    one = own.register(directory(tmp_path / "one"))
    two = own.register(directory(tmp_path / "two"))
    here = Standpoint(Path(one.repository.root))

    def found(**arguments: object) -> str:
        return repository_for(own, here, arguments).repository.name

    assert found() == "one"
    assert found(repository_id=two.repository.id) == "two"
    assert found(repository_id="two") == "two"
    assert found(project_id=two.project.id) == "two"
    assert found(project_id="two", repository_id="two") == "two"
    assert found(path=f"{two.repository.root}/src") == "two"
    assert found(path=[two.repository.root]) == "two"
    assert found(path="src") == "one"


@pytest.mark.parametrize(
    ("arguments", "kind", "said"),
    [
        ({}, RepositoryUnclear, "not clear which repository is meant. There are one-"),
        ({"repository_id": "three"}, RepositoryUnclear, "no repository three. There are one-"),
        ({"repository_id": "one", "project_id": "two"}, RepositoryUnclear, "no repository one"),
        ({"project_id": "three"}, RepositoryUnclear, "no project three"),
        ({"path": "/etc/passwd"}, PathOutside, "in no repository that is known"),
        ({"path": "/no/such/thing"}, PathOutside, "in no repository that is known"),
    ],
)
def test_what_is_not_clear_is_said(
    own: Engine,
    tmp_path: Path,
    arguments: dict[str, object],
    kind: type[AsterismError],
    said: str,
) -> None:
    for name in ("one", "two"):
        own.register(directory(tmp_path / name))
    with pytest.raises(kind, match=said):
        repository_for(own, Standpoint(tmp_path), arguments)


@pytest.mark.parametrize("path", ["../two", ["src/../../two/x"], ".."])
def test_what_leads_out_of_the_own_repository_does_not_mean_it(
    own: Engine, tmp_path: Path, path: object
) -> None:
    one = own.register(directory(tmp_path / "one"))
    own.register(directory(tmp_path / "two"))
    with pytest.raises(PathOutside, match="leads out of one; give a path inside it"):
        repository_for(own, Standpoint(Path(one.repository.root)), {"path": path})


def test_a_checkout_that_is_not_indexed_is_not_taken_for_another(
    own: Engine, tmp_path: Path
) -> None:
    only = own.register(directory(tmp_path / "only"))
    elsewhere = Standpoint(directory(tmp_path / "somewhere"))
    assert repository_for(own, elsewhere, {}) == only
    (tmp_path / "checkout" / ".git").mkdir(parents=True)
    (tmp_path / "checkout" / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    with pytest.raises(IndexMissing, match="not indexed yet"):
        repository_for(own, Standpoint(tmp_path / "checkout"), {})


@pytest.mark.parametrize(
    "typed", ["../other", "src/../../other", "/etc/passwd", "link/secret", "link", "a/../.."]
)
def test_no_path_leads_out(own: Engine, tmp_path: Path, typed: str) -> None:
    root = directory(tmp_path / "one")
    (directory(tmp_path / "other") / "secret").write_text("x")
    (root / "link").symlink_to(tmp_path / "other")
    registered = own.register(root)
    with pytest.raises(PathOutside, match="leads out of one"):
        inside(registered, typed)


@pytest.mark.parametrize(
    ("typed", "place"), [("src/a.py", "src/a.py"), ("./src/", "src"), ("a/../b", "b"), (".", ".")]
)
def test_a_path_inside_is_itself(own: Engine, tmp_path: Path, typed: str, place: str) -> None:
    registered = own.register(directory(tmp_path / "one"))
    assert inside(registered, typed) == Path(registered.repository.root, place)


def test_only_known_and_own_directories_are_indexed(own: Engine, tmp_path: Path) -> None:
    home = directory(tmp_path / "home")
    here = Standpoint(directory(home / "shop"), too_wide=frozenset({home.resolve()}))
    directory(home / "other")
    assert to_index(own, here, {}).repository.name == "shop"
    assert to_index(own, here, {"path": "src"}).repository.name == "shop"
    for typed in ("..", "../other", str(home), "/"):
        with pytest.raises(PathOutside):
            to_index(own, here, {"path": typed})
    with pytest.raises(PathOutside, match="home directory"):
        to_index(own, Standpoint(home, too_wide=frozenset({home.resolve()})), {})


@pytest.mark.parametrize(
    "typed", ["a" * 300, "ä" * 200, "a/" * 3000], ids=["name", "bytes", "path"]
)
def test_a_path_that_no_system_could_open(own: Engine, tmp_path: Path, typed: str) -> None:
    registered = own.register(directory(tmp_path / "one"))
    with pytest.raises(PathMissing, match="too long"):
        inside(registered, typed)
