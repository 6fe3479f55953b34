"""Checks the list of repositories and the index of each."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TypeAlias

from asterism.analysis.source.checkouts import enclosing_checkout
from asterism.config.environment import (
    agent_variable,
    handed_on,
    program,
    server_token,
    unknown_variables,
    user_file,
)
from asterism.config.layers import read_layer, resolve
from asterism.config.load import load, log_options
from asterism.config.options import records_options
from asterism.config.server_token import TokenFile
from asterism.config.settings import Settings
from asterism.config.trust import EntryState, entries, is_trusted
from asterism.engine.agents import AgentPlaces
from asterism.engine.doctor.machine import Finding, Severity, ok, problem, warning
from asterism.engine.status import Status, status_of
from asterism.programs.start import SubprocessError, fences, probe
from asterism.programs.table import TY, TYPESCRIPT, Program
from asterism.store.catalogue.schema import SCHEMA_VERSION
from asterism.store.registry import Registered, Registry, RepositoryState
from asterism.store.registry_file import is_whole
from asterism.structure.python.project import require_checker
from asterism.structure.servers.catalogue import SERVERS, ServerProfile, can_start, require_server
from asterism.structure.typescript.project import COMPILER_VERSION, require_compiler
from asterism.toolservers.options import ServerSurroundings, prepared
from asterism.types.context import Agent
from asterism.types.context import Server as AgentsServer
from asterism.types.errors import AsterismError, ServerMissing, SettingError, ToolServerMissing
from asterism.types.files import display_path
from asterism.types.index import Staleness
from asterism.types.index_states import without_advice

RECORDS_CHECK = "Conversations"


def record_findings(settings: Settings, data: Path) -> Iterator[Finding]:
    """How many conversations there are, and where; failures are errors of the database."""
    from asterism.records.conversations import Conversations
    from asterism.records.database import look_into
    from asterism.types.chat import Shelf

    looked = look_into(records_options(settings, data))
    if looked is None:
        yield ok(RECORDS_CHECK, "none yet")
        return
    with closing(looked.database) as database:
        if not looked.is_current:
            yield ok(
                RECORDS_CHECK,
                f"in {database.place}; the next question brings the tables up to date",
            )
            return
        total = Conversations(database).page(Shelf.all, limit=1).total
        yield ok(RECORDS_CHECK, f"{total:,} in {database.place}")


SETTINGS_CHECK = "Settings"


def settings_or_defaults(where: Path) -> Settings:
    """The settings for a directory; where they are broken, the rest is looked at with defaults."""
    try:
        return load(where).settings
    except (SettingError, OSError):
        return Settings()


def settings_findings(where: Path) -> Iterator[Finding]:
    """The user's own file by itself, then everything that counts for a directory."""
    own = user_file()
    try:
        layer = None if own is None else read_layer(own)
        if layer is not None:
            resolve([layer])
    except SettingError as error:
        yield problem(SETTINGS_CHECK, str(error))
        return
    if own is not None and layer is not None:
        yield ok(SETTINGS_CHECK, f"{display_path(str(own))} is valid")
    else:
        yield ok(SETTINGS_CHECK, "no file of your own; everything is as usual")
    try:
        loaded = load(where)
    except SettingError as error:
        yield problem(SETTINGS_CHECK, str(error))
        return
    for said in loaded.warnings:
        misspelt = said in unknown_variables()
        yield warning(SETTINGS_CHECK, said, "Remove or correct the variable." if misspelt else "")
    yield from _trust(loaded.settings)
    yield from _log(loaded.settings)


def _trust(settings: Settings) -> Iterator[Finding]:
    found = entries(settings)
    advice = {
        EntryState.missing: "A directory that is created there would be trusted: remove the "
        "entry from your settings.",
        EntryState.linked: "The target of a link can change: name the directory itself, as "
        "`asterism trust` does.",
        EntryState.relative: "Name it by its absolute path, as `asterism trust` does.",
    }
    says = {
        EntryState.missing: "trust.repositories names what does not exist",
        EntryState.linked: "trust.repositories leads through a link, which does not count",
        EntryState.relative: "trust.repositories has a relative path, which does not count",
    }
    for state, text in says.items():
        if named := [one.written for one in found if one.state is state]:
            shown = ", ".join(map(display_path, named))
            yield warning("Trust", f"{text}: {shown}", advice[state])
    if trusted := [one.written for one in found if one.state is EntryState.trusted]:
        shown = ", ".join(map(display_path, trusted))
        yield ok("Trust", f"language servers, agents and all settings count of {shown}")


def _log(settings: Settings) -> Iterator[Finding]:
    options = log_options(settings)
    if not options.file:
        return
    file = Path(options.file)
    existing = next(each for each in (file, *file.parents) if os.path.lexists(each))
    shown = display_path(options.file)
    if os.access(existing, os.W_OK) and (existing == file or existing.is_dir()):
        yield ok("Log", f"{shown}, level {options.level}")
    else:
        yield problem(
            "Log", f"{shown} cannot be written", "Fix the permissions, or set another log.file."
        )


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


def _server(server: ServerProfile, given: str, root: str | None) -> Finding:
    """An optional language server, used if it is installed."""
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


AGENTS_CHECK = "Agents"


