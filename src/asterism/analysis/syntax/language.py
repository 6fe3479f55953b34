"""Finds the language of a file, and holds its grammar, conventions and rules as one table."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from posixpath import basename, splitext
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Draft
from asterism.analysis.syntax.problems import damage
from asterism.analysis.syntax.text import Conventions
from asterism.analysis.syntax.trial_worker import grammar_of, parsed
from asterism.analysis.syntax.trials import TRIALS, Attempt, folders_of
from asterism.languages.facets import OptionalGrammar
from asterism.languages.registry import languages

if TYPE_CHECKING:
    import tree_sitter
    from tree_sitter import Node, Tree


Rule: TypeAlias = "Callable[[Builder, Node], bool]"
"""Reads one node; returns whether its children are to be walked."""


@dataclass(frozen=True, slots=True)
class Language:
    """Everything the walker needs; a language has no class of its own."""

    name: str
    grammar: tuple[str, str]
    """The grammar's package and the function in it that returns the language pointer."""
    conventions: Conventions
    rules: Mapping[str, Rule]
    exported: Callable[[Draft, Builder], bool]
    """Whether a finished item can be used from outside its file."""
    finish: Callable[[Builder], None] | None = None
    """What can only be said once the whole file has been read."""
    readable: Callable[[bytes], bytes] | None = None
    """Masks what the grammar cannot read, byte for byte: rows and offsets stay what they are, and
    names and texts are taken from the source itself."""
    repaired: Callable[[bytes], bytes] | None = None
    """The same for a text whose first parse has errors; the better of two parses counts."""


# What tree-sitter calls a node it could not make sense of.
ERROR_KIND = 65535

# CPU seconds. Real code of a megabyte parses in a tenth of a second; recovering from a megabyte of
# garbage can take hours. A file whose parse is not done by then is read as plain text.
PARSE_SECONDS = 10.0

# A small file takes milliseconds. Where recovery goes astray it takes all the time there is, and a
# hundred megabytes of memory in each second: 468 bytes of Kotlin took a gigabyte in ten seconds.
SMALL_FILE = 50_000
SMALL_SECONDS = 2.0

IDENTIFIER = object()
COMMENT = object()
SKIPPED = object()
TOKEN = object()
"""Punctuation and keywords: half of all nodes, and nothing to read or to look into."""

_LANGUAGES = "asterism.languages"


class Table:
    """What the walker looks up: a role by numeric node kind."""

    def __init__(self, language: Language) -> None:
        import tree_sitter

        package, function = language.grammar
        grammar = grammar_of(package, function)
        self.language = language
        self.roles: dict[int, Any] = {ERROR_KIND: _damage}
        """For every kind a sentinel, the rule to apply, or None where there is nothing to do."""
        for kind in range(grammar.node_kind_count):
            name = grammar.node_kind_for_id(kind)
            named = name is not None and grammar.node_kind_is_named(kind)
            self.roles[kind] = _role(language, grammar, name or "") if named else TOKEN
        self._parser = tree_sitter.Parser(grammar)
        self.home = (package, function, folders_of(package, "tree_sitter"))
        """How a trial finds the grammar."""

    def parse(self, source: bytes) -> Tree | None:
        """The syntax tree of text that ends with a newline; None if it takes too long."""
        if self.language.readable is not None:
            source = self.language.readable(source)
        tree = self._tree(source)
        if tree is None or self.language.repaired is None or not tree.root_node.has_error:
            return tree
        text = self.language.repaired(source)
        second = self._tree(text) if text != source else None
        if second is None or damage(second.root_node) >= damage(tree.root_node):
            return tree
        return second

    def _tree(self, source: bytes) -> Tree | None:
        seconds = PARSE_SECONDS if len(source) > SMALL_FILE else SMALL_SECONDS
        if TRIALS.is_expendable:
            found: Tree = parsed(self._parser, source, seconds)
            return found
        if not TRIALS.ends(Attempt(*self.home, source, seconds)):
            return None
        return self._parser.parse(source)


