"""The user's filters: keys and values in, the store's `Filter` out, and back for the reply."""

import difflib
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from asterism.analysis.source.checkouts import on_disk
from asterism.analysis.syntax.language import TABLE
from asterism.languages.registry import languages
from asterism.store.filters import is_wild, matcher, place
from asterism.types.errors import UsageError
from asterism.types.files import display_path
from asterism.types.outline import ROOT_KINDS
from asterism.types.request_limits import check_filter
from asterism.types.search import FILTER_KEYS, SINGLE_TEXTS, SWITCHES, Filter

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


# A backslash is another system's slash, unless it spells out what does not show: `\xe9`, `\u202e`.
_BACKSLASH = re.compile(r"\\(?!x[0-9a-f]{2}|u[0-9a-f]{4})")
_DRIVE = re.compile(r"[A-Za-z]:/")
_WILD = re.compile(r"[*?\[]")


def location(text: str, root: str | None) -> str:
    """A file, a directory or a glob: `./src/` is `src`, the root itself is `.`."""
    path = _inside(text, root).rstrip("/")
    return _anywhere(path) if is_wild(path) else path or "."


def prefix(text: str, root: str | None) -> str:
    """How a path begins, which may be the middle of a name; a slash at the end says otherwise."""
    return _inside(text, root)


def glob(text: str, root: str | None) -> str:
    """A pattern for the whole path; one without a slash may match in any folder."""
    path = _inside(text, root)
    return f"{path}**" if path.endswith("/") or not path else _anywhere(path)


def exactly(text: str, root: str | None) -> str:
    """A file's path in which nothing is a wildcard: `app/[id].ts` is that file and no other."""
    return literal(_inside(text, root).rstrip("/"))


def literal(path: str) -> str:
    """The same of a path from the index: its backslashes are part of a name."""
    return _WILD.sub(lambda wild: f"[{wild[0]}]", path)


def piece(text: str) -> str:
    """A part of a path."""
    return _BACKSLASH.sub("/", text)


def common_files(paths: Sequence[str] | None, files: Sequence[str]) -> tuple[str, ...]:
    """Those of the files that are at one of the paths."""
    if paths is None:
        return tuple(files)
    common = tuple(file for file in files if any(_is_at(_plain(file), path) for path in paths))
    if not common:
        raise UsageError(
            "No file of context_filepaths is in path, so nothing can be found; "
            "leave one of them out."
        )
    return common


def common_prefixes(some: Sequence[str] | None, others: Sequence[str]) -> tuple[str, ...]:
    """The beginnings that satisfy one of either side: of two that agree, the longer."""
    if some is None:
        return tuple(others)
    common = dict.fromkeys(
        max(one, other, key=len)
        for one in some
        for other in others
        if one.startswith(other) or other.startswith(one)
    )
    if not common:
        raise UsageError(
            "No path begins with both path_prefix and context_path_prefix, so nothing can be "
            "found; leave one of them out."
        )
    return tuple(common)


def _inside(text: str, root: str | None) -> str:
    """The path from the root, without what says nothing; a slash at its end stays."""
    path = _BACKSLASH.sub("/", _verbatim(text.strip(), root))
    if path.startswith("/") or _DRIVE.match(path):
        path = _below(path, root)
    steps: list[str] = []
    for step in path.split("/"):
        if step == "..":
            if not steps:
                raise _outside(text, root)
            steps.pop()
        elif step not in ("", "."):
            steps.append(step)
    ends = path.endswith(("/", "/.", "/..")) and steps
    return "/".join(steps) + ("/" if ends else "")


def _verbatim(text: str, root: str | None) -> str:
    """The path as the disk has it, where it is a file that a reply shows in another way."""
    if root is None or "\\" not in text:
        return text
    given = os.path.join(root, text)  # noqa: PTH118 - a slash at the end stays
    found = on_disk(given)
    return text if found == given else found[len(given) - len(text) :]


def _below(path: str, root: str | None) -> str:
    top = None if root is None else _BACKSLASH.sub("/", root).rstrip("/")
    if top is None or not f"{path}/".startswith(f"{top}/"):
        raise _outside(path, root)
    return path[len(top) + 1 :]


def _outside(path: str, root: str | None) -> UsageError:
    where = f"{display_path(root)}, the repository's root" if root else "the repository"
    return UsageError(f"{display_path(path)} is not inside {where}; give a path from its root.")


def _anywhere(path: str) -> str:
    return path if "/" in path or path == "**" else f"**/{path}"


