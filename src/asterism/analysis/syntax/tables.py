"""A language compiled for its grammar: the parser, and what to do at each kind of node."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.catalogue import Entry
from asterism.analysis.syntax.language import Language, Rule

if TYPE_CHECKING:
    import tree_sitter
    from tree_sitter import Node, Parser, Tree

# What tree-sitter calls a node it could not make sense of.
ERROR_KIND = 65535

# CPU seconds. Real code of a megabyte parses in a tenth of a second; recovering from a megabyte of
# garbage can take hours. A file whose parse is not done by then is read as plain text.
PARSE_SECONDS = 10

# A small file takes milliseconds. Where recovery goes astray it takes all the time there is, and a
# hundred megabytes of memory in each second: 468 bytes of Kotlin took a gigabyte in ten seconds.
SMALL_FILE = 50_000
SMALL_SECONDS = 2

# The parser can be told a wall time only, and on a busy machine that passes before the CPU time is
# used. Then the file is parsed again, with as much wall time as the CPU time is likely to take.
# Growing it slowly bounds what a parse takes, in time and memory, if the load ends meanwhile; a
# machine that gives a process less than a tenth of a core is not waited for.
SPARE_FACTOR = 1.1
GROWTH = 2.0
MOST_FACTOR = 10.0

IDENTIFIER = object()
COMMENT = object()
SKIPPED = object()
TOKEN = object()
"""Punctuation and keywords: half of all nodes, and nothing to read or to look into."""

_LANGUAGES = "asterism.languages"


class Table:
    """What the walker looks up: a role by numeric node kind."""

    def __init__(
        self,
        language: Language,
        seconds: float = PARSE_SECONDS,
        clock: Callable[[], float] = time.thread_time,
    ) -> None:
        """`clock` gives the CPU seconds that the calling thread has used."""
        import tree_sitter

        package, function = language.grammar
        grammar = tree_sitter.Language(getattr(import_module(package), function)())
        self.language = language
        self.roles: dict[int, Any] = {ERROR_KIND: _damage}
        """For every kind a sentinel, the rule to apply, or None where there is nothing to do."""
        for kind in range(grammar.node_kind_count):
            name = grammar.node_kind_for_id(kind)
            named = name is not None and grammar.node_kind_is_named(kind)
            self.roles[kind] = _role(language, grammar, name or "") if named else TOKEN
        self._parser = _LimitedParser(grammar, seconds, clock)
        self._parser_of_small = _LimitedParser(grammar, min(seconds, SMALL_SECONDS), clock)

    def parse(self, source: bytes) -> Tree | None:
        """The syntax tree of text that ends with a newline; None if it takes too long."""
        parser = self._parser if len(source) > SMALL_FILE else self._parser_of_small
        return parser.parse(source)


class _LimitedParser:
    """A parser that gives up after so much CPU time, however busy the machine is."""

    def __init__(
        self, grammar: tree_sitter.Language, seconds: float, clock: Callable[[], float]
    ) -> None:
        from tree_sitter import Parser

        self._seconds, self._clock = seconds, clock
        self._parser = Parser(grammar)
        _allow(self._parser, SPARE_FACTOR * seconds)

    def parse(self, source: bytes) -> Tree | None:
        """The tree, if making it takes no more than the CPU time."""
        wall = first = SPARE_FACTOR * self._seconds
        try:
            while True:
                began = self._clock()
                tree = _parsed(self._parser, source)
                used = self._clock() - began
                if tree is not None:
                    return tree if used <= self._seconds else None
                # Always from the beginning: a parse that is resumed recovers from damage in another
                # way. Of 2,967 damaged files 449 had another tree then.
                self._parser.reset()
                most = MOST_FACTOR * self._seconds
                if used >= self._seconds or wall >= most:
                    return None
                likely = first / used if used > 0 else GROWTH
                wall = min(most, wall * min(GROWTH, likely))
                _allow(self._parser, wall)
        finally:
            if wall != first:
                _allow(self._parser, first)


def _parsed(parser: Parser, source: bytes) -> Tree | None:
    try:
        return parser.parse(source)
    except ValueError:
        return None


def _allow(parser: Parser, seconds: float) -> None:
    """Break parses off after so much wall time."""
    with warnings.catch_warnings():
        # Its successor, the progress callback, crashes the interpreter in this version.
        warnings.simplefilter("ignore", DeprecationWarning)
        # Its stub knows no setter.
        parser.timeout_micros = int(seconds * 1_000_000)  # type: ignore[misc]


@cache
def table_of(entry: Entry) -> Table:
    """A language's data, imported on first use: one file needs one grammar, not twenty."""
    module, variable = entry.home.split(":")
    return Table(getattr(import_module(f"{_LANGUAGES}.{module}"), variable))


def ended(source: bytes) -> bytes:
    """The source with a newline at its end; Kotlin's scanner waits for one for ever."""
    return source if source.endswith(b"\n") else source + b"\n"


def _role(language: Language, grammar: tree_sitter.Language, name: str) -> Any:
    """What nodes of this name are for the walker; None where there is nothing to do."""
    conventions = language.conventions
    rule, member = language.rules.get(name), conventions.members.get(name)
    if name in conventions.comments:
        return COMMENT
    if name in conventions.skipped:
        return SKIPPED if rule is None else _closed(rule)
    if member is not None:
        receiver, called = (grammar.field_id_for_name(part) for part in member)
        if receiver is not None and called is not None:
            return _member(receiver, called, rule)
    if rule is not None:
        return rule
    return IDENTIFIER if name in conventions.identifiers else None


def _member(receiver_field: int, name_field: int, rule: Rule | None) -> Rule:
    """Note on what a member is accessed, then apply the rule, if there is one."""

    def member(builder: Builder, node: Node) -> bool:
        receiver = node.child_by_field_id(receiver_field)
        name = node.child_by_field_id(name_field)
        if receiver is not None and name is not None:
            builder.member(receiver, name)
        return rule is None or rule(builder, node)

    return member


def _closed(rule: Rule) -> Rule:
    """The rule, without looking inside afterwards."""

    def closed(builder: Builder, node: Node) -> bool:
        rule(builder, node)
        return False

    return closed


def _damage(builder: Builder, _node: Node) -> bool:
    """Text the grammar could not place: definitions in it count, its fragments do not."""
    builder.damaged()
    return True
