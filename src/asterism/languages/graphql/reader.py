"""GraphQL: types with their fields, operations, fragments, and the names that they use."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from asterism.analysis.syntax.spans import SpanOutline, Stretch
from asterism.analysis.syntax.text import Conventions, clean_docstring
from asterism.types.outline import Import, ImportedName, Outline, Span

_CONVENTIONS = Conventions(identifiers=frozenset(), doc_prefixes=("",), line_comment="#")
_TOKEN = re.compile(
    rb'(?P<comment>\#[^\n]*+)|(?P<string>"""(?:[^"\\]|\\.|"(?!""))*+(?:"""|\Z)|"(?:[^"\\\n]|\\.)*+"?)'
    rb"|(?P<name>[A-Za-z_]\w*+)|(?P<number>-?\d[\w.+-]*+)|(?P<sign>\.\.\.|[^\s,])",
    re.DOTALL,
)
_IMPORT = re.compile(rb"^\#[ \t]*import[ \t]+(?:[^\"'\n]*\bfrom[ \t]+)?[\"']([^\"'\n]+)[\"']")
_TYPES = {
    "type": "class",
    "interface": "interface",
    "input": "struct",
    "enum": "enum",
    "union": "union",
    "scalar": "type",
    "directive": "annotation",
}
_OPERATIONS = {"query": "Query", "mutation": "Mutation", "subscription": "Subscription"}
_KEYWORDS = _TYPES.keys() | _OPERATIONS.keys() | {"schema", "extend", "fragment"}
_NEWLINE = 0x0A
_CONSTANTS = frozenset({"true", "false", "null"})
_NO_TYPES = _CONSTANTS | _OPERATIONS.keys() | {"implements", "on", "repeatable", "schema"}
_OPENING = {"{": "}", "(": ")", "[": "]"}


class _Token(NamedTuple):
    kind: str
    start: int
    end: int
    text: str


def read(path: str, language: str, source: bytes) -> Outline:
    """The outline of a schema, or of operations."""
    tokens: list[_Token] = []
    comments: list[Span] = []
    for match in _TOKEN.finditer(source):
        if match["comment"] is not None:
            comments.append(Span(*match.span()))
        else:
            kind = match.lastgroup or "sign"
            text = match[0].decode("utf-8", "replace")
            tokens.append(_Token(kind, match.start(), match.end(), text))
    found = SpanOutline(source, _CONVENTIONS, comments)
    for comment in comments:
        _import(found, comment)
    for definition in _definitions(source, tokens):
        _define(found, definition)
    _check_brackets(found, tokens)
    return found.outline(path, language)


def _check_brackets(found: SpanOutline, tokens: Sequence[_Token]) -> None:
    """A bracket without its other half is a problem."""
    waiting: list[_Token] = []
    for token in tokens:
        if token.kind == "sign" and token.text in _OPENING:
            waiting.append(token)
            continue
        is_closing = token.kind == "sign" and token.text in _OPENING.values()
        if is_closing and (not waiting or _OPENING[waiting.pop().text] != token.text):
            found.problem(token.start, f"unexpected {token.text}")
            return
    if waiting:
        found.problem(waiting[-1].start, f"{waiting[-1].text} is not closed")


def _import(found: SpanOutline, comment: Span) -> None:
    match = _IMPORT.match(found.source[comment.start : comment.end])
    if match:
        module = match[1].decode("utf-8", "replace")
        line = found.row(comment.start) + 1
        names = (ImportedName("*"),)
        found.add_import(Import(module, names, line, line, found.text(comment), None))


def _definitions(source: bytes, tokens: Sequence[_Token]) -> Iterator[list[_Token]]:
    """The tokens of each definition: up to the next word that begins one, outside of brackets.

    At a line's beginning such a word counts inside of brackets too: they were not closed.
    """
    current: list[_Token] = []
    depth = 0
    for number, token in enumerate(tokens):
        is_first = token.start == 0 or source[token.start - 1] == _NEWLINE
        lost = depth > 0 and is_first and token.text in _KEYWORDS and not _is_field(tokens, number)
        if current and (lost or (depth == 0 and _begins(tokens, number, current))):
            yield current
            current, depth = [], 0
        current.append(token)
        if token.kind == "sign":
            depth = max(depth + (token.text in _OPENING) - (token.text in "})]"), 0)
    if current:
        yield current


def _is_field(tokens: Sequence[_Token], number: int) -> bool:
    return number + 1 < len(tokens) and tokens[number + 1].text in (":", "(", "{", "}")


def _begins(tokens: Sequence[_Token], number: int, current: Sequence[_Token]) -> bool:
    token, last = tokens[number], current[-1]
    if token.kind == "string":
        return True
    if last.kind == "string" or last.text in ("extend", "=", "|", "&", "on", ":"):
        return False
    if token.kind == "name" and token.text in _KEYWORDS:
        # `type` may also name what another keyword has just begun.
        return not (len(current) == 1 and current[0].text in _KEYWORDS)
    return token.text == "{" and last.text == "}"


def _define(found: SpanOutline, tokens: list[_Token]) -> None:
    span = Span(tokens[0].start, tokens[-1].end)
    doc = None
    at = 0
    if tokens[0].kind == "string" and len(tokens) > 1:
        doc, at = clean_docstring(tokens[0].text), 1
    extends = tokens[at].text == "extend" and at + 1 < len(tokens)
    at += extends
    word = tokens[at].text if tokens[at].kind == "name" else ""
    name_at = at + 1 + (word == "directive")
    name = tokens[name_at] if name_at < len(tokens) else None
    kind = _TYPES.get(word) or {"fragment": "macro"}.get(word, "function")
    known = word in _TYPES or word in _OPERATIONS or word == "fragment"
    if not known or name is None or name.kind != "name":
        number = found.root("directive" if word == "schema" else "expression", span)
        _body(found, tokens[at:], number, word)
        return
    brace = next((n for n in range(name_at, len(tokens)) if tokens[n].text == "{"), len(tokens))
    body = Span(tokens[brace].start, span.end) if brace < len(tokens) else None
    number = found.define(
        Stretch(
            "extension" if extends else kind,
            name.text,
            span,
            name_offset=name.start,
            body=body,
            signature=found.text(
                Span(tokens[at - extends].start, body.start if body else span.end)
            ),
            doc=doc,
            declared=tokens[at - extends].start,
        )
    )
    if extends:
        found.mention(name.text, name.start, None, None)
    _body(found, tokens[name_at + 1 :], number, word)


def _body(found: SpanOutline, tokens: list[_Token], number: int, word: str) -> None:
    brace = next((n for n, token in enumerate(tokens) if token.text == "{"), len(tokens))
    head, inside = tokens[:brace], tokens[brace + 1 :]
    if word == "directive":
        # Behind `on` are the places where it may be used.
        head = head[: next((n for n, token in enumerate(head) if token.text == "on"), len(head))]
    if word in _TYPES:
        _types(found, head, number)
        if word == "enum":
            _values(found, inside, number)
        else:
            _fields(found, inside, number)
    elif word == "schema":
        _types(found, inside, number)
    else:
        on = next(
            (b.text for a, b in pairwise(head) if a.text == "on"), _OPERATIONS.get(word, "Query")
        )
        _types(found, head, number)
        _selection(found, inside, number, on)


def _types(found: SpanOutline, tokens: Sequence[_Token], number: int) -> None:
    """Names of types and directives; not those of arguments and variables."""
    for n, token in enumerate(tokens):
        before = tokens[n - 1].text if n else ""
        after = tokens[n + 1].text if n + 1 < len(tokens) else ""
        if token.kind != "name" or before == "$" or after == ":":
            continue
        if token.text not in _NO_TYPES:
            found.mention(token.text, token.start, None, number)


def _elements(tokens: Sequence[_Token]) -> Iterator[list[_Token]]:
    """Fields or values, each with its description, up to the closing brace."""
    current: list[_Token] = []
    depth = 0
    for n, token in enumerate(tokens):
        if depth == 0 and token.text == "}":
            break
        after = tokens[n + 1].text if n + 1 < len(tokens) else ""
        last = current[-1] if current else None
        is_value = last is not None and last.text in (":", "=", "@", "|", "&")
        begins = token.kind == "string" or (token.kind == "name" and after in (":", "("))
        behind_text = last is not None and last.kind == "string" and len(current) == 1
        if depth == 0 and current and begins and not is_value and not behind_text:
            yield current
            current = []
        current.append(token)
        depth += (token.text in _OPENING) - (token.text in "})]" and token.kind == "sign")
    if current:
        yield current


def _fields(found: SpanOutline, tokens: Sequence[_Token], parent: int) -> None:
    for element in _elements(tokens):
        doc = clean_docstring(element[0].text) if element[0].kind == "string" else None
        rest = element[1:] if element[0].kind == "string" else element
        if not rest or rest[0].kind != "name":
            continue
        has_arguments = len(rest) > 1 and rest[1].text == "("
        span = Span(element[0].start, element[-1].end)
        number = found.define(
            Stretch(
                "method" if has_arguments else "property",
                rest[0].text,
                span,
                parent,
                rest[0].start,
                signature=found.text(Span(rest[0].start, span.end)),
                doc=doc,
                declared=rest[0].start,
            )
        )
        _types(found, rest[1:], number)


def _values(found: SpanOutline, tokens: Sequence[_Token], parent: int) -> None:
    doc: _Token | None = None
    depth = 0
    for n, token in enumerate(tokens):
        depth += (token.text in _OPENING) - (token.text in "})]" and token.kind == "sign")
        if depth < 0:
            return
        if token.kind == "string":
            doc = token
        elif token.kind == "name" and depth == 0 and (n == 0 or tokens[n - 1].text != "@"):
            start = doc.start if doc else token.start
            text = clean_docstring(doc.text) if doc else None
            found.define(
                Stretch(
                    "enum_member",
                    token.text,
                    Span(start, token.end),
                    parent,
                    token.start,
                    signature=token.text,
                    doc=text,
                    declared=token.start,
                )
            )
            doc = None


def _selection(found: SpanOutline, tokens: Sequence[_Token], number: int, on: str) -> None:
    """The fields that an operation asks for, each on the type or field around it."""
    owners = [on]
    field = on
    arguments = 0
    for n, token in enumerate(tokens):
        before = tokens[n - 1].text if n else ""
        after = tokens[n + 1].text if n + 1 < len(tokens) else ""
        if token.kind == "sign":
            arguments += (token.text == "(") - (token.text == ")")
            if token.text == "{" and not arguments:
                owners.append(field)
            elif token.text == "}" and not arguments and len(owners) > 1:
                owners.pop()
            continue
        if token.kind != "name" or before == "$" or after == ":":
            # What is before a colon is another name for the field, or an argument's.
            continue
        if before == "..." and token.text != "on":
            found.mention(token.text, token.start, None, number)
        elif before == "on" and n > 1 and tokens[n - 2].text == "...":
            found.mention(token.text, token.start, None, number)
            field = token.text
        elif before == "@":
            found.mention(token.text, token.start, None, number)
        elif arguments:
            if token.text not in _CONSTANTS:
                found.mention(token.text, token.start, None, number)
        elif token.text != "on" or before != "...":
            found.mention(token.text, token.start, owners[-1], number)
            field = token.text
