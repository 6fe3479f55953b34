"""Does every file keep the rules of CONTRIBUTING.md for text: purposes, lengths, names and links?"""

import ast
import io
import re
import tokenize
import tomllib
from pathlib import PurePosixPath

import pytest

from scripts.house.files import FILES, MODULES, PAGES, ROOT, SOURCE, lines_with, text_of

# A module twice the usual size and more does two things.
LINES_AT_MOST = 400

# Names that say nothing about what is inside.
EMPTY_NAMES = {"util", "utils", "helpers", "common", "core", "misc", "manager", "managers"}

# The forbidden words are put together here, so that this file does not contain them.
PROMISES = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME"]) + r")\b")
REGISTRY_HOSTS = re.compile(
    "|".join(
        re.escape(host)
        for host in (
            "py" + "pi.org",
            "python" + "hosted.",
            "np" + "mjs.",
            "deb" + "ian.org",
            "registry." + "yarnpkg",
        )
    )
)
MACHINE_PATHS = re.compile(r"(?:^|[^\w.])/(?:" + "|".join(["work", "farm", "root"]) + r")/[\w.]")

MARKDOWN_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE_BLOCK = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)


def test_there_is_something_to_check() -> None:
    assert "src/asterism/__init__.py" in SOURCE
    assert "README.md" in PAGES


def test_every_module_says_what_it_is_for() -> None:
    assert [name for name in MODULES if not _has_purpose(text_of(name) or "")] == []


def _has_purpose(source: str) -> bool:
    doc = ast.get_docstring(ast.parse(source))
    first = source.split("\n", 1)[0]
    sentence = doc.split("\n", 1)[0] if doc else ""
    return first.startswith(('"""', 'r"""')) and sentence in first and sentence.endswith((".", "?"))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('"""Finds files."""\n', True),
        ('"""Which files are there?\n\nMore.\n"""\n', True),
        ('"""\nFinds files.\n"""\n', False),
        ('"""Finds files"""\n', False),
        ("import os\n", False),
        ("", False),
    ],
)
def test_what_counts_as_a_purpose(source: str, expected: bool) -> None:
    assert _has_purpose(source) is expected


def test_no_module_is_too_long() -> None:
    sizes = {name: len((text_of(name) or "").splitlines()) for name in SOURCE}
    assert {name: size for name, size in sizes.items() if size > LINES_AT_MOST} == {}


def test_only_the_command_line_prints() -> None:
    library = [name for name in SOURCE if not name.startswith("src/asterism/cli/")]
    assert [name for name in library if _prints(text_of(name) or "")] == []


def _prints(source: str) -> bool:
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
        for node in ast.walk(ast.parse(source))
    )


def test_no_promises_in_the_code() -> None:
    assert [place for name in MODULES for place in _promises(name, text_of(name) or "")] == []


def _promises(name: str, source: str) -> list[str]:
    """Comments that put work off; a string may well name a file called so."""
    return [
        f"{name}:{token.start[0]}"
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT and PROMISES.search(token.string)
    ]


def test_no_registry_host_is_named() -> None:
    assert lines_with(REGISTRY_HOSTS, FILES) == []


def test_no_path_of_one_machine_is_named() -> None:
    assert lines_with(MACHINE_PATHS, FILES) == []


def test_no_lock_that_records_hosts() -> None:
    assert [name for name in FILES if PurePosixPath(name).name in {"uv.lock", "pylock.toml"}] == []


def test_folders_have_names_that_mean_something() -> None:
    parts = {part for name in MODULES for part in PurePosixPath(name).with_suffix("").parts}
    assert parts & EMPTY_NAMES == set()


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    prose = CODE_BLOCK.sub("", text_of(page) or "")
    targets = (target.split("#")[0] for target in MARKDOWN_LINK.findall(prose))
    local = [target for target in targets if target and not re.match(r"[a-z]+:", target)]
    assert [target for target in local if not (ROOT / page).parent.joinpath(target).exists()] == []


def test_every_grammar_has_one_home() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    names = (re.split(r"[=<>~!]", entry)[0] for entry in settings["project"]["dependencies"])
    wanted = {name.replace("-", "_") for name in names if name.startswith("tree-sitter")}
    contracts = settings["tool"]["importlinter"]["contracts"]
    forbidden = {name for contract in contracts for name in contract.get("forbidden_modules", [])}
    assert wanted - forbidden == set()
