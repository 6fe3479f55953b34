"""Damaged ignore files over a small tree: every path is found or skipped, and nothing fails.

A case is the file's bytes.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from asterism.analysis.source.discovery import discover
from tests.fuzz.mutations import damaged
from tests.fuzz.target import Check, Target, one_by_one

PIECES = (
    *(
        "*",
        "**",
        "?",
        "/",
        "!",
        "#",
        "\\",
        "[",
        "]",
        "[a-z]",
        "[!a]",
        "[^\\]]",
        "[[:alpha:]]",
        "[z-a]",
    ),
    *(
        "a",
        "src",
        "build",
        ".py",
        "main.py",
        "node_modules",
        " ",
        "\t",
        "\\ ",
        "ä",
        "{a,b}",
        "(",
        "$",
    ),
    *(
        "**/",
        "/**",
        "/**/",
        "a" * 60,
        "*a" * 12,
        "[a",
        "[]",
        "[!]",
        "\\\\",
        "\0",
        "\r",
        "\u2028",
        ".",
    ),
    *(
        "..",
        "../",
        "./",
        "//",
        "+",
        "|",
        "^",
        "(?:",
        ")",
        "\ufeff",
        "[[:nothing:]]",
        "[a-",
        "--",
        "x{9}",
    ),
)
FILES = (
    *(
        "main.py",
        "src/main.py",
        "src/a/b/c/deep.py",
        "build/out.py",
        "a" * 60 + ".py",
        "x y.py",
        "#x.py",
    ),
    *("[a].py", "!important.py", "node_modules/p/index.js", "src/ä.py", "a/a/a/a/a/a/a/a/a/a.py"),
)


def _case(random: Random) -> bytes:
    lines = (
        "".join(random.choice(PIECES) for _ in range(random.randrange(1, 14)))
        for _ in range(random.randrange(1, 12))
    )
    data = "\n".join(lines).encode("utf-8", "surrogatepass")
    return damaged(data, random) if random.random() < 0.3 else data


@contextmanager
def _opened(place: Path) -> Iterator[Check]:
    for name in FILES:
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x = 1\n")
    (place / ".git").mkdir()
    paths = [place / ".gitignore", place / "src" / ".asterismignore"]

    def check(data: bytes) -> list[str]:
        for path in paths:
            path.write_bytes(data)
        found = discover(str(place))
        known = {file.path for file in found.files}
        skipped = [one.path for one in found.skipped]
        lost = [
            name
            for name in FILES
            if name not in known
            and not any(
                name == one or (one[-1:] == "/" and name.startswith(one)) for one in skipped
            )
        ]
        wrong = [f"{name!r} is neither found nor skipped" for name in lost]
        if any(path.startswith(("/", "..")) for path in known):
            wrong.append("a path outside was found")
        return wrong

    yield check


TARGET = Target(
    name="ignores",
    about="damaged ignore files over a small tree",
    cases=one_by_one(_case),
    opened=_opened,
)
