"""What type a variable has by its declaration, read from the text of the function around it."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from asterism.analysis.resolve.parameters import MODIFIERS
from asterism.languages.registry import facets_of

_CHAIN = r"[A-Za-z_$@][\w$@]*[!?]?(?:(?:\.|::|->|\?\.|\\)[A-Za-z_]\w*[!?]?)*"
_NAME = r"[$@]{0,2}[A-Za-z_]\w*"
# Words that may precede a name and are no type.
_NO_TYPES = frozenset(
    {
        *("return", "new", "throw", "else", "case", "goto", "delete", "await", "yield"),
        *("in", "is", "as", "out", "ref", "using", "package", "import", "typedef", "var"),
        *("auto", "final", "const", "let", "val", "def", "function", "not", "and", "or"),
        *("if", "while", "do", "global", "echo", "print", "static", "public", "private"),
        *("protected", "assert", "instanceof", "extends", "implements", "from", "raise"),
        *("del", "async", "readonly", "abstract", "struct", "enum", "union", "class"),
        *("unsigned", "signed", "register", "inline", "extern"),
    }
)
_DECLARED = {
    # let x: Type, const x: Type, val x: Type; var x: Type
    "words": rf"\b(?:let|var|val|const)\s+(?:mut\s+)?({_NAME})\s*:\s*([^=;\n{{]+)",
    # x: Type = …, at the beginning of a line
    "line": rf"^[ \t]*({_NAME})[ \t]*:[ \t]*([A-Za-z_\"'][^=\n#]*)",
    # Type x = …, Type x; Type *x, for (Type x : …
    "first": r"(?:^|[;{}(,])[ \t]*(?:(?:final|const|static|struct|readonly|ref|out|register)\s+)*"
    rf"([A-Za-z_][\w.:]*(?:<[^;(){{}}]{{0,120}}?>)?(?:\[\])?\??)[\s*&]+({_NAME})\s*(?=[=;,):\[{{(]|in\b)",
    # var x Type, x := &Type{
    "var": rf"\bvar\s+({_NAME})\s+([*\[\]\w.]+)",
}
# x = …, x := …, also first of several that are set at once; what follows is read by hand.
_SET = re.compile(
    rf"(?<![\w.$@>])({_NAME})[ \t]*((?:,[ \t]*\w+[ \t]*){{0,8}})(?::[^=;\n(){{}}]{{0,120}})?:?="
    r"(?![=>~])[ \t]*"
    r"(?:(?:await|new|try[!?]?)\s+|&)*"
)
_BRACKET = re.compile(r"[()\[\]{}]")
# Brackets that open and close blocks, past strings and comments.
_BLOCK_BRACKET = re.compile(
    r"\"(?:[^\"\\\n]|\\.)*+\"?|'(?:[^'\\\n]|\\.)'|`[^`]*+`?|//[^\n]*|/\*(?:[^*]|\*(?!/))*+|([(){}])"
)
# What makes a setting a declaration: a word or a type before the name.
_DECLARES = re.compile(
    r"(?:\b(?:let|var|val|const|auto|final|local|mut)[ \t]+|(?<![\w.])"
    r"(?!(?:else|do|in|return|and|or"
    r"|not|then)\b)[A-Za-z_][\w.:]*(?:<[^<>]{0,80}>)?(?:\[\])?[ \t*&?]*[ \t*&])$"
)
# A statement whose head may declare variables for the block behind it.
_HEAD_WORD = re.compile(
    r"(?:^|[;{}])[ \t]*(?:\}?[ \t]*else[ \t]+)?(?:if|for|switch|while)\b[^\n{]*$"
)
# Between the brackets of parameters or of a head and the block.
_BEFORE_BLOCK = re.compile(r"(?:[ \t\n]|->|=>|[\w.*<>\[\]:,?]){0,80}$")
_ELSE = re.compile(r"\s*else\b[^{};\n]{0,200}$")
# How much text before a name is read.
_LOOK_BACK = 160
# How many brackets around a name are looked at; code nests fewer.
_MOST_LEVELS = 60
_WHOLE = 1 << 60
_RESULT_NAMES = re.compile(r"\b(?:err|ok)\b")
_WITH = re.compile(rf"\bwith\s+({_CHAIN})\([^\n]{{0,120}}?\)\s+as\s+({_NAME})")
_RIGHT = re.compile(_CHAIN)
_TYPE_ARGUMENTS = re.compile(r"(?:::)?<[^<>;(){}]*+(?:<[^<>]*+>)?[^<>;(){}]*+>")
_LITERAL = re.compile(
    r"[\"'`\d\[]|\{|-\d|f\"|b\"|r\"|true\b|false\b|nil\b|null\b|None\b|True\b|False\b"
)
# What may follow a call whose result is what is set: steps that only unwrap, or the end.
_UNWRAPS = re.compile(r"(?:\?|\.await|\.unwrap\(\)|\.expect\(\"[^\"]*\"\)|!!)*")
_ENDS = re.compile(r"[ \t]*(?:$|[;\n,)}#]|//|\bdo\b|\bin\b|\{|\bcatch\b|\borelse\b|as\s)")
# Wrappers that are used as if they were what they hold.
_WRAPPERS = re.compile(
    r"^(?:std::)?(?:Box|Rc|Arc|Ref|RefMut|MutexGuard|unique_ptr|shared_ptr|scoped_refptr|Optional"
    r"|Annotated|Final|ClassVar)\s*[<\[]\s*(.*)[>\]]$"
)
_PREFIX = re.compile(
    r"^(?:&(?:'\w+\s*)?|\*|\?|!|mut\b\s*|const\b\s*|dyn\b\s*|impl\b\s*|some\b\s*|any\b\s*|final\b\s*"
    r"|struct\b\s*|enum\b\s*|union\b\s*|inout\b\s*|\"|')+"
)
_HEAD = re.compile(r"(?:\w+(?:\.|::|\\))*\w+")
_RESULTS = re.compile(r"^(?:\w+::)*(?:Result|Option)<(.+?)(?:,[^<>]*)?>$")
_NOTHING = frozenset({"None", "null", "undefined", "nil"})


class Local(NamedTuple):
    """One place where a variable gets its type."""

    at: int
    """The offset in the text."""
    type: str | None = None
    """As declared; empty for what is surely of no type of the repository."""
    maker: str | None = None
    """The function or type that is called for it, as written."""
    alias: str | None = None
    """The type or name that it is an alias of, as written."""
    declares: bool = False
    """Whether it is declared here, not only set."""
    until: int = _WHOLE
    """Where the block that declares it ends; outside of it the name means something else."""


def locals_of(text: str, language: str) -> dict[str, list[Local]]:
    """Every declaration and setting of variables in a body, in order of the text."""
    found: defaultdict[str, list[Local]] = defaultdict(list)
    facets = facets_of(language).types
    form = facets.declarations
    if form:
        for match in _declaring(form).finditer(text):
            first, second = match.group(1), match.group(2)
            name, type_text = (second, first) if form == "first" else (first, second)
            if type_text.partition(" ")[0] not in _NO_TYPES:
                head = type_head(type_text)
                at = match.start(2 if form == "first" else 1)
                found[name].append(Local(at, head, declares=form != "line"))
    for match in _SET.finditer(text):
        local = _set_to(text, match.start(), match.end())
        if local is not None:
            name = match.group(1).lstrip("$")
            found[name].append(local._replace(declares=_is_declared(text, match, form)))
        if facets.error_results:
            # The last of several results is the error, which is no type of the repository.
            for other in _RESULT_NAMES.findall(match.group(2)):
                is_new = _is_declared(text, match, form)
                found[other].append(Local(match.start(), "", declares=is_new))
    if facets.with_statements:
        for match in _WITH.finditer(text):
            found[match.group(2)].append(Local(match.start(), maker=match.group(1)))
    ends = _Blocks(text) if form and form != "line" else None
    return {name: _in_order(places, ends) for name, places in found.items()}


def _in_order(places: list[Local], blocks: "_Blocks | None") -> list[Local]:
    """The places by offset, each with the end of its block if it is declared there."""
    if blocks is not None:
        places = [
            local._replace(until=blocks.end(local.at)) if local.declares else local
            for local in places
        ]
    return sorted(places, key=lambda local: (local.at, local.type is None))


def _is_declared(text: str, match: re.Match[str], form: str) -> bool:
    """Whether a setting declares its variable; Python's assignments declare them in functions."""
    if form == "line" or ":=" in match.group():
        return True
    before = text[max(0, match.start() - _LOOK_BACK) : match.start()]
    return _DECLARES.search(before[before.rfind("\n") + 1 :]) is not None


