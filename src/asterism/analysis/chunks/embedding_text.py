"""The text a model reads for a chunk: where it stands, what it is for, what it uses, its code."""

from collections.abc import Iterator, Mapping, Sequence

from asterism.analysis.chunks.units import ChunkOptions
from asterism.languages.registry import facets_of
from asterism.types.files import display_path
from asterism.types.index import Chunk
from asterism.types.outline import Outline

RULE = "---"
QUOTED = "Referenced symbols:"


def file_crumb(title: str, relative_path: str) -> str:
    """How a file's breadcrumbs begin: its language and its path, whatever the file is called."""
    return f"[{title}] {display_path(relative_path)}"


def breadcrumb(crumb: str, path: Sequence[str]) -> str:
    """The first line: the file's crumb and the names down to the chunk."""
    return " > ".join((crumb, *path))


def preamble(
    breadcrumb: str,
    doc: str | None,
    signature: str | None,
    modules: Sequence[str],
    quotes: Sequence[tuple[str, str]],
    options: ChunkOptions,
) -> str:
    """Everything above the code, down to the rule."""
    lines = [breadcrumb]
    if doc:
        lines.append(f"Purpose: {first_paragraph(doc, options.max_purpose_chars)}")
    if signature:
        lines.append(f"Signature: {signature}")
    if modules:
        dependencies = list(dict.fromkeys(modules))[: options.max_dependencies]
        lines.append(f"Dependencies: {', '.join(dependencies)}")
    if quotes:
        lines.extend(["", QUOTED])
        lines.extend(quote(name, text, options) for name, text in quotes)
        lines.append("")
    lines.append(RULE)
    return "\n".join(lines)


def quote(name: str, signature: str, options: ChunkOptions) -> str:
    """The line that tells what another symbol is."""
    return f"- {name}: {cut(signature, options.max_quote_chars)}"


def shortened(head: str, limit: int) -> str:
    """The preamble without its last lines, so that code fits too; the breadcrumb stays."""
    first, *lines = head.split("\n")
    room = limit - len(RULE) - 1
    kept = [cut(first, room)]
    room -= len(kept[0])
    for line in lines[:-1]:
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    return "\n".join([*kept, RULE])


def first_paragraph(doc: str, limit: int) -> str:
    """The doc's first paragraph on one line."""
    head = doc.split("\n\n", 1)[0]
    return cut(" ".join(head.split()), limit)


def cut(text: str, limit: int) -> str:
    """The text, or its beginning and a mark that there is more."""
    return text if len(text) <= limit else text[:limit].rstrip() + " …"


def bind_quotes(chunk: Chunk, signatures: Mapping[str, str], options: ChunkOptions) -> Chunk:
    """The chunk with the signatures of the imported names it mentions, by their local names.

    They follow the quotes from its own file, in order of mention. Those beyond the limits
    are left out, and those that are there already are not added again.
    """
    wanted = [name for name in chunk.mentions if name in signatures]
    head, rule, code = chunk.embedding_text.partition(f"\n{RULE}\n")
    if not wanted or not rule:
        return chunk
    above, section, below = head.partition(f"\n\n{QUOTED}\n")
    # The section ends in a blank line.
    lines = below.split("\n")[:-1] if section else []
    room = options.max_chars - len(chunk.embedding_text) - (0 if section else len(QUOTED) + 3)
    before = len(lines)
    for name in wanted:
        line = quote(name, signatures[name], options)
        taken = any(quoted.startswith(f"- {name}: ") for quoted in lines)
        if len(lines) < options.max_quoted and not taken and len(line) < room:
            lines.append(line)
            room -= len(line) + 1
    if len(lines) == before:
        return chunk
    quoted = "\n".join(lines)
    return chunk._replace(embedding_text=f"{above}\n\n{QUOTED}\n{quoted}\n{rule}{code}")


# Receivers that mean "the object this code belongs to".
_SELVES = frozenset({"this", "self", "cls", "@", "$this", "super"})


class Quotes:
    """Who mentions what: the file's own top-level symbols, members through `this`, imports."""

    def __init__(self, outline: Outline) -> None:
        self._items = outline.items
        # Backwards, so that of two symbols with one name the first is kept.
        self._top = {
            item.name: index
            for index, item in reversed(list(enumerate(outline.items)))
            if len(item.path) == 1 and item.is_symbol
        }
        self._members: dict[int, dict[str, int]] = {}
        self._mentions: list[list[tuple[str, str | None]] | None] = [None] * len(outline.items)
        self._imported = {
            name.local
            for entry in outline.imports
            if entry.binds
            for name in entry.names
            if name.local != "*"
        }
        self._imported -= self._top.keys()
        wanted = self._top.keys() | self._imported
        for name, _line, _column, receiver, enclosing, local in outline.references:
            if enclosing is None or local:
                continue
            if (receiver is None and name in wanted) or receiver in _SELVES:
                mentions = self._mentions[enclosing]
                if mentions is None:
                    mentions = self._mentions[enclosing] = []
                mentions.append((name, receiver))

    def of(self, members: Sequence[int], limit: int) -> tuple[dict[str, str], tuple[str, ...]]:
        """What the items themselves mention, in order of first mention.

        First the signatures of the file's own symbols by name, then the imported names, whose
        signatures are in other files. Together they are no more than `limit`.
        """
        found: dict[str, str] = {}
        imported: dict[str, None] = {}
        for index in members:
            for name, receiver in self._mentions[index] or ():
                if receiver is None and name in self._imported:
                    imported[name] = None
                elif name not in found and len(found) < limit:
                    text = self._signature(index, name, receiver)
                    if text is not None:
                        found[name] = text
        if not imported:
            return found, ()
        left = [name for name in imported if name not in found]
        return found, tuple(left[: limit - len(found)])

    def _signature(self, index: int, name: str, receiver: str | None) -> str | None:
        target = self._top.get(name) if receiver is None else self._sibling(index, name)
        if target is None or target in self._around(index):
            return None
        return self._items[target].signature

    def _sibling(self, index: int, name: str) -> int | None:
        """The member of the enclosing class that `this.name` means."""
        for ancestor in self._around(index):
            members = self._members.get(ancestor)
            if members is None:
                # Here, too, the first of two with one name is kept.
                below = reversed(self._items[ancestor].children)
                members = {self._items[child].name: child for child in below}
                self._members[ancestor] = members
            if name in members:
                return members[name]
        return None

    def _around(self, index: int) -> Iterator[int]:
        """The item and its ancestors, which need no quotes."""
        at: int | None = index
        while at is not None:
            yield at
            at = self._items[at].parent


def imports_used(outline: Outline) -> list[set[int]]:
    """For each item, the indices of the imports that it or anything inside it uses."""
    used: list[set[int]] = [set() for _ in outline.items]
    bindings: dict[str, set[int]] = {}
    for number, entry in enumerate(outline.imports):
        if entry.binds:
            for imported in entry.names:
                if imported.local != "*":
                    bindings.setdefault(imported.local, set()).add(number)
    if not bindings:
        return used
    members_too = facets_of(outline.language).imports.used_as_members
    for name, _line, _column, receiver, enclosing, local in outline.references:
        if name not in bindings or local or enclosing is None:
            continue
        if receiver is None or members_too:
            used[enclosing] |= bindings[name]
    # Parents come before their children, so going backwards carries every use to the root.
    for index in range(len(outline.items) - 1, -1, -1):
        parent = outline.items[index].parent
        if parent is not None and used[index]:
            used[parent] |= used[index]
    return used
