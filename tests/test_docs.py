"""Are the generated pages and the examples of the README what the code says today?"""

import argparse
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from asterism.programs.table import PROGRAMS
from asterism.structure.typescript.project import find_compiler
from scripts.house import trace
from scripts.write_docs import ROOT, SECURITY, cli_page, pages, tables_of, with_tables

EXAMPLE = re.compile(r"^```\n\$ asterism (?P<command>.+)\n(?P<shown>(?:.*\n)*?)```$", re.MULTILINE)
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", list(pages()), ids=lambda path: path.name)
def test_generated_page_is_current(path: Path) -> None:
    found = path.read_text(encoding="utf-8") if path.exists() else ""
    assert found == pages()[path], f"{path.name} has drifted; `make fix` writes it again"


def test_every_program_has_its_row() -> None:
    page = pages()[ROOT / "docs" / "security.md"]
    for program in PROGRAMS:
        assert page.count(f"| `{program.name}` | {program.purpose} |") == 1
        assert page.count(f"### `{program.name}`") == 1
        for name, value in (program.variables or {}).items():
            assert f"`{name}={value}`" in page


def test_tables_of_a_page_are_written_again(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    tables = tables_of()[SECURITY]
    marks = [f"<!-- table {name}, written by `make fix` -->" for name in tables]
    page.write_text("".join(f"{mark}\nchanged by hand\n<!-- end of table -->\n" for mark in marks))
    written = with_tables(page, tables)
    assert "changed by hand" not in written
    assert [line for line in written.splitlines() if line in marks] == marks
    page.write_text("no place")
    with pytest.raises(ValueError, match="no place for the table programs"):
        with_tables(page, tables)


def test_page_does_not_depend_on_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = []
    for columns in ("20", "300"):
        monkeypatch.setenv("COLUMNS", columns)
        texts.append(list(pages().values()))
    assert texts[0] == texts[1]


def test_page_shows_commands_arguments_and_choices() -> None:
    parser = argparse.ArgumentParser(prog="tool", description="Does\n  things.")
    commands = parser.add_subparsers()
    show = commands.add_parser("show", help="show a|b", description="Show it.")
    show.add_argument("path", nargs="+", metavar="PATH", help="what to show")
    show.add_argument("--as", choices=["x", "y"], default="x", help="form (default: %(default)s)")
    show.add_argument("--hidden", help=argparse.SUPPRESS)

    page = cli_page(parser)

    assert "Does things." in page
    assert "| `show` | show a\\|b |" in page
    assert "tool show [--as {x,y}] PATH [PATH …]" in page
    assert "| `--as {x,y}` | form (default: x) |" in page
    assert "hidden" not in page


ASKS_A_COMPILER = frozenset({"show", "callers", "callees", "refs"})


@pytest.mark.parametrize("example", list(EXAMPLE.finditer(README)), ids=lambda e: e["command"])
def test_readme_shows_what_the_command_prints(
    example: re.Match[str], indexed_example: dict[str, str]
) -> None:
    """Each line shown is printed, in that order; `…` marks lines left out."""
    if example["command"].split()[0] in ASKS_A_COMPILER and find_compiler() is None:
        pytest.skip("the TypeScript compiler was not shipped with this installation")
    run = _asterism(shlex.split(example["command"]), indexed_example)
    printed = iter([line for line in run.stdout.splitlines() if line.strip()])
    wanted = [line for line in example["shown"].splitlines() if line.strip() and line != "…"]
    assert wanted
    for line in wanted:
        assert line in printed, f"not printed, or not in this place: {line}"


@pytest.fixture(scope="module")
def indexed_example(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment with an index of the example repository and of nothing else."""
    base = tmp_path_factory.mktemp("asterism")
    environment = {
        **os.environ,
        "ASTERISM_DATA_DIR": str(base / "data"),
        "ASTERISM_CACHE_DIR": str(base / "cache"),
    }
    _asterism(["index", "examples/harbor"], environment)
    return environment


def _asterism(
    arguments: list[str], environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "asterism.cli", *arguments],
        cwd=ROOT,
        env=environment,
        check=True,
        capture_output=True,
        encoding="utf-8",
    )


@pytest.mark.skipif(
    sys.platform != "linux" or find_compiler() is None,
    reason="other systems start other programs, and without the compiler names are resolved",
)
def test_traced_query_is_current(tmp_path: Path) -> None:
    found = trace.trace_of_query(tmp_path)
    assert trace.PAGE.read_text(encoding="utf-8") == trace.page(found), (
        "the modules that a query enters have changed; `make fix` writes the page again"
    )


def test_readme_has_examples() -> None:
    assert len(EXAMPLE.findall(README)) >= 3
