"""Text without a grammar: windows of lines, broken at blank lines where there are any."""

from collections.abc import Iterator

from asterism.analysis.syntax.text import label
from asterism.types.outline import Item, Outline, Span

# A screenful: enough to be understood alone, small enough to be a precise answer.
WINDOW_LINES = 40

# A blank line this far into a window ends it, so that paragraphs and blocks stay whole.
SOFT_LINES = 20

# Enough of a text to find a label in.
LABEL_BYTES = 1024


def outline_text(path: str, language: str, source: bytes) -> Outline:
    """The outline of a file as windows of lines."""
    return Outline(path, language, tuple(text_items(source.split(b"\n"), 0, 0)))


def text_items(lines: list[bytes], first_row: int, offset: int) -> Iterator[Item]:
    """Root items of kind `text` over `lines`, which begin at `first_row` and byte `offset`."""
    start, at = 0, offset
    for end in _breaks(lines):
        window = lines[start:end]
        size = sum(len(line) + 1 for line in window)
        blank_before = next((n for n, line in enumerate(window) if line.strip()), None)
        if blank_before is not None:
            body = window[blank_before:]
            while not body[-1].strip():
                body.pop()
            begin = at + sum(len(line) + 1 for line in window[:blank_before])
            if not is_blank(body):
                yield root_item("text", body, first_row + start + blank_before, begin)
        start, at = end, at + size


def root_item(kind: str, lines: list[bytes], row: int, offset: int) -> Item:
    """A root item over whole lines."""
    text = b"\n".join(lines)
    head = text.lstrip()[:LABEL_BYTES].decode("utf-8", "ignore")
    name = label(head.lstrip()) or label(text.decode("utf-8", "replace").lstrip())
    last = row + len(lines)
    return Item(
        name=name,
        kind=kind,
        path=(name,),
        depth=0,
        parent=None,
        children=(),
        start_line=row + 1,
        end_line=last,
        first_line=row + 1,
        signature=name,
        modifiers=(),
        doc=None,
        decorators=(),
        exported=False,
        tags=(),
        span=Span(offset, offset + len(text)),
        body=None,
        name_offset=offset,
    )


def is_blank(lines: list[bytes]) -> bool:
    """Whether there is nothing to see, the blanks of other scripts included."""
    return not b"\n".join(lines).decode("utf-8", "replace").strip()


def _breaks(lines: list[bytes]) -> Iterator[int]:
    start = 0
    for row, line in enumerate(lines):
        length = row - start
        if length >= WINDOW_LINES or (length >= SOFT_LINES and not line.strip()):
            yield row
            start = row
    if start < len(lines):
        yield len(lines)


def line_offsets(lines: list[bytes]) -> list[int]:
    """Where each line begins, and one past the end."""
    offsets, at = [], 0
    for line in lines:
        offsets.append(at)
        at += len(line) + 1
    offsets.append(at)
    return offsets
