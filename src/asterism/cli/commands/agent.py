"""`asterism agent`: agents' files listed, shown, made, edited, checked, imported and exported."""

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path

from asterism.cli.options import add_action, add_json, add_request, request_from
from asterism.cli.parser import CommandParser
from asterism.cli.render.agents import agent_json, print_agent, print_list
from asterism.cli.setup import engine
from asterism.cli.terminal import console, printable, show, write_json
from asterism.context.agents.edit import (
    add_item,
    enable,
    new_agent_text,
    remove_item,
    set_key,
    set_setting,
)
from asterism.context.agents.files import import_agent, is_path, look_at
from asterism.engine.agents import AgentPlaces, Agents, PlacedAgent
from asterism.operations.chat_requests import EditItem, item_of
from asterism.types.context import Reference, ReferenceKey, Rule, RuleKey, key_from_text
from asterism.types.errors import UsageError

_PROMPT = "You help with this codebase."


def declare(parser: CommandParser) -> None:
    """Add the arguments."""
    add_action(parser, "list", "show", "new", "edit", "check", "import", "export")
    parser.add_argument(
        "name",
        metavar="NAME",
        nargs="?",
        help="the agent, with show and check also a file; with import, the file or - for input",
    )
    parser.add_argument(
        "--name", dest="rename", metavar="NAME", help="with import: what to call it"
    )
    parser.add_argument(
        "--replace", action="store_true", help="with import: overwrite an existing agent"
    )
    add_request(parser, EditItem, "description")
    parser.add_argument("--prompt", metavar="TEXT", help="with new: the system prompt")
    parser.add_argument(
        "--set",
        action="append",
        metavar="KEY=VALUE",
        help="with edit: set a key, such as settings.contextTopN=3 or rules.NAME.include=agent; "
        "without a value it is taken away",
    )
    parser.add_argument("--enable", action="store_true", help="with edit: switch the agent on")
    parser.add_argument("--disable", action="store_true", help="with edit: switch the agent off")
    parser.add_argument(
        "--add", metavar="ITEM", help="with edit: add an item, rule:NAME or ref:NAME, with --text"
    )
    add_request(parser, EditItem, "text", "priority", "include")
    parser.add_argument("--remove", metavar="ITEM", help="with edit: remove rule:NAME or ref:NAME")
    parser.add_argument(
        "--tools", action="store_true", help="with show and check: ask the servers for their tools"
    )
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Do one thing with agents' files."""
    with closing(engine()) as here:
        agents = here.agents()
        registered = here.registry.find(Path.cwd())
        places = agents.places(registered)
        if options.action == "list":
            return _list(places, options)
        if options.name is None:
            raise UsageError(f"`asterism agent {options.action}` needs the name of an agent.")
        actions: Mapping[str, Callable[[], int]] = {
            "show": lambda: _show(agents, places, options),
            "check": lambda: _check(agents, places, options),
            "new": lambda: _new(places, options),
            "edit": lambda: _edit(places, options),
            "import": lambda: _import(places, options),
            "export": lambda: _export(places, options),
        }
        return actions[options.action]()


def _list(places: AgentPlaces, options: argparse.Namespace) -> int:
    found = places.list()
    if options.json:
        write_json({"agents": [agent_json(each) for each in found], "notes": list(places.notes())})
    else:
        print_list(found)
    for note in () if options.json else places.notes():
        sys.stderr.write(f"asterism: {note}\n")
    return 0


def _placed(places: AgentPlaces, written: str) -> PlacedAgent:
    """The agent that is named, or the file that is pointed at."""
    if not is_path(written):
        return places.look(written)
    return PlacedAgent("file", look_at(Path(written).absolute()))


def _show(agents: Agents, places: AgentPlaces, options: argparse.Namespace) -> int:
    placed = _placed(places, options.name)
    ready = None
    if options.tools and placed.file.agent is not None:
        ready = agents.ready(placed.file.agent)
    if options.json:
        write_json(agent_json(placed, ready))
    else:
        print_agent(placed, ready)
    return 0 if placed.file.agent is not None else 1


