"""Rewrites, byte for byte, valid constructs that the grammars misread, so that a second parse works.

Only a text whose first parse has errors comes here. A rewrite keeps every line and offset, and names
and texts are taken from the source itself; so a rewrite in a comment or a string changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple, TypeAlias


def repaired(source: bytes) -> bytes:
    """The text with all known constructs rewritten, of the same length and with the same lines."""
    text = _Text(source)
    for index, token in enumerate(text.tokens):
        for rule in _RULES.get(token.text, ()):
            rule(text, index)
        if token.kind == "template":
            _escapes(text, index)
        elif token.is_first and token.text.startswith(b"in"):
            _like_operator(text, index)
        elif token.kind == "value" and b"&" in token.text and text.word(index - 1) == b"=":
            # In an attribute it may begin no character reference.
            text.replace(index, token.text.replace(b"&", b"_"))
    return _ATTRIBUTE.sub(_underscores, bytes(text.result))


class _Token(NamedTuple):
    kind: str
    """`name`, `value` for a number, string or regular expression, `template` or `sign`."""
    text: bytes
    start: int
    end: int
    is_first: bool
    """Whether a line begins between it and the token before it."""


# In the text of an element an apostrophe may stand in a word; elsewhere no string follows one.
_TOKEN = re.compile(
    rb"""(?P<space>\s+|//[^\n]*|/\*.*?(?:\*/|\Z)|\A\#![^\n]*)
    |(?P<name>\#?[A-Za-z_$\x80-\xff][\w$\x80-\xff]*(?:'(?:t|s|re|ll|ve|m|d)\b(?!'))?)
    |(?P<value>\d[\w.]*|"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?)
    |(?P<sign>=>|\.\.\.|\?\.|.)""",
    re.DOTALL | re.VERBOSE,
)
_TEMPLATE = re.compile(rb"(?:[^`\\$]|\\.|\$(?!\{))*(?:`|\$\{|\Z)", re.DOTALL)
_REGEX = re.compile(rb"/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/\w*")

_CLOSERS = {b")": b"(", b"]": b"[", b"}": b"{"}

# Behind one of these an expression or a type has not ended, although they are words.
_OPERATORS = frozenset(
    b"as asserts await case delete do else extends implements in infer instanceof is keyof new of "
    b"readonly return satisfies throw typeof unique yield".split()
)

# Longer lists are not written by people, and are not looked through.
_LIST_TOKENS = 500


class _Text:
    """The tokens of a text, the brackets that belong together, and the rewritten text."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.result = bytearray(source)
        self.tokens: list[_Token] = []
        self.closing: dict[int, int] = {}
        """Where a bracket's partner is, by the index of the opening token; `<` has one too."""
        self.around: list[int] = []
        """The innermost bracket that is open before each token, or -1."""
        self._read()

    def _read(self) -> None:
        """One pass. What does not fit together stays open; the text may not be valid at all."""
        source, tokens, opened = self.source, self.tokens, list[int]()
        angles: list[list[int]] = [[]]
        at, is_first, no_regex = 0, True, 0
        while at < len(source):
            found = _TOKEN.match(source, at)
            assert found is not None
            kind, start, at = found.lastgroup or "sign", at, found.end()
            if kind == "space":
                is_first = is_first or b"\n" in found.group()
                continue
            text = found.group()
            if text == b"/" and start >= no_regex and not self.ends_value(len(tokens) - 1):
                regex = _REGEX.match(source, start)
                if regex is not None:
                    kind, at = "value", regex.end()
                else:
                    # Another look at the same line would find no more, and take its time.
                    no_regex = source.find(b"\n", start) + 1 or len(source)
            resumes = text == b"}" and bool(opened) and tokens[opened[-1]].kind == "template"
            if text == b"`" or resumes:
                rest = _TEMPLATE.match(source, at)
                kind, at = "template", at if rest is None else rest.end()
            if opened and (resumes or tokens[opened[-1]].text == _CLOSERS.get(text)):
                self.closing[opened.pop()] = len(tokens)
                angles.pop()
            self.around.append(opened[-1] if opened else -1)
            text = source[start:at]
            if text == b"<":
                angles[-1].append(len(tokens))
            elif text == b">" and angles[-1]:
                self.closing[angles[-1].pop()] = len(tokens)
            elif text == b";":
                angles[-1].clear()
            elif text in (b"(", b"[", b"{") or (kind == "template" and text.endswith(b"${")):
                opened.append(len(tokens))
                angles.append([])
            tokens.append(_Token(kind, text, start, at, is_first))
            is_first = False

    def word(self, index: int) -> bytes:
        """The text of a token; empty outside of the file."""
        return self.tokens[index].text if 0 <= index < len(self.tokens) else b""

    def is_name(self, index: int) -> bool:
        """Whether there is a word at an index."""
        return 0 <= index < len(self.tokens) and self.tokens[index].kind == "name"

    def is_first(self, index: int) -> bool:
        """Whether a token is the first of a line; so is the end of the file."""
        return index >= len(self.tokens) or self.tokens[index].is_first

    def ends_value(self, index: int) -> bool:
        """Whether a value or a type can end with a token."""
        if not 0 <= index < len(self.tokens):
            return False
        token = self.tokens[index]
        if token.kind == "name":
            return token.text not in _OPERATORS
        if token.kind == "template":
            return token.text.endswith(b"`")
        return token.kind == "value" or token.text in (b")", b"]", b"}", b">")

    def end(self, index: int) -> int | None:
        """The token that closes the bracket at an index, unless it is too far away."""
        found = self.closing.get(index)
        return None if found is None or found - index > _LIST_TOKENS else found

    def blank(self, first: int, last: int) -> None:
        """Put spaces in place of some tokens; their lines stay."""
        start, end = self.tokens[first].start, self.tokens[last].end
        self.result[start:end] = _VISIBLE.sub(b" ", self.result[start:end])

    def replace(self, index: int, text: bytes) -> None:
        """Put another word in place of a token."""
        start, end = self.tokens[index].start, self.tokens[index].end
        self.result[start:end] = text.ljust(end - start)

    def end_statement(self, index: int) -> None:
        """Put a semicolon before a token, in place of a blank."""
        start, end = self.tokens[index - 1].end, self.tokens[index].start
        for place in (end - 1, start):
            if start <= place < end and self.source[place] in b" \t\r":
                self.result[place] = ord(";")
                return


_VISIBLE = re.compile(rb"[^\n]")


def _call_signature(text: _Text, index: int) -> None:
    """`<T>(…)` on a line of its own in a type, behind a member that ends without a semicolon."""
    if not text.is_first(index) or not text.ends_value(index - 1):
        return
    end = text.closing.get(index)
    if end is not None and text.word(end + 1) == b"(" and text.word(text.around[index]) == b"{":
        text.end_statement(index)


def _generator(text: _Text, index: int) -> None:
    """`*items() {` on a line of its own in a class, behind a field without a semicolon."""
    name = index + 1
    if text.word(name) == b"[":
        name = text.end(name) or name
    parameters = text.end(name + 1) if text.word(name + 1) == b"(" else None
    if parameters is None or not text.is_first(index) or not text.ends_value(index - 1):
        return
    if text.word(parameters + 1) in (b"{", b":") and text.word(text.around[index]) == b"{":
        text.end_statement(index)


def _like_operator(text: _Text, index: int) -> None:
    """A name such as `in` or `in2` first in a line, which the grammar takes for the operator."""
    name = text.word(index)
    is_member = name in (b"in", b"instanceof") and text.word(index + 1) in (b":", b"?")
    if is_member or _LIKE_IN.match(name):
        text.replace(index, b"_" + name[1:])


_LIKE_IN = re.compile(rb"in(?:stanceof)?[^A-Za-z]")


def _as_name(text: _Text, index: int) -> None:
    """`as` as a name: behind the operator comes a type."""
    declares = text.word(index - 1) in (b"const", b"let", b"var")
    if declares or text.word(index + 1) in (b"=", b".", b",", b")", b"]", b"}", b";", b":"):
        text.replace(index, b"_s")


def _variance(text: _Text, index: int) -> None:
    """`in` and `out` before a type parameter."""
    before, after = text.word(index - 1), text.word(index + 1)
    if before in (b"<", b",", b"in", b"const") and text.is_name(index + 1):
        if after not in _AFTER_NAMES:
            text.blank(index, index)


_AFTER_NAMES = frozenset((b"as", b"extends", b"in", b"instanceof", b"of", b"satisfies"))


def _keys_of_list(text: _Text, index: int) -> None:
    """`keyof readonly [A, B]`."""
    if text.word(index + 1) == b"readonly":
        text.blank(index + 1, index + 1)


def _type_only(text: _Text, index: int) -> None:
    """`export type * from …`, `export import type x = …`, `import defer * as x from …`."""
    words = text.word(index + 1), text.word(index + 2)
    if words in ((b"type", b"*"), (b"defer", b"*")):
        text.blank(index + 1, index + 1)
    elif words == (b"import", b"type"):
        text.blank(index + 2, index + 2)


def _default_signature(text: _Text, index: int) -> None:
    """`export default function (…): T;`, a signature without a name, becomes one with a name."""
    keyword = index + 3 if text.word(index + 2) == b"async" else index + 2
    if text.word(index + 1) != b"default" or text.word(keyword) != b"function":
        return
    parameters = keyword + 1
    if text.word(parameters) == b"<":
        parameters = text.closing.get(parameters, len(text.tokens)) + 1
    start, end = text.tokens[index + 1].start, text.tokens[keyword].end
    if text.word(parameters) == b"(" and not _has_body(text, parameters):
        if b"\n" not in text.source[start:end]:
            text.result[start:end] = b"function ".ljust(end - start, b"_")


def _has_body(text: _Text, parameters: int) -> bool:
    """Whether a block follows the parameters and the type of a function."""
    at = text.closing.get(parameters, len(text.tokens)) + 1
    while at < len(text.tokens):
        word = text.word(at)
        if word == b"{" and text.ends_value(at - 1):
            return True
        if word in (b";", b"export", b"import"):
            return False
        at = text.closing.get(at, at) + 1
    return False


def _using(text: _Text, index: int) -> None:
    """`using` as a name; with a type or in a loop, `using x` becomes `const x`."""
    if not text.is_name(index + 1) or text.is_first(index + 1):
        text.replace(index, b"_sing")
        return
    is_awaited = text.word(index - 1) == b"await"
    first = index - 1 if is_awaited else index
    if text.word(index + 2) == b":" or text.word(first - 1) == b"(":
        text.blank(first, index)
        text.replace(first, b"const")


def _import_type(text: _Text, index: int) -> None:
    """`import('x').Y` as a type, in places where the grammar only knows names."""
    end = text.end(index + 1) if text.word(index + 1) == b"(" else None
    before = text.word(index - 1)
    is_query = before == b"typeof" and text.word(index - 2) == b"<"
    if end is None or before == b"await" or not (is_query or text.word(end + 1) == b"."):
        return
    after = end + 1
    while text.word(after) == b"." and text.is_name(after + 1):
        after += 2
    is_generic = text.word(after) == b"<" and after in text.closing
    around = text.around[index]
    is_argument = text.word(around) == b"{" and text.word(around - 1) == b"<"
    is_type = is_argument or is_query or before in _BEFORE_TYPES
    if text.word(after) == b"(":
        return
    if is_generic or is_type or text.word(after) == b"[":
        text.blank(index + 1, end)
        text.result[text.tokens[index].start] = ord("_")


_BEFORE_TYPES = frozenset((b"(", b"|", b"&", b"keyof", b"readonly", b"extends", b"implements"))


def _optional_element(text: _Text, index: int) -> None:
    """`['a'?]`: an optional element of a tuple."""
    in_brackets = text.word(text.around[index]) == b"["
    if in_brackets and text.word(index + 1) in (b",", b"]") and text.ends_value(index - 1):
        text.blank(index, index)


def _type_arguments(text: _Text, index: int) -> None:
    """Type arguments of a template, and those that begin with type parameters: `<<T>(…) => T>`."""
    end = text.end(index)
    if end is None:
        return
    start = text.tokens[index].start
    if text.word(index - 1) == b"<" and text.tokens[index - 1].end == start:
        if text.word(end + 1) == b"(":
            text.blank(index, end)
    elif text.word(end + 1).startswith(b"`") and text.is_name(index - 1):
        if not _NAMES.fullmatch(text.source, start + 1, text.tokens[end].start):
            text.blank(index, end)


_NAMES = re.compile(rb"[\w$.,\s]*")


def _accessor(text: _Text, index: int) -> None:
    """`accessor` with a private name or behind a modifier, and as a name itself."""
    after = text.word(index + 1)
    if after in _BEHIND_NAMES or text.is_first(index + 1):
        text.replace(index, b"_ccessor")
    elif after.startswith(b"#") or text.word(index - 1) in _MODIFIERS:
        text.blank(index, index)


def _abstract(text: _Text, index: int) -> None:
    """`abstract` as the name of a member."""
    if text.word(index + 1) in _BEHIND_NAMES:
        text.replace(index, b"_bstract")


_BEHIND_NAMES = frozenset((b"(", b":", b";", b"=", b"?", b"}"))
_MODIFIERS = frozenset(b"abstract override private protected public readonly static".split())


def _attributes(text: _Text, index: int) -> None:
    """`assert { … }` behind a module, which is `with { … }` today."""
    if text.word(index + 1) == b"{" and text.word(index - 1)[:1] in (b"'", b'"'):
        text.replace(index, b"with")


def _decorator(text: _Text, index: int) -> None:
    """`@((…) => …)`: a decorator that is more than names and calls."""
    end = text.end(index + 1) if text.word(index + 1) == b"(" else None
    if end is not None and (text.word(index + 2) == b"(" or text.word(index + 3) == b"=>"):
        text.blank(index, end)


def _escapes(text: _Text, index: int) -> None:
    """Escapes in templates: a type has none, and a tagged template may have any."""
    token = text.tokens[index]
    for found in _ESCAPE.finditer(text.source, token.start, token.end):
        text.result[found.start() : found.end()] = b"__"


_ESCAPE = re.compile(rb"\\[^\n]")

_Rule: TypeAlias = Callable[[_Text, int], None]
_RULES: dict[bytes, tuple[_Rule, ...]] = {
    b"<": (_call_signature, _type_arguments),
    b"*": (_generator,),
    b"?": (_optional_element,),
    b"@": (_decorator,),
    b"in": (_variance,),
    b"out": (_variance,),
    b"keyof": (_keys_of_list,),
    b"export": (_type_only, _default_signature),
    b"import": (_type_only, _import_type),
    b"using": (_using,),
    b"accessor": (_accessor,),
    b"abstract": (_abstract,),
    b"assert": (_attributes,),
    b"as": (_as_name,),
}

# Attributes with the name of a keyword, such as `class=`. In no other code is a keyword assigned to.
_ATTRIBUTE = re.compile(
    rb"(?<=[\s\"'}])(?:case|class|default|for|in|new|this|with)(?=\s?=\s?[\"'{])"
)


def _underscores(found: re.Match[bytes]) -> bytes:
    return b"_" * len(found.group())
