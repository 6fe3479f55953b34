"""A name with one slip of the fingers."""

# A finger that misses a key hits the next one of its row.
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_NEXT = {letter: row[at - 1] for row in _ROWS for at, letter in enumerate(row)}


def misspelt(name: str, number: int) -> str:
    """The name with two letters swapped, one left out, one doubled or one mistyped.

    The number decides where and how. The first letter stays: people rarely get it wrong.
    """
    if len(name) < 3:
        return name + name[-1:]
    at = 1 + number % (len(name) - 2)
    left, letter, behind, right = name[:at], name[at], name[at + 1], name[at + 2 :]
    slips = (
        f"{left}{behind}{letter}{right}",
        f"{left}{behind}{right}",
        f"{left}{letter}{letter}{behind}{right}",
        f"{left}{_NEXT.get(letter.lower(), 'x')}{behind}{right}",
    )
    chosen = slips[number // len(name) % len(slips)]
    # Two equal letters swapped are the same name.
    return chosen if chosen != name else slips[1]
