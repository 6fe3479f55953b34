"""Settings files that were written to do harm: each is one clear error, and soon."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from asterism.config.layers import LONGEST_LINE, MOST_BYTES
from asterism.config.load import load
from asterism.types.errors import SettingError

SECRET = "hunter2-not-to-be-seen"

DEEP_KEY = ".".join(["a"] * (LONGEST_LINE // 2 - 20))


def refused(folder: Path) -> str:
    """The message of the error, which is of one short printable line."""
    with pytest.raises(SettingError) as caught:
        load(folder)
    message = str(caught.value)
    assert message.isprintable()
    assert len(message) < 2_500
    return message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# " + "x" * MOST_BYTES, f"is larger than {MOST_BYTES:,} bytes; shorten it"),
        ("#\n" * (MOST_BYTES // 2 + 1), "is larger than"),
        (f"# {'x' * LONGEST_LINE}", "has a line of more than 1,000 bytes; break it"),
        (f"a = {'[' * 900}", "nests lists or tables too deeply"),
        ("a = " + "[\n" * 20_000, "nests lists or tables too deeply"),
        ("a = [" + "[\n" * 5_000 + "]\n" * 5_000 + "]", "nests lists or tables too deeply"),
        (f"{DEEP_KEY} = 1", "there is no setting a.a"),
        (f"[work]\njobs.{DEEP_KEY} = 1", "work.jobs = {'a': {'a': {...}}} is not allowed"),
        (f"[work]\njobs = {'9' * 900}", "work.jobs = "),
        (f"[work]\njobs = 0x{'f' * 900}", "work.jobs = "),
        (f"[chat]\ndistance_cutoff = 0x{'f' * 900}", "chat.distance_cutoff = "),
        (f"[chat]\ndistance_cutoff = {'9' * 900}", "chat.distance_cutoff = "),
        ("[chat]\ndistance_cutoff = 1e999", "chat.distance_cutoff = inf is not allowed"),
        ("[chat]\ndistance_cutoff = -inf", "chat.distance_cutoff = -inf is not allowed"),
        ("[chat]\ndistance_cutoff = nan", "chat.distance_cutoff = nan is not allowed"),
        ("[work]\njobs = -1", "work.jobs = -1 is not allowed"),
        ("[work]\njobs = 1979-05-27", "work.jobs = datetime.date(1979, 5, 27) is not allowed"),
        ("[work]\njobs = [1]", "work.jobs = [1] is not allowed"),
        ("[[work]]\njobs = 1", "there is no setting work;"),
        (f'"{"k" * 900}" = 1', f"there is no setting {'k' * 80}…;"),
        ('"\\u001b]0;owned\\u0007" = 1', "there is no setting \\x1b]0;owned\\x07"),
        ('"\\u202etxt" = 1', "there is no setting \\u202etxt"),
        ('[work]\njobs = "\\u001b[2J"', "work.jobs = '\\x1b[2J' is not allowed"),
        (f'[model]\nname = ["{"x" * 900}"]', "model.name = ['xx"),
        ("[trust]\nrepositories = [" + '"/a",\n' * 5_000 + "]", None),
        ("a = 1\x00", "is not valid TOML"),
        ("\x1b[2J", "is not valid TOML"),
    ],
)
def test_a_file_full_of_harm(tmp_path: Path, text: str, message: str | None) -> None:
    (tmp_path / "asterism.toml").write_text(text, encoding="utf-8")
    if message is not None:
        assert message in refused(tmp_path)
    else:
        (warning,) = load(tmp_path).warnings
        assert len(warning) < 1_000


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "asterism.toml").write_bytes(b"a = '\xff\xfe'")
    assert "is not valid TOML" in refused(tmp_path)


def test_the_parser_is_not_kept_busy(tmp_path: Path) -> None:
    """The most expensive file that is read: its parts times its length, counted."""
    lines = [f"{DEEP_KEY}.b{number} = 1\n" for number in range(MOST_BYTES // LONGEST_LINE)]
    text = f"[{DEEP_KEY}]\n" + "".join(lines[:-2])
    assert MOST_BYTES - 4 * LONGEST_LINE < len(text) <= MOST_BYTES
    (tmp_path / "asterism.toml").write_text(text)
    assert "there is no setting a.a" in refused(tmp_path)
    # The parser looks up each beginning of a key, part by part.
    parts = DEEP_KEY.count(".") + 1
    assert len(lines) * (2 * parts) ** 2 < 100_000_000


def pipe(path: Path) -> None:
    """A pipe without a writer."""
    os.mkfifo(path)


def folder(path: Path) -> None:
    """A directory of this name."""
    path.mkdir()


def link_out(path: Path) -> None:
    """A link to a file of the user."""
    target = path.parent.parent / "secret.toml"
    target.write_text(f'{SECRET} = "{SECRET}"\n[work]\njobs = "{SECRET}"\n')
    path.symlink_to(target)


def link_inside(path: Path) -> None:
    """A link to a file that is skipped because of its name."""
    (path.parent / ".env").write_text(f"[work]\njobs = '{SECRET}'\n")
    path.symlink_to(".env")


def link_to_itself(path: Path) -> None:
    """A link that leads nowhere."""
    path.symlink_to(path.name)


def endless(path: Path) -> None:
    """A link to what has no end."""
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (pipe, "is not a plain file; remove it."),
        (folder, "is not a plain file; remove it."),
        (link_out, "is a link; put the file itself there."),
        (link_inside, "is a link; put the file itself there."),
        (link_to_itself, "is a link; put the file itself there."),
        (endless, "is a link; put the file itself there."),
    ],
)
def test_what_is_no_plain_file(tmp_path: Path, make: Callable[[Path], None], message: str) -> None:
    """Nothing waits for it, and nothing of what it leads to is shown."""
    root = tmp_path / "repository"
    root.mkdir()
    make(root / "asterism.toml")
    said = refused(root)
    assert said.endswith(message)
    assert SECRET not in said


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    (tmp_path / "asterism.toml").write_text("")
    (tmp_path / "asterism.toml").chmod(0)
    assert "cannot be read (Permission denied); check it." in refused(tmp_path)


def test_the_users_own_file_may_be_a_link(tmp_path: Path) -> None:
    """Many keep their settings in a repository of dotfiles."""
    own = tmp_path / "home/.config/asterism/config.toml"
    own.parent.mkdir(parents=True)
    (tmp_path / "dotfile.toml").write_text("[chat]\nmax_turns = 7")
    own.symlink_to(tmp_path / "dotfile.toml")
    assert load(tmp_path).settings.chat.max_turns == 7


def test_the_users_own_file_does_not_hang_either(tmp_path: Path) -> None:
    own = tmp_path / "home/.config/asterism/config.toml"
    own.parent.mkdir(parents=True)
    os.mkfifo(own)
    assert "is not a plain file" in refused(tmp_path)
