"""Makes a case smaller for as long as it still shows the same mistake."""

from collections.abc import Callable


def reduced(data: bytes, still: Callable[[bytes], bool], tries: int) -> bytes:
    """The smallest case found with so many checks: lines are taken away first, then bytes."""
    left = [tries]

    def shows(candidate: bytes) -> bool:
        left[0] -= 1
        return left[0] >= 0 and still(candidate)

    lines = data.splitlines(keepends=True)
    data = b"".join(_thinned(lines, lambda kept: shows(b"".join(kept))))
    letters = [data[at : at + 1] for at in range(len(data))]
    return b"".join(_thinned(letters, lambda kept: shows(b"".join(kept))))


def _thinned(parts: list[bytes], still: Callable[[list[bytes]], bool]) -> list[bytes]:
    size = max(1, len(parts) // 2)
    while True:
        at, smaller = 0, False
        while at < len(parts):
            kept = parts[:at] + parts[at + size :]
            if still(kept):
                parts, smaller = kept, True
            else:
                at += size
        if size == 1 and not smaller:
            return parts
        size = max(1, size // 2)
