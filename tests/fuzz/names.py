"""Hostile file names: a tree with them is indexed, searched, listed and shown by the command line.

A case is a line for each file: its path, with bytes beyond ASCII and controls as `%xx`.
"""

import contextlib
import io
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from urllib.parse import quote_from_bytes, unquote_to_bytes

from asterism.operations.calls import Standpoint
from asterism.operations.dispatch.hidden_paths import hidden_places
from asterism.operations.dispatch.toolbox import Toolbox
from asterism.operations.json import compact
from asterism.operations.limits import written
from tests.fuzz.scene import OWN, engine_in, leaks, places_in
from tests.fuzz.target import Check, Target, one_by_one

PIECES = (
    *(
        b"a",
        b"src",
        b"main",
        b"test",
        b" ",
        b"  ",
        b".",
        b"..a",
        b"\n",
        b"\r",
        b"\t",
        b"\x1b[31m",
        b"\x1b]0;x\x07",
    ),
    *(
        b"\x7f",
        b"\x01",
        b"\xff",
        b"\xfe\xff",
        b"\xed\xa0\x80",
        b"\xc0\xaf",
        "ä".encode(),
        "a\u0308".encode(),
    ),
    *(
        "\u202egnp".encode(),
        "\u200b".encode(),
        "\u2028".encode(),
        "\U0001f980".encode(),
        b"*",
        b"?",
        b"[",
        b"]",
    ),
    *(
        b"{",
        b"}",
        b"'",
        b'"',
        b"`",
        b"$(x)",
        b";",
        b"&",
        b"|",
        b"<",
        b">",
        b"\\",
        b"%",
        b"%00",
        b"#",
        b"!",
        b"~",
    ),
    *(b"-rf", b"--", b"CON", b"a" * 200, b":", b"\\n", b"node", b"@", b"=", b",index", b"README"),
)
ENDINGS = (
    b".py",
    b".ts",
    b".go",
    b".md",
    b".txt",
    b".rs",
    b"",
    b".PY",
    b".py ",
    b".py\n",
    b".d.ts",
)
TEXT = "def total(cart):\n    return len(cart)\n\n\nexport function pay() { return total() }\n"
LONGEST = 255
COMMANDS = (
    ("status",),
    ("search", "total", "--json"),
    ("search", "regex:total"),
    ("symbols", "total"),
    ("files",),
)


def _name(random: Random) -> bytes:
    pieces = (random.choice(PIECES) for _ in range(random.choice((1, 2, 3, 5))))
    return b"".join(pieces)


def _case(random: Random) -> bytes:
    lines = []
    for _ in range(random.randrange(1, 7)):
        folders = [_name(random) for _ in range(random.choice((0, 0, 1, 2, 12)))]
        path = b"/".join([*folders, _name(random) + random.choice(ENDINGS)])
        lines.append(quote_from_bytes(path, safe="/"))
    return "\n".join(lines).encode()


def make_files(root: Path, case: bytes) -> int:
    """Write the files that a case names and that this system allows; how many there are."""
    made = 0
    for line in case.decode("ascii", "replace").split("\n"):
        steps = [
            step for step in unquote_to_bytes(line).split(b"/") if step not in (b"", b".", b"..")
        ]
        if not steps or any(len(step) > LONGEST or b"\0" in step for step in steps):
            continue
        path = os.path.join(os.fsencode(root), *steps)  # noqa: PTH118 - bytes
        with contextlib.suppress(OSError):
            os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120 - bytes
            with open(path, "w", encoding="utf-8") as file:  # noqa: PTH123 - bytes
                file.write(TEXT)
            made += 1
    return made


@contextmanager
def _opened(place: Path) -> Iterator[Check]:
    root = place / "shop"

    def check(case: bytes) -> list[str]:
        for one in (root, places_in(place).data):
            shutil.rmtree(one, ignore_errors=True)
        root.mkdir()
        if not make_files(root, case):
            return []
        engine = engine_in(place)
        try:
            registered = engine.register(root)
            report = engine.index(registered)
            wrong = _asked(Toolbox(engine, Standpoint(root), hidden_places(places_in(place))), case)
            if report.added + len(report.skipped) == 0:
                wrong.append("no file was indexed and none skipped")
        finally:
            engine.close()
        return [*wrong, *_commands(root)]

    yield check


def _asked(toolbox: Toolbox, case: bytes) -> list[str]:
    calls: list[tuple[str, dict[str, object]]] = [
        ("search_code", {"query": "total"}),
        ("search_code", {"query": '"def total"', "mode": "exact"}),
        ("symbol_lookup", {"name": "total"}),
        ("codebase_search", {"query": "symbol = total"}),
        ("index_status", {}),
    ]
    for line in case.decode("ascii", "replace").split("\n")[:2]:
        path = unquote_to_bytes(line).decode("utf-8", "replace").replace("\0", "")
        calls.append(("index_debug", {"file_path": path}))
        calls.append(("search_code", {"query": "total", "filters": {"path": path}}))
    wrong: list[str] = []
    for name, arguments in calls:
        reply = toolbox.call(name, arguments)
        text = compact(written(reply))
        wrong.extend(f"{name}: {one}" for one in leaks(text))
        if reply.error == "internal_error":
            wrong.append(f"{name}: an internal error")
        try:
            text.encode()
        except UnicodeEncodeError:
            wrong.append(f"{name}: the reply holds lone surrogates")
        # A filter is repeated as the caller has written it.
        own = "filters" in arguments
        if not own and any(mark in part.text for part in reply.parts for mark in "\x1b\x07"):
            wrong.append(f"{name}: the text for the model holds terminal controls")
    return wrong


def _commands(root: Path) -> list[str]:
    """What the command line prints: no control that a file's name has brought."""
    from asterism.cli.main import main

    wrong: list[str] = []
    for command in COMMANDS:
        printed, complained = io.StringIO(), io.StringIO()
        with (
            contextlib.chdir(root),
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(complained),
            contextlib.suppress(SystemExit),
        ):
            main([*command])
        text = printed.getvalue() + complained.getvalue()
        wrong.extend(f"{command[0]}: {one}" for one in leaks(text.replace(OWN, "")))
        if any(mark in text for mark in ("\x1b", "\x07", "\x7f", "\r")):
            wrong.append(f"{command[0]} prints terminal controls")
        try:
            text.encode()
        except UnicodeEncodeError:
            wrong.append(f"{command[0]} prints lone surrogates")
    return wrong


TARGET = Target(
    name="names",
    about="hostile file names, indexed, searched and shown",
    cases=one_by_one(_case),
    opened=_opened,
    batch=20,
    tries=60,
    deadline=240,
)
