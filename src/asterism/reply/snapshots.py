"""One file's relevant parts as readable code that parses."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from asterism.analysis.chunks.units import folded, units_of
from asterism.analysis.syntax.cuts import Pruning, problems_of
from asterism.reply.gaps import GapMarks, with_short_docs
from asterism.reply.layout import Needs, joined, line_starts, needs_of, path_line, subtree
from asterism.reply.names import Resolver
from asterism.types.outline import Item, Outline, Span
from asterism.types.search import Lines
from asterism.types.structure import Connections, Fact, Gap, Member, SymbolPlace

# What needs other files, or types.
ELSEWHERE = (
    Fact.extends,
    Fact.implements,
    Fact.subtypes,
    Fact.calls,
    Fact.callers,
    Fact.references,
    Fact.types_in,
    Fact.types_out,
)

WHOLE_LINES = 60
"""A function around a target is shown whole if it has so many lines at most."""
MOST_DOC_LINES = 12
"""A comment above a result that has more lines holds examples: its beginning will do."""
MOST_USED_DOC_LINES = 3
"""The same of a declaration that a result uses."""
FUNCTIONS = frozenset({"function", "method", "constructor"})
"""Kinds whose code is read as a whole."""


def stated(outline: Outline, source: bytes, index: int, why: str | None = None) -> Connections:
    """Kind, modifiers, signature and members; the rest is a gap if there is a reason to name.

    For statements without a name, which have no connections, and where nothing else can be asked.
    """
    item = outline.items[index]
    return Connections(
        symbol=SymbolPlace(item.qualified_name, outline.path, _name_line(item, source), item.kind),
        kind=item.kind,
        signature=item.signature if item.is_symbol else "",
        modifiers=item.modifiers,
        is_exported=item.exported,
        members=tuple(
            Member(child.name, child.kind, child.signature, _name_line(child, source))
            for child in (outline.items[at] for at in item.children)
            if child.is_symbol
        ),
        gaps=(Gap(ELSEWHERE, why),) if why and item.is_symbol else (),
    )


def _name_line(item: Item, source: bytes) -> int:
    """The line of the name; of a statement the line it begins on."""
    if not item.is_symbol:
        return item.start_line
    return source.count(b"\n", 0, item.name_offset) + 1


class SnapshotForm(StrEnum):
    """How a snapshot was cut; each is tried if the one before does not parse."""

    pruned = "pruned"
    """Targets, heads, what they use, and the imports that bring it in."""
    whole_items = "whole_items"
    """Whole top-level items instead of members in their heads."""
    whole_file = "whole_file"


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A file's parts that answer a question."""

    path: str
    text: str
    targets: tuple[int, ...]
    needs: Needs
    form: SnapshotForm = SnapshotForm.pruned


class Shortened(NamedTuple):
    """Targets of which less is shown."""

    plain: Collection[int] = ()
    """Of which it is not shown what they use."""
    brief: Collection[int] = ()
    """Of which long comments are shortened, and those of all that is used."""


_WHOLE = Shortened()


def snapshot(
    outline: Outline,
    source: bytes,
    targets: Sequence[int],
    *,
    collapsed: Sequence[int] = (),
    shortened: Shortened = _WHOLE,
    resolver: Resolver | None = None,
) -> Snapshot:
    """The targets whole, in their heads, with what they use of the file: see `needs_of`.

    A function around a target is shown whole if it is short; of a longer one, as of a type around a
    target, the lines that are left out are marked.

    Of the items in `collapsed` the code of their members is left out: a class keeps its head, its
    properties and the rest of its body.

    `source` is the decoded text that the outline was read from. The text begins with the path as
    a comment. It parses without errors where the file does, because a form that does not is
    replaced by the next larger one. Its other lines are verbatim lines of the file.
    """
    file = _File(outline, source)
    chosen = tuple(sorted({*targets, *collapsed}))
    shown = {whole_around(outline.items, target) for target in targets}
    spans = [*map(file.shown_of, sorted(shown)), *file.without_code(collapsed)]
    covered = sorted({*shown, *chosen})
    strong = {whole_around(outline.items, one) for one in targets if one not in shortened.plain}
    using = [*map(file.shown_of, sorted(strong))]
    using += file.without_code([one for one in collapsed if one not in shortened.plain])
    needs = needs_of(outline, source, covered, using, file.shown_of, resolver)
    first: str | None = None
    documented = [(outline.items[one], MOST_DOC_LINES) for one in shortened.brief]
    used = (below for one in needs.items for below in subtree(outline.items, one))
    if shortened.brief:
        documented += [(outline.items[one], MOST_USED_DOC_LINES) for one in used]
    for form, whole in file.texts(spans, covered, needs):
        text = with_short_docs(whole, source.decode("utf-8", "replace"), documented)
        first = first if first is not None else text
        if not problems_of(outline, text.encode()):
            return Snapshot(path=outline.path, text=text, targets=chosen, needs=needs, form=form)
    return Snapshot(path=outline.path, text=first or "", targets=chosen, needs=needs)


