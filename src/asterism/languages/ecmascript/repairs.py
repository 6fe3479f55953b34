"""Rewrites valid constructs that the grammars misread, so that a second parse understands them.

Only a text whose first parse has errors comes here. A rewrite keeps every line and offset, and
names are taken from the source itself, so that one in a comment or a string changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple, TypeAlias


def repaired(source: bytes) -> bytes:
    """The text with all known constructs rewritten, byte for byte."""
    text = _Text(source)
    for index, token in enumerate(text.tokens):
        for rule in _RULES.get(token.text, ()):
            rule(text, index)
        if token.kind == "template":
            _escapes(text, token)
        elif token.kind == "value" and b"&" in token.text and text.word(index - 1) == b"=":
            # In the text of an attribute it looks like the start of a character reference.
            text.put(token.start, token.text.replace(b"&", b"_"))
        elif _LIKE_IN.match(token.text):
            text.put(token.start, b"_")
    return _ATTRIBUTE.sub(lambda found: b"_" * len(found.group()), bytes(text.result))


# A name such as `in2`, first in a line, is taken for the operator `in`.
_LIKE_IN = re.compile(rb"in(?:stanceof)?[^A-Za-z]")
# Attributes with the name of a keyword, as `class=`. In no other place is a keyword assigned to.
_ATTRIBUTE = re.compile(
    rb"(?<=[\s\"'}])(?:case|class|default|for|in|new|this|with)(?=\s?=\s?[\"'{])"
)


class _Token(NamedTuple):
    kind: str
    """`name`, `value` for a number, string or regular expression, `template` or `sign`."""
    text: bytes
    start: int
    end: int
    is_first: bool
    """Whether a line begins between it and the token before it."""


# In the text of an element a word may have an apostrophe; elsewhere no string follows a word.
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

    def put(self, start: int, text: bytes) -> None:
        """Put other bytes in a place."""
        self.result[start : start + len(text)] = text

    def blank(self, first: int, last: int) -> None:
        """Put spaces in place of some tokens; their lines stay."""
        start, end = self.tokens[first].start, self.tokens[last].end
        self.put(start, re.sub(rb"[^\n]", b" ", self.result[start:end]))


def _keyword_as_name(text: _Text, index: int) -> None:
    """A word that is a keyword for the grammar, and a name where it stands."""
    name = text.word(index)
    declares = text.word(index - 1) in (b"const", b"let", b"var")
    if declares or text.word(index + 1) in _BEHIND_NAMES[name]:
        text.put(text.tokens[index].start, b"_")


# What follows these words where they are names.
_BEHIND_NAMES = {
    b"abstract": frozenset(b"( : ; = ? }".split()),
    b"accessor": frozenset(b"( : ; = ? }".split()),
    b"as": frozenset(b"= . , ) ] } ; :".split()),
    b"in": frozenset(b": ?".split()),
    b"instanceof": frozenset(b": ?".split()),
    b"using": frozenset(b"( = . , ) ] } ; : ?".split()),
}


def _superfluous(text: _Text, index: int) -> None:
    """A keyword that the grammar does not know behind another one."""
    words = tuple(text.word(index + offset) for offset in range(3))
    if words in _SUPERFLUOUS or words[:2] == (b"keyof", b"readonly"):
        text.blank(index + 1, index + 1)


_SUPERFLUOUS = ((b"export", b"type", b"*"), (b"import", b"defer", b"*"))


def _variance(text: _Text, index: int) -> None:
    """`in` and `out` before a type parameter."""
    is_name = text.is_name(index + 1) and text.word(index + 1) not in _BEHIND_TYPES
    if is_name and text.word(index - 1) in (b"<", b",", b"in", b"const"):
        text.blank(index, index)


_BEHIND_TYPES = frozenset(b"as extends in instanceof of satisfies".split())


def _call_signature(text: _Text, index: int) -> None:
    """`<T>(…)` on a line of its own in a type, behind a member that ends without a semicolon."""
    token, end = text.tokens[index], text.closing.get(index)
    if end is None or not token.is_first or not text.ends_value(index - 1):
        return
    has_blank = text.source[token.start - 1] in b" \t"
    if has_blank and text.word(end + 1) == b"(" and text.word(text.around[index]) == b"{":
        text.put(token.start - 1, b";")


def _type_arguments(text: _Text, index: int) -> None:
    """Type arguments of a template, and those that begin with type parameters: `<<T>(…) => T>`."""
    start, end = text.tokens[index].start, text.end(index)
    if end is None:
        return
    is_inner = text.word(index - 1) == b"<" and text.tokens[index - 1].end == start
    is_tag = text.word(end + 1).startswith(b"`") and text.is_name(index - 1)
    is_plain = re.fullmatch(rb"<[\w$.,\s]*", text.source[start : text.tokens[end].start])
    if (is_inner and text.word(end + 1) == b"(") or (is_tag and not is_plain):
        text.blank(index, end)


def _optional_element(text: _Text, index: int) -> None:
    """`['a'?]`: an optional element of a tuple."""
    in_brackets = text.word(text.around[index]) == b"["
    if in_brackets and text.word(index + 1) in (b",", b"]") and text.ends_value(index - 1):
        text.blank(index, index)


def _decorator(text: _Text, index: int) -> None:
    """`@((…) => …)`: of a decorator that is more than names and calls a call of a name stays."""
    end = text.end(index + 1) if text.word(index + 1) == b"(" else None
    if end is None or (text.word(index + 2) != b"(" and text.word(index + 3) != b"=>"):
        return
    name = next((at for at in range(index + 1, end - 1) if text.is_name(at)), None)
    if name is not None:
        text.blank(index + 1, name - 1)
        text.blank(name + 1, end)
        text.put(text.tokens[name].end, b"(")
        text.put(text.tokens[end].start, b")")


def _default_signature(text: _Text, index: int) -> None:
    """`export default function (…): T;`, a signature without a name, gets one."""
    keyword = index + 3 if text.word(index + 2) == b"async" else index + 2
    if text.word(index + 1) != b"default" or text.word(keyword) != b"function":
        return
    at = keyword + 1
    if text.word(at) == b"<":
        at = text.closing.get(at, len(text.tokens)) + 1
    start, end = text.tokens[index + 1].start, text.tokens[keyword].end
    if text.word(at) != b"(" or b"\n" in text.source[start:end]:
        return
    while at < len(text.tokens) and text.word(at) not in (b";", b"export", b"import"):
        at = text.closing.get(at, at) + 1
        if text.word(at) == b"{" and text.ends_value(at - 1):
            return
    text.put(start, b"function ".ljust(end - start, b"_"))


def _using(text: _Text, index: int) -> None:
    """`using x: T = …` and `using x of …` become `const x`."""
    first = index - 1 if text.word(index - 1) == b"await" else index
    is_loop = text.word(first - 1) == b"("
    if text.is_name(index + 1) and (is_loop or text.word(index + 2) == b":"):
        text.blank(first, index)
        text.put(text.tokens[first].start, b"const")


def _import_type(text: _Text, index: int) -> None:
    """`import('x').Y` as a type, in places where the grammar only knows names."""
    end = text.end(index + 1) if text.word(index + 1) == b"(" else None
    before, around = text.word(index - 1), text.around[index]
    is_query = before == b"typeof" and text.word(index - 2) == b"<"
    if end is None or before == b"await" or not (is_query or text.word(end + 1) == b"."):
        return
    after = end + 1
    while text.word(after) == b"." and text.is_name(after + 1):
        after += 2
    is_argument = text.word(around) == b"{" and text.word(around - 1) == b"<"
    is_generic = text.word(after) == b"<" and after in text.closing
    is_type = is_query or is_argument or before in _BEFORE_TYPES
    if is_generic or text.word(after) == b"[" or (is_type and text.word(after) != b"("):
        text.blank(index + 1, end)
        text.put(text.tokens[index].start, b"_")


_BEFORE_TYPES = frozenset(b"( | & keyof readonly extends implements".split())


def _escapes(text: _Text, token: _Token) -> None:
    """Escapes in templates: in a type the grammar knows none, and a tag may allow any."""
    for found in re.finditer(rb"\\[^\n]", token.text):
        text.put(token.start + found.start(), b"__")


_Rule: TypeAlias = Callable[[_Text, int], None]
_RULES: dict[bytes, tuple[_Rule, ...]] = {
    **dict.fromkeys(_BEHIND_NAMES, (_keyword_as_name,)),
    b"<": (_call_signature, _type_arguments),
    b"?": (_optional_element,),
    b"@": (_decorator,),
    b"in": (_variance, _keyword_as_name),
    b"out": (_variance,),
    b"keyof": (_superfluous,),
    b"export": (_superfluous, _default_signature),
    b"import": (_superfluous, _import_type),
    b"using": (_using, _keyword_as_name),
}
