"""From the nodes of an agent's file to the agent, or to everything that is wrong with it."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from asterism.context.agents.nodes import (
    AgentInvalid,
    AgentProblem,
    MappingEntry,
    Notes,
    Unreadable,
    allowed_names,
    each,
    is_mapping,
    joined,
    parsed,
    scalar_of,
)
from asterism.types.agent_settings import SETTINGS, Domain, Permission, SettingValue
from asterism.types.context import (
    DEFAULT_PRIORITY,
    HIGHEST_PRIORITY,
    Agent,
    Include,
    Reference,
    Rule,
    Server,
    Setting,
    ToolChoice,
    ToolKey,
)

if TYPE_CHECKING:
    from ruamel.yaml.nodes import Node

VERSION = 1
"""Of the format; a file may name it."""

AGENT_KEYS = (
    "version",
    "description",
    "systemPrompt",
    "enabled",
    "settings",
    "rules",
    "references",
    "servers",
    "toolRules",
)
ITEM_KEYS = ("name", "description", "priority", "include", "enabled", "text")
SERVER_KEYS = (
    "name",
    "command",
    "args",
    "url",
    "environment",
    "headers",
    "include",
    "permission",
    "enabled",
    "tools",
)
TOOL_KEYS = ("include", "permission", "expandResults")

_SERVER_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_Text = TypeVar("_Text", Rule, Reference)


def read_agent(name: str, text: str, file: str) -> Agent:
    """The agent that a text describes; raises `AgentInvalid` with all that is wrong."""
    notes = Notes()
    try:
        root = parsed(text)
    except Unreadable as error:
        raise AgentInvalid(file, [error.problem]) from error
    agent = Agent(name=name) if root is None else _agent(name, root, notes)
    if notes.problems:
        raise AgentInvalid(file, notes.problems)
    return agent


def _agent(name: str, root: Node, notes: Notes) -> Agent:
    found = notes.fields(root, "", AGENT_KEYS)
    version = notes.whole(found.get("version"), "version", VERSION, 1_000_000)
    if version > VERSION:
        told = f"version {version} is of a newer Asterism; update, or write version: {VERSION}"
        notes.wrong(found["version"].value, "version", told)
    servers = _servers(found.get("servers"), notes)
    return Agent(
        name=name,
        description=notes.text(found.get("description"), "description").strip(),
        system_prompt=notes.text(found.get("systemPrompt"), "systemPrompt"),
        enabled=notes.truth(found.get("enabled"), "enabled", True),
        settings=_settings(found.get("settings"), notes),
        rules=_texts(found.get("rules"), "rules", Rule, notes),
        references=_texts(found.get("references"), "references", Reference, notes),
        servers=servers,
        tool_rules=_tool_rules(found.get("toolRules"), servers, notes),
    )


def _settings(entry: MappingEntry | None, notes: Notes) -> MappingProxyType[str, SettingValue]:
    values: dict[str, SettingValue] = {}

    def read(node: Node, key: str, prefix: str) -> None:
        for each_entry in notes.entries(node, key):
            name = prefix + each_entry.name
            at = joined(key, each_entry.name)
            known = SETTINGS.get(name)
            if not prefix and each_entry.name in list(Domain):
                read(each_entry.value, at, f"{each_entry.name}.")
            elif known is None:
                names = [known[len(prefix) :] for known in SETTINGS if known.startswith(prefix)]
                names = [known for known in names if "." not in known]
                told = f"no such setting; {allowed_names(names, each_entry.name)}"
                notes.wrong(each_entry.key, at, told)
            elif (value := known.read(scalar_of(each_entry.value))) is None:
                notes.wrong(each_entry.value, at, f"not allowed; give {known.allowed}")
            else:
                values[name] = value

    if entry is not None:
        read(entry.value, "settings", "")
    return MappingProxyType(values)


def _texts(
    entry: MappingEntry | None, key: str, kind: type[_Text], notes: Notes
) -> tuple[_Text, ...]:
    items: list[_Text] = []

    def read(node: Node, at: str) -> None:
        found = notes.fields(node, at, ITEM_KEYS)
        if not is_mapping(node):
            return
        taken = {item.name.casefold() for item in items}
        text = notes.text(found.get("text"), f"{at}.text")
        if not text.strip():
            place = found["text"].value if "text" in found else node
            notes.wrong(
                place, f"{at}.text", "it has no text, so there is nothing to tell the model"
            )
        include = found.get("include")
        mode = notes.choice(include.value, f"{at}.include", Include) if include else None
        items.append(
            kind(
                name=notes.name(node, found.get("name"), f"{at}.name", taken),
                description=notes.text(found.get("description"), f"{at}.description").strip(),
                text=text,
                priority=notes.whole(
                    found.get("priority"), f"{at}.priority", DEFAULT_PRIORITY, HIGHEST_PRIORITY
                ),
                include=mode or Include.always,
                enabled=notes.truth(found.get("enabled"), f"{at}.enabled", True),
            )
        )

    if entry is not None:
        each(key, notes.members(entry.value, key), read)
    return tuple(items)


def _servers(entry: MappingEntry | None, notes: Notes) -> tuple[Server, ...]:
    servers: list[Server] = []

    def read(node: Node, at: str) -> None:
        found = notes.fields(node, at, SERVER_KEYS)
        if not is_mapping(node):
            return
        taken = {server.name.casefold() for server in servers}
        name = notes.name(node, found.get("name"), f"{at}.name", taken)
        if name and not _SERVER_NAME.fullmatch(name):
            told = "letters, digits, - and _ only, up to 64, because tools are called SERVER.TOOL"
            notes.wrong(found["name"].value, f"{at}.name", told)
        servers.append(_server(name, node, found, at, notes))

    if entry is not None:
        each("servers", notes.members(entry.value, "servers"), read)
    return tuple(servers)


def _server(name: str, node: Node, found: dict[str, MappingEntry], at: str, notes: Notes) -> Server:
    command = notes.line(found.get("command"), f"{at}.command")
    url = notes.line(found.get("url"), f"{at}.url")
    if bool(command) == bool(url):
        notes.wrong(node, at, "a server needs either command or url")
    if url and not _is_address(url):
        told = "give an address with http:// or https:// and without a password in it"
        notes.wrong(found["url"].value, f"{at}.url", told)
    include, permission = found.get("include"), found.get("permission")
    return Server(
        name=name,
        command=command,
        args=_args(found.get("args"), f"{at}.args", notes),
        url=url,
        environment=_named_values(found.get("environment"), f"{at}.environment", notes),
        headers=_named_values(found.get("headers"), f"{at}.headers", notes),
        include=notes.choice(include.value, f"{at}.include", Include) if include else None,
        permission=notes.choice(permission.value, f"{at}.permission", Permission)
        if permission
        else None,
        enabled=notes.truth(found.get("enabled"), f"{at}.enabled", True),
        tools=_tools(found.get("tools"), f"{at}.tools", notes),
    )


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return (
            parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
        )
    except ValueError:
        return False


def _args(entry: MappingEntry | None, at: str, notes: Notes) -> tuple[Setting, ...]:
    values: list[Setting] = []
    before = ""
    for number, node in enumerate(notes.members(entry.value, at) if entry else [], start=1):
        written = scalar_of(node)
        # An option and its value are one argument or two: `--token=…`, `--token …`.
        option = str(written).partition("=")[0] if str(written).startswith("-") else ""
        has_value = "=" in str(written)
        value = notes.setting(option if has_value else before, node, f"{at}[{number}]")
        before = option if not has_value else ""
        values.append(value)
    return tuple(values)


def _named_values(
    entry: MappingEntry | None, at: str, notes: Notes
) -> MappingProxyType[str, Setting]:
    found = notes.entries(entry.value, at) if entry is not None else []
    return MappingProxyType(
        {each.name: notes.setting(each.name, each.value, f"{at}.{each.name}") for each in found}
    )


def _tools(entry: MappingEntry | None, at: str, notes: Notes) -> tuple[ToolChoice, ...]:
    """Each tool with a mode alone, or with keys of its own."""
    choices: list[ToolChoice] = []
    for tool in notes.entries(entry.value, at) if entry is not None else []:
        key = f"{at}.{tool.name}"
        if not is_mapping(tool.value):
            mode = notes.choice(tool.value, key, Include)
            choices.append(ToolChoice(name=tool.name, include=mode))
            continue
        found = notes.fields(tool.value, key, TOOL_KEYS)
        include, permission = found.get("include"), found.get("permission")
        expands = found.get("expandResults")
        choices.append(
            ToolChoice(
                name=tool.name,
                include=notes.choice(include.value, f"{key}.include", Include) if include else None,
                permission=notes.choice(permission.value, f"{key}.permission", Permission)
                if permission
                else None,
                expand_results=notes.truth(expands, f"{key}.expandResults", True)
                if expands
                else None,
            )
        )
    return tuple(choices)


def _tool_rules(
    entry: MappingEntry | None, servers: tuple[Server, ...], notes: Notes
) -> MappingProxyType[ToolKey, tuple[ToolKey, ...]]:
    """For each tool those that come along; circles are allowed, and harmless."""
    names = [server.name for server in servers if server.name]

    def tool(node: Node, key: str) -> ToolKey | None:
        server, dot, name = str(scalar_of(node)).partition(".")
        if not dot or not name:
            notes.wrong(node, key, "write a tool as SERVER.TOOL")
            return None
        if server not in names:
            hint = allowed_names(names, server) if names else "the file has no servers"
            notes.wrong(node, key, f"there is no server {server!r}; {hint}")
            return None
        return ToolKey(server, name)

    rules: dict[ToolKey, tuple[ToolKey, ...]] = {}
    for rule in notes.entries(entry.value, "toolRules") if entry is not None else []:
        at = f"toolRules.{rule.name}"
        source = tool(rule.key, at)
        is_one = isinstance(scalar_of(rule.value), str)
        nodes = [rule.value] if is_one else notes.members(rule.value, at)
        targets = [tool(node, at) for node in nodes]
        if source is not None:
            rules[source] = tuple(target for target in targets if target is not None)
    return MappingProxyType(rules)


def problems_of(text: str) -> tuple[AgentProblem, ...]:
    """Everything that is wrong with a text, in the order of its lines."""
    try:
        read_agent("agent", text, "")
    except AgentInvalid as error:
        return error.problems
    return ()
