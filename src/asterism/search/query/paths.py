"""Paths and file names inside a question, with the line where one is given."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from asterism.analysis.syntax.language import TABLE
from asterism.languages.registry import languages
from asterism.search.query.text import words


class Place(NamedTuple):
    """A file or directory as the question names it."""

    path: str
    line: int | None = None


# Extensions of files without a grammar that people ask about; `.log`, `.lock` and others that end
# names of code as often are not among them.
_MORE_EXTENSIONS = words("""
    bat cfg clj cmake conf css csv dart erl gql gradle graphql hbs html htm ini ipynb j2 json json5
    jsonc jsonl jl less nix proto ps1 pl sass scss sql svelte svg tf toml tsv vue xml yaml yml
    """)
_EXTENSIONS = _MORE_EXTENSIONS | {
    extension[1:] for entry in TABLE for extension in entry.extensions
}
# Files that are known by their whole name. Of the language table's names those that are also
# ordinary words in capitals are left out.
_ORDINARY = frozenset({"CHANGES", "COPYING", "INSTALL", "NEWS", "NOTICE", "TODO", "AUTHORS"})
_NAMES = (
    words("""
        BUILD.bazel Brewfile Caddyfile Containerfile Dockerfile Jenkinsfile Justfile Makefile
        Procfile Tiltfile WORKSPACE justfile makefile .gitignore .dockerignore .editorconfig
        .env .eslintrc .prettierrc .npmrc .gitattributes CODEOWNERS go.mod go.sum
        """)
    | {name for entry in TABLE for name in entry.filenames}
) - _ORDINARY
# First folders of many repositories: `src/auth` is a path, `request/response` is not.
_FOLDERS = words("""
    .github apps assets benchmarks bin cmd config configs contrib crates deploy dist doc docs etc
    examples fixtures include infra internal lib libs migrations packages pkg plugins public
    scripts services spec specs src static templates test tests third_party tools vendor www
    """)
# Products that are written like a file name.
_PRODUCTS = words(
    """
    backbone.js d3.js ember.js express.js next.js node.js nuxt.js p5.js react.js three.js vue.js
    """
)
# What a field belongs to, and no file is called.
_OWNERS = frozenset({"self", "this", "super", "cls"})
_URL = re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s)>\]\"'`]+|\bwww\.\S+", re.IGNORECASE)
# From the beginning of a run of signs: a later start in the run finds nothing that this does not.
_TOKEN = re.compile(r"(?<![.@~+\\\[$-])(?:[A-Za-z]:)?(?:[.@~+\\\[$-]*+[\w\]*/]++)++")
_LINE = re.compile(r":(\d+)(?::\d+)?(?!\w)|\((\d+)(?:,\s?\d+)?\)|#L(\d+)|,?(?: on| at)? line (\d+)")


def places_in(text: str) -> list[Place]:
    """Every path, in order."""
    return [place for _, place in _found(text)]


def without_places(text: str) -> str:
    """The text with blanks where a path or an address stood; positions stay."""
    blank = _blanked(text, [match.span() for match in _URL.finditer(text)])
    return _blanked(blank, [span for span, _ in _found(text)])


def is_product(word: str) -> bool:
    """Whether a dotted word is a product's name: `Node.js`."""
    return word.lower() in _PRODUCTS


def is_file_name(token: str) -> bool:
    """Whether a word is the name of a file, without a folder."""
    stem, dot, extension = token.rpartition(".")
    if token in _NAMES:
        return True
    known = extension.lower() in _EXTENSIONS and extension[1:] == extension[1:].lower()
    return bool(dot and stem) and known and stem not in _OWNERS and not is_product(token)


def _found(text: str) -> Iterator[tuple[tuple[int, int], Place]]:
    text = _blanked(text, [match.span() for match in _URL.finditer(text)])
    for match in _TOKEN.finditer(text):
        token = match[0].lstrip("@") if "/" not in match[0] else match[0]
        if not token or not _is_path(token):
            continue
        line = _LINE.match(text, match.end())
        if not line and text[match.end() : match.end() + 1] == "(" and "/" not in token:
            continue  # a method that is called
        number = next((int(group) for group in line.groups() if group), None) if line else None
        end = line.end() if line else match.end()
        yield (match.start(), end), Place(_plain(token), number)