def agent_findings(where: Path, settings: Settings, data: Path) -> Iterator[Finding]:
    """What is wrong with each agent, then how many are right."""
    registered = Registry(data).find(where)
    if registered is None:
        places = AgentPlaces(data)
    else:
        root = Path(registered.repository.root)
        places = AgentPlaces(data, root, is_trusted(root, settings))
    usable = []
    for _origin, file in places.list():
        if file.agent is None:
            count = len(file.problems)
            more = f", and {count - 1:,} more" if count > 1 else ""
            yield problem(
                AGENTS_CHECK,
                f"{file.name} is not used: {file.problems[0]}{more}",
                f"Fix {display_path(str(file.path))}; `asterism agent check {file.name}` says "
                "what is wrong.",
            )
        else:
            usable.append(file.name)
            yield from _servers(file.agent)
    for path in places.own.unused():
        yield warning(
            AGENTS_CHECK,
            f"{display_path(str(path))} is not used",
            "Name it NAME.yaml: letters, digits, - and _, and no other agent's name.",
        )
    yield ok(AGENTS_CHECK, f"{', '.join(usable)} can be used")


def _servers(agent: Agent) -> Iterator[Finding]:
    """Servers that would be skipped, because a variable or a program is missing."""
    around = ServerSurroundings(agent_variable, handed_on())
    for server in agent.servers if agent.enabled else ():
        if server.enabled:
            yield from _agents_server(agent.name, server, around)


def _agents_server(
    agent: str, server: AgentsServer, around: ServerSurroundings
) -> Iterator[Finding]:
    try:
        ready = prepared(server, around)
    except ToolServerMissing as error:
        yield warning(AGENTS_CHECK, f"{agent}: {error}")
        return
    if server.command and shutil.which(server.command, path=ready.environment.get("PATH")) is None:
        yield warning(
            AGENTS_CHECK,
            f"{agent}: there is no program {server.command} for the server {server.name}, which is "
            "skipped",
            "Install it, or fix `command` in the agent's file.",
        )


SERVER_CHECK = "Server token"


def server_findings(settings: Settings, data_directory: Path) -> Iterator[Finding]:
    """What `asterism serve` would ask its clients for; the token itself is never shown."""
    if server_token():
        yield ok(SERVER_CHECK, "your own, from ASTERISM_SERVER_TOKEN")
        return
    if settings.server.token_file:
        yield ok(SERVER_CHECK, f"your own, from {display_path(settings.server.token_file)}")
        return
    if settings.server.access == "open":
        advice = "Take server.access = open out of your settings if others use this machine."
        yield warning(SERVER_CHECK, "none: every user of this machine is answered", advice)
        return
    file = TokenFile(data_directory)
    shown = display_path(str(file.path))
    flaw = file.flaw()
    if flaw is not None:
        advice = "`asterism serve` replaces it when it starts; then give programs the new one."
        yield warning(SERVER_CHECK, f"{shown} is not used: {flaw}", advice)
    elif file.path.exists():
        yield ok(SERVER_CHECK, f"{shown}, for you alone")
    else:
        yield ok(SERVER_CHECK, "`asterism serve` makes one when it starts")


CHECK = "Repositories"

_AGAIN = "Run `asterism index {root}`."


def index_findings(data: Path, settings: Callable[[Path], Settings]) -> Iterator[Finding]:
    """The list of repositories, then each of them; a broken one does not stop the check."""
    if not is_whole(data):
        yield problem(
            CHECK,
            "the list of repositories is damaged or missing",
            "The next command that needs it makes it again from the projects' directories.",
        )
        return
    registry = Registry(data)
    known = registry.repositories()
    yield ok(CHECK, f"{len(known):,} known; indexes are of schema {SCHEMA_VERSION}")
    damaged: set[str] = set()
    for registered in known:
        name = registered.repository.name
        try:
            found = _repository(registry, registered, settings)
            if found.verdict is Severity.problem:
                # Repositories of one project share an index, whose damage is said once.
                if registered.project.id in damaged:
                    continue
                damaged.add(registered.project.id)
            yield found
        except AsterismError as error:
            yield problem(name, str(error))
        except OSError as error:
            yield problem(
                name, f"its index cannot be read ({error.strerror})", "Fix the permissions."
            )
    yield from _orphans(data, {entry.project.id for entry in known})


def _repository(
    registry: Registry, registered: Registered, settings: Callable[[Path], Settings]
) -> Finding:
    root = Path(registered.repository.root)
    if registry.state(registered) is RepositoryState.moved:
        moved = display_path(str(registry.new_root(registered)))
        name = registered.repository.name
        return warning(name, f"moved to {moved}", _AGAIN.format(root=moved))
    return _index_finding(status_of(registered, settings(root)))


def _index_finding(status: Status) -> Finding:
    name, said = status.registered.repository.name, status.verdict.message
    root = display_path(status.registered.repository.root)
    what = without_advice(said)
    match status.verdict.staleness:
        case Staleness.equal | Staleness.content if not status.unfinished:
            # The next query brings in the files that are behind.
            return ok(name, f"{said} {_size(status)}")
        case Staleness.corrupt:
            return problem(name, what, _AGAIN.format(root=root))
        case Staleness.unreadable:
            return problem(name, said)
        case _ if not Path(status.registered.repository.root).is_dir():
            # The message of a directory that is gone says what to do.
            return warning(name, said)
        case _:
            return warning(name, what, _AGAIN.format(root=root))


def _size(status: Status) -> str:
    known = status.statistics
    if known is None:
        return ""
    size = (known.database_bytes + status.chunks_bytes) / 1e6
    second = f" {status.upgrade.sentence}." if status.upgrade is not None else ""
    return f"{known.files:,} files, {known.chunks:,} chunks, {size:,.1f} MB.{second}"


def _orphans(data: Path, projects: set[str]) -> Iterator[Finding]:
    folder = data / "projects"
    found = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
    left = sorted({*found} - projects)
    if left:
        advice = "Run `asterism clean` to remove them."
        yield warning(CHECK, f"{len(left):,} indexes belong to no repository any more", advice)
