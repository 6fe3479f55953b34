"""An agent's file as YAML nodes with line numbers, and their values read with error notes."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from difflib import get_close_matches
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard, TypeVar

from asterism.types.context import FromEnvironment, Setting
from asterism.types.errors import AsterismError, InputError

if TYPE_CHECKING:
    from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode


MOST_SHOWN = 50
"""Problems that a message lists; a file with more is of another kind altogether."""


class AgentProblem(NamedTuple):
    """One problem: where, and what would be right."""

    line: int
    """From 1."""
    key: str
    """The way to it, such as `rules[2].include`; empty for the file as a whole."""
    message: str

    def __str__(self) -> str:
        """As one line of a message."""
        place = f"line {self.line}, {self.key}" if self.key else f"line {self.line}"
        return f"{place}: {self.message}"


class AgentInvalid(InputError):
    """An agent's file with problems; nothing of it is used."""

    def __init__(self, file: str, problems: Sequence[AgentProblem]) -> None:
        self.file = file
        self.problems = tuple(sorted(problems))
        shown = [f"  {problem}" for problem in self.problems[:MOST_SHOWN]]
        if len(self.problems) > MOST_SHOWN:
            shown.append(f"  and {len(self.problems) - MOST_SHOWN} more")
        count = "a problem" if len(self.problems) == 1 else f"{len(self.problems)} problems"
        super().__init__("\n".join([f"{file} has {count}:", *shown]))


def allowed_names(names: Sequence[str], written: str) -> str:
    """The names that are allowed, the one that was probably meant first."""
    near = get_close_matches(written, names, n=1)
    return f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}"


LARGEST = 8_000_000
"""Bytes of a file; a reference of a million characters still fits easily."""

DEEPEST = 20
"""Levels of nesting; an agent's file has six."""

_TAG = "tag:yaml.org,2002:"
_WHOLE = re.compile(r"[-+]?[0-9]+")
_DECIMAL = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")


