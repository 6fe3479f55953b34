"""Can symbols be connected: are compilers and language servers there, and do they run?"""

from collections.abc import Callable, Iterator
from typing import TypeAlias

from asterism.analysis.source.checkouts import enclosing_checkout
from asterism.config.environment import program
from asterism.config.settings import Settings
from asterism.engine.doctor.findings import Finding, ok, warning
from asterism.programs.fences import fences
from asterism.programs.program import Program
from asterism.programs.start import SubprocessError, probe
from asterism.programs.table import TY, TYPESCRIPT
from asterism.structure.python.binary import require_checker
from asterism.structure.servers.binary import can_start, require_server
from asterism.structure.servers.catalogue import SERVERS, Server
from asterism.structure.typescript.binary import COMPILER_VERSION, require_compiler
from asterism.types.errors import ServerMissing
from asterism.types.files import display_path

OFF = "off"
RUN_SECONDS = 30.0
_Require: TypeAlias = Callable[[str | None], str]

_CHECKS = {TYPESCRIPT.name: "TypeScript", TY.name: "Python checker"}
_BY_NAME = "until then it is connected by name only"


def structure_findings(settings: Settings, root: str | None = None) -> Iterator[Finding]:
    """The programs that know how symbols connect; without them the index knows by name.

    Nothing that lies in the repository at `root` is started.
    """
    chosen = settings.structure
    yield _program(TYPESCRIPT, chosen.typescript, require_compiler, COMPILER_VERSION)
    yield _program(TY, chosen.python, require_checker, "")
    for server in SERVERS:
        yield _server(server, getattr(chosen, server.family), root)
    yield ok("Other languages", "connected by name")
    yield _fences()


def _fences() -> Finding:
    """Whether the kernel holds these programs to what the table of programs says."""
    found = fences()
    missing = [
        *([] if found.files else ["files outside of the repository"]),
        *([] if found.network else ["the network"]),
    ]
    if missing:
        said = f"this system does not keep compilers from {' and '.join(missing)}"
        return ok("Fences", f"{said}; see docs/security.md")
    return ok("Fences", "compilers reach neither the network nor files outside of the repository")


def _server(server: Server, given: str, root: str | None) -> Finding:
    """A language server that is used where it is installed; nobody needs one."""
    check = f"{server.titles} server"
    if given == OFF:
        return ok(check, "off by your settings; connected by name")
    try:
        place = require_server(server, given) if given else program(server.program, root)
    except ServerMissing as error:
        return warning(check, str(error), f"Name it, or say `off`; {_BY_NAME}.")
    if place is not None and not given and (checkout := enclosing_checkout(place)):
        said = f"{display_path(place)} lies in the checkout {display_path(checkout.root)}"
        advice = "Take its folder out of PATH, or name the program in your settings."
        return warning(check, f"{said}, so it was not started", advice)
    works = place is not None and can_start(server, place)
    if place is not None and works:
        return ok(check, f"{display_path(place)}, for repositories that you trust")
    if given:
        return warning(check, f"{given} cannot be started", f"Install it anew; {_BY_NAME}.")
    return ok(check, f"{server.program} is not installed; connected by name")


def _program(started: Program, given: str, require: _Require, wanted: str) -> Finding:
    check = _CHECKS[started.name]
    if given == OFF:
        return ok(check, "off by your settings; connected by name")
    try:
        place = require(given or None)
    except ServerMissing as error:
        return warning(check, str(error), f"Otherwise {_BY_NAME}.")
    shown = display_path(place)
    try:
        done = probe(started, place, RUN_SECONDS)
        done.check_returncode()
    except (OSError, SubprocessError) as error:
        said = f"{shown} cannot be started ({type(error).__name__})"
        return warning(check, said, f"Install Asterism again; {_BY_NAME}.")
    said = " ".join(done.stdout.split())
    if wanted and wanted not in said:
        advice = f"Version {wanted} is the one whose protocol Asterism speaks; {_BY_NAME}."
        return warning(check, f"{said or shown}", advice)
    return ok(check, said or shown)