def _is_path(token: str) -> bool:
    parts = [part for part in re.split(r"[/\\]", token) if part not in ("", ".", "..", "~")]
    if not parts or not re.search(r"\w", token):
        return False
    slashes = re.search(r"[/\\]", token)
    if not slashes:
        return is_file_name(token)
    # A backslash alone also separates namespaces in PHP and begins escapes everywhere.
    if "/" not in token and not is_file_name(parts[-1]):
        return False
    if is_file_name(parts[-1]) or token.startswith(("./", "../", "~/")):
        return True
    if len(parts) == 1:
        return token.endswith("/") and token[0] not in "/\\"
    return len(parts) > 2 or token[0] == "/" or parts[0] in _FOLDERS


def _plain(token: str) -> str:
    path = token.replace("\\", "/")
    while path.startswith("./"):
        path = path[2:]
    return path


def _blanked(text: str, spans: list[tuple[int, int]]) -> str:
    for start, end in spans:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


_PATH = r"(?P<path>(?:[A-Za-z]:)?[^\s:()\"'<>|]+\.\w+)"
# A line's beginning; `\s` would go on over empty lines, from each of them anew.
_MARGIN = r"^[^\S\n]*"
_FRAMES = tuple(
    re.compile(frame.replace("{margin}", _MARGIN).replace("{path}", _PATH), re.MULTILINE)
    for facets in languages()
    for frame in facets.traces.frames
)
_RAISED = re.compile(
    r"^(?:Caused by: |Exception in thread \"[^\"]*\" |Uncaught |Unhandled exception\. )?"
    r"(?P<name>(?:\w+\.)*[A-Z]\w*(?:Error|Exception|Failure|Warning|Panic|Fault))(?=:|[^\S\n]*$)",
    re.MULTILINE,
)
# What frames are called that have no name.
_NAMELESS = re.compile(
    r"<\w+>|\{\{?\w+\}?\}|Object\.|Module\._|^(?:main|core|std)\.panick|::h[0-9a-f]{16}"
)
# Characters of a line that are looked at: each pattern takes up to the square of them.
_LONGEST_LINE = 500
# One lone call may be anything; two frames are a trace.
_ENOUGH_NAMES = 2


class Frames(NamedTuple):
    """The places and functions of a stack trace, in its order; both empty without a trace."""

    places: Sequence[Place] = ()
    names: Sequence[str] = ()


def frames_in(text: str) -> Frames:
    """The frames of a stack trace, and the errors that it says were raised."""
    text = "\n".join(line[:_LONGEST_LINE] for line in text.split("\n"))
    found = sorted(
        (match for frame in _FRAMES for match in frame.finditer(text)),
        key=lambda match: match.start(),
    )
    places: list[Place] = []
    names: list[str] = []
    for match in found:
        groups = match.groupdict()
        if groups.get("path"):
            line = groups.get("line")
            path = groups["path"].replace("\\", "/").removeprefix("./")
            places.append(Place(path, int(line) if line else None))
        if groups.get("name"):
            names.append(_traces_plain(groups["name"]))
    if not places and len(names) < _ENOUGH_NAMES:
        return Frames()
    raised = [match["name"].rpartition(".")[2] for match in _RAISED.finditer(text)]
    return Frames(
        [*dict.fromkeys(places)], [*dict.fromkeys(name for name in [*names, *raised] if name)]
    )


def _traces_plain(name: str) -> str:
    """A frame's function as code names it: `main.(*Server).Start` is `Server.Start`."""
    name = _NAMELESS.sub("", name.rpartition("/")[2]).replace("::", ".").replace("#", ".")
    pointer = re.search(r"\(\*?(\w+)\)\.(.+)", name)
    if pointer:
        name = f"{pointer[1]}.{pointer[2]}"
    # The colon at the end is part of a name of Objective-C: `add:at:`.
    return re.sub(r"\.{2,}", ".", name).strip(".$ ").lstrip(":")
