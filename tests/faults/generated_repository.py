"""A repository of small files that import each other, and changes to it drawn from a seed."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from random import Random

# How many files of each language; imports stay within a language.
FILES = {"py": 52, "ts": 42, "js": 10, "rs": 8, "go": 6, "md": 2}

# What .gitignore says from time to time: nothing, a folder, a language, some of the names.
IGNORED = ("", "py/b/\n", "*.js\n", "*3.*\n!ts/a/m13.ts\n", "go/\nrs/\n")

_TEXTS = {
    "py": 'def {name}(first: int, word: str) -> int:\n    """Counts {name}."""\n'
    "    total = 10 + first\n{calls}    return total\n\n\n"
    "class Box{name}:\n    def open(self, key: int) -> int:\n        return key * 10\n",
    "ts": "export function {name}(first: number, word: string): number {{\n"
    "  const total = 10 + first;\n{calls}  return total;\n}}\n\n"
    "export class Box{name} {{\n  open(key: number): number {{\n    return key * 10;\n  }}\n}}\n",
    "js": "export function {name}(first, word) {{\n  const total = 10 + first;\n{calls}"
    "  return total;\n}}\n",
    "rs": "pub fn {name}(first: i32, word: i32) -> i32 {{\n    let total = 10 + first;\n"
    "    total\n}}\n",
    "go": "package {folder}\n\nfunc {name}(first int, word string) int {{\n"
    "\ttotal := 10 + first\n\treturn total\n}}\n",
    "md": "# About {name}\n\nThere are 10 of them.\n\n## How first word\n\nAs usual, 10 times.\n",
}
_CALLS = {
    "py": "    total += {name}(total, 'x')\n",
    "ts": "  {name}(total, 'x');\n",
    "js": "  {name}(total, 'x');\n",
}
_NUMBER = re.compile(r"\b[1-9]\d+\b")
_PARAMETER = re.compile(r"\b(first|second|third|fourth)(?=[,:) ])")
_PARAMETERS = ("first", "second", "third", "fourth")


def make_repository(root: Path, count: int = sum(FILES.values())) -> None:
    """Write the files; the same every time."""
    chance = Random(0)
    share = count / sum(FILES.values())
    for language, wanted in FILES.items():
        for number in range(max(1, round(wanted * share))):
            _write(root, _path(language, number), _text(root, language, number, chance))
    _write(root, "py/a/__init__.py", "from .m0 import f0\nfrom py.b.m1 import f1 as other\n")
    _write(root, "py/b/__init__.py", "from py.a import *\n")
    _write(root, "py/users.py", "from py.b import f0\n\n\ndef user():\n    return f0(1, 'u')\n")
    _write(root, "ts/index.ts", 'export * from "./a/m0";\nexport { f1 } from "./b/m1";\n')
    _write(
        root,
        "ts/users.ts",
        'import { f0, f1 } from "./index";\n\nexport const u = () => f0(f1(1, "u"), "v");\n',
    )
    _write(root, ".gitignore", "")


def change(root: Path, chance: Random) -> str:
    """Change a few things; returns the names of the changes, to find a cause."""
    kinds = chance.choices(list(_CHANGES), [weight for _, weight in _CHANGES.values()], k=6)
    chosen = kinds[: chance.choice((1, 1, 2, 3, 6))]
    for kind in chosen:
        _CHANGES[kind][0](root, chance)
    return " ".join(chosen)


def files_of(root: Path) -> list[Path]:
    """Every source file, in a fixed order."""
    return sorted(path for path in root.rglob("*.*") if path.is_file() and path.suffix != "")


def _path(language: str, number: int) -> str:
    return f"{language}/{'ab'[number % 2]}/m{number}.{language}"


def _text(root: Path, language: str, number: int, chance: Random) -> str:
    """A file that imports up to three others of its language, older ones more often."""
    name = f"f{number}"
    wanted = sorted({chance.randrange(number) for _ in range(3)}) if number else []
    head = "".join(_import(language, number, other) for other in wanted)
    calls = "".join(_CALLS.get(language, "").format(name=f"f{other}") for other in wanted)
    body = _TEXTS[language].format(name=name, calls=calls, folder="ab"[number % 2])
    return f"{head}\n\n{body}" if head else body


def _import(language: str, number: int, other: int) -> str:
    folder = "ab"[other % 2]
    if language == "py":
        return f"from py.{folder}.m{other} import f{other}\n"
    if language in ("ts", "js"):
        return f'import {{ f{other} }} from "../{folder}/m{other}";\n'
    return ""


def _write(root: Path, path: str, text: str) -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def _edit(root: Path, chance: Random, pattern: re.Pattern[str], new: str) -> None:
    file = chance.choice(files_of(root))
    text = file.read_text(encoding="utf-8")
    places = list(pattern.finditer(text))
    if places:
        place = chance.choice(places)
        file.write_text(text[: place.start()] + new + text[place.end() :], encoding="utf-8")


def _body(root: Path, chance: Random) -> None:
    _edit(root, chance, _NUMBER, str(chance.randrange(10, 99)))


def _signature(root: Path, chance: Random) -> None:
    _edit(root, chance, _PARAMETER, chance.choice(_PARAMETERS))


def _add(root: Path, chance: Random) -> None:
    language = chance.choice(("py", "ts", "js"))
    number = chance.randrange(1, 2 * FILES[language])
    _write(root, _path(language, number), _text(root, language, number, chance))


def _delete(root: Path, chance: Random) -> None:
    files = files_of(root)
    # What is deleted is not lost for ever: additions bring the same names back.
    if len(files) > 20:
        chance.choice(files).unlink()


def _rename(root: Path, chance: Random) -> None:
    file = chance.choice(files_of(root))
    moved = file.with_name(f"r{chance.randrange(9)}{file.suffix}")
    file.replace(moved)


def _touch(root: Path, chance: Random) -> None:
    file = chance.choice(files_of(root))
    moment = file.stat().st_mtime_ns - chance.randrange(10**12)
    os.utime(file, ns=(moment, moment))


def _ignore(root: Path, chance: Random) -> None:
    _write(root, ".gitignore", chance.choice(IGNORED))


_CHANGES: dict[str, tuple[Callable[[Path, Random], None], int]] = {
    "body": (_body, 4),
    "signature": (_signature, 6),
    "add": (_add, 2),
    "delete": (_delete, 2),
    "rename": (_rename, 1),
    "touch": (_touch, 1),
    "ignore": (_ignore, 1),
}
