"""Stack traces inside a question: the files, lines and functions of their frames."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from asterism.languages.registry import languages
from asterism.search.query.paths import Place

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
    """What a trace names, the places and functions in its order; both empty where there is none."""

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
            names.append(_plain(groups["name"]))
    if not places and len(names) < _ENOUGH_NAMES:
        return Frames()
    raised = [match["name"].rpartition(".")[2] for match in _RAISED.finditer(text)]
    return Frames(
        [*dict.fromkeys(places)], [*dict.fromkeys(name for name in [*names, *raised] if name)]
    )


def _plain(name: str) -> str:
    """A frame's function as code names it: `main.(*Server).Start` is `Server.Start`."""
    name = _NAMELESS.sub("", name.rpartition("/")[2]).replace("::", ".").replace("#", ".")
    pointer = re.search(r"\(\*?(\w+)\)\.(.+)", name)
    if pointer:
        name = f"{pointer[1]}.{pointer[2]}"
    return re.sub(r"\.{2,}", ".", name).strip(".:$ ")
