"""Can symbols be connected: are the compiler and the type checker there, and do they run?"""

import subprocess
from collections.abc import Callable, Iterator
from typing import TypeAlias

from asterism.config.environment import program
from asterism.config.settings import Settings
from asterism.domain.errors import ServerMissing
from asterism.domain.files import display_path
from asterism.engine.doctor_findings import Finding, ok, warning
from asterism.structure.python_binary import require_checker
from asterism.structure.typescript_binary import COMPILER_VERSION, require_compiler

OFF = "off"
RUN_SECONDS = 30.0
OPTIONAL = ("clangd", "gopls", "rust-analyzer", "jdtls", "omnisharp", "solargraph")
"""Servers of other languages; those are connected by name, whether or not a server is there."""

_Require: TypeAlias = Callable[[str | None], str]

_BY_NAME = "until then it is connected by name only"


def structure_findings(settings: Settings) -> Iterator[Finding]:
    """The programs that know how symbols connect; without them the index knows by name."""
    chosen = settings.structure
    yield _program("TypeScript", chosen.typescript, require_compiler, COMPILER_VERSION)
    yield _program("Python checker", chosen.python, require_checker, "")
    found = [name for name in OPTIONAL if program(name)]
    there = f"{', '.join(found)} found" if found else "none found"
    yield ok("Other languages", f"connected by name; language servers are not needed ({there})")


def _program(check: str, given: str, require: _Require, wanted: str) -> Finding:
    if given == OFF:
        return ok(check, "off by your settings; connected by name")
    try:
        place = require(given or None)
    except ServerMissing as error:
        return warning(check, str(error), f"Otherwise {_BY_NAME}.")
    shown = display_path(place)
    try:
        done = subprocess.run(
            [place, "--version"], capture_output=True, check=True, timeout=RUN_SECONDS, text=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        said = f"{shown} cannot be started ({type(error).__name__})"
        return warning(check, said, f"Install Asterism again; {_BY_NAME}.")
    said = " ".join(done.stdout.split())
    if wanted and wanted not in said:
        advice = f"Version {wanted} is the one whose protocol Asterism speaks; {_BY_NAME}."
        return warning(check, f"{said or shown}", advice)
    return ok(check, said or shown)
