"""Definition mode: where the names of a question are defined."""

import re
from collections.abc import Hashable, Iterable
from typing import TypeVar

from asterism.search.filters_values import SYMBOL_KINDS
from asterism.search.query.text import STOP_WORDS, words
from asterism.search.symbols_lookup import (
    MAX_HINTS,
    SymbolAnswer,
    definitions_named,
    hints,
    in_other_case,
    passing,
)
from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.chunk_table import ChunkSnapshot
from asterism.types.errors import UsageError
from asterism.types.filters import NO_FILTER, Filter
from asterism.types.search import Question

_Item = TypeVar("_Item", bound=Hashable)
# A question in prose is full of words; names come first in it, or are few.
MAX_NAMES = 10
# What people say around the name they look for.
_AROUND = (
    words("code constant declaration declared define defined defines definition file find")
    | words("implementation implemented implements located location named source symbol")
    | frozenset(SYMBOL_KINDS)
    | STOP_WORDS
)


def find_definitions(
    catalogue: Catalogue, snapshot: ChunkSnapshot, question: Question, where: Filter = NO_FILTER
) -> SymbolAnswer:
    """The definitions of every name in a question, in the order in which it names them.

    Where none is spelt so, those that differ in capitals alone are found, and the answer says so.
    """
    names = names_wanted(question)
    rows = _unique(row for name in names for row in definitions_named(catalogue, name))
    other_case = not rows
    if other_case:
        rows = _unique(row for name in names for row in in_other_case(catalogue, name))
    found = passing(snapshot, rows, where)
    like = _unique(hint for name in names for hint in hints(catalogue, name)) if not rows else []
    return SymbolAnswer(
        name=", ".join(names),
        found=tuple(found),
        filtered_out=len(rows) - len(found),
        other_case=other_case and bool(rows),
        did_you_mean=tuple(like[:MAX_HINTS]),
    )


def names_wanted(question: Question) -> list[str]:
    """The names a question asks about: what looks like one, else every word that may be one."""
    if question.symbol is not None:
        return [question.symbol]
    if question.pattern is not None:
        raise UsageError(
            "Definition mode looks for names; use mode exact for a pattern, or leave `regex:` out."
        )
    names = [name for name in question.identifiers if not name.startswith("--")]
    if not names:
        spoken = dict.fromkeys(re.findall(r"[^\W\d]\w*", question.text))
        names = [word for word in spoken if word.lower() not in _AROUND] or [*spoken]
    if not names:
        raise UsageError("Definition mode needs a name, such as `Parser.parse`.")
    return names[:MAX_NAMES]


def _unique(items: Iterable[_Item]) -> list[_Item]:
    return [*dict.fromkeys(items)]
