"""The user's filters: keys and values in, the store's `Filter` out, and back for the reply."""

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from asterism.analysis.syntax.language import TABLE
from asterism.languages.registry import languages
from asterism.search.path_filters import (
    common_files,
    common_prefixes,
    exactly,
    glob,
    location,
    piece,
    prefix,
)
from asterism.types.errors import UsageError
from asterism.types.outline import ROOT_KINDS
from asterism.types.request_limits import check_filter
from asterism.types.search import Filter

SYMBOL_KINDS = (
    "function", "method", "constructor", "class", "interface", "protocol", "trait", "struct",
    "record", "union", "enum", "enum_member", "object", "actor", "annotation", "delegate", "event",
    "impl", "instance", "extension", "type", "module", "namespace", "property", "const", "variable",
    "signature", "macro", "section", "table", "view", "index", "resource",
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


Given = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Key:
    """What the value of a key is: a switch, one text, or any number of texts."""

    field: str
    shape: Literal["switch", "text", "texts"] = "texts"
    read: Callable[[str], str] = str
    reads_path: Callable[[str, str | None], str] | None = None
    """Instead of `read`, for what may begin with the repository's root."""


KEYS: Mapping[str, _Key] = {
    "path": _Key("paths", reads_path=location),
    "path_prefix": _Key("path_prefixes", reads_path=prefix),
    "path_contains": _Key("path_contains", read=piece),
    "path_not_contains": _Key("path_not_contains", read=piece),
    "path_glob": _Key("path_globs", reads_path=glob),
    "type": _Key("kinds", read=kind),
    "extension": _Key("extensions", read=extension),
    "languages": _Key("languages", read=language),
    "is_exported": _Key("is_exported", "switch"),
    "decorator_contains": _Key("decorator_contains", "text", read=decorator),
    "has_docstring": _Key("has_docstring", "switch"),
    "context_filepaths": _Key("context_files", reads_path=exactly),
    "context_path_prefix": _Key("context_prefixes", reads_path=prefix),
    "repo": _Key("repos"),
}
"""Every filter a user may give."""
# What other programs call the same thing.
_ELSEWHERE = {
    "kind": "type",
    "node_kind": "type",
    "file": "path",
    "directory": "path",
    "glob": "path_glob",
    "lang": "languages",
    "exported": "is_exported",
    "decorator": "decorator_contains",
    "docstring": "has_docstring",
    "repository": "repo",
    "exclude": "path_not_contains",
}
_SWITCH_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def parse_filters(given: Mapping[str, object], root: str | None = None) -> Filter:
    """The filter a user means; `root` is what absolute paths are taken to begin with.

    A key whose value is None is not given. An unknown key or a value of the wrong type is an error
    that says what is allowed.
    """
    if not isinstance(given, Mapping):
        raise UsageError(f"filters is {_kind_of(given)}; give an object of keys and values.")
    fields: Given = {}
    for name, value in given.items():
        key = _key(name)
        if value is not None:
            fields[key.field] = _read(name, key, value, root)
    _narrow(fields)
    return Filter(**fields)


def parse_filter_words(words: Iterable[str], root: str | None = None) -> Filter:
    """The filter of a command line: `type=class,function`, `path=src/`; lists may be repeated."""
    given: Given = {}
    for word in words:
        name, equals, value = word.partition("=")
        name = name.strip()
        key = _key(name)
        if not equals:
            raise UsageError(f"The filter {name} has no value; write it as `{name}=…`.")
        if key.shape == "texts":
            given.setdefault(name, []).extend(part.strip() for part in value.split(","))
        elif name in given:
            raise UsageError(f"The filter {name} is given twice; give it once.")
        else:
            given[name] = _switch(name, value.strip()) if key.shape == "switch" else value.strip()
    return parse_filters(given, root)


def applied(where: Filter) -> dict[str, Any]:
    """The filter as the reply repeats it: the user's keys, with the values that were searched by.

    What `context_filepaths` and `context_path_prefix` left of `path` and `path_prefix` is told
    under these two.
    """
    echoed: dict[str, Any] = {}
    for name, key in KEYS.items():
        value = getattr(where, key.field, None)
        if value is None or value == ():
            continue
        echoed[name] = list(value) if isinstance(value, tuple) else value
    return echoed


def _key(name: object) -> _Key:
    if isinstance(name, str) and name in KEYS:
        return KEYS[name]
    word = str(name)
    near = difflib.get_close_matches(word, [*KEYS, *_ELSEWHERE], n=1)
    meant = f" Did you mean {_ELSEWHERE.get(near[0], near[0])}?" if near else ""
    raise UsageError(f"There is no filter {word}.{meant} The filters are {', '.join(KEYS)}.")


def _read(name: str, key: _Key, value: object, root: str | None) -> object:
    if key.shape == "switch":
        if not isinstance(value, bool):
            raise _wrong(name, value, "true or false")
        return value
    if key.shape == "text":
        if not isinstance(value, str):
            raise _wrong(name, value, "a string")
        check_filter(name, [value])
        return _one(name, key, value, root)
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list | tuple | set | frozenset):
        raise _wrong(name, value, "a string or a list of strings")
    for item in items:
        if not isinstance(item, str):
            raise _wrong(name, item, "a string or a list of strings", " inside its list")
    check_filter(name, items)
    if not items:
        raise UsageError(f"The filter {name} has an empty list; leave it out to let all pass.")
    texts = sorted(items) if isinstance(items, set | frozenset) else items
    return tuple(dict.fromkeys(_one(name, key, text, root) for text in texts))


def _one(name: str, key: _Key, text: str, root: str | None) -> str:
    if not text.strip() and name != "extension":
        raise UsageError(f"The filter {name} has an empty value; leave it out to let all pass.")
    try:
        return key.read(text) if key.reads_path is None else key.reads_path(text, root)
    except UsageError as error:
        raise UsageError(f"The filter {name}={text} cannot be used: {error}") from error


def _narrow(fields: Given) -> None:
    """Both a path and its context must hold: what they have in common is searched."""
    files, prefixes = fields.pop("context_files", None), fields.pop("context_prefixes", None)
    if files is not None:
        fields["paths"] = common_files(fields.get("paths"), files)
    if prefixes is not None:
        fields["path_prefixes"] = common_prefixes(fields.get("path_prefixes"), prefixes)


def _switch(name: str, word: str) -> bool:
    if word.lower() not in _SWITCH_WORDS:
        raise UsageError(f"The filter {name}={word} is no switch; write true or false.")
    return _SWITCH_WORDS[word.lower()]


def _wrong(name: str, value: object, wanted: str, where: str = "") -> UsageError:
    return UsageError(f"The filter {name} has {_kind_of(value)}{where}; give {wanted}.")


def _kind_of(value: object) -> str:
    kinds = {bool: "true or false", int: "a number", float: "a number", str: "a string"}
    kinds |= {list: "a list", tuple: "a list", dict: "an object", type(None): "null"}
    return kinds.get(type(value), f"a {type(value).__name__}")
