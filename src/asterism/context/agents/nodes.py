"""An agent's file as a tree of YAML nodes, each of which knows its line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

from asterism.types.errors import AsterismError, InputError

if TYPE_CHECKING:
    from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode


MOST_SHOWN = 50
"""Problems that a message lists; a file with more is of another kind altogether."""


class Problem(NamedTuple):
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

    def __init__(self, file: str, problems: Sequence[Problem]) -> None:
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
"""Bytes of a file; a reference of a million characters still has ample room."""

DEEPEST = 20
"""Levels of nesting; an agent's file has six."""

_TAG = "tag:yaml.org,2002:"
_WHOLE = re.compile(r"[-+]?[0-9]+")
_DECIMAL = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")


class Unreadable(AsterismError):
    """A text that is no YAML we read; carries the one problem it has."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class Entry(NamedTuple):
    """A key of a mapping and its value."""

    key: ScalarNode
    value: Node

    @property
    def name(self) -> str:
        """The key."""
        return str(self.key.value)


def parsed(text: str) -> MappingNode | None:
    """The mapping that a text is; None for one without any content.

    Aliases are refused: a few lines with them can stand for gigabytes.
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
            Problem(mark.line + 1 if mark else 1, "", f"this is no YAML: {error.problem}")
        ) from error
    except YAMLError as error:
        reason = str(error).split("\n")[0]
        raise Unreadable(Problem(1, "", f"this is no YAML: {reason}")) from error
    except RecursionError as error:
        raise Unreadable(Problem(1, "", f"nested more than {DEEPEST} levels deep")) from error
    if root is None or is_mapping(root):
        return root
    raise Unreadable(Problem(line_of(root), "", "the file has to be keys and values, as `rules:`"))


def _check_tree(root: Node | None) -> None:
    """No aliases, no types of its own, no endless depth."""
    seen: set[int] = set()
    waiting = [(root, 0)] if root is not None else []
    while waiting:
        node, depth = waiting.pop()
        if id(node) in seen or node.anchor:
            raise Unreadable(
                Problem(line_of(node), "", "anchors (&) and aliases (*) are not read; write it out")
            )
        seen.add(id(node))
        if depth > DEEPEST:
            raise Unreadable(Problem(line_of(node), "", f"nested more than {DEEPEST} levels deep"))
        tag = str(node.tag)
        if not tag.startswith(_TAG) or tag.startswith(f"{_TAG}python"):
            raise Unreadable(
                Problem(line_of(node), "", f"the type {tag} is not read; leave it out")
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


def entries_of(node: MappingNode) -> list[Entry]:
    """The keys of a mapping and their values, in their order."""
    return [Entry(key, value) for key, value in node.value]


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
