"""An agent as people read it, and as JSON; secrets are in neither, only the variables' names."""

from collections.abc import Iterable, Sequence

from asterism.cli.terminal import console, show
from asterism.context.items import in_order, item_json
from asterism.engine.agents import ListedAgent, PlacedAgent
from asterism.operations.schema import Json
from asterism.types.context import Agent, FromEnvironment, Reference, Rule, Server, Setting
from asterism.types.files import display_path


def print_list(found: Iterable[PlacedAgent]) -> None:
    """One line for each agent."""
    out = console()
    for origin, file in found:
        agent = file.agent
        state = _counted(len(file.problems), "problem") if agent is None else _state(agent)
        description = "" if agent is None else agent.description
        show(
            out,
            (f"{file.name:<20} ", "bold"),
            (f"{origin:<11} {state:<42}", "dim"),
            (description, ""),
        )


def _state(agent: Agent) -> str:
    if not agent.enabled:
        return "switched off"
    counts = (
        (len(agent.rules), "rule"),
        (len(agent.references), "reference"),
        (len(agent.servers), "server"),
    )
    return ", ".join(_counted(count, word) for count, word in counts)


def _counted(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"


def print_agent(placed: PlacedAgent, ready: ListedAgent | None) -> None:
    """All of an agent but the texts of its items."""
    out = console()
    agent, file = placed.file.agent, placed.file
    show(out, (file.name, "bold"), (f"  {placed.origin}, {display_path(str(file.path))}", "dim"))
    for problem in file.problems:
        show(out, (str(problem), "red"))
    if agent is None:
        return
    show(out, (agent.description, ""))
    for title, texts in (("Rules", agent.rules), ("References", agent.references)):
        _print_texts(title, texts)
    if agent.servers:
        show(out, ("Servers", "bold"))
    for server in agent.servers:
        show(out, (f"  {server.name}", ""), (f"  {_how(server)}", "dim"))
    if agent.settings:
        show(out, ("Settings", "bold"))
    for name, value in agent.settings.items():
        show(out, (f"  {name} = {value}", ""))
    if ready is not None:
        _print_tools(ready)


def _print_texts(title: str, texts: Sequence[Rule] | Sequence[Reference]) -> None:
    out = console()
    if texts:
        show(out, (title, "bold"))
    for item in in_order(texts):
        assert isinstance(item, Rule | Reference)
        badge = item.include.capitalize() if item.enabled else "Off"
        show(
            out,
            (f"  {item.priority:03} • {item.name} ", ""),
            (f"[{badge}]", "cyan"),
            (f"  {item.description}", "dim"),
        )


def _print_tools(ready: ListedAgent) -> None:
    out = console()
    show(out, ("Tools", "bold"))
    for tool in ready.tools:
        badge = ready.agent.tool_include(tool.key).capitalize()
        show(
            out,
            (f"  {tool.server}. • {tool.name} ", ""),
            (f"[{badge}]", "cyan"),
            (f"  {tool.description.splitlines()[0] if tool.description else ''}", "dim"),
        )
    for why in ready.absent.values():
        show(out, (f"  {why}", "red"))


def _how(server: Server) -> str:
    words = [server.url] if server.url else [server.command, *map(_written, server.args)]
    off = [] if server.enabled else ["(switched off)"]
    mode = [f"[{server.include.capitalize()}]"] if server.include else []
    return " ".join([*words, *mode, *off])


def _written(setting: Setting) -> str:
    return setting.written if isinstance(setting, FromEnvironment) else setting


def agent_json(placed: PlacedAgent, ready: ListedAgent | None = None) -> Json:
    """An agent for programs."""
    agent, file = placed.file.agent, placed.file
    shown: Json = {
        "name": file.name,
        "origin": placed.origin,
        "path": display_path(str(file.path)),
        "problems": [
            {"line": problem.line, "key": problem.key, "message": problem.message}
            for problem in file.problems
        ],
    }
    if agent is None:
        return shown
    shown |= {
        "description": agent.description,
        "enabled": agent.enabled,
        "rules": [item_json(item) for item in in_order(agent.rules)],
        "references": [item_json(item) for item in in_order(agent.references)],
        "servers": [_server_json(server) for server in agent.servers],
        "settings": dict(agent.settings),
    }
    if ready is not None:
        shown["tools"] = [item_json(tool) for tool in ready.tools]
        shown["absent"] = dict(ready.absent)
    return shown


def _server_json(server: Server) -> Json:
    return {
        "name": server.name,
        "command": server.command,
        "args": [_written(value) for value in server.args],
        "url": server.url,
        "environment": {name: _written(value) for name, value in server.environment.items()},
        "headers": {name: _written(value) for name, value in server.headers.items()},
        "include": None if server.include is None else str(server.include),
        "enabled": server.enabled,
    }
