"""Can nothing be added over HTTP but what the user allowed, whatever links there are?"""

import os
from pathlib import Path

import pytest

from asterism.operations.addable import NEVER, UNLESS_NAMED, Addable
from asterism.operations.calls import Standpoint
from asterism.operations.dispatch.toolbox import Toolbox
from asterism.operations.registry import OPERATIONS
from asterism.operations.repositories import inside, to_index
from asterism.types.errors import AsterismError, PathOutside
from tests.servers.conftest import make_engine
from tests.servers.other_user import IS_ROOT, OTHER_UID

PLACES = (
    *("code/shop", "code/.hidden/shop", ".ssh", ".gnupg/private", ".aws", ".config/app"),
    *(".local/share/asterism/projects", "Library/Mail", "AppData/Local", "code/a/.ssh/keys"),
    *("code/library", "Documents", "data/projects", "keyrings/x"),
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for place in PLACES:
        (tmp_path / "home" / place).mkdir(parents=True)
    (tmp_path / "other").mkdir()
    (tmp_path / "home" / "out").symlink_to(tmp_path / "other")
    (tmp_path / "home" / "keys").symlink_to(tmp_path / "home" / ".ssh")
    (tmp_path / "home" / "alias").symlink_to(tmp_path / "home" / "code" / "shop")
    return tmp_path / "home"


@pytest.mark.parametrize(
    ("place", "allowed"),
    [
        ("code/shop", True),
        ("code", True),
        ("code/library", True),
        ("Documents", True),
        ("alias", True),
        ("code/absent", True),
        (".", False),
        ("..", False),
        ("../other", False),
        ("out", False),
        ("out/absent", False),
        ("keys", False),
        (".ssh", False),
        (".gnupg/private", False),
        (".aws", False),
        (".config/app", False),
        (".local/share/asterism/projects", False),
        ("code/.hidden/shop", False),
        ("code/a/.ssh/keys", False),
        ("keyrings/x", False),
        ("Library/Mail", False),
        ("library/absent", False),
        ("AppData/Local", False),
        ("data", False),
        ("data/projects", False),
        ("code/../.ssh", False),
        ("/", False),
        *((str(one), False) for one in (*NEVER, *UNLESS_NAMED) if one.is_absolute()),
        ("/etc/passwd", False),
        ("/proc/self/cwd", False),
        ("/usr/share/doc", False),
        ("/var/absent", False),
    ],
)
def test_below_a_home(home: Path, place: str, allowed: bool) -> None:
    addable = Addable(roots=(home,), own=(home / "data",), home=home)
    typed = os.path.normpath(home / place) if place != "out/absent" else str(home / place)
    if allowed:
        assert addable.place(typed) == Path(os.path.realpath(home / place))
    else:
        with pytest.raises(PathOutside, match="may not be added over HTTP"):
            addable.place(typed)


@pytest.mark.parametrize(
    ("roots", "place", "allowed"),
    [
        ((), "code/shop", False),
        (("code",), "code", True),
        (("code",), "code/shop", True),
        (("code",), "Documents", False),
        # A root may be hidden, for the user has named it; what holds keys stays closed.
        (("code/.hidden",), "code/.hidden/shop", True),
        ((".ssh",), ".ssh", False),
        ((".config",), ".config/app", False),
        (("code", "Documents"), "Documents", True),
        # A root that is a link means the directory that it leads to.
        (("alias",), "code/shop", True),
        (("absent",), "absent/x", True),
        ((".",), ".", False),
        (("..",), "../other", True),
        (("..",), ".", False),
    ],
)
def test_roots(home: Path, roots: tuple[str, ...], place: str, allowed: bool) -> None:
    addable = Addable(roots=tuple(home / root for root in roots), home=home)
    assert addable.allows(Path(os.path.realpath(home / place))) is allowed


@pytest.mark.parametrize(
    ("root", "place", "allowed"),
    [
        ("/", "/usr/src", False),
        ("/usr/src", "/usr/src", True),
        ("/usr", "/usr/src", True),
        ("/etc", "/etc/ssl", False),
        ("/proc", "/proc/self", False),
        ("/sys", "/sys/kernel", False),
        ("/dev", "/dev/shm", False),
    ],
)
def test_the_systems_directories(root: str, place: str, allowed: bool) -> None:
    real = Path(os.path.realpath(place))
    assert Addable(roots=(Path(root),)).allows(real) is (allowed and real == Path(place))


def test_directories_of_other_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "code" / "theirs"
    place.mkdir(parents=True)
    addable = Addable(roots=(tmp_path / "code",))
    assert addable.allows(place)
    if IS_ROOT:
        os.chown(place, OTHER_UID, OTHER_UID)
        assert not addable.allows(place)
        # Whose directory the user has named, his are below it.
        os.chown(tmp_path / "code", OTHER_UID, OTHER_UID)
        assert addable.allows(place)
    else:
        before = Path.stat

        def stat(path: Path, *, follow_symlinks: bool = True) -> os.stat_result:
            found = before(path, follow_symlinks=follow_symlinks)
            mode, inode, device, links, uid, *rest = found
            uid = OTHER_UID if path == place else uid
            return os.stat_result((mode, inode, device, links, uid, *rest))

        monkeypatch.setattr(Path, "stat", stat)
        assert not addable.allows(place)


@pytest.mark.parametrize("there", ["/etc/passwd", "/etc", "/nothing/of/this/name", "/usr/.ssh"])
def test_a_refusal_does_not_tell_what_exists(tmp_path: Path, there: str) -> None:
    def said(path: str) -> str:
        try:
            Addable(roots=(tmp_path,)).place(path)
        except AsterismError as error:
            return str(error).replace(path, "PATH")
        raise AssertionError

    assert said(there) == said("/absent")


def test_indexing_over_http_keeps_to_the_same_rules(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for name in ("shop", ".ssh"):
        (home / name).mkdir(parents=True)
    engine = make_engine(tmp_path)
    here = Standpoint(home, addable=Addable(roots=(home,), home=home))
    for typed in (".ssh", str(home / ".ssh"), "."):
        with pytest.raises(PathOutside):
            to_index(engine, here, {"path": typed})
    assert to_index(engine, here, {"path": "shop"}).repository.name == "shop"
    engine.close()


(ADD,) = (one for one in OPERATIONS if one.name == "add_repository")


def test_a_root_that_becomes_a_link_is_not_followed(tmp_path: Path) -> None:
    place, secret = tmp_path / "code" / "shop", tmp_path / "secret"
    for one in (place, secret):
        one.mkdir(parents=True)
        (one / "a.py").write_text(f"def {one.name}():\n    return 1\n")
    engine = make_engine(tmp_path)
    toolbox = Toolbox(engine, Standpoint(addable=Addable(roots=(tmp_path / "code",))))
    added = toolbox.run(ADD, {"path": str(place)}).structured or {}
    registered = engine.registry.find(place)
    assert registered is not None
    assert registered.repository.id == added["repository_id"]
    assert engine.index(registered).added == 1
    assert inside(registered, "a.py").name == "a.py"
    place.rename(tmp_path / "code" / "moved")
    place.symlink_to(secret)
    for attempt in (
        lambda: engine.index(registered),
        lambda: engine.index(registered, force=True),
        lambda: engine.refresh(registered),
        lambda: inside(registered, "a.py"),
    ):
        with pytest.raises(PathOutside, match="leads through a link now"):
            attempt()
    # The same where a directory above it is replaced.
    place.unlink()
    (tmp_path / "code").rename(tmp_path / "before")
    (tmp_path / "code").symlink_to(tmp_path / "before")
    (tmp_path / "before" / "moved").rename(tmp_path / "before" / "shop")
    with pytest.raises(PathOutside, match="leads through a link now"):
        engine.index(registered)
    (tmp_path / "code").unlink()
    (tmp_path / "before").rename(tmp_path / "code")
    assert engine.index(registered).added == 0
    engine.close()
