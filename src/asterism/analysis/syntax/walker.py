"""One pass over a syntax tree: rules fire, names are collected, items come out in order."""

from functools import cache
from importlib import import_module
from typing import Any

import tree_sitter
from tree_sitter import Node, Parser, Tree, TreeCursor

from asterism.analysis.syntax.builder import Builder, last_row
from asterism.analysis.syntax.catalogue import Entry
from asterism.analysis.syntax.draft import Comment
from asterism.analysis.syntax.gaps import fill_gaps
from asterism.analysis.syntax.language import Language, Rule
from asterism.analysis.syntax.problems import problems_in
from asterism.domain.outline import Outline, Reference

# What tree-sitter calls a node it could not make sense of.
ERROR_KIND = 65535

_LANGUAGES = "asterism.analysis.syntax.languages"

_IDENTIFIER = object()
_COMMENT = object()
_SKIPPED = object()
_SENTINELS = frozenset({_IDENTIFIER, _COMMENT, _SKIPPED})

_Raw = tuple[str, int, str | None, int | None]


class _Table:
    """A language compiled for its grammar: what to do, by numeric node kind."""

    def __init__(self, language: Language) -> None:
        package, function = language.grammar
        grammar = tree_sitter.Language(getattr(import_module(package), function)())
        self.parser = Parser(grammar)
        self.roles: dict[int, Any] = {ERROR_KIND: _damage}
        for kind in range(grammar.node_kind_count):
            name = grammar.node_kind_for_id(kind)
            if name is not None and grammar.node_kind_is_named(kind):
                role = _role(language, grammar, name)
                if role is not None:
                    self.roles[kind] = role


def _role(language: Language, grammar: tree_sitter.Language, name: str) -> Any:
    """A sentinel, or the rule to apply at nodes of this kind; None where there is nothing to do."""
    conventions = language.conventions
    rule, member = language.rules.get(name), conventions.members.get(name)
    if name in conventions.comments:
        return _COMMENT
    if name in conventions.skipped:
        return _SKIPPED if rule is None else _closed(rule)
    if member is not None:
        receiver, called = (grammar.field_id_for_name(part) for part in member)
        if receiver is not None and called is not None:
            return _member(receiver, called, rule)
    if rule is not None:
        return rule
    return _IDENTIFIER if name in conventions.identifiers else None


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


@cache
def _table(entry: Entry) -> tuple[Language, _Table]:
    """A language's data, imported on first use: one file needs one grammar, not twenty."""
    module, variable = entry.home.split(":")
    language = getattr(import_module(f"{_LANGUAGES}.{module}"), variable)
    return language, _Table(language)


def parse(entry: Entry, source: bytes) -> Tree:
    """The syntax tree of decoded text."""
    return _table(entry)[1].parser.parse(_ended(source))


def outline_tree(path: str, entry: Entry, source: bytes) -> Outline:
    """The outline of a file in a language with a grammar."""
    language, table = _table(entry)
    source = _ended(source)
    tree = table.parser.parse(source)
    builder = Builder(source, language.conventions)
    if tree.root_node.is_error:
        # The grammar could not even begin: definitions count, the fragments between them do not.
        builder.frames[0].statements = False
    raw = _walk(tree.walk(), table, builder)
    if language.finish is not None:
        language.finish(builder)
    for draft in builder.drafts:
        if not draft.is_root:
            draft.exported = language.exported(draft, builder)
    items = tuple(draft.freeze() for draft in builder.drafts)
    items = fill_gaps(source, items, builder.comments, language.conventions.gap_kind)
    root = tree.root_node
    return Outline(
        path,
        entry.language,
        items,
        tuple(builder.imports),
        tuple(builder.exports),
        _references(raw, builder),
        problems_in(root, source) if root.has_error else (),
    )


def _ended(source: bytes) -> bytes:
    """The source with a newline at its end; Kotlin's scanner waits for one for ever."""
    return source if source.endswith(b"\n") else source + b"\n"


def _walk(cursor: TreeCursor, table: _Table, builder: Builder) -> list[_Raw]:
    """Visit every node once, without recursion: sources nest deeper than the stack."""
    frames, roles, characters = builder.frames, table.roles, builder.characters
    frame = frames[-1]
    defined, receivers = builder.defined, builder.receivers
    down, across, up = cursor.goto_first_child, cursor.goto_next_sibling, cursor.goto_parent
    raw: list[_Raw] = []
    depth = 1
    statement_depth = 1 if frame.statements else -1
    if not down():
        return raw
    while True:
        node = cursor.node
        if node is None:
            return raw
        role = roles.get(node.kind_id)
        if role is None and depth != statement_depth:
            # Three nodes in four: punctuation, and what only groups.
            descend = True
        elif role is _IDENTIFIER and depth != statement_depth:
            start, end = node.start_byte, node.end_byte
            # A name the grammar only misses has no width and is no use of anything.
            if start not in defined and start < end:
                name = characters[start:end] if characters else builder.slice(start, end)
                raw.append((name, start, receivers.get(start), frame.index))
            descend = False
        elif role is _COMMENT:
            _comment(builder, node)
            descend = False
        else:
            builder.depth = depth
            builder.claimed = False
            descend = role is not _SKIPPED
            if role is not None and role not in _SENTINELS:
                descend = role(builder, node)
            if depth == statement_depth and not builder.claimed and node.is_named:
                _statement(builder, node)
            frame = frames[-1]
            statement_depth = frame.depth + 1 if frame.statements else -1
        if descend and down():
            depth += 1
            continue
        while not across():
            if not up():
                return raw
            depth -= 1
        if frame.depth >= depth:
            while frames[-1].depth >= depth:
                frames.pop()
            frame = frames[-1]
            statement_depth = frame.depth + 1 if frame.statements else -1


def _statement(builder: Builder, node: Node) -> None:
    """A top-level node no rule has claimed, unless it is blank, as some grammars' newlines are."""
    if builder.text(node).strip():
        builder.root_item(node, builder.conventions.statements.get(node.type, "expression"))


def _comment(builder: Builder, node: Node) -> None:
    """Keep a comment that has its line to itself; one behind code belongs to that code."""
    source, start = builder.source, node.start_byte
    if not source[source.rfind(b"\n", 0, start) + 1 : start].strip():
        row = node.start_point[0]
        builder.comments.append(Comment(start, node.end_byte, row, last_row(node)))


def _references(raw: list[_Raw], builder: Builder) -> tuple[Reference, ...]:
    """Names with their lines; those an enclosing function binds are marked local."""
    drafts, find = builder.drafts, builder.source.find
    bound = {name for draft in drafts if draft.bound for name in draft.bound}
    references = []
    new = tuple.__new__
    line, line_start, line_end = 1, 0, find(b"\n")
    for name, start, receiver, enclosing in raw:
        # Names come in source order, so their lines are counted along the way.
        while 0 <= line_end < start:
            line, line_start = line + 1, line_end + 1
            line_end = find(b"\n", line_start)
        local = False
        if name in bound and receiver is None:
            at = enclosing
            while at is not None and not local:
                draft = drafts[at]
                binds = draft.bound is not None and name in draft.bound
                local = binds and start >= draft.bound_from
                at = draft.parent
        # A hundred names a file: the class's own constructor would double the cost.
        place = (name, line, start - line_start, receiver, enclosing, local)
        references.append(new(Reference, place))
    return tuple(references)
