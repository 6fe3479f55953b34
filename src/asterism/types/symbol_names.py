"""How a symbol's name is written in a query: `x`, `A > x`, `A.x`, `A::x`, `A#x`, `path > A > x`."""

import re
from collections.abc import Iterator
from dataclasses import replace

from asterism.types.catalogue import SymbolName, SymbolQuery

_STEP = " > "


def symbol_query(text: str, narrowed: SymbolQuery | None = None) -> SymbolQuery:
    """The query for a name as a user wrote it; `narrowed` brings the other conditions."""
    name = text.strip()
    readings = tuple(dict.fromkeys(_readings(name)))
    return replace(narrowed or SymbolQuery(name), name=name, readings=readings)


def _readings(text: str) -> Iterator[SymbolName]:
    """Every way to understand the text, since names and paths may contain the separators.

    `v1.2` may be a heading or the member `2` of `v1`, and `a.b > c` may begin with a file.
    """
    yield SymbolName(text)
    steps = [step for step in map(str.strip, text.split(_STEP)) if step]
    if not steps:
        return
    yield from _below(steps, "")
    if len(steps) > 1:
        yield from _below(steps[1:], steps[0].removeprefix("./"))


def _below(steps: list[str], path: str) -> Iterator[SymbolName]:
    if "/" in steps[0] and len(steps) > 1:
        return
    *around, last = steps
    container = ".".join(_dotted(step) for step in around)
    yield SymbolName(last, container, path)
    inner, dot, name = _dotted(last).rpartition(".")
    if dot and inner and name:
        yield SymbolName(name, f"{container}.{inner}" if container else inner, path)


def _dotted(step: str) -> str:
    # `Box#open` is how Ruby and Java write about a method; `#open` alone is a name of its own.
    return re.sub(r"(?<=\w)#(?=\w)", ".", step.replace("::", "."))
