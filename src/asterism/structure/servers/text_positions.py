"""Places in a file as language servers count them, and as byte offsets of its decoded text."""

from asterism.analysis.resolve.scopes import FileScope


def offset_at(scope: FileScope, line: int, character: int) -> int:
    """The byte at a line and a UTF-16 column, both from 0; the end for what is beyond it."""
    if line >= len(scope.line_starts):
        return len(scope.source)
    start, text = _line(scope, line)
    if text.isascii():
        return start + min(character, len(text))
    units = text.decode("utf-8", "replace").encode("utf-16-le", "surrogatepass")
    before = units[: 2 * character].decode("utf-16-le", "replace")
    return start + min(len(before.encode("utf-8", "replace")), len(text))


def position_of(scope: FileScope, offset: int) -> tuple[int, int]:
    """The line and the UTF-16 column of a byte, both from 0."""
    line = scope.source.count(b"\n", 0, offset)
    start, _ = _line(scope, line)
    before = scope.source[start:offset]
    if before.isascii():
        return line, len(before)
    return line, len(before.decode("utf-8", "replace").encode("utf-16-le")) // 2


def _line(scope: FileScope, line: int) -> tuple[int, bytes]:
    start = scope.line_starts[line]
    is_last = line + 1 == len(scope.line_starts)
    return start, scope.source[
        start : len(scope.source) if is_last else scope.line_starts[line + 1]
    ]
