"""Values of filters that come from closed lists: kinds, languages, extensions."""

import difflib
from collections.abc import Iterable
from functools import cache

from asterism.analysis.syntax.catalogue import TABLE
from asterism.languages.registry import languages
from asterism.types.errors import UsageError
from asterism.types.outline import ROOT_KINDS

SYMBOL_KINDS = (
    "function", "method", "constructor", "class", "interface", "protocol", "trait", "struct",
    "record", "union", "enum", "enum_member", "object", "actor", "annotation", "delegate", "event",
    "impl", "instance", "extension", "type", "module", "namespace", "property", "const", "variable",
    "signature", "macro", "section",
)  # fmt: skip
"""The kinds a symbol may have, as docs/outlines.md explains them."""
# Other words for the same kind.
_KIND_WORDS = {"constant": "const", "func": "function", "var": "variable", "field": "property"}


def kind(text: str) -> str:
    """A kind of symbol or root item."""
    word = text.strip().lower()
    word = _KIND_WORDS.get(word, word)
    known = (*SYMBOL_KINDS, *sorted(ROOT_KINDS))
    if word not in known:
        raise UsageError(_unknown("kind", word, known))
    return word


def language(text: str) -> str:
    """A language by its name, as people or as rows write it, or by an extension."""
    found = _languages().get(text.strip().lower())
    if found is None:
        names = sorted({entry.language for entry in TABLE})
        raise UsageError(_unknown("language", text.strip().lower(), names))
    return found


def extension(text: str) -> str:
    """What a file's name ends with, with its dot; nothing for files without one."""
    bare = text.strip().removeprefix("*").removeprefix(".")
    if "." in bare or "/" in bare:
        raise UsageError(
            "an extension is what follows the last dot of a name; "
            f"for more use path_glob=**/*.{bare.rpartition('/')[2]}."
        )
    return f".{bare}" if bare else ""


def decorator(text: str) -> str:
    """A part of a decorator's name; the sign before it belongs to no name."""
    return text.strip().removeprefix("@").removesuffix("()")


@cache
def _languages() -> dict[str, str]:
    words = {alias: facets.name for facets in languages() for alias in facets.aliases}
    for entry in reversed(TABLE):
        named = (entry.key, entry.language, entry.title.lower(), *(e[1:] for e in entry.extensions))
        words.update(dict.fromkeys(named, entry.language))
    # Two rows have this title; the one of whole files is meant.
    words["text"] = "text"
    return words


def _unknown(what: str, word: str, known: Iterable[str]) -> str:
    names = [*known]
    near = difflib.get_close_matches(word, names, n=1)
    meant = f"did you mean {near[0]}? " if near else ""
    return f"there is no {what} {word}; {meant}There are {', '.join(names)}."