def _check(agents: Agents, places: AgentPlaces, options: argparse.Namespace) -> int:
    """Exit 1 if the file has problems, or with --tools a server does not answer."""
    placed = _placed(places, options.name)
    problems = [str(problem) for problem in placed.file.problems]
    if options.tools and placed.file.agent is not None:
        problems += agents.ready(placed.file.agent).absent.values()
    if options.json:
        write_json({"name": options.name, "path": str(placed.file.path), "problems": problems})
    else:
        out = console()
        for problem in problems:
            show(out, (f"{placed.file.path}: ", "dim"), (problem, ""))
        if not problems:
            show(out, (f"{options.name}: no problems found.", ""))
    return 1 if problems else 0


def _new(places: AgentPlaces, options: argparse.Namespace) -> int:
    text = new_agent_text(options.description or "", options.prompt or _PROMPT)
    places.own.create(options.name, text)
    return _written(places, options, "made")


def _import(places: AgentPlaces, options: argparse.Namespace) -> int:
    if options.name == "-":
        if not options.rename:
            raise UsageError("What comes from the input needs a name; give --name NAME.")
        places.own.create(options.rename, sys.stdin.read(), replace=options.replace)
    else:
        source = Path(options.name).absolute()
        agent = import_agent(places.own, source, options.rename or "", replace=options.replace)
        options.rename = agent.name
    options.name = options.rename
    return _written(places, options, "imported")


def _export(places: AgentPlaces, options: argparse.Namespace) -> int:
    sys.stdout.write(printable(places.text(options.name)))
    return 0


def _edit(places: AgentPlaces, options: argparse.Namespace) -> int:
    folder = places.changeable(options.name)
    changes = _changes(options)
    if not changes:
        show(console(), (str(folder.path(options.name)), ""))
        return 0

    def changed(text: str) -> str:
        for change in changes:
            text = change(text)
        return text

    folder.edit(options.name, changed)
    return _written(places, options, "changed")


def _changes(options: argparse.Namespace) -> list[Callable[[str], str]]:
    changes: list[Callable[[str], str]] = []
    if options.enable and options.disable:
        raise UsageError("--enable and --disable exclude each other.")
    if options.enable or options.disable:
        changes.append(lambda text: enable(text, options.enable))
    for written in options.set or ():
        key, separator, value = written.partition("=")
        if not separator:
            raise UsageError(f"{written!r} sets nothing; write KEY=VALUE, or KEY= to take it away.")
        changes.append(partial(_set, key=key, value=value_of(value)))
    if options.add:
        item = _item(options)
        changes.append(lambda text: add_item(text, item))
    if options.remove:
        key = _text_key(options.remove)
        changes.append(lambda text: remove_item(text, str(key.kind), key.name))
    return changes


def _set(text: str, key: str, value: object) -> str:
    first, _dot, setting = key.partition(".")
    if first != "settings" or not setting:
        return set_key(text, key, value)
    if value is None or isinstance(value, bool | int | float | str):
        return set_setting(text, setting, value)
    raise UsageError(f"{key} cannot be {value!r}; give a number, a word, true or false.")


def _item(options: argparse.Namespace) -> Rule | Reference:
    key = _text_key(options.add)
    text = sys.stdin.read() if options.text == "-" else options.text or ""
    if not text.strip():
        raise UsageError("An item needs a text; give --text TEXT, or --text - and the input.")
    kind = "rule" if isinstance(key, RuleKey) else "reference"
    given = {"agentName": options.name, "action": "add", "type": kind, "name": key.name}
    return item_of(request_from(EditItem, options, **{**given, "text": text}))


def _text_key(written: str) -> RuleKey | ReferenceKey:
    key = key_from_text(written)
    if not isinstance(key, RuleKey | ReferenceKey):
        raise UsageError(f"{written!r} is no rule and no reference; write rule:NAME or ref:NAME.")
    return key


def value_of(written: str) -> object:
    """The value after an equals sign: a number, true, false or a text; None if it is empty."""
    if not written:
        return None
    try:
        value = json.loads(written)
    except ValueError:
        return written
    return written if isinstance(value, dict | list) else value


def _written(places: AgentPlaces, options: argparse.Namespace, how: str) -> int:
    placed = places.look(options.name)
    if options.json:
        write_json(agent_json(placed))
    else:
        show(console(), (f"{options.name} was {how}: ", ""), (str(placed.file.path), "dim"))
    return 0
