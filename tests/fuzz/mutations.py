"""Ways to damage any bytes, each from good bytes and a random generator to bad ones."""

import re
from random import Random

from tests.analysis.syntax.damages import DAMAGES, Damage

OPENING, CLOSING = b"([{<", b")]}>"
_TOKEN = re.compile(rb"\w+|\s+|[^\w\s]")

STRANGE = (
    *("\x00", "\x1b[31m", "\x07", "\x7f", "\u200b", "\u202e", "\u2066", "\u2028", "\x85", "\ufeff"),
    *("\ufffd", "\uffff", "\U0010ffff", "\u0345", "\u1160", "\ufe0f", "ǅ", "ß", "İ", "ﬃ", "𒐪"),
)
"""Characters that are invisible, reverse the text, have no width, or change length with case."""

BROKEN = (
    *(b"\x80", b"\xc0\xaf", b"\xe2\x82", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xff", b"\xfe"),
    *(b"\xf8\x88\x80\x80\x80", b"\xc3", b"\xf0\x9f"),
)
"""Bytes that are no UTF-8: unfinished, overlong, surrogates, beyond the last character."""

LONG_LINE = 20_000
DEEP = 400
DEEPEST = 20_000
DEEPEST_SHARE = 0.003
"""Nesting that takes a parser to its limits takes it long, too."""


def flipped(data: bytes, random: Random) -> bytes:
    """Bits turned over."""
    changed = bytearray(data)
    for _ in range(random.randrange(1, 9) if data else 0):
        changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def overwritten(data: bytes, random: Random) -> bytes:
    """Bytes set to values at the edges."""
    changed = bytearray(data)
    for _ in range(random.randrange(1, 9) if data else 0):
        changed[random.randrange(len(changed))] = random.choice(b"\x00\x01\x0a\x0d\x20\x7f\x80\xff")
    return bytes(changed)


def cut_out(data: bytes, random: Random) -> bytes:
    """A run of bytes gone."""
    start, end = _range(data, random)
    return data[:start] + data[end:]


def repeated(data: bytes, random: Random) -> bytes:
    """A run of bytes several times."""
    start, end = _range(data, random, 200)
    return data[:start] + data[start:end] * random.randrange(2, 20) + data[end:]


def moved(data: bytes, random: Random) -> bytes:
    """A run of bytes somewhere else."""
    start, end = _range(data, random)
    rest = data[:start] + data[end:]
    at = random.randrange(len(rest) + 1)
    return rest[:at] + data[start:end] + rest[at:]


def unbracketed(data: bytes, random: Random) -> bytes:
    """Brackets lost."""
    marks = OPENING + CLOSING + b"\"'`"
    share = random.choice((0.05, 0.3, 1.0))
    return bytes(letter for letter in data if letter not in marks or random.random() > share)


def swapped_brackets(data: bytes, random: Random) -> bytes:
    """Brackets of another kind, or facing the other way."""
    marks = OPENING + CLOSING
    return bytes(
        random.choice(marks) if letter in marks and random.random() < 0.2 else letter
        for letter in data
    )


def nested(data: bytes, random: Random) -> bytes:
    """Something opened again and again, and sometimes closed."""
    depth = DEEPEST if random.random() < DEEPEST_SHARE else _some(DEEP, random)
    pairs = ((b"(", b")"), (b"[", b"]"), (b"{", b"}"), (b"<", b">"), (b"if x {\n", b"}\n"))
    more = ((b"f(", b")"), (b"class A {", b"}"), (b"def f\n", b"end\n"), (b"${", b"}"), (b"-", b""))
    words = (
        (b"(a,", b")"),
        (b"a.", b""),
        (b"!", b""),
        (b'"', b'"'),
        (b"/*", b"*/"),
        (b"{-", b"-}"),
    )
    start, end = random.choice((*pairs, *more, *words))
    at = random.randrange(len(data) + 1)
    if random.random() < 0.3:
        return data[:at] + start * depth + data[at:]
    other = random.randrange(at, len(data) + 1)
    return data[:at] + start * depth + data[at:other] + end * depth + data[other:]


def stuttered(data: bytes, random: Random) -> bytes:
    """Some tokens twice or more often."""
    return b"".join(
        token * (random.randrange(2, 5) if random.random() < 0.08 else 1)
        for token in _TOKEN.findall(data)
    )


def token_lost(data: bytes, random: Random) -> bytes:
    """Some tokens gone."""
    share = random.choice((0.02, 0.1, 0.4))
    return b"".join(token for token in _TOKEN.findall(data) if random.random() > share)


def token_swapped(data: bytes, random: Random) -> bytes:
    """Some tokens in the places of others."""
    tokens = _TOKEN.findall(data)
    for _ in range(random.randrange(1, 6) if tokens else 0):
        one, other = random.randrange(len(tokens)), random.randrange(len(tokens))
        tokens[one], tokens[other] = tokens[other], tokens[one]
    return b"".join(tokens)


def strange(data: bytes, random: Random) -> bytes:
    """Characters that few programs expect."""
    return _strewn(data, [mark.encode("utf-8", "surrogatepass") for mark in STRANGE], random)


def ill_encoded(data: bytes, random: Random) -> bytes:
    """Bytes that are no UTF-8."""
    return _strewn(data, BROKEN, random)


def unicode_noise(data: bytes, random: Random) -> bytes:
    """A run of characters from anywhere."""
    plane = random.choice((0x2000, 0xD800, 0x10000, 0x10FFFF))
    text = "".join(chr(random.randrange(plane)) for _ in range(random.randrange(1, 30)))
    at = random.randrange(len(data) + 1)
    return data[:at] + text.encode("utf-8", "replace") + data[at:]


def long_line(data: bytes, random: Random) -> bytes:
    """One very long line."""
    piece = random.choice((b"a", b"a ", b"a,", b"1+", b'"a"+', b" ", b"\t", b"x.y(", "ä".encode()))
    at = random.randrange(len(data) + 1)
    return data[:at] + piece * (_some(LONG_LINE, random) // len(piece)) + data[at:]


def blank_lines(data: bytes, random: Random) -> bytes:
    """Many lines with nothing on them, or with blanks of other kinds."""
    blank = random.choice((b"\n", b" \n", b"\t\n", b"\r", b"\x0c\n", "\u3000\n".encode()))
    at = random.randrange(len(data) + 1)
    return data[:at] + blank * random.randrange(1, 300) + data[at:]


def unspaced(data: bytes, random: Random) -> bytes:
    """Line ends or blanks lost."""
    gone = random.choice((b"\n", b" ", b"\t", b" \n"))
    return data.translate(None, gone)


MUTATIONS: dict[str, Damage] = {
    **DAMAGES,
    **{
        mutation.__name__: mutation
        for mutation in (
            flipped,
            overwritten,
            cut_out,
            repeated,
            moved,
            unbracketed,
            swapped_brackets,
            nested,
            stuttered,
            token_lost,
            token_swapped,
            strange,
            ill_encoded,
            unicode_noise,
            long_line,
            blank_lines,
            unspaced,
        )
    },
}
_ALL = tuple(MUTATIONS.values())

COUNTS = (0, 1, 1, 1, 2, 2, 3, 5)
LARGEST = 60_000
"""Damages that repeat something can follow each other; a case stays small enough to be quick."""


def damaged(data: bytes, random: Random) -> bytes:
    """Good bytes after none, one or several damages."""
    for _ in range(random.choice(COUNTS)):
        data = random.choice(_ALL)(data, random)[:LARGEST]
    return data


def crossed(one: bytes, other: bytes, random: Random) -> bytes:
    """The beginning of one with the end of another, or a piece of one inside another."""
    if random.random() < 0.5:
        return one[: random.randrange(len(one) + 1)] + other[random.randrange(len(other) + 1) :]
    start, end = _range(other, random)
    at = random.randrange(len(one) + 1)
    return one[:at] + other[start:end] + one[at:]


def window(data: bytes, random: Random, lines: int = 40) -> bytes:
    """Some lines of a longer text: small inputs are quick, and damage in them is dense."""
    found = data.split(b"\n")
    if len(found) <= lines or random.random() < 0.2:
        return data
    first = random.randrange(len(found) - lines)
    return b"\n".join(found[first : first + lines])


def _some(most: int, random: Random) -> int:
    """A number of any order of magnitude: large ones are slow, and one in a hundred is enough."""
    return int(most ** random.random()) + 1


def _range(data: bytes, random: Random, most: int | None = None) -> tuple[int, int]:
    start = random.randrange(len(data) + 1)
    end = random.randrange(start, len(data) + 1)
    return start, end if most is None else min(end, start + most)


def _strewn(data: bytes, marks: "list[bytes] | tuple[bytes, ...]", random: Random) -> bytes:
    for _ in range(random.randrange(1, 12)):
        at = random.randrange(len(data) + 1)
        data = data[:at] + random.choice(marks) + data[at:]
    return data