class Unreadable(AsterismError):
    """A text that is no YAML we read; carries the one problem it has."""

    def __init__(self, problem: AgentProblem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class MappingEntry(NamedTuple):
    """A key of a mapping and its value."""

    key: ScalarNode
    value: Node

    @property
    def name(self) -> str:
        """The key."""
        return str(self.key.value)


def parsed(text: str) -> MappingNode | None:
    """The mapping that a text is; None for one without any content.

    Aliases are refused: a few lines with them can expand to gigabytes.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        loader = YAML(typ="safe", pure=True)
        root = loader.compose(text)
        _check_tree(root)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise Unreadable(
            AgentProblem(mark.line + 1 if mark else 1, "", f"this is no YAML: {error.problem}")
        ) from error
    except YAMLError as error:
        reason = str(error).split("\n")[0]
        raise Unreadable(AgentProblem(1, "", f"this is no YAML: {reason}")) from error
    except RecursionError as error:
        raise Unreadable(AgentProblem(1, "", f"nested more than {DEEPEST} levels deep")) from error
    if root is None or is_mapping(root):
        return root
    raise Unreadable(
        AgentProblem(line_of(root), "", "the file has to be keys and values, as `rules:`")
    )


def _check_tree(root: Node | None) -> None:
    """No aliases, no types of its own, no endless depth."""
    seen: set[int] = set()
    waiting = [(root, 0)] if root is not None else []
    while waiting:
        node, depth = waiting.pop()
        if id(node) in seen or node.anchor:
            raise Unreadable(
                AgentProblem(
                    line_of(node), "", "anchors (&) and aliases (*) are not read; write it out"
                )
            )
        seen.add(id(node))
        if depth > DEEPEST:
            raise Unreadable(
                AgentProblem(line_of(node), "", f"nested more than {DEEPEST} levels deep")
            )
        tag = str(node.tag)
        if not tag.startswith(_TAG) or tag.startswith(f"{_TAG}python"):
            raise Unreadable(
                AgentProblem(line_of(node), "", f"the type {tag} is not read; leave it out")
            )
        # In the order of the file, so that the first of several problems is told.
        waiting += [(child, depth + 1) for child in reversed(list(_children(node)))]


def _children(node: Node) -> Iterator[Node]:
    if is_mapping(node):
        for key, value in node.value:
            yield key
            yield value
    elif is_list(node):
        yield from node.value


def line_of(node: Node) -> int:
    """The line a node begins on, from 1."""
    return int(node.start_mark.line) + 1


def entries_of(node: MappingNode) -> list[MappingEntry]:
    """The keys of a mapping and their values, in their order."""
    return [MappingEntry(key, value) for key, value in node.value]


def is_mapping(node: Node) -> TypeGuard[MappingNode]:
    """Whether a node is keys and values."""
    from ruamel.yaml.nodes import MappingNode

    return isinstance(node, MappingNode)


def is_list(node: Node) -> TypeGuard[SequenceNode]:
    """Whether a node is a list."""
    from ruamel.yaml.nodes import SequenceNode

    return isinstance(node, SequenceNode)


def scalar_of(node: Node) -> Any:
    """The value of a scalar: a text, a number, a truth or None; a collection is its own node."""
    if is_mapping(node) or is_list(node):
        return node
    tag, written = str(node.tag).removeprefix(_TAG), str(node.value)
    if tag == "null":
        return None
    if tag == "bool":
        return written.lower() == "true"
    if tag == "int" and _WHOLE.fullmatch(written):
        return int(written)
    if tag == "float" and _DECIMAL.fullmatch(written):
        return float(written)
    return written


def plain(node: Node | None) -> Any:
    """A node as plain lists, dictionaries and scalars."""
    if node is None:
        return None
    if is_mapping(node):
        return {str(key.value): plain(value) for key, value in node.value}
    if is_list(node):
        return [plain(member) for member in node.value]
    return scalar_of(node)


LONGEST_NAME = 100
LONGEST_SHOWN = 40

_Choice = TypeVar("_Choice", bound=StrEnum)
_REFERENCE = re.compile(r"(|.*[ =:])env:([A-Za-z_][A-Za-z0-9_]*)", re.DOTALL)
_SECRET_NAME = re.compile(
    r"key|token|secret|passw|credential|auth|cookie|session|private|signature|dsn", re.IGNORECASE
)
_SECRET_VALUE = re.compile(
    r"sk-\w|gh[pousr]_\w|github_pat_|glpat-|xox[abprs]-|AKIA[0-9A-Z]{12}|AIza\w|eyJ\w{8}"
    r"|-----BEGIN|Bearer \S|Basic \S"
)

_SURROGATE = re.compile("[\ud800-\udfff]")


class Notes:
    """Reads values and collects problems."""

    def __init__(self) -> None:
        self.problems: list[AgentProblem] = []

    def wrong(self, node: Node, key: str, message: str) -> None:
        """Note a problem."""
        self.problems.append(AgentProblem(line_of(node), key, message))

    def fields(self, node: Node, key: str, known: Sequence[str]) -> dict[str, MappingEntry]:
        """The keys of a mapping that are known; others, and second ones, are noted."""
        if not is_mapping(node):
            self.wrong(node, key, f"{_told(node)} where keys and values are wanted: {_list(known)}")
            return {}
        found: dict[str, MappingEntry] = {}
        for entry in self.entries(node, key):
            if known and entry.name not in known:
                at = joined(key, entry.name)
                self.wrong(entry.key, at, f"no such key; {allowed_names(known, entry.name)}")
            else:
                found[entry.name] = entry
        return found

    def entries(self, node: Node, key: str) -> list[MappingEntry]:
        """The keys of a mapping, whatever they are; a second one of a name is noted."""
        if scalar_of(node) is None:
            return []
        if not is_mapping(node):
            self.wrong(node, key, f"{_told(node)} where keys and values are wanted")
            return []
        found: dict[str, MappingEntry] = {}
        for entry in entries_of(node):
            if not isinstance(scalar_of(entry.key), str):
                self.wrong(entry.key, key, f"{_told(entry.key)} is no key; put it in quotes")
            elif entry.name in found:
                first = line_of(found[entry.name].key)
                at = joined(key, entry.name)
                self.wrong(entry.key, at, f"twice; the first is on line {first}")
            else:
                found[entry.name] = entry
        return list(found.values())

    def members(self, node: Node, key: str) -> list[Node]:
        """The members of a list; nothing is an empty list."""
        if scalar_of(node) is None:
            return []
        if not is_list(node):
            self.wrong(node, key, f"{_told(node)} where a list is wanted, each line with `- `")
            return []
        return list(node.value)

    def text(self, entry: MappingEntry | None, key: str) -> str:
        """A text of any length; empty without an entry."""
        if entry is None or scalar_of(entry.value) is None:
            return ""
        value = scalar_of(entry.value)
        if isinstance(value, str):
            if _SURROGATE.search(value):
                self.wrong(entry.value, key, "has half a character (\\ud800 to \\udfff)")
            return _SURROGATE.sub("", value)
        self.wrong(
            entry.value, key, f"{_told(entry.value)} where a text is wanted; put it in quotes"
        )
        return ""

    def line(self, entry: MappingEntry | None, key: str) -> str:
        """A text of one line."""
        text = self.text(entry, key).strip()
        if entry is not None and not text.isprintable():
            self.wrong(entry.value, key, "has to be one line without control characters")
        return text

    def truth(self, entry: MappingEntry | None, key: str, default: bool) -> bool:
        """True or false."""
        if entry is None:
            return default
        value = scalar_of(entry.value)
        if isinstance(value, bool):
            return value
        self.wrong(entry.value, key, f"{_told(entry.value)} is not allowed; give true or false")
        return default

    def whole(self, entry: MappingEntry | None, key: str, default: int, most: int) -> int:
        """A whole number from 0 on."""
        if entry is None:
            return default
        value = scalar_of(entry.value)
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most:
            return value
        allowed = f"a whole number from 0 to {most}"
        self.wrong(entry.value, key, f"{_told(entry.value)} is not allowed; give {allowed}")
        return default

    def choice(self, node: Node, key: str, kind: type[_Choice]) -> _Choice | None:
        """One of some words."""
        value = scalar_of(node)
        if isinstance(value, str) and value in list(kind):
            return kind(value)
        self.wrong(node, key, f"{_told(node)} is not allowed; give one of {_list(list(kind))}")
        return None

    def name(self, node: Node, entry: MappingEntry | None, key: str, taken: Collection[str]) -> str:
        """The name of an item, which no other of its kind has in whatever letters."""
        name = self.line(entry, key)
        place = node if entry is None else entry.value
        if not name:
            self.wrong(place, key, "every one needs a name")
        elif len(name) > LONGEST_NAME:
            self.wrong(place, key, f"longer than {LONGEST_NAME} characters")
        elif name.casefold() in taken:
            self.wrong(place, key, f"there are two with the name {name!r}; rename one of them")
        return name

    def setting(self, name: str, node: Node, key: str) -> Setting:
        """A value of a program or a header; a secret has to be `env:VARIABLE`."""
        value = scalar_of(node)
        if not isinstance(value, str):
            self.wrong(node, key, f"{_told(node)} where a text is wanted; put it in quotes")
            return ""
        reference = _REFERENCE.fullmatch(value)
        if reference is not None and not _SECRET_VALUE.search(reference[1]):
            return FromEnvironment(reference[2], reference[1])
        if value.startswith("env:"):
            self.wrong(node, key, "env: has to be followed by the name of a variable, as env:TOKEN")
        elif value and (_SECRET_NAME.search(name) or _SECRET_VALUE.search(value)):
            # The value itself is never repeated: messages end up in logs.
            self.wrong(
                node, key, "secrets do not belong in this file; write env:VARIABLE, and set that"
            )
        return value


def joined(key: str, name: str) -> str:
    """The way to a key inside another."""
    return f"{key}.{name}" if key else name


def each(key: str, members: Sequence[Node], read: Callable[[Node, str], None]) -> None:
    """Read the members of a list, each under its number from 1."""
    for number, member in enumerate(members, start=1):
        read(member, f"{key}[{number}]")


def _told(node: Node) -> str:
    value = scalar_of(node)
    if value is node:
        return "keys and values" if is_mapping(node) else "a list"
    if value is None:
        return "nothing"
    text = str(value)
    shown = text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 1]}…"
    return repr(shown) if isinstance(value, str) else shown.lower()


def _list(names: Sequence[str]) -> str:
    return ", ".join(names)