class _Blocks:
    """The brackets of a text as a tree, made at the first need."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._opens: list[int] = []
        self._closes: list[int] = []
        self._parents: list[int] = []

    def end(self, at: int) -> int:
        """Where the variable that is declared at a place ends."""
        if not self._opens:
            self._read()
        for pair in self._around(at):
            if self._text[self._opens[pair]] == "(":
                # Parameters, or the head of a loop, belong to the block behind them.
                block = self._block_after(self._closes[pair])
                if block is not None:
                    return self._chain_end(block)
                continue
            if self._is_head(at):
                block = self._block_after(at, far=True)
                if block is not None:
                    return self._chain_end(block)
            return self._closes[pair]
        return _WHOLE

    def _read(self) -> None:
        open_now: list[int] = []
        for found in _BLOCK_BRACKET.finditer(self._text):
            sign = found.group(1)
            if sign in ("(", "{"):
                self._parents.append(open_now[-1] if open_now else -1)
                open_now.append(len(self._opens))
                self._opens.append(found.start())
                self._closes.append(len(self._text))
            elif sign and open_now:
                self._closes[open_now.pop()] = found.start()

    def _around(self, at: int) -> Iterator[int]:
        """The pairs around a place, from the inside out."""
        pair = bisect_left(self._opens, at) - 1
        for _ in range(_MOST_LEVELS):
            if pair < 0:
                return
            if self._closes[pair] > at:
                yield pair
            pair = self._parents[pair]

    def _is_head(self, at: int) -> bool:
        before = self._text[max(0, at - _LOOK_BACK) : at]
        return _HEAD_WORD.search(before[before.rfind("\n") + 1 :]) is not None

    def _block_after(self, at: int, far: bool = False) -> int | None:
        """The block that begins behind a place; `far` is somewhere on its line."""
        pair = bisect_left(self._opens, at)
        while pair < len(self._opens):
            start = self._opens[pair]
            if start - at > _LOOK_BACK:
                return None
            between = self._text[at + 1 : start]
            if far and "\n" in between:
                return None
            if self._text[start] == "{":
                opens_line = self._text[start + 1 : start + 2] in ("\n", " ", "}")
                if (far and opens_line) or (not far and _BEFORE_BLOCK.match(between)):
                    return pair
            if not far:
                return None
            pair += 1
        return None

    def _chain_end(self, pair: int) -> int:
        """The end of a block and of the `else` blocks behind it."""
        while True:
            close = self._closes[pair]
            after = bisect_left(self._opens, close)
            if after == len(self._opens) or self._text[self._opens[after]] != "{":
                return close
            if self._opens[after] - close > _LOOK_BACK:
                return close
            if _ELSE.match(self._text[close + 1 : self._opens[after]]) is None:
                return close
            pair = after


def type_head(text: str) -> str | None:
    """The name of the type whose members a value has; empty for arrays, None where unclear."""
    bare = text.strip().strip("\"'")
    for _ in range(3):
        bare = _PREFIX.sub("", bare).strip()
        held = _WRAPPERS.match(bare.rstrip("?!&* \"'"))
        if held is None:
            break
        bare = held.group(1).strip()
    if bare.startswith(("[", "(", "func", "fn(", "...")) or "[]" in bare:
        return ""
    if "|" in bare:
        kept = [part.strip() for part in bare.split("|") if part.strip() not in _NOTHING]
        if len(kept) != 1:
            return None
        bare = kept[0]
    head = _HEAD.match(bare)
    return head.group() if head else None


def returned_head(text: str, language: str) -> str | None:
    """The type of what a function returns; of several results the first counts."""
    bare = text.strip()
    facets = facets_of(language).types
    if facets.several_results and bare.startswith("("):
        bare = bare[1:].partition(",")[0].rstrip(")").strip()
        # A result may have a name.
        bare = bare.rpartition(" ")[2]
    if facets.error_unions:
        bare = bare.rpartition("!")[2]
    # What may fail is unwrapped before it is used.
    unwrapped = _RESULTS.match(bare) if facets.result_wrappers else None
    bare = unwrapped.group(1) if unwrapped else bare
    return type_head(bare) if bare else None


def property_type(name: str, signature: str, language: str) -> str | None:
    """The head of the type that a property or variable is declared with; None without one."""
    text = property_text(name, signature, language)
    return type_head(text) if text else None


def property_text(name: str, signature: str, language: str) -> str | None:
    """The type that a property or variable is declared with, as written."""
    place = facets_of(language).types.place
    if place == "before":
        head = re.split(r"[=({]|\[(?!\])", signature, maxsplit=1)[0]
        ats = [*re.finditer(rf"[$\s*&]{re.escape(name)}\b(?!\s*[<.:])", head)]
        before = head[: ats[-1].start()].rstrip("$") if ats else ""
        return MODIFIERS.sub("", before).strip() or None
    if place == "behind":
        # Several names may share a type; a type alone is its own name.
        found = re.match(rf"(?:var\s+)?(?:\w+\s*,\s*)*{re.escape(name)}\b([^=`]*)", signature)
        behind = re.sub(r"^(?:\s*,\s*\w+)+", "", found.group(1)) if found else signature
        return behind.strip() or (signature if signature == name else None)
    found = re.search(rf"(?<![\w.]){re.escape(name)}[?!]?\s*:\s*([^=]+)", signature)
    return found.group(1).strip() if found else None


def _set_to(text: str, start: int, at: int) -> Local | None:
    chain = _RIGHT.match(text, at)
    if chain is None or text.startswith(('f"', 'b"', 'r"', "f'", "b'", "r'"), at):
        return Local(start, "") if _LITERAL.match(text, at) else None
    if _LITERAL.match(text, at):
        return Local(start, "")
    end = chain.end()
    arguments = _TYPE_ARGUMENTS.match(text, end)
    if arguments is not None:
        end = arguments.end()
    if chain.group() == "new" and text[end : end + 1] == "(":
        # `new(store.Box)` of Go names the type in brackets.
        return Local(start, type_head(text[end + 1 : _closing(text, end) - 1]))
    if text[end : end + 1] in ("(", "{"):
        closed = _closing(text, end)
        after = _UNWRAPS.match(text, closed)
        if after is None or _ENDS.match(text, after.end()) is None:
            return Local(start)
        return Local(start, maker=chain.group())
    # `Lid.new` and its like are calls without brackets.
    if _ENDS.match(text, end) is None:
        return Local(start)
    if chain.group().endswith(".new"):
        return Local(start, maker=chain.group())
    return Local(start, alias=chain.group())


def _closing(text: str, at: int) -> int:
    """Behind the bracket that closes the one at a place."""
    depth = 0
    for found in _BRACKET.finditer(text, at):
        depth += 1 if found.group() in "([{" else -1
        if depth == 0:
            return found.end()
    return len(text)


@lru_cache(maxsize=8)
def _declaring(form: str) -> re.Pattern[str]:
    return re.compile(_DECLARED[form], re.MULTILINE)
