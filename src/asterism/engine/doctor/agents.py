"""Are agents' files as they should be, and is there what their servers need? None is started."""

import shutil
from collections.abc import Iterator
from pathlib import Path

from asterism.config.environment import agent_variable, handed_on
from asterism.config.settings import Settings
from asterism.config.trust import is_trusted
from asterism.engine.agents_places import AgentPlaces
from asterism.engine.doctor.findings import Finding, ok, problem, warning
from asterism.store.registry import Registry
from asterism.toolservers.options import Surroundings, prepared
from asterism.types.context import Agent, Server
from asterism.types.errors import ToolServerMissing
from asterism.types.files import display_path

CHECK = "Agents"


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
                CHECK,
                f"{file.name} is not used: {file.problems[0]}{more}",
                f"Mend {display_path(str(file.path))}; `asterism agent check {file.name}` says "
                "what is wrong.",
            )
        else:
            usable.append(file.name)
            yield from _servers(file.agent)
    for path in places.own.unused():
        yield warning(
            CHECK,
            f"{display_path(str(path))} is not used",
            "Name it NAME.yaml: letters, digits, - and _, and no other agent's name.",
        )
    yield ok(CHECK, f"{', '.join(usable)} can be used")


def _servers(agent: Agent) -> Iterator[Finding]:
    """Servers that would be skipped, because a variable or a program is missing."""
    around = Surroundings(agent_variable, handed_on())
    for server in agent.servers if agent.enabled else ():
        if server.enabled:
            yield from _server(agent.name, server, around)


def _server(agent: str, server: Server, around: Surroundings) -> Iterator[Finding]:
    try:
        ready = prepared(server, around)
    except ToolServerMissing as error:
        yield warning(CHECK, f"{agent}: {error}")
        return
    if server.command and shutil.which(server.command, path=ready.environment.get("PATH")) is None:
        yield warning(
            CHECK,
            f"{agent}: there is no program {server.command} for the server {server.name}, which is "
            "skipped",
            "Install it, or mend `command` in the agent's file.",
        )
