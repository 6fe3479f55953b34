"""What Python names mean and which types they have, as the type checker reports."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from asterism.lsp.connection import LanguageClient, to_path
from asterism.structure.python.paths import PythonFile, PythonFiles, module_of
from asterism.types.outline import Item
from asterism.types.structure import Edge, Known, SymbolPlace, TypeFlow

# How sure an import alone makes us, no file declaring what it names; and a name without even that.
IMPORT_CONFIDENCE = 0.9
NAME_CONFIDENCE = 0.5


class CheckedMeaning(NamedTuple):
    """What a name means, and how that is known."""

    place: SymbolPlace
    known: Known = Known.resolved
    confidence: float = 1.0

    def edge(self, *lines: int) -> Edge:
        """The connection to it, made at some lines."""
        return Edge(self.place, self.known, self.confidence, lines)


class PythonResolver:
    """Asks where things are declared."""

    def __init__(self, client: LanguageClient, files: PythonFiles) -> None:
        self.client = client
        self.files = files

    def ask(self, method: str, file: PythonFile, offset: int, **more: Any) -> list[Any]:
        """The answers about a place in a file, as a list."""
        line, column = file.position(offset)
        path = f"{self.files.root}/{file.path}"
        answer = self.client.at(f"textDocument/{method}", path, line, column, **more)
        if not answer:
            return []
        return answer if isinstance(answer, list) else [answer]

    def meaning(self, file: PythonFile, offset: int, written: str) -> CheckedMeaning:
        """What the name at a place means; `written` is the name, dotted where it is."""
        for found in self.ask("definition", file, offset):
            start = found["range"]["start"]
            meaning = self.at(found["uri"], start["line"], start["character"], written)
            if meaning is not None:
                return meaning
        return self._by_import(file, written) or CheckedMeaning(
            SymbolPlace(written, None), Known.by_name, NAME_CONFIDENCE
        )

    def at(self, uri: str, line: int, column: int, name: str) -> CheckedMeaning | None:
        """What is declared at a place, line and UTF-16 column from 0; None for mere locals."""
        path = to_path(uri)
        file = self.files.get(path) if path else None
        if path is None or file is None:
            own = name.rpartition(".")[2]
            return CheckedMeaning(SymbolPlace(own, None, module=module_of(path or "") or None))
        offset = file.offset(line, column)
        index = file.named(offset)
        if index is not None:
            return CheckedMeaning(file.place(index))
        if file.import_at(line + 1) is not None:
            # The checker knows no declaration, so it leads to the import itself.
            return self._by_import(file, name)
        if (line, column) == (0, 0):
            return CheckedMeaning(file.place(None))
        around = file.around(offset)
        if around is None or file.item(around).kind in ("function", "method"):
            return None
        place = file.place(around)
        shown = f"{place.name}.{name.rpartition('.')[2]}"
        return CheckedMeaning(SymbolPlace(shown, file.path, line + 1))

    def _by_import(self, file: PythonFile, written: str) -> CheckedMeaning | None:
        """The meaning of a name that only the imports of a file mention."""
        first, _, rest = written.partition(".")
        for found in file.outline.imports:
            for name in found.names:
                local = name.local if name.name != "*" or name.alias else found.module
                if local.partition(".")[0] != first:
                    continue
                is_whole = name.name == "*"
                shown = written if is_whole else ".".join(filter(None, (name.name, rest)))
                place = SymbolPlace(shown, None, module=found.module)
                return CheckedMeaning(place, Known.by_name, IMPORT_CONFIDENCE)
        return None


def find_word(file: PythonFile, word: str, start: int, end: int) -> int | None:
    """The byte where a word first stands between two places."""
    last = word.rpartition(".")[2]
    pattern = re.compile(rb"(?<![\w])" + re.escape(last.encode()) + rb"(?![\w])")
    found = pattern.search(file.source.decoded, start, end)
    return found.start() if found else None


# Renamings that are followed: a symbol that changes its name more often is a puzzle, not code.
MOST_RENAMINGS = 20


class ReferenceSpan(NamedTuple):
    """One reference, between two bytes of a file."""

    file: PythonFile
    start: int
    end: int


def references_to(resolver: PythonResolver, file: PythonFile, offset: int) -> list[ReferenceSpan]:
    """Every reference in the repository, declarations included, in the order of files and lines.

    The checker stops at `import total as add_up`; from there the new name is asked for as well.
    """
    found: dict[tuple[str, int], ReferenceSpan] = {}
    pending, asked = [(file, offset)], set[tuple[str, int]]()
    while pending and len(asked) < MOST_RENAMINGS:
        file, offset = pending.pop()
        if (file.path, offset) in asked:
            continue
        asked.add((file.path, offset))
        for reference in _asked(resolver, file, offset):
            key = (reference.file.path, reference.start)
            if key not in found:
                found[key] = reference
                pending += _renamed(reference)
    return [found[key] for key in sorted(found)]


def _asked(resolver: PythonResolver, file: PythonFile, offset: int) -> Iterator[ReferenceSpan]:
    context = {"includeDeclaration": True}
    for reference in resolver.ask("references", file, offset, context=context):
        path = to_path(reference["uri"])
        own = resolver.files.get(path) if path else None
        if own is not None:
            start, end = reference["range"]["start"], reference["range"]["end"]
            yield ReferenceSpan(
                own,
                own.offset(start["line"], start["character"]),
                own.offset(end["line"], end["character"]),
            )


def _renamed(reference: ReferenceSpan) -> Iterator[tuple[PythonFile, int]]:
    """Where an import gives the name it refers to another one."""
    file = reference.file
    line = file.line(reference.start)
    found = file.import_at(line)
    if found is None:
        return
    word = file.source.decoded[reference.start : reference.end].decode("utf-8", "replace")
    for name in found.names:
        if name.name == word and name.alias and name.alias != word:
            end = file.source.decoded.find(b"\n", reference.end)
            alias = find_word(
                file, name.alias, reference.end, end if end >= 0 else len(file.source.decoded)
            )
            if alias is not None:
                yield file, alias


_OPEN, _CLOSE = "([{", ")]}"
_NAME = re.compile(r"[^\W\d]\w*")
_STRING = re.compile(r"""[A-Za-z]{0,2}(?:'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")""")

# Words of annotations that name no declared type.
_KEYWORDS = frozenset(
    {"None", "True", "False", "and", "or", "not", "in", "is", "lambda", "if", "else"}
)


class AnnotatedParameter(NamedTuple):
    """One parameter as written."""

    name: str
    annotation: str


def parameters(signature: str) -> list[AnnotatedParameter]:
    """The parameters of a function that have an annotation."""
    found = []
    for part in split(_inside(signature)):
        name, colon, rest = _cut(part, ":")
        if colon:
            annotation, _, _ = _cut(rest, "=")
            found.append(AnnotatedParameter(name.strip().lstrip("*"), annotation.strip()))
    return found


def returned(signature: str) -> str | None:
    """The annotation of what a function returns."""
    start = _opening(signature)
    if start is None:
        return None
    _, arrow, rest = signature[_closing(signature, start) :].partition("->")
    return rest.strip().rstrip(":").strip() if arrow else None


def bases(signature: str) -> list[str]:
    """The base classes in a class's head, without type arguments and keywords."""
    if _opening(signature) is None:
        return []
    found = []
    for part in split(_inside(signature)):
        text = part.strip()
        if text and not text.startswith("*") and not _cut(text, "=")[1]:
            found.append(text.partition("[")[0].strip())
    return [name for name in found if re.fullmatch(r"[\w.]+", name)]


def names_in(annotation: str) -> Iterator[str]:
    """The names of types in an annotation, dotted where written so, those in quotes too."""
    literal = re.compile(r"\bLiteral\[[^\]]*\]")
    for found in re.finditer(r"[^\W\d]\w*(?:\s*\.\s*[^\W\d]\w*)*", literal.sub("", annotation)):
        name = re.sub(r"\s", "", found.group())
        if name not in _KEYWORDS:
            yield name


def split(text: str) -> Iterator[str]:
    """The parts between commas, of those outside of brackets and strings."""
    while text.strip():
        part, _, text = _cut(text, ",")
        yield part


def _cut(text: str, mark: str) -> tuple[str, str, str]:
    """Partition at the first mark outside of brackets and strings."""
    depth, at = 0, 0
    while at < len(text):
        string = _STRING.match(text, at)
        if string:
            at = string.end()
            continue
        if text[at] in _OPEN:
            depth += 1
        elif text[at] in _CLOSE:
            depth -= 1
        elif depth == 0 and text.startswith(mark, at):
            return text[:at], mark, text[at + len(mark) :]
        at += 1
    return text, "", ""


def _opening(signature: str) -> int | None:
    """Where the parameters open: after the name and the type parameters it may have."""
    head = re.match(r"(?:async\s+)?(?:def|class)\s+\w+\s*", signature)
    at = head.end() if head else 0
    if signature[at : at + 1] == "[":
        at = _closing(signature, at)
    found = re.compile(r"\s*\(").match(signature, at)
    return found.end() - 1 if found else None


def _closing(text: str, start: int) -> int:
    """The place after the bracket that closes the one at `start`."""
    depth, at = 0, start
    while at < len(text):
        string = _STRING.match(text, at)
        if string:
            at = string.end()
            continue
        depth += (text[at] in _OPEN) - (text[at] in _CLOSE)
        at += 1
        if depth == 0:
            break
    return at


def _inside(signature: str) -> str:
    start = _opening(signature)
    return "" if start is None else signature[start + 1 : _closing(signature, start) - 1]


# A value longer than this is read in the source, not in a summary.
LONGEST_VALUE = 80

# What the language and its typing bring; where it comes from need not be said.
_LANGUAGE = frozenset(
    {"builtins", "typing", "typing_extensions", "types", "collections", "_typeshed"}
)
_CODE = re.compile(r"```\w*\n(.*?)\n```", re.DOTALL)
_LITERAL = re.compile(r"Literal\[(.+)\]$")
_ASSIGNED = re.compile(
    r"^[\w.]++\s*+(?::\s*+(?P<type>[^=]*[^=\s]))?\s*+(?:=\s*+(?P<value>.+))?$", re.DOTALL
)


def hover(resolver: PythonResolver, file: PythonFile, item: Item) -> str:
    """What the checker shows for a name, on one line."""
    for found in resolver.ask("hover", file, item.name_offset):
        contents = found["contents"]
        text = contents["value"] if isinstance(contents, dict) else str(contents)
        code = _CODE.search(text)
        lines = (code.group(1) if code else text).split("\n")
        joined = re.sub(r"\s+", " ", " ".join(lines))
        return joined.replace("( ", "(").replace(" )", ")").replace(",)", ")")
    return ""


def flows_in(resolver: PythonResolver, file: PythonFile, item: Item) -> tuple[TypeFlow, ...]:
    """The annotated parameters of a function, with where their types are declared."""
    return tuple(
        TypeFlow(name, annotation, origins(resolver, file, item, annotation))
        for name, annotation in parameters(item.signature)
    )


def flows_out(resolver: PythonResolver, file: PythonFile, item: Item) -> tuple[TypeFlow, ...]:
    """The annotated return type of a function; the checker does not infer a missing one."""
    result = returned(item.signature)
    if result is None:
        return ()
    return (TypeFlow(None, result, origins(resolver, file, item, result)),)


def origins(
    resolver: PythonResolver, file: PythonFile, item: Item, annotation: str
) -> tuple[Edge, ...]:
    """Where the types in an annotation of an item's head are declared."""
    end = item.body.start if item.body else item.span.end
    found: dict[object, Edge] = {}
    for name in dict.fromkeys(names_in(annotation)):
        offset = find_word(file, name, item.name_offset, end)
        if offset is None:
            continue
        meaning = resolver.meaning(file, offset, name)
        if meaning.place.module in _LANGUAGE or (meaning.place.path, meaning.place.module) == (
            None,
            None,
        ):
            continue
        found.setdefault(meaning.place, meaning.edge())
    return tuple(found.values())


def value_of(
    resolver: PythonResolver, file: PythonFile, item: Item
) -> tuple[str | None, str | None]:
    """The type and the short value of a variable or an attribute."""
    assigned = _ASSIGNED.match(item.signature)
    written = assigned.group("type") if assigned else None
    value = assigned.group("value") if assigned else None
    if value is not None and (len(value) > LONGEST_VALUE or "\n" in value):
        value = None
    if written:
        return written.strip(), value
    shown = hover(resolver, file, item)
    literal = _LITERAL.match(shown)
    if literal:
        shown = _literal_type(literal.group(1))
    return (shown if shown and "Unknown" not in shown else None), value


def _literal_type(text: str) -> str:
    if text in ("True", "False"):
        return "bool"
    if text[:1] in "\"'":
        return "str"
    if text[:2] in ('b"', "b'"):
        return "bytes"
    return "int" if text.lstrip("-").isdigit() else f"Literal[{text}]"
