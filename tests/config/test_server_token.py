"""Is the token of a user's servers private, made once, and made again when it is not private?"""

import os
import re
import stat
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from asterism.config.server_token import TokenFile
from asterism.types.errors import SettingError


def made(base: Path) -> TokenFile:
    file = TokenFile(base)
    file.ensure()
    return file


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def test_it_is_made_once_and_for_one_user_alone(tmp_path: Path) -> None:
    heard: list[str] = []
    file = TokenFile(tmp_path / "data", heard.append)
    assert file.flaw() is None
    token = file.ensure()
    assert len(token) == 64
    assert heard == [token]
    assert file.path == tmp_path / "data" / "server" / "token"
    assert (mode_of(file.path), mode_of(file.path.parent)) == (0o600, 0o700)
    assert TokenFile(tmp_path / "data").ensure() == token
    assert [*file.path.parent.iterdir()] == [file.path]


def test_the_umask_does_not_open_it(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        path = made(tmp_path).path
    finally:
        os.umask(before)
    assert (mode_of(path), mode_of(path.parent)) == (0o600, 0o700)


def _readable(path: Path) -> None:
    path.chmod(0o640)


def _empty(path: Path) -> None:
    path.write_text("")


def _short(path: Path) -> None:
    path.write_text("0123456789abcdef\n")


def _long(path: Path) -> None:
    path.write_text("a" * 1_000)


def _binary(path: Path) -> None:
    path.write_bytes(b"\xff" * 64)


def _link(path: Path) -> None:
    elsewhere = path.parent.parent / "elsewhere"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)


def _second_name(path: Path) -> None:
    (path.parent / "second").hardlink_to(path)


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path, 0o600)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (_readable, r"others may use it \(mode 640\)"),
        (_empty, "no token"),
        (_short, "no token"),
        (_long, "no token"),
        (_binary, "no token"),
        (_link, "a link"),
        (_second_name, "a second name"),
        (_pipe, "no plain file"),
    ],
)
def test_one_that_is_not_right_is_replaced(
    tmp_path: Path, damage: Callable[[Path], None], said: str
) -> None:
    file = made(tmp_path)
    before = file.current()
    damage(file.path)
    flaw = TokenFile(tmp_path).flaw()
    assert flaw is not None
    assert re.search(said, flaw)
    # A running server goes by what it knows until the file is right again.
    assert file.current() == before
    after = TokenFile(tmp_path).ensure()
    assert after != before
    assert mode_of(file.path) == 0o600
    assert not file.path.is_symlink()
    assert TokenFile(tmp_path).flaw() is None
    assert file.current() == after


def test_a_directory_that_others_may_use_is_closed(tmp_path: Path) -> None:
    file = made(tmp_path)
    file.path.parent.chmod(0o777)
    flaw = TokenFile(tmp_path).flaw()
    assert flaw == "others may use its directory (mode 777)"
    file.ensure()
    assert mode_of(file.path.parent) == 0o700


def test_what_cannot_be_made_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "server").write_text("in the way")
    with pytest.raises(SettingError, match="set ASTERISM_SERVER_TOKEN"):
        TokenFile(tmp_path).ensure()
    (tmp_path / "server").unlink()
    (tmp_path / "server" / "token" / "x").mkdir(parents=True)
    with pytest.raises(SettingError, match="Is a directory"):
        TokenFile(tmp_path).ensure()


def test_a_linked_directory_is_not_used(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "server").symlink_to(elsewhere)
    with pytest.raises(SettingError):
        TokenFile(tmp_path / "data").ensure()
    assert [*elsewhere.iterdir()] == []


def test_servers_that_start_at_once_agree(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        tokens = {*pool.map(lambda _: TokenFile(tmp_path).ensure(), range(32))}
    assert len(tokens) == 1
    assert [each.name for each in (tmp_path / "server").iterdir()] == ["token"]


def test_what_is_kept_does_not_follow_a_file_that_is_gone(tmp_path: Path) -> None:
    file = made(tmp_path)
    token = file.current()
    file.path.unlink()
    assert file.current() == token
    again = TokenFile(tmp_path).ensure()
    assert again != token
    assert file.current() == again


OTHER = 54_321
"""A user id that no machine uses; root can start a process with it."""


@pytest.mark.parametrize("is_read", [False, True])
def test_a_file_of_another_user_is_not_used(tmp_path: Path, is_read: bool) -> None:
    file = made(tmp_path)
    token = file.current()
    if os.geteuid() == 0:
        os.chown(file.path, OTHER, OTHER)
        other = TokenFile(tmp_path)
    else:
        # Files of another user cannot be made here, so the process claims another user id.
        code = (
            "import os, sys\nfrom pathlib import Path\nown = os.geteuid()\n"
            "os.geteuid = lambda: own + 1\n"
            "from asterism.config.server_token import TokenFile\n"
            "print(TokenFile(Path(sys.argv[1])).flaw())\n"
        )
        said = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True
        )
        assert "belongs to another user" in said.stdout
        return
    assert other.flaw() == "it belongs to another user"
    if is_read:
        assert file.current() == token
    else:
        assert other.ensure() != token
        assert file.path.stat().st_uid == 0
