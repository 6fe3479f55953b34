"""SQL: tables with their columns, views, functions, indexes; uses of tables and functions."""

from collections.abc import Iterator, Sequence

from asterism.analysis.syntax.spans import SpanOutline, Stretch
from asterism.analysis.syntax.text import WINDOW_LINES, Conventions
from asterism.languages.sql.tokens import OBJECTS, SqlStatement, SqlToken, script_of
from asterism.languages.sql.uses import mention_uses
from asterism.types.outline import Outline, Span

_CONVENTIONS = Conventions(identifiers=frozenset(), doc_prefixes=("",), line_comment="--")

_KINDS = {
    "TABLE": "table",
    "VIEW": "view",
    "INDEX": "index",
    "FUNCTION": "function",
    "AGGREGATE": "function",
    "PROCEDURE": "function",
    "PROC": "function",
    "TRIGGER": "function",
    "EVENT": "function",
    "PACKAGE": "module",
    "TYPE": "type",
    "DOMAIN": "type",
    "SYNONYM": "type",
    "MACRO": "macro",
    "SEQUENCE": "variable",
    "SCHEMA": "namespace",
}
# Words before the kind that say more about it.
_MODIFIERS = frozenset(
    {"TEMP", "TEMPORARY", "MATERIALIZED", "UNIQUE", "RECURSIVE", "VIRTUAL", "EXTERNAL", "FOREIGN"}
)
# Kinds that the database has by another name than ours.
_SAID = {"PROCEDURE": "procedure", "PROC": "procedure", "TRIGGER": "trigger", "EVENT": "event"}
# An element of a table's list that begins so is no column.
_NO_COLUMN = frozenset(
    {
        *("PRIMARY", "FOREIGN", "UNIQUE", "CONSTRAINT", "CHECK", "INDEX", "KEY", "EXCLUDE", "LIKE"),
        *("PERIOD", "FULLTEXT", "SPATIAL", "INHERITS", "SUPPLEMENTAL", "PROJECTION"),
    }
)
_BEFORE_NAME = frozenset({"IF", "NOT", "EXISTS", "CONCURRENTLY", "BODY", "ONLY"})
_BODY = frozenset({"AS", "IS", "BEGIN"})
# Rows of data in statements that follow each other are one item.
_DATA = frozenset({"INSERT", "REPLACE", "MERGE"})


def read(path: str, language: str, source: bytes) -> Outline:
    """The outline of a script."""
    script = script_of(source)
    found = SpanOutline(source, _CONVENTIONS, script.comments)
    for group in _groups(found, script.statements):
        first = group[0]
        number = _created(found, first) if len(group) == 1 else None
        if number is None:
            span = Span(first.span.start, group[-1].span.end)
            number = found.root("expression", span)
        for statement in group:
            mention_uses(found, statement.tokens, number)
            _check_strings(found, statement)
    return found.outline(path, language)


def _check_strings(found: SpanOutline, statement: SqlStatement) -> None:
    """A text without its end is a problem; it can only be the last token of a file."""
    last = statement.tokens[-1]
    if last.kind == "string" and found.source[last.start : last.end].count(b"'") % 2:
        found.problem(last.start, "a string is not closed")
    depth = sum(
        {"(": 1, ")": -1}.get(one.text, 0) for one in statement.tokens if one.kind == "sign"
    )
    if depth:
        found.problem(statement.span.start, "brackets do not match")


def _groups(found: SpanOutline, statements: Sequence[SqlStatement]) -> Iterator[list[SqlStatement]]:
    """Statements one by one; those that only add rows, or share a line, together."""
    group: list[SqlStatement] = []
    for statement in statements:
        if group and not _joins(found, group, statement):
            yield group
            group = []
        group.append(statement)
    if group:
        yield group


def _joins(found: SpanOutline, group: list[SqlStatement], statement: SqlStatement) -> bool:
    words = {one.tokens[0].text for one in (group[0], statement)}
    last, row = found.row(group[-1].span.end), found.row(statement.span.start)
    if row - last > 1 or "CREATE" in words:
        return False
    is_data = len(words) == 1 and words <= _DATA
    rows = found.row(statement.span.end) - found.row(group[0].span.start)
    return last == row or (is_data and rows < WINDOW_LINES)


