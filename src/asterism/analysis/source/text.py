"""A file's bytes as text: read, told apart from binaries, normalised to UTF-8 with LF line ends."""

import codecs
import errno
import os
import re
import stat

from asterism.analysis.source.secrets import secret_content
from asterism.types.errors import PathMissing, PathUnreadable, SecretFile, WrongPathKind
from asterism.types.files import display_path

_MAGIC = (
    b"%PDF-",
    b"\x89PNG",
    b"GIF8",
    b"\xff\xd8\xff",
    b"PK\x03\x04",
    b"PK\x05\x06",
    b"\x7fELF",
    b"\xca\xfe\xba\xbe",
    b"\xcf\xfa\xed\xfe",
    b"\x00asm",
    b"\x1f\x8b",
    b"BZh",
    b"\xfd7zXZ\x00",
    b"\x28\xb5\x2f\xfd",
    b"7z\xbc\xaf\x27\x1c",
    b"Rar!\x1a\x07",
    b"SQLite format 3\x00",
    b"!<arch>\n",
    *(b"OggS", b"fLaC", b"ID3", b"wOFF", b"wOF2"),
    b"\x93NUMPY",
    b"\x89HDF",
    b"\xd0\xcf\x11\xe0",
)
_BOMS = (
    # UTF-32 LE begins like UTF-16 LE, so it is asked first.
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_EVIDENCE_BYTES = 8192
"""How much of a file is looked at to guess its encoding; the same block that discovery reads."""
_NUL_SHARE = 0.4
"""Text in the Latin alphabet is half NULs in UTF-16; some other letters may be in between."""
_CONTROL_SHARE = 0.1
"""More control characters than this in something that is no UTF-8, and it is not text."""
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1b\b")) + b"\x7f"
_CONTROL = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x9f]")


def read(path: str) -> bytes:
    """Return a file's raw bytes (see `decode`), or raise an error that says what to do."""
    shown = display_path(path)
    try:
        # A pipe without a writer must not hang us.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            mode = os.fstat(handle).st_mode
            if stat.S_ISDIR(mode):
                raise WrongPathKind(f"{shown} is a directory; give the path of a file in it.")
            if not stat.S_ISREG(mode):
                raise WrongPathKind(f"{shown} is a pipe or device; give the path of a plain file.")
            data = file.read()
    except ValueError as error:
        raise PathMissing(f"{shown} is not a possible path ({error}); check it.") from error
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            raise PathMissing(f"{shown} does not exist; check the path.") from error
        if error.errno == errno.EISDIR:
            raise WrongPathKind(
                f"{shown} is a directory; give the path of a file in it."
            ) from error
        if error.errno in (errno.EACCES, errno.EPERM):
            raise PathUnreadable(f"{shown} may not be read; check its permissions.") from error
        why = error.strerror or str(error)
        raise PathUnreadable(f"{shown} could not be read: {why}.") from error
    secret = secret_content(os.path.basename(path), data)  # noqa: PTH119 - thousands of paths
    if secret is not None:
        raise SecretFile(f"{shown} holds {secret}; such files are never shown or kept.")
    return data


def is_binary(data: bytes) -> bool:
    """Tell whether the bytes, or a file's first few thousand, are not text that we can read."""
    head = data[:_EVIDENCE_BYTES]
    if head.startswith(_MAGIC):
        return True
    if b"\0" in head:
        return _wide_encoding(head) is None
    if head.isascii():
        return False
    controls = len(head) - len(head.translate(None, _CONTROLS))
    return controls > _CONTROL_SHARE * len(head) and not _is_utf8(head)


def decode(data: bytes) -> bytes:
    """Return the text as UTF-8 without a byte order mark, with LF for every line end."""
    if encoding := _wide_encoding(data[:_EVIDENCE_BYTES]):
        text = data.decode(encoding, "replace").removeprefix("\ufeff")
        data = text.encode("utf-8", "replace")
    else:
        data = data.removeprefix(codecs.BOM_UTF8)
        if not data.isascii():
            data = _repaired(data)
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return data


def _wide_encoding(head: bytes) -> str | None:
    """Return the UTF-16 or UTF-32 encoding that explains the NULs of a text, if one does."""
    for mark, encoding in _BOMS:
        if head.startswith(mark) and _explains(head, encoding):
            return encoding
    nuls = head.count(b"\0")
    if len(head) < 4 or nuls < _NUL_SHARE * len(head):
        return None
    even = head[::2].count(b"\0")
    for mostly, encoding in ((nuls - even, "utf-16-le"), (even, "utf-16-be")):
        if mostly > 0.95 * nuls and _explains(head, encoding):
            return encoding
    return None


def _explains(head: bytes, encoding: str) -> bool:
    """Tell whether the bytes are well-formed in the encoding, an unfinished end aside."""
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(head)
    except UnicodeDecodeError:
        return False
    return "\0" not in text


def _is_utf8(head: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True


def _repaired(data: bytes) -> bytes:
    """Return valid UTF-8: as it is, from a Western encoding, or with U+FFFD for stray bytes."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        patched = data.decode("utf-8", "replace")
    else:
        return data
    stray = patched.count("\ufffd")
    intact = sum(not char.isascii() for char in patched) - stray
    if intact < stray:
        # Hardly anything is UTF-8, so this is no damaged UTF-8 file but another encoding.
        western = _western(data)
        if western is not None:
            return western.encode("utf-8")
    return patched.encode("utf-8")


def _western(data: bytes) -> str | None:
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return None if _CONTROL.search(text) else text
