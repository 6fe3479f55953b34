"""What can be changed in an agent's file by command: keys, items, settings, on and off."""

from collections.abc import Mapping
from typing import TypeAlias

from asterism.context.agents.nodes import Unreadable, allowed_names, parsed, plain
from asterism.context.agents.parse import AGENT_KEYS, ITEM_KEYS
from asterism.context.agents.text import with_member, with_value, without_member
from asterism.types.agent_settings import SETTINGS, SettingValue
from asterism.types.context import DEFAULT_PRIORITY, Include, Item, Reference, Rule
from asterism.types.errors import InputError, UsageError

Text: TypeAlias = Rule | Reference

_LISTS = {"rule": "rules", "reference": "references", "server": "servers"}
_DEFAULTS: Mapping[str, object] = {
    "description": "",
    "priority": DEFAULT_PRIORITY,
    "include": str(Include.always),
    "enabled": True,
}


def new_agent_text(description: str, prompt: str) -> str:
    """The text of a new agent, ready to be filled in by hand."""
    text = with_value("", ["description"], description)
    text = with_value(text, ["systemPrompt"], prompt if prompt.endswith("\n") else f"{prompt}\n")
    return f"{text}rules: []\nreferences: []\nservers: []\n"


def set_key(text: str, key: str, value: object) -> str:
    """Set a key by its way: `description`, `rules.NAME.priority`, `settings.tools.contextTopN`.

    None takes the key away. The name of an item may have dots of its own.
    """
    return with_value(text, _path(text, key), value)


def set_setting(text: str, name: str, value: SettingValue | None) -> str:
    """Set a setting by its full name, or with None leave it to its default."""
    if name not in SETTINGS:
        raise UsageError(f"There is no setting {name!r}; {allowed_names([*SETTINGS], name)}")
    known = SETTINGS[name]
    if value is not None and known.read(value) is None:
        raise UsageError(f"{name} is {value!r}; give {known.allowed}.")
    return _with_optional(text, ["settings", *name.split(".")], value)


def enable(text: str, enabled: bool) -> str:
    """Switch an agent on or off."""
    return with_value(text, ["enabled"], enabled)


def enable_item(text: str, kind: str, name: str, enabled: bool) -> str:
    """Switch a rule, reference or server on or off."""
    return with_value(text, [_list(kind), _existing(text, kind, name), "enabled"], enabled)


def add_item(text: str, item: Text) -> str:
    """A new rule or reference at the end of its list."""
    return with_member(text, _list(item.key.kind), item_fields(item))


def replace_item(text: str, name: str, item: Text) -> str:
    """Another content for an item, which may have another name then; its comments stay."""
    kind = str(item.key.kind)
    key, name = _list(kind), _existing(text, kind, name)
    fields = item_fields(item)
    for field in ITEM_KEYS:
        if field != "name":
            value = fields.get(field)
            present = _member(text, key, name)
            if value is None and field in present:
                value = _DEFAULTS[field]
            if value is not None and present.get(field) != value:
                text = with_value(text, [key, name, field], value)
    return with_value(text, [key, name, "name"], item.name) if item.name != name else text


def remove_item(text: str, kind: str, name: str) -> str:
    """Take a rule, reference or server out."""
    return without_member(text, _list(kind), _existing(text, kind, name))


def item_fields(item: Item) -> dict[str, object]:
    """A rule or reference as an agent's file writes it; what is as usual is not written."""
    if not isinstance(item, Rule | Reference):
        raise UsageError("Tools are described by their server; an agent's file names the server.")
    fields: dict[str, object] = {
        "name": item.name,
        "description": item.description,
        "priority": item.priority,
        "include": str(item.include),
        "enabled": item.enabled,
    }
    kept = {key: value for key, value in fields.items() if _DEFAULTS.get(key) != value}
    return kept | {"text": item.text}


def _list(kind: str) -> str:
    if kind not in _LISTS:
        raise UsageError(f"An agent's file has no {kind!r}; there are {', '.join(_LISTS)}.")
    return _LISTS[kind]


def _data(text: str) -> dict[str, object]:
    try:
        return plain(parsed(text)) or {}
    except Unreadable as error:
        raise InputError(f"{error.problem}. Put that right first.") from error


def _names(text: str, key: str) -> list[str]:
    members = _data(text).get(key)
    if not isinstance(members, list):
        return []
    return [
        str(member["name"]) for member in members if isinstance(member, dict) and "name" in member
    ]


def _member(text: str, key: str, name: str) -> dict[str, object]:
    members = _data(text).get(key)
    found = (
        [each for each in members if each.get("name") == name] if isinstance(members, list) else []
    )
    return found[0] if found else {}


def _existing(text: str, kind: str, name: str) -> str:
    names = _names(text, _list(kind))
    if name not in names:
        known = ", ".join(names) or "none"
        raise UsageError(f"The agent has no {kind} {name!r}; there are: {known}.")
    return name


def _path(text: str, key: str) -> list[str]:
    """The parts of a way; in a list the longest name that fits is meant."""
    first, _dot, rest = key.partition(".")
    if first not in AGENT_KEYS:
        raise UsageError(f"There is no key {first!r}; there are {', '.join(AGENT_KEYS)}.")
    if first in _LISTS.values() and rest:
        for name in sorted(_names(text, first), key=len, reverse=True):
            if rest.startswith(f"{name}."):
                return [first, name, *rest[len(name) + 1 :].split(".")]
        known = ", ".join(_names(text, first)) or "none"
        raise UsageError(
            f"{key} names nothing in {first}; write {first}.NAME.KEY. The names are: {known}."
        )
    if first == "toolRules" and rest:
        return [first, rest]
    return [first, *rest.split(".")] if rest else [first]


def _with_optional(text: str, path: list[str], value: object) -> str:
    """Set a key, or take it away where it is, with what would be empty without it."""
    if value is not None:
        return with_value(text, path, value)
    inner: object = _data(text)
    sizes = []
    for key in path:
        if not isinstance(inner, dict) or key not in inner:
            return text
        sizes.append(len(inner))
        inner = inner[key]
    while len(path) > 1 and sizes[len(path) - 1] == 1:
        path = path[:-1]
    return with_value(text, path, None)
