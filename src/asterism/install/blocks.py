"""A marked block at the end of a text that belongs to somebody else, and out again."""

from asterism.types.errors import InputError

BEGIN = "<!-- asterism:begin, written by `asterism install`; `asterism uninstall` removes it -->"
END = "<!-- asterism:end -->"
# What is looked for; the words behind it may change from one version to the next.
_OPENING = "<!-- asterism:begin"


def newline_of(text: str) -> str:
    """The line end that most lines of a text have."""
    return "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"


def has_block(text: str) -> bool:
    """Whether the block is there; half a block is an error."""
    return _span(text) is not None


def body_of(text: str) -> str | None:
    """What is in the block; nothing where there is none."""
    span = _span(text)
    if span is None:
        return None
    lines = text[span[0] : span[1]].replace("\r\n", "\n").split("\n")
    return "\n".join(lines[1:-1])


def with_block(text: str, body: str) -> str:
    """The text with the block: in the place of an older one, else at its end."""
    newline = newline_of(text)
    block = newline.join([BEGIN, *body.strip("\n").split("\n"), END])
    span = _span(text)
    if span is None:
        return appended(text, block, newline)
    return text[: span[0]] + block + text[span[1] :]


def without_block(text: str) -> str:
    """The text without the block, and without the blank line that came with it."""
    span = _span(text)
    if span is None:
        return text
    start, end = span
    for line_end in ("\r\n", "\n"):
        if text.startswith(line_end, end):
            return cut(text, start, end + len(line_end))
    return cut(text, start, end)


def _span(text: str) -> tuple[int, int] | None:
    start, end = text.find(_OPENING), text.find(END)
    if start < 0 and end < 0:
        return None
    if start < 0 or end < start or text.find(_OPENING, start + 1) >= 0 or text.count(END) > 1:
        raise InputError(
            f"its lines `{_OPENING} …` and `{END}` do not belong together; put them right by hand"
        )
    return start, end + len(END)


def appended(text: str, block: str, newline: str) -> str:
    """A text with a block after a blank line; it ends in a line end only if it did before."""
    if not text.strip("\ufeff"):
        return text + block + newline
    if text.endswith("\n"):
        return text + newline + block + newline
    return text + newline * 2 + block


def cut(text: str, start: int, end: int) -> str:
    """A text without a span that `appended` may have put there: its blank line goes too."""
    head, tail = text[:start], text[end:]
    newline = "\r\n" if head.endswith("\r\n") else "\n"
    if not tail:
        # Without a line end after the block there was none before it was put there.
        lines = 1 if text.endswith("\n") else 2
        return head.removesuffix(newline * lines) if head.endswith(newline * 2) else head
    if tail.startswith(("\n", "\r\n")) and (not head or head.endswith(newline * 2)):
        return head + tail.removeprefix("\r\n" if tail.startswith("\r\n") else "\n")
    return head + tail
