"""The blocks of a component's file: elements such as `<script>`, with their attributes."""

import re
from collections.abc import Iterator
from posixpath import basename, dirname
from typing import NamedTuple

from asterism.analysis.syntax.parts import Part, Whole, entry_for
from asterism.analysis.syntax.text import fold
from asterism.types.outline import Span

_ATTRIBUTE = rb"""[^\s"'<>/=]++(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s"'>]++))?+"""
_OPENING = re.compile(
    rb"<(?P<name>[A-Za-z][\w:.-]*+)(?P<attributes>(?:\s++" + _ATTRIBUTE + rb")*+)\s*+(?P<end>/?>)"
)
_PAIR = re.compile(rb"""([^\s"'<>/=]++)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'>]++)))?+""")
_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)
# A script without `lang` is JavaScript.
_DEFAULT_SCRIPT = "js"


class Block(NamedTuple):
    """An element at the top of the file."""

    name: str
    attributes: dict[str, str]
    outer: Span
    """With its tags."""
    inner: Span
    is_closed: bool = True

    @property
    def problem(self) -> str:
        """What is wrong with the element, if anything is."""
        return "" if self.is_closed else f"<{self.name}> is not closed"

    @property
    def is_script(self) -> bool:
        """Whether it holds code that other code can import or call."""
        return self.name == "script"


def opening_at(source: bytes, at: int) -> re.Match[bytes] | None:
    """The opening tag that begins at an offset."""
    return _OPENING.match(source, at)


def attributes_of(tag: re.Match[bytes]) -> dict[str, str]:
    """A tag's attributes; one without a value has an empty one."""
    found: dict[str, str] = {}
    for pair in _PAIR.finditer(tag["attributes"]):
        value = next((group for group in pair.groups()[1:] if group is not None), b"")
        found[pair[1].decode("utf-8", "replace")] = value.decode("utf-8", "replace")
    return found


def comment_at(source: bytes, at: int) -> int | None:
    """Where a comment ends that begins at an offset."""
    found = _COMMENT.match(source, at)
    return found.end() if found else None


def raw_block(source: bytes, tag: re.Match[bytes]) -> Block:
    """The element of an opening tag whose text ends at the first closing tag of its name."""
    name = tag["name"].decode("ascii", "replace")
    start = tag.end()
    if tag["end"] == b"/>":
        return Block(name, attributes_of(tag), Span(tag.start(), start), Span(start, start))
    closing = re.compile(rb"</" + re.escape(tag["name"]) + rb"\s*+>", re.IGNORECASE)
    found = closing.search(source, start)
    end, outer = (found.start(), found.end()) if found else (len(source), len(source))
    spans = Span(tag.start(), outer), Span(start, end)
    return Block(name, attributes_of(tag), *spans, found is not None)


def script_part(block: Block, *, exports: bool = True, sign: str = "") -> Part:
    """A script is read by the dialect that its `lang` names."""
    entry = entry_for(block.attributes.get("lang") or _DEFAULT_SCRIPT)
    key = entry.key if entry else ""
    return Part(block.inner, key, exports=exports, sign=sign, problem=block.problem)


def text_part(block: Block, source: bytes) -> Part:
    """A style or another block: one item, called like its tag."""
    tag = source[block.outer.start : block.inner.start].decode("utf-8", "replace")
    whole = Whole("text", fold(tag, 60), fold(tag))
    return Part(block.outer, whole=whole, problem=block.problem)


def component_name(path: str) -> str:
    """What importers call the component, by its file: `todo-item.vue` is `TodoItem`."""
    stem = basename(path).rpartition(".")[0]
    if stem == "index" and dirname(path):
        stem = basename(dirname(path))
    return pascal_case(stem) if re.fullmatch(r"[A-Za-z][\w-]*", stem) else stem or "component"


def pascal_case(name: str) -> str:
    """`todo-item` as `TodoItem`."""
    return "".join(word[:1].upper() + word[1:] for word in name.split("-"))


def comment_text(source: bytes, comments: Iterator[Span] | list[Span]) -> str | None:
    """The documentation in the last of some comments, without its marks."""
    texts = [
        source[span.start + 4 : span.end].decode("utf-8", "replace").removesuffix("-->").strip()
        for span in comments
    ]
    return next((text for text in reversed(texts) if text), None)