def whole_around(items: Sequence[Item], index: int) -> int:
    """The outermost function around an item that is short enough to be shown whole, or the item."""
    found = index
    around = items[index].parent
    while around is not None:
        item = items[around]
        if item.kind in FUNCTIONS and item.end_line - item.start_line < WHOLE_LINES:
            found = around
        around = item.parent
    return found


def targets_at(outline: Outline, ranges: Iterable[Lines]) -> tuple[int, ...]:
    """The items in chunks with these line ranges; a part of a chunk counts as all of it."""
    units = units_of(outline.items)
    found: set[int] = set()
    for first, last in ranges:
        around = [unit for unit in units if unit.first_line <= first and last <= unit.end_line]
        if around:
            best = min(around, key=lambda unit: (unit.end_line - unit.first_line, -unit.depth))
            found.update(best.members)
    return tuple(sorted(found))


class _File:
    """One file while a snapshot of it is made."""

    def __init__(self, outline: Outline, source: bytes) -> None:
        self._outline = outline
        self._source = source
        self._pruning = Pruning(outline, source)
        self._starts = line_starts(source)
        self._marks = GapMarks(outline, source, self._starts)

    def shown_of(self, index: int) -> Span:
        """What is shown of an item: no less than the member or statement that names it."""
        item = self._outline.items[index]
        member = self._pruning.member(item.name_offset)
        return Span(min(item.span.start, member.start), max(item.span.end, member.end))

    def without_code(self, collapsed: Sequence[int]) -> list[Span]:
        """What is shown of collapsed items: everything but their members' code."""
        items = self._outline.items
        spans = []
        for index in collapsed:
            at, end = items[index].span
            for child in folded(items, items[index].children):
                inner = items[child].span
                if inner.start > at:
                    spans.append(Span(at, inner.start))
                at = max(at, inner.end)
            if at < end:
                spans.append(Span(at, end))
        return spans

    def texts(
        self, spans: Sequence[Span], targets: Sequence[int], needs: Needs
    ) -> Iterator[tuple[SnapshotForm, str]]:
        """The forms of the snapshot, the smallest first, each made when it is asked for."""
        outline, source = self._outline, self._source
        packages = [item.span for item in outline.items if item.kind == "package"]
        packages = [span for span in packages if b"\n" not in source[span.start : span.end]]
        imports = _imports(outline, needs, self._starts)
        keep = [*packages, *spans, *imports, *map(self.shown_of, needs.items)]
        yield SnapshotForm.pruned, self._text(keep)
        tops = [self.shown_of(_top(outline, index)) for index in (*targets, *needs.items)]
        yield SnapshotForm.whole_items, self._text([*packages, *tops, *imports])
        head = path_line(outline.path, outline.language, whole_file=True)
        yield SnapshotForm.whole_file, f"{head}\n\n{source.decode('utf-8', 'replace').strip()}\n"

    def _text(self, keep: Sequence[Span]) -> str:
        source = self._source
        # PHP's opening tag is in the first line already.
        keep = [span for span in keep if source[span.start : span.end] != b"<?php"]
        head = path_line(self._outline.path, self._outline.language)
        body = joined(source, self._pruning.prune(keep), self._marks)
        return f"{head}\n\n{body}\n" if body else f"{head}\n"


def _imports(outline: Outline, needs: Needs, lines: Sequence[int]) -> list[Span]:
    """The lines of the used imports; several of one statement are one."""
    entries = (outline.imports[number] for number in needs.imports)
    return sorted({Span(lines[one.start_line - 1], lines[one.end_line] - 1) for one in entries})


def _top(outline: Outline, index: int) -> int:
    parent = outline.items[index].parent
    while parent is not None:
        index, parent = parent, outline.items[parent].parent
    return index
