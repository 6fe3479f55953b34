"""The tokens of SQL and its statements, whatever database they are for."""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias

from asterism.types.outline import Span

Kind: TypeAlias = Literal["word", "quoted", "string", "dollar", "number", "sign"]

_TOKEN = re.compile(
    rb"""(?P<comment>--[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z))"""
    # A lone backslash is what `ESCAPE` is given; elsewhere it keeps a quote in the string.
    rb"""|(?P<string>[EeNnBbXx]?+(?:'\\'(?!')|'(?:[^'\\]|\\.|'')*+(?:'|\Z)))"""
    rb"""|(?P<dollar>\$(?P<tag>(?:[A-Za-z_]\w*+)?+)\$)"""
    rb"""|(?P<quoted>"(?:[^"\n]|"")*+"|`[^`\n]*+`|(?<![\w\]])\[[A-Za-z_][^\]\n]*+\])"""
    rb"""|(?P<number>\d[\w.]*+)"""
    rb"""|(?P<word>[A-Za-z_@\x80-\xff][\w@$\x80-\xff]*+(?:\#[\w]*+)?+)"""
    rb"""|(?P<sign>[^\s])""",
    re.DOTALL,
)
# On a line of its own each of these ends a statement.
_BATCH_END = re.compile(rb"^[ \t]*(?:GO[ \t]*\d*|/)[ \t]*\r?$", re.MULTILINE | re.IGNORECASE)
_DELIMITER = re.compile(rb"^[ \t]*DELIMITER[ \t]+(\S+)[^\n]*$", re.MULTILINE | re.IGNORECASE)
# A command of the client, not of the server; it needs no semicolon.
_CLIENT_LINE = re.compile(
    rb"\\[^\n]*|\#[^\n]*|@@?[\w./&\\-]+[^\S\n]*$|(?:PROMPT|SPOOL|USE|WHENEVER)\b[^\n]*"
    rb"|(?:SET|COLUMN|DEFINE|UNDEFINE|ACCEPT|VARIABLE|CONNECT|HOST|EXIT|PAUSE)\b[^\n;=(]*+$",
    re.MULTILINE | re.IGNORECASE,
)
_REMARK = re.compile(rb"REM(?:ARK)?\b[^\n]*", re.IGNORECASE)
_COPY_END = re.compile(rb"^\\\.[ \t]*$", re.MULTILINE)
# What these make may hold statements of its own.
_ROUTINES = frozenset({"FUNCTION", "PROCEDURE", "PROC", "TRIGGER", "PACKAGE", "EVENT", "TYPE"})
# `END IF` closes what no BEGIN has opened.
_INNER_ENDS = frozenset({"IF", "LOOP", "WHILE", "REPEAT", "FOR"})
_DEEPEST_MARGIN = 200
"""A line that begins further in is not looked at as one."""
_BEFORE_DECLARATIONS = frozenset({"IS", "AS", "DECLARE"})
_NO_BLOCK = frozenset({"TRAN", "TRANSACTION", "WORK", "DISTRIBUTED"})
OBJECTS = _ROUTINES | {
    *("TABLE", "VIEW", "INDEX", "SEQUENCE", "SCHEMA", "DATABASE", "DOMAIN", "SYNONYM", "MACRO"),
    *("ROLE", "USER", "LOGIN", "EXTENSION", "POLICY", "RULE", "SERVER", "CAST", "OPERATOR"),
    *("COLLATION", "LANGUAGE", "PUBLICATION", "SUBSCRIPTION", "STATISTICS", "AGGREGATE", "ACCESS"),
}
"""What CREATE makes."""

# The next word that begins a statement or a block.
_NEXT_WORD = re.compile(
    rb"\b(BEGIN|CREATE|ALTER|DROP|INSERT|SELECT|UPDATE|DELETE|GRANT|COMMENT)\b", re.IGNORECASE
)


class SqlToken(NamedTuple):
    """A word, sign or literal; comments are apart."""

    kind: Kind
    start: int
    end: int
    text: str
    """A word in capitals, a quoted name without its quotes, a sign; empty for literals."""


class SqlStatement(NamedTuple):
    """Tokens up to what ends them."""

    span: Span
    tokens: list[SqlToken]


class Script(NamedTuple):
    """A file's statements and comments."""

    statements: list[SqlStatement]
    comments: list[Span]


def script_of(source: bytes) -> Script:
    """Divide a file into statements."""
    reader = _Reader(source)
    reader.run()
    return Script(reader.statements, reader.comments)


def tokens_in(source: bytes, span: Span) -> Iterator[SqlToken]:
    """The tokens of a stretch such as the body of a function, comments aside."""
    at = span.start
    while found := _TOKEN.search(source, at, span.end):
        at = found.end()
        if found.lastgroup == "tag" or found["dollar"] is not None:
            end = source.find(found[0], at, span.end)
            at = span.end if end < 0 else end + len(found[0])
            yield SqlToken("dollar", found.start(), at, "")
        elif not found["comment"]:
            yield _token(found)


def _token(found: re.Match[bytes]) -> SqlToken:
    kind: Kind = found.lastgroup  # type: ignore[assignment]
    text = ""
    if kind == "word":
        text = found[0].decode("utf-8", "replace").upper()
    elif kind == "quoted":
        text = found[0][1:-1].decode("utf-8", "replace")
    elif kind == "sign":
        text = found[0].decode("latin-1")
    return SqlToken(kind, found.start(), found.end(), text)