@cache
def table_of(entry: DialectEntry) -> Table:
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


class DialectEntry(NamedTuple):
    """One dialect: what its files are called, and where its data is."""

    key: str
    """Names the grammar; dialects of one language have different keys and one `language`."""
    language: str
    title: str
    home: str
    """`folder.module:VARIABLE` under `languages`; `prose` and `text` need no grammar."""
    extensions: tuple[str, ...]
    filenames: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = ()
    """What a shebang may name, without version digits."""
    shared: tuple[str, ...] = ()
    """Extensions that other languages have, too."""
    claims: str = ""
    """What tells from the text whether a file of these is in this dialect."""
    optional: OptionalGrammar | None = None
    """What installs the grammar, where not every installation has it."""
    parts: str = ""
    reader: str = ""
    view: str = ""


TABLE = tuple(
    DialectEntry(
        dialect.key,
        facets.name,
        facets.title,
        dialect.rules,
        dialect.extensions,
        dialect.filenames,
        dialect.interpreters,
        dialect.shared,
        dialect.claims,
        facets.optional,
        dialect.parts,
        dialect.reader,
        dialect.view,
    )
    for facets in languages()
    for dialect in facets.dialects
)

_BY_KEY = {entry.key: entry for entry in TABLE}
TEXT = _BY_KEY["text"]
_BY_EXTENSION = {extension: entry for entry in TABLE for extension in entry.extensions}
_BY_SHARED = {
    extension: tuple(entry for entry in TABLE if extension in entry.shared)
    for extension in {extension for entry in TABLE for extension in entry.shared}
}
_BY_FILENAME = {name: entry for entry in TABLE for name in entry.filenames}
_BY_INTERPRETER = {name: entry for entry in TABLE for name in entry.interpreters}

_SHEBANG = re.compile(
    rb"^#![ \t]*(?:\S*/env(?:[ \t]+-\S+)*(?:[ \t]+\w+=\S*)*[ \t]+)?(\S+)", re.ASCII
)
_VERSION = re.compile(r"[\d.]+$")


def detect(path: str, head: bytes = b"") -> DialectEntry:
    """The language of a file: by its extension, else its name, else its shebang, else text."""
    name = basename(path)
    extension = splitext(name)[1]
    entry = _BY_EXTENSION.get(extension) or _BY_EXTENSION.get(extension.lower())
    if entry is None:
        entry = _BY_FILENAME.get(name)
    if entry is None and not extension and head.startswith(b"#!"):
        entry = _by_shebang(head)
    return entry or TEXT


def entry_of(key: str) -> DialectEntry:
    """The row of a dialect."""
    return _BY_KEY[key]


def sharing(path: str) -> tuple[DialectEntry, ...]:
    """The rows that tell from the text of a file whether it is theirs."""
    return _BY_SHARED.get(splitext(path)[1], ())


def has_grammar(entry: DialectEntry) -> bool:
    """Whether a grammar reads whole files: not prose or text, and not where it is not installed."""
    return ":" in entry.home and not is_missing(entry)


def is_missing(entry: DialectEntry) -> bool:
    """Whether the grammar is one that an extra installs, and is not installed."""
    return entry.optional is not None and not _is_installed(entry.optional.package)


def missing_grammars() -> tuple[DialectEntry, ...]:
    """The rows whose grammars are not installed."""
    return tuple(entry for entry in TABLE if is_missing(entry))


@cache
def _is_installed(package: str) -> bool:
    return find_spec(package) is not None


@cache
def titles() -> dict[str, str]:
    """How each language is written for people."""
    return {entry.language: entry.title for entry in TABLE}


def _by_shebang(head: bytes) -> DialectEntry | None:
    found = _SHEBANG.match(head)
    if found is None:
        return None
    program = basename(found.group(1).decode("utf-8", "replace"))
    return _BY_INTERPRETER.get(program) or _BY_INTERPRETER.get(_VERSION.sub("", program))