def _created(found: SpanOutline, statement: SqlStatement) -> int | None:
    """The symbol of a `CREATE …`, or of an `ALTER …` that makes it anew; None for any other."""
    tokens = statement.tokens
    if tokens[0].text not in ("CREATE", "ALTER") or tokens[0].kind != "word":
        return None
    at = next((n for n, token in enumerate(tokens) if token.text in OBJECTS), 0)
    if tokens[0].text == "ALTER" and not _redefines(tokens, at):
        return None
    kind = _KINDS.get(tokens[at].text)
    name_at = _name_at(tokens, at + 1)
    if kind is None or name_at is None:
        return None
    said = [token.text.lower() for token in tokens[1:at] if token.text in _MODIFIERS]
    said += [_SAID[tokens[at].text]] if tokens[at].text in _SAID else []
    members = _list_after(tokens, name_at) if kind == "table" else None
    values = _enum_values(tokens, name_at) if kind == "type" else None
    name = tokens[name_at]
    number = found.define(
        Stretch(
            kind="enum" if values is not None else kind,
            name=_text(found, name),
            span=statement.span,
            name_offset=name.start,
            body=_body(statement, kind, members or values, name_at),
            modifiers=tuple(said),
        )
    )
    for element in members or ():
        _column(found, element, number)
    for value in values or ():
        literal = value[0]
        text = found.text(Span(literal.start + 1, max(literal.end - 1, literal.start + 1)))
        span = Span(literal.start, literal.end)
        found.define(Stretch("enum_member", text, span, number, literal.start))
    return number


def _redefines(tokens: Sequence[SqlToken], at: int) -> bool:
    """Whether an ALTER has the whole text of a routine or a view, as in Transact-SQL."""
    if _KINDS.get(tokens[at].text) not in ("function", "view"):
        return False
    return any(one.text == "AS" and one.kind == "word" for one in tokens[at + 2 :])


def _name_at(tokens: Sequence[SqlToken], at: int) -> int | None:
    """The last part of a name such as `sales.orders`."""
    while at < len(tokens) and tokens[at].text in _BEFORE_NAME and tokens[at].kind == "word":
        at += 1
    if at >= len(tokens) or tokens[at].kind not in ("word", "quoted") or tokens[at].text == "ON":
        return None
    while at + 2 < len(tokens) and tokens[at + 1].text == ".":
        if tokens[at + 2].kind not in ("word", "quoted"):
            break
        at += 2
    return at


def _text(found: SpanOutline, token: SqlToken) -> str:
    return token.text if token.kind == "quoted" else found.text(Span(token.start, token.end))


def _list_after(tokens: Sequence[SqlToken], at: int) -> list[list[SqlToken]] | None:
    """The elements of the list in brackets directly behind a name."""
    if at + 1 >= len(tokens) or tokens[at + 1].text != "(":
        return None
    elements: list[list[SqlToken]] = [[]]
    depth = 0
    for token in tokens[at + 1 :]:
        if token.kind == "sign" and token.text in "()":
            depth += 1 if token.text == "(" else -1
            if depth == 0:
                break
            if depth == 1 and token.text == "(":
                continue
        if token.text == "," and token.kind == "sign" and depth == 1:
            elements.append([])
        else:
            elements[-1].append(token)
    return [element for element in elements if element]


def _enum_values(tokens: Sequence[SqlToken], at: int) -> list[list[SqlToken]] | None:
    """The values of `AS ENUM ('a', 'b')`."""
    for number, token in enumerate(tokens[at : at + 4], at):
        if token.text == "ENUM":
            values = _list_after(tokens, number) or []
            return [value for value in values if value[0].kind == "string"]
    return None


def _column(found: SpanOutline, element: list[SqlToken], table: int) -> None:
    name = element[0]
    if name.kind not in ("word", "quoted") or (name.kind == "word" and name.text in _NO_COLUMN):
        return
    if len(element) < 2:
        # A list of names alone is that of a view or of an index.
        return
    span = Span(name.start, element[-1].end)
    found.define(Stretch("property", _text(found, name), span, table, name.start))


def _body(
    statement: SqlStatement, kind: str, elements: list[list[SqlToken]] | None, name_at: int
) -> Span | None:
    """What is behind the head: the list of a table, the text of a function, the query of a view."""
    tokens = statement.tokens
    end = statement.span.end
    if elements:
        return Span(tokens[name_at + 1].start, end)
    if kind not in ("function", "module", "view", "macro"):
        return None
    depth, returns = 0, None
    for token in tokens[name_at:]:
        if token.kind == "sign":
            depth += {"(": 1, ")": -1}.get(token.text, 0)
        elif depth == 0 and (token.text in _BODY or token.kind == "dollar"):
            return Span(token.start, end)
        elif depth == 0 and token.text == "RETURN" and returns is None:
            # In Oracle the type follows, elsewhere the value.
            returns = Span(token.start, end)
    return returns