def _plain(file: str) -> str:
    return re.sub(r"\[([*?\[])\]", r"\1", file)


def _is_at(path: str, given: str) -> bool:
    here = place(given)
    if here in ("", path) or path.startswith(f"{here}/"):
        return True
    return is_wild(here) and matcher(here)(path)


Given = dict[str, Any]


# How the texts of a key are read; those of other keys stay as they are.
_READ: Mapping[str, Callable[[str], str]] = {
    "path_contains": piece,
    "path_not_contains": piece,
    "type": kind,
    "extension": extension,
    "languages": language,
    "decorator_contains": decorator,
}
# The same for paths, which may begin with the repository's root.
_READ_PATH: Mapping[str, Callable[[str, str | None], str]] = {
    "path": location,
    "path_prefix": prefix,
    "path_glob": glob,
    "context_filepaths": exactly,
    "context_path_prefix": prefix,
}
# Names of other programs for a filter, for which an error suggests the key.
_ELSEWHERE = {alias: name for name, key in FILTER_KEYS.items() for alias in key.aliases}
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
        key = _known(name)
        if value is not None:
            fields[FILTER_KEYS[key].field or key] = _read(key, value, root)
    _narrow(fields)
    return Filter(**fields)


def parse_filter_words(words: Iterable[str], root: str | None = None) -> Filter:
    """The filter of a command line: `type=class,function`, `path=src/`; lists may be repeated."""
    given: Given = {}
    for word in words:
        name, equals, value = word.partition("=")
        name = name.strip()
        key = _known(name)
        if not equals:
            raise UsageError(f"The filter {name} has no value; write it as `{name}=…`.")
        if key not in SWITCHES | SINGLE_TEXTS:
            given.setdefault(name, []).extend(part.strip() for part in value.split(","))
        elif name in given:
            raise UsageError(f"The filter {name} is given twice; give it once.")
        else:
            given[name] = _switch(name, value.strip()) if key in SWITCHES else value.strip()
    return parse_filters(given, root)


def applied(where: Filter) -> dict[str, Any]:
    """The filter as the reply repeats it: the user's keys, with the values that were searched by.

    What `context_filepaths` and `context_path_prefix` left of `path` and `path_prefix` is told
    under these two.
    """
    echoed: dict[str, Any] = {}
    for name, key in FILTER_KEYS.items():
        value = None if key.narrows else getattr(where, key.field or name)
        if value is None or value == ():
            continue
        echoed[name] = list(value) if isinstance(value, tuple) else value
    return echoed


def _known(name: object) -> str:
    if isinstance(name, str) and name in FILTER_KEYS:
        return name
    word = str(name)
    near = difflib.get_close_matches(word, [*FILTER_KEYS, *_ELSEWHERE], n=1)
    meant = f" Did you mean {_ELSEWHERE.get(near[0], near[0])}?" if near else ""
    raise UsageError(f"There is no filter {word}.{meant} The filters are {', '.join(FILTER_KEYS)}.")


def _read(name: str, value: object, root: str | None) -> object:
    bound = FILTER_KEYS[name].bound
    if name in SWITCHES:
        if not isinstance(value, bool):
            raise _wrong(name, value, "true or false")
        return value
    if name in SINGLE_TEXTS:
        if not isinstance(value, str):
            raise _wrong(name, value, "a string")
        check_filter(name, [value], bound)
        return _one(name, value, root)
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list | tuple | set | frozenset):
        raise _wrong(name, value, "a string or a list of strings")
    for item in items:
        if not isinstance(item, str):
            raise _wrong(name, item, "a string or a list of strings", " inside its list")
    check_filter(name, items, bound)
    if not items:
        raise UsageError(f"The filter {name} has an empty list; leave it out to let all pass.")
    texts = sorted(items) if isinstance(items, set | frozenset) else items
    return tuple(dict.fromkeys(_one(name, text, root) for text in texts))


def _one(name: str, text: str, root: str | None) -> str:
    if not text.strip() and name != "extension":
        raise UsageError(f"The filter {name} has an empty value; leave it out to let all pass.")
    try:
        reads_path = _READ_PATH.get(name)
        return _READ.get(name, str)(text) if reads_path is None else reads_path(text, root)
    except UsageError as error:
        raise UsageError(f"The filter {name}={text} cannot be used: {error}") from error


def _narrow(fields: Given) -> None:
    """Both a path and its context must hold: what they have in common is searched."""
    files, prefixes = fields.pop("context_filepaths", None), fields.pop("context_path_prefix", None)
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
