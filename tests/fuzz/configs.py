"""Damaged settings files: the user's own and a repository's.

A case is `user` or `repository`, a newline, and the file's bytes.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from random import Random

from asterism.config.environment import user_file
from asterism.config.layers import REPOSITORY_FILE
from asterism.config.load import load
from asterism.config.settings import Settings, all_settings
from asterism.types.errors import SettingError
from tests.fuzz.mutations import crossed, damaged
from tests.fuzz.target import Check, Target, one_by_one

VALUES = (
    *("true", "false", "0", "-1", "1", "300", "1e400", "nan", "-inf", "9" * 400, "0x" + "f" * 300),
    *(
        '""',
        '"x"',
        '"\\u0000"',
        '"\\ud800"',
        '"/etc/passwd"',
        '"../.."',
        '"http://[::1"',
        "'''x'''",
    ),
    *("[]", "[1, 'a']", "['a', 'b']", "{}", "{ a = 1 }", "1979-05-27T07:32:00Z", "07:32:00"),
    *("[" * 50 + "]" * 50, "{ a = " * 60 + "1" + " }" * 60, '"' + "x" * 10_000 + '"'),
)
DEEPER = ("[" * 3_000 + "]" * 3_000, "{a=" * 3_000 + "1" + "}" * 3_000, "a." * 3_000 + "a")


@cache
def _keys() -> list[str]:
    return [setting.key for setting in all_settings()]


def _case(random: Random) -> bytes:
    data = "\n".join(_line(random) for _ in range(random.randrange(1, 8))).encode()
    if random.random() < 0.6:
        data = damaged(crossed(data, data, random) if random.random() < 0.2 else data, random)
    return random.choice((b"user\n", b"repository\n")) + data


def _line(random: Random) -> str:
    section, _, name = random.choice(_keys()).partition(".")
    value = random.choice(VALUES if random.random() < 0.95 else DEEPER)
    return random.choice(
        (
            f"[{section}]\n{name} = {value}",
            f"{section}.{name} = {value}",
            f"[[{section}]]\n{name} = {value}",
            f'["{section}".{name}]\nx = {value}',
            f"[{value}]",
            f"{section} = {value}",
        )
    )


@contextmanager
def _opened(place: Path) -> Iterator[Check]:
    root, home = place / "repository", place / "home"
    root.mkdir()
    os.environ["HOME"] = str(home)
    os.environ["XDG_CONFIG_HOME"] = str(home / ".config")
    users = user_file()
    assert users is not None
    users.parent.mkdir(parents=True)

    def check(case: bytes) -> list[str]:
        head, _, data = case.partition(b"\n")
        is_own = head == b"user"
        (root / REPOSITORY_FILE).write_bytes(b"" if is_own else data)
        users.write_bytes(data if is_own else b"")
        try:
            loaded = load(root)
        except SettingError as error:
            return _about_error(str(error))
        return [] if is_own else _raised(loaded.settings)

    yield check


def _about_error(text: str) -> list[str]:
    if len(text) > 20_000:
        return ["the error repeats too much"]
    return [] if text.endswith((".", "?")) else [f"the error is no sentence: {text[-80:]!r}"]


OF_THE_USER = ("trust", "server", "records")


def _raised(settings: Settings) -> list[str]:
    """A repository chooses neither where code is sent nor who is trusted."""
    usual = Settings()
    wrong = []
    for key in _keys():
        section, _, name = key.partition(".")
        if section in OF_THE_USER or name in ("url", "provider"):
            given, default = (getattr(getattr(one, section), name) for one in (settings, usual))
            if given != default:
                wrong.append(f"a repository has set {key}")
    return wrong


TARGET = Target(
    name="configs",
    about="damaged settings files, the user's and a repository's",
    cases=one_by_one(_case),
    opened=_opened,
    tries=300,
)