class _Reader:
    """One pass over a file; what ends a statement depends on what was read of it."""

    def __init__(self, source: bytes) -> None:
        self._source = source
        self.statements: list[SqlStatement] = []
        self.comments: list[Span] = []
        self._delimiter = b";"
        self._tokens: list[SqlToken] = []
        self._following = (-1, b"")
        self._copy_ends = [found.end() for found in _COPY_END.finditer(source)]
        self._batches = [found.start() for found in _BATCH_END.finditer(source)]
        self._forget()

    def _forget(self) -> None:
        self._tokens = []
        self._brackets = 0
        self._blocks = 0
        self._had_block = self._has_text = self._declares = False
        self._made = ""

    def run(self) -> None:
        """Read the whole file."""
        source, at = self._source, 0
        while found := _TOKEN.search(source, at):
            start = found.start()
            if self._is_first(start) and (end := self._line(start)):
                at = end
                continue
            if self._delimiter != b";" and source.startswith(self._delimiter, start):
                at = start + len(self._delimiter)
                self._end()
                continue
            at = found.end()
            if found["comment"] is not None:
                self.comments.append(Span(start, at))
            elif found["dollar"] is not None:
                if b"$" in self._delimiter:
                    continue
                end = source.find(found[0], at)
                at = len(source) if end < 0 else end + len(found[0])
                self._tokens.append(SqlToken("dollar", start, at, ""))
                self._has_text = True
            else:
                at = self._take(_token(found))
        self._end()

    def _is_first(self, start: int) -> bool:
        line = self._source.rfind(b"\n", max(start - _DEEPEST_MARGIN, 0), start) + 1
        return not self._source[line:start].strip()

    def _line(self, start: int) -> int:
        """Where a line ends that is a command by itself; 0 where it is not."""
        if delimiter := _DELIMITER.match(self._source, start):
            self._end()
            self._delimiter = delimiter[1]
            return delimiter.end()
        if not self._tokens and (remark := _REMARK.match(self._source, start)):
            self.comments.append(Span(*remark.span()))
            return remark.end()
        if not self._tokens and (client := _CLIENT_LINE.match(self._source, start)):
            return client.end()
        return 0

    def _take(self, token: SqlToken) -> int:
        """Add a token; returns where to go on."""
        if self._ends_batch(token):
            self._end()
            return token.end
        if token.text == "CREATE" and self._is_new(token):
            self._end()
        self._tokens.append(token)
        if token.kind == "sign":
            self._brackets += {"(": 1, ")": -1}.get(token.text, 0)
            if token.text == ";" and self._delimiter == b";" and self._brackets <= 0:
                return self._semicolon(token)
        elif token.kind == "word":
            self._word(token)
        return token.end

    def _is_new(self, token: SqlToken) -> bool:
        """Whether a CREATE begins a statement though the one before has no end."""
        is_whole = bool(self._tokens) and self._brackets <= 0 and self._made not in _ROUTINES
        return is_whole and token.kind == "word" and self._is_first(token.start)

    def _ends_batch(self, token: SqlToken) -> bool:
        if not self._batches or token.text not in ("GO", "/"):
            return False
        line = self._source.rfind(b"\n", 0, token.start) + 1
        return _BATCH_END.match(self._source, line) is not None

    def _word(self, token: SqlToken) -> None:
        word, last = token.text, self._tokens[-2].text if len(self._tokens) > 1 else ""
        self._declares = self._declares or word in _BEFORE_DECLARATIONS
        if not self._made:
            if word in OBJECTS and self._tokens[0].text in ("CREATE", "ALTER", "REPLACE"):
                self._made = word
                # A package ends with an END that no BEGIN opens.
                self._blocks += word == "PACKAGE"
        elif self._made not in _ROUTINES:
            return
        elif word in ("BEGIN", "CASE") and last != "END":
            self._blocks += 1
            self._had_block = True
        elif word == "END":
            self._blocks -= 1
        elif last == "END" and word in _INNER_ENDS:
            self._blocks += 1
        elif last == "BEGIN" and word in _NO_BLOCK:
            self._blocks -= 1

    def _semicolon(self, token: SqlToken) -> int:
        if self._made in _ROUTINES and self._goes_on(token):
            return token.end
        is_copy = self._tokens[0].text == "COPY" and any(
            one.text == "STDIN" for one in self._tokens[-3:]
        )
        self._end()
        if not is_copy:
            return token.end
        data = next((end for end in self._copy_ends if end > token.end), token.end)
        self._copy_ends = [end for end in self._copy_ends if end > data]
        return data

    def _goes_on(self, token: SqlToken) -> bool:
        """Whether a semicolon is inside of what is being made."""
        if self._blocks > 0:
            return True
        if self._had_block or self._has_text:
            return False
        if self._made in ("PACKAGE", "TYPE"):
            return False
        if any(start > token.end for start in self._batches[-1:]):
            # A batch has one procedure, to its end.
            return not any(one.kind == "string" for one in self._tokens[-3:])
        # Declarations stand before the block: `IS total NUMBER; BEGIN …`.
        return self._declares and self._next_word(token.end) == b"BEGIN"

    def _next_word(self, at: int) -> bytes:
        """The next word that begins a statement or a block; it is looked for once."""
        start, word = self._following
        if start < at:
            found = _NEXT_WORD.search(self._source, at)
            start = found.start() if found else len(self._source)
            word = found[1].upper() if found else b""
            self._following = (start, word)
        return word

    def _end(self) -> None:
        if self._tokens:
            span = Span(self._tokens[0].start, self._tokens[-1].end)
            self.statements.append(SqlStatement(span, self._tokens))
        self._forget()
