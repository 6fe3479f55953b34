"""Traces one search through the modules and writes the page docs/traced-query.md.

    python -m scripts.house.trace

A process of its own runs the command with a profile function, which notes when a module of Asterism
is entered for the first time, by which function, and from which module.
"""

import ast
import json
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import NamedTuple

from scripts.house.files import ROOT

SOURCE = f"{ROOT}/src/asterism/"
EXAMPLE = "examples/harbor"
QUERY = "how does the ledger refund a parcel"
PAGE = ROOT / "docs" / "traced-query.md"

HEADER = """\
# One query, module by module

<!-- Written by `make fix` from a trace; do not edit by hand. -->

    asterism search '{query}' {example} --format context

This page lists the modules of Asterism that the command above enters, in order of entry, with the
first function that is called in each and the module that calls it. Modules that only define types
have no calls and are not listed. The index is up to date when the command starts. The trace covers
the main thread of the command; work in other threads and processes is not listed.

The command loads {imported} modules of Asterism, enters {entered}, and opens the catalogue {opens}.
"""


class Step(NamedTuple):
    """The first call into a module."""

    module: str
    function: str
    caller: str


class Trace(NamedTuple):
    """What one command entered and loaded."""

    steps: list[Step]
    imported: int
    """Modules of Asterism that are loaded at the end."""
    opens: int
    """How often the catalogue was opened."""


class Recorder:
    """Notes the first call into each module, in one thread."""

    def __init__(self) -> None:
        self.steps: dict[str, Step] = {}
        self.opens = 0

    def __call__(self, frame: FrameType, event: str, _argument: object) -> None:
        """Take the profile event of a call."""
        if event != "call" or (module := _module(frame)) is None:
            return
        name = frame.f_code.co_qualname if sys.version_info >= (3, 11) else frame.f_code.co_name
        self.opens += name == "Catalogue.open"
        if module not in self.steps and not _at_import(frame):
            self.steps[module] = Step(module, name.replace(".<locals>", ""), _caller(frame, module))


def _module(frame: FrameType) -> str | None:
    """The module of a function of Asterism; nothing for other code, module bodies and lambdas."""
    code = frame.f_code
    if not code.co_filename.startswith(SOURCE) or code.co_name.startswith("<"):
        return None
    return code.co_filename[len(SOURCE) : -len(".py")].replace("/", ".").removesuffix(".__init__")


def _at_import(frame: FrameType) -> bool:
    """Whether a module body of Asterism is being run: such a call only defines something."""
    above: FrameType | None = frame
    while above is not None:
        is_body = above.f_code.co_name in {"<module>", "__set_name__"}
        if is_body and above.f_code.co_filename.startswith(SOURCE):
            return True
        above = above.f_back
    return False


def _caller(frame: FrameType, module: str) -> str:
    above = frame.f_back
    while above is not None:
        if (found := _module(above)) not in {None, module}:
            return str(found)
        above = above.f_back
    return ""


def record(arguments: Sequence[str], out: Path) -> int:
    """Run one command of Asterism in this process, and write what it entered."""
    from asterism.cli.main import main as asterism

    recorder = Recorder()
    opened: list[int] = []

    def in_thread(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and frame.f_code.co_qualname == "Catalogue.open":
            opened.append(1)

    threading.setprofile(in_thread)
    sys.setprofile(recorder)
    try:
        code = asterism(list(arguments))
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    imported = sum(name.partition(".")[0] == "asterism" for name in sys.modules)
    trace = Trace([*recorder.steps.values()], imported, recorder.opens + len(opened))
    out.write_text(json.dumps(trace), encoding="utf-8")
    return code


def traced(arguments: Sequence[str], environment: dict[str, str]) -> Trace:
    """The trace of one command, run in a process of its own."""
    with TemporaryDirectory() as scratch:
        out = Path(scratch) / "trace.json"
        command = [sys.executable, "-m", "scripts.house.trace", str(out), *arguments]
        subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True)
        steps, imported, opens = json.loads(out.read_text(encoding="utf-8"))
    return Trace([Step(*step) for step in steps], imported, opens)


def environment_of(folder: Path) -> dict[str, str]:
    """The environment of a command whose index is below a folder."""
    own = {f"ASTERISM_{name}_DIR": str(folder / name.lower()) for name in ("DATA", "CACHE")}
    inherited = {name: text for name, text in os.environ.items() if "ASTERISM" not in name}
    return inherited | own | {"XDG_CONFIG_HOME": str(folder / "config"), "PYTHONHASHSEED": "0"}


def trace_of_query(folder: Path, query: str = QUERY, repository: str = EXAMPLE) -> Trace:
    """Index a repository in directories below a folder, and trace one query."""
    environment = environment_of(folder)
    index = [sys.executable, "-m", "asterism.cli", "index", repository]
    subprocess.run(index, cwd=ROOT, env=environment, check=True, capture_output=True)
    return traced(("search", query, repository, "--format", "context"), environment)


def page(trace: Trace) -> str:
    """The page about a trace, one section for each package in the order of their first calls."""
    times = "once" if trace.opens == 1 else f"{trace.opens} times"
    counts = {"imported": trace.imported, "entered": len(trace.steps), "opens": times}
    lines = [HEADER.format(query=QUERY, example=EXAMPLE, **counts)]
    lines += ["| | module | purpose | first call | called by |", "| --- | --- | --- | --- | --- |"]
    number = 0
    for package, steps in groupby(trace.steps, lambda step: step.module.split(".")[0]):
        for place, step in enumerate(steps):
            number += 1
            shown = f"**{package}**" if place == 0 else ""
            name = step.module.removeprefix(f"{package}.")
            cells = [f"{number} {shown}".strip(), f"`{name}`", _purpose(step.module)]
            lines.append(f"| {' | '.join([*cells, f'`{step.function}`', f'`{step.caller}`'])} |")
    return "\n".join([*lines, ""]).replace("`` |", " |")


def _purpose(module: str) -> str:
    path = Path(SOURCE, *module.split("."))
    source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    text = ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))) or ""
    return text.split("\n")[0].replace("|", "\\|")


def main() -> int:
    """Write the page, or record one command for `traced`."""
    if len(sys.argv) > 1:
        return record(sys.argv[2:], Path(sys.argv[1]))
    with TemporaryDirectory() as scratch:
        text = page(trace_of_query(Path(scratch)))
    if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
        PAGE.write_text(text, encoding="utf-8", newline="\n")
        print(f"wrote {PAGE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
