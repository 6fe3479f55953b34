"""Ways in which a file goes wrong, each from good bytes and a few numbers to bad ones."""

import re
from collections.abc import Callable, Iterator
from random import Random

Damage = Callable[[bytes, Random], bytes]

# Letters beyond ASCII and beyond the basic plane, marks that join, and what looks like a blank.
NAMES = ("変数", "имя", "naïve", "🦀", "𝓍", "e\u0301", "数据_2", "\u200d", "\u00a0", "ﬁ")
SEPARATORS = ("\u2028", "\u2029", "\x0b", "\x0c", "\x85", "\x1c", "\x1d", "\x1e", "\x00", "\ufeff")

_WORD = re.compile(rb"[A-Za-z_]\w+")
_BLANK_RUN = re.compile(rb"[ \t]+")


def truncated(data: bytes, random: Random) -> bytes:
    """The beginning."""
    return data[: random.randrange(len(data) + 1)]


def beheaded(data: bytes, random: Random) -> bytes:
    """The end."""
    return data[random.randrange(len(data) + 1) :]


def spliced(data: bytes, random: Random) -> bytes:
    """Random bytes in random places."""
    for _ in range(random.randrange(1, 6)):
        at = random.randrange(len(data) + 1)
        data = data[:at] + random.randbytes(random.randrange(1, 30)) + data[at:]
    return data


def crlf(data: bytes, _random: Random) -> bytes:
    """Line ends of Windows."""
    return data.replace(b"\n", b"\r\n")


def lone_cr(data: bytes, _random: Random) -> bytes:
    """Line ends of old Macs."""
    return data.replace(b"\n", b"\r")


def mixed_ends(data: bytes, random: Random) -> bytes:
    """Every line its own line end."""
    return b"".join(line + random.choice([b"\n", b"\r\n", b"\r"]) for line in data.split(b"\n"))


def marked(data: bytes, _random: Random) -> bytes:
    """A byte-order mark."""
    return b"\xef\xbb\xbf" + data


def tabbed(data: bytes, _random: Random) -> bytes:
    """Tabs for blanks."""
    return _BLANK_RUN.sub(b"\t", data)


def form_fed(data: bytes, random: Random) -> bytes:
    """Form feeds between lines and in them."""
    return _scattered(data, [b"\x0c", b"\x0c\n"], random)


def separated(data: bytes, random: Random) -> bytes:
    """Everything that some program or other takes for a line end or for nothing."""
    return _scattered(data, [text.encode() for text in SEPARATORS if text != "\x00"], random)


def nul_ridden(data: bytes, random: Random) -> bytes:
    """NULs, late enough that the file still passes for text."""
    return data[:9000] + _scattered(data[9000:] or data, [b"\x00"], random)


def utf16_le(data: bytes, _random: Random) -> bytes:
    """Another encoding, with its mark."""
    return b"\xff\xfe" + data.decode("utf-8", "replace").encode("utf-16-le")


def utf16_be(data: bytes, _random: Random) -> bytes:
    """The same, the other way round."""
    return b"\xfe\xff" + data.decode("utf-8", "replace").encode("utf-16-be")


def latin1(data: bytes, random: Random) -> bytes:
    """Letters of Western Europe in one byte each."""
    return _scattered(data, ["é".encode("latin-1"), "ß".encode("latin-1")], random)


def renamed(data: bytes, random: Random) -> bytes:
    """Identifiers in other scripts, emoji among them."""
    words = sorted(set(_WORD.findall(data)))
    chosen = {word: random.choice(NAMES).encode() for word in words if random.random() < 0.4}
    return _WORD.sub(lambda found: chosen.get(found.group(), found.group()), data)


def shuffled(data: bytes, random: Random) -> bytes:
    """The lines in another order."""
    lines = data.split(b"\n")
    random.shuffle(lines)
    return b"\n".join(lines)


def thinned(data: bytes, random: Random) -> bytes:
    """Some lines gone."""
    return b"\n".join(line for line in data.split(b"\n") if random.random() > 0.2)


def doubled(data: bytes, random: Random) -> bytes:
    """Some lines twice or more often."""
    repeated = (line for line in data.split(b"\n") for _ in range(random.choice([1, 1, 1, 2, 3])))
    return b"\n".join(repeated)


def joined(data: bytes, _random: Random) -> bytes:
    """Everything on one line."""
    return data.replace(b"\n", b" ")


def unbalanced(data: bytes, random: Random) -> bytes:
    """Brackets lost or added."""
    marks = [b"(", b")", b"{", b"}", b"[", b"]", b'"', b"'", b"`", b"<", b">", b"/*", b"*/", b"#"]
    return _scattered(data, marks, random)


def indented(data: bytes, random: Random) -> bytes:
    """Indentation that means nothing."""
    return b"\n".join(b" " * random.randrange(12) + line.lstrip() for line in data.split(b"\n"))


DAMAGES: dict[str, Damage] = {
    damage.__name__: damage
    for damage in (
        truncated,
        beheaded,
        spliced,
        crlf,
        lone_cr,
        mixed_ends,
        marked,
        tabbed,
        form_fed,
        separated,
        nul_ridden,
        utf16_le,
        utf16_be,
        latin1,
        renamed,
        shuffled,
        thinned,
        doubled,
        joined,
        unbalanced,
        indented,
    )
}


def _scattered(data: bytes, marks: list[bytes], random: Random) -> bytes:
    return b"".join(_with_marks(data, marks, random))


def _with_marks(data: bytes, marks: list[bytes], random: Random) -> Iterator[bytes]:
    at = 0
    for cut in sorted(random.randrange(len(data) + 1) for _ in range(random.randrange(1, 20))):
        yield data[at:cut]
        yield random.choice(marks)
        at = cut
    yield data[at:]
