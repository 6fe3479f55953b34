"""Which tables, columns and functions a statement names."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from asterism.analysis.syntax.spans import SpanOutline
from asterism.languages.sql.tokens import SqlToken, tokens_in
from asterism.types.outline import Span

# A table is named behind these.
_BEFORE_TABLE = frozenset(
    {"FROM", "JOIN", "INTO", "UPDATE", "TABLE", "REFERENCES", "ON", "TRUNCATE", "LIKE", "ONLY"}
)
# A routine is named behind these, brackets or not.
_BEFORE_ROUTINE = frozenset({"CALL", "EXEC", "EXECUTE", "PERFORM", "FUNCTION", "PROCEDURE"})
# What may be written between both.
_BETWEEN = frozenset({"IF", "NOT", "EXISTS", "ONLY", "LATERAL", "FUNCTION", "PROCEDURE", "IGNORE"})
# Words of the language that brackets may follow.
_WORDS = frozenset(
    b"""
    ACTION ADD ALL ALTER ANALYZE AND ANY ARRAY AS ASC BEGIN BETWEEN BIGINT BIT BY CALL CASCADE
    CASE CAST CHAR CHARACTER CHECK COALESCE COLLATE COLUMN COMMENT CONSTRAINT COPY COUNT
    CREATE CROSS CURRENT_DATE CURRENT_TIMESTAMP DATE DATETIME DECIMAL DECLARE DEFAULT DELETE
    DESC DISTINCT DO DOUBLE DROP EACH ELSE ELSEIF ELSIF END ENUM EXCEPT EXEC EXECUTE EXISTS
    EXTRACT FETCH FILTER FLOAT FOR FOREIGN FROM FULL FUNCTION GRANT GROUP HAVING IDENTITY IF
    IN INDEX INNER INSERT INT INTEGER INTERSECT INTERVAL INTO IS JOIN KEY LATERAL LEFT LIKE
    LIMIT LOCKED LOOP MATCH MAX MERGE MIN NATURAL NCHAR NO NOT NOWAIT NULL NULLIF NUMBER
    NUMERIC NVARCHAR OF OFFSET ON ONLY OR ORDER OUTER OVER PARTITION PRIMARY PRIVILEGES
    PROCEDURE REFERENCES RETURN RETURNING RETURNS REVOKE RIGHT ROW ROWS SELECT SEQUENCE SET
    SETOF SKIP SMALLINT SOME STDIN STDOUT SUM TABLE TEXT THEN TIME TIMESTAMP TINYINT TO
    TRIGGER TRUNCATE UNION UNIQUE UPDATE USING VALUES VARBINARY VARCHAR VARCHAR2 VARYING VIEW
    WHEN WHERE WHILE WINDOW WITH WITHIN
    """.decode().split()
)
# What may follow a table and is no other name for it.
_AFTER = frozenset({"USE", "TABLESAMPLE", "PIVOT", "QUALIFY", "OVERRIDING", "ENABLE", "DISABLE"})
_NAMES = ("word", "quoted")


def mention_uses(found: SpanOutline, tokens: Sequence[SqlToken], number: int) -> None:
    """Record the uses of one statement, those in the text of a function included."""
    aliases: dict[str, str] = {}
    bound = _bound(found, tokens)
    plain = [token for token in tokens if token.kind != "dollar"]
    _mention(found, plain, number, bound, aliases)
    for before, token in pairwise(tokens):
        is_text = token.kind == "string" and before.text == "AS" and _makes_routine(tokens)
        if token.kind == "dollar" or is_text:
            inner = list(tokens_in(found.source, _inside(found, token)))
            _mention(found, inner, number, bound | _bound(found, inner), aliases)


def _makes_routine(tokens: Sequence[SqlToken]) -> bool:
    return any(token.text in ("FUNCTION", "PROCEDURE") for token in tokens[:8])


def _inside(found: SpanOutline, token: SqlToken) -> Span:
    if token.kind == "string":
        return Span(token.start + 1, max(token.end - 1, token.start + 1))
    mark = found.source.index(b"$", token.start + 1) + 1 - token.start
    return Span(token.start + mark, max(token.end - mark, token.start + mark))


def _bound(found: SpanOutline, tokens: Sequence[SqlToken]) -> set[str]:
    """The names of queries: `WITH recent AS (…)`."""
    names = set()
    has_with = any(token.text == "WITH" and token.kind == "word" for token in tokens)
    for name, word, sign in zip(tokens, tokens[1:], tokens[2:], strict=False) if has_with else ():
        if word.text == "AS" and sign.text in ("(", "MATERIALIZED", "NOT") and name.kind in _NAMES:
            names.add(_text(found, name))
    return names


def _mention(
    found: SpanOutline,
    tokens: Sequence[SqlToken],
    number: int,
    bound: Iterable[str],
    aliases: dict[str, str],
) -> None:
    at, wants, joins = 0, "", False
    dotted: list[tuple[str, str, int]] = []
    while at < len(tokens):
        token = tokens[at]
        word = token.text if token.kind == "word" else ""
        if word in _BEFORE_TABLE or word in _BEFORE_ROUTINE:
            joins = joins or word == "JOIN"
            # Behind a join a condition follows, elsewhere the table of an index or a trigger.
            wants, at = "" if word == "ON" and joins else word, at + 1
            continue
        if token.kind not in _NAMES or (word in _WORDS and not _is_dotted(tokens, at)):
            # A list goes on behind a comma; anything else ends what may follow the word.
            wants = wants if word in _BETWEEN or (token.text == "," and wants == "FROM") else ""
            at += 1
            continue
        end = at
        while _is_dotted(tokens, end) and end + 2 < len(tokens) and tokens[end + 2].kind in _NAMES:
            end += 2
        name, last = _text(found, tokens[end]), tokens[end]
        follows = tokens[end + 1].text if end + 1 < len(tokens) else ""
        if wants in _BEFORE_TABLE:
            found.mention(name, last.start, None, number, name in bound)
            end = _alias(found, tokens, end, name, aliases)
            wants = "FROM" if wants == "FROM" else ""
        elif wants or (follows == "(" and last.kind == "word"):
            found.mention(name, last.start, None, number)
            wants = ""
        elif end > at:
            dotted.append((name, _text(found, tokens[end - 2]), last.start))
        at = end + 1
    for name, receiver, start in dotted:
        found.mention(name, start, aliases.get(receiver, receiver), number)


def _alias(
    found: SpanOutline, tokens: Sequence[SqlToken], end: int, table: str, aliases: dict[str, str]
) -> int:
    """`orders o` and `orders AS o` give the table another name; returns what was read of it."""
    at = end + 1
    if at < len(tokens) and tokens[at].text == "AS":
        at += 1
    if at >= len(tokens) or tokens[at].kind not in _NAMES:
        return end
    if tokens[at].kind == "word" and (tokens[at].text in _WORDS or tokens[at].text in _AFTER):
        return end
    aliases[_text(found, tokens[at])] = table
    return at


def _is_dotted(tokens: Sequence[SqlToken], at: int) -> bool:
    return at + 1 < len(tokens) and tokens[at + 1].text == "." and tokens[at + 1].kind == "sign"


def _text(found: SpanOutline, token: SqlToken) -> str:
    return token.text if token.kind == "quoted" else found.text(Span(token.start, token.end))
