"""The engine's own tools as a chat's model calls them; all of them only read."""

import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Protocol

from asterism.analysis.source.checkouts import on_disk
from asterism.analysis.source.text import is_binary, read
from asterism.analysis.syntax.outlines import text_of
from asterism.chat.ports import ToolOutput
from asterism.engine.chat.sources import BEST, CodeSource, nearest_hits, searched
from asterism.engine.relations import Relation, RelationsReply, RelationsRequest
from asterism.engine.search import SearchRequest
from asterism.types.chat import ToolSpec
from asterism.types.errors import NotText, PathMissing, PathOutside, PathUnreadable, UsageError
from asterism.types.files import display_path
from asterism.types.index import SymbolQuery, symbol_query
from asterism.types.search import Mode
from asterism.types.structure import CallTree

MOST_HITS = 20
MOST_LINES = 400
"""Lines of a file in one reply: what a long function has."""
MOST_PLACES = 40

_TEXT = {"type": "string"}
_MODES = (Mode.hybrid.value, Mode.exact.value, Mode.definition.value)


def _schema(required: tuple[str, ...], **properties: object) -> Mapping[str, object]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


OWN_TOOLS: tuple[ToolSpec, ...] = (
    ToolSpec(
        "vector_search",
        "Find the code nearest in meaning to a description. Say what the code does, in a sentence.",
        _schema(("query",), query=_TEXT, limit={"type": "integer", "minimum": 1, "maximum": 20}),
    ),
    ToolSpec(
        "search_code",
        "Find code by everything that is known: meaning, words, names and paths. mode `exact` "
        "takes literal text or regex:…, mode `definition` a name.",
        _schema(
            ("query",),
            query=_TEXT,
            mode={"type": "string", "enum": list(_MODES)},
            limit={"type": "integer", "minimum": 1, "maximum": MOST_HITS},
        ),
    ),
    ToolSpec(
        "symbol_lookup",
        "List where a name is defined, exported, imported and used: x, A.x or `path > A > x`.",
        _schema(("name",), name=_TEXT),
    ),
    ToolSpec(
        "symbol_relations",
        "Show who calls a symbol, what it calls, or which files refer to it.",
        _schema(
            ("name", "relation"),
            name=_TEXT,
            relation={"type": "string", "enum": [one.value for one in Relation]},
            depth={"type": "integer", "minimum": 1, "maximum": 3},
        ),
    ),
    ToolSpec(
        "read_file",
        f"Read lines of a file of the repository, {MOST_LINES} at a time.",
        _schema(
            ("path",),
            path=_TEXT,
            first_line={"type": "integer", "minimum": 1},
            last_line={"type": "integer", "minimum": 1},
        ),
    ),
)
"""What every chat may call, with or without an agent."""


class OtherTools(Protocol):
    """Tools of an agent's MCP servers."""

    async def call(self, tool: ToolSpec, arguments: Mapping[str, object]) -> ToolOutput:
        """What the tool says."""
        ...


class EngineTools:
    """Calls the engine's own tools, and hands calls of others on."""

    def __init__(self, ground: CodeSource, others: OtherTools | None = None) -> None:
        self._ground = ground
        self._others = others
        self._own: Mapping[str, Callable[[Mapping[str, object]], ToolOutput]] = {
            "vector_search": self._nearest,
            "search_code": self._search,
            "symbol_lookup": self._symbols,
            "symbol_relations": self._relations,
            "read_file": self._lines,
        }

    async def call(self, tool: ToolSpec, arguments: Mapping[str, object]) -> ToolOutput:
        """What the tool says; what goes wrong is an AsterismError."""
        if tool.server:
            if self._others is None:
                raise UsageError(f"There is no server {tool.server} in this chat.")
            answer: Awaitable[ToolOutput] = self._others.call(tool, arguments)
            return await answer
        return await self._ground.threads.search(self._own[tool.name], arguments)

    def _nearest(self, arguments: Mapping[str, object]) -> ToolOutput:
        found = nearest_hits(
            self._ground, _text(arguments, "query"), _whole(arguments, "limit", BEST)
        )
        return ToolOutput(found.text, found.data)

    def _search(self, arguments: Mapping[str, object]) -> ToolOutput:
        request = SearchRequest(
            text=_text(arguments, "query"),
            mode=Mode(_choice(arguments, "mode", _MODES)),
            limit=min(MOST_HITS, _whole(arguments, "limit", BEST)),
        )
        with self._ground.guard(self._ground.registered):
            reply = self._ground.engine.search(self._ground.registered, request)
        found = searched(self._ground, reply)
        return ToolOutput(found.text, found.data)

    def _symbols(self, arguments: Mapping[str, object]) -> ToolOutput:
        name = _text(arguments, "name")
        registered = self._ground.registered
        query = symbol_query(name, SymbolQuery(name, limit=MOST_PLACES))
        with self._ground.guard(registered):
            found = self._ground.engine.symbols(registered, query)
        counts = ", ".join(f"{count} {role.value}" for role, count in found.counts.items())
        lines = [f"{name}: {counts or 'not found'}"]
        lines += [
            f"{entry.row.filepath}:{entry.row.line}  {entry.row.role.value}  "
            f"{entry.row.kind} {entry.row.qualified_name}"
            for entry in found.symbols
        ]
        if found.did_you_mean:
            lines.append(f"Did you mean {', '.join(found.did_you_mean)}?")
        return ToolOutput("\n".join(lines))

    def _relations(self, arguments: Mapping[str, object]) -> ToolOutput:
        request = RelationsRequest(
            name=_text(arguments, "name"),
            relation=Relation(_choice(arguments, "relation", tuple(one.value for one in Relation))),
            depth=_whole(arguments, "depth", 1),
        )
        with self._ground.guard(self._ground.registered):
            found = self._ground.engine.relations(self._ground.registered, request)
        return ToolOutput(relations_text(found))

    def _lines(self, arguments: Mapping[str, object]) -> ToolOutput:
        typed, first = _text(arguments, "path"), _whole(arguments, "first_line", 1)
        last = min(_whole(arguments, "last_line", first + MOST_LINES - 1), first + MOST_LINES - 1)
        path, relative = _readable(self._ground, typed)
        data = read(str(path))
        if is_binary(data):
            raise NotText(f"{display_path(relative)} is a binary file; only text can be read.")
        lines = text_of(relative, data).decode("utf-8", "replace").split("\n")
        total = len(lines) if lines[-1] else len(lines) - 1
        shown = lines[first - 1 : min(last, total)]
        if not shown:
            raise UsageError(f"{display_path(relative)} has {total} lines; ask for some of those.")
        last = first + len(shown) - 1
        head = f"{display_path(relative)}:{first}-{last} of {total} lines"
        row = {
            "repo": self._ground.registered.repository.name,
            "file_path": relative,
            "start_line": first,
            "end_line": last,
        }
        return ToolOutput("\n".join([head, *shown]), {"results": [row]})


def relations_text(found: RelationsReply) -> str:
    """Relations as lines for a model."""
    lines = [f"{found.request.relation.value} of {found.request.name}:"]
    for related in found.related:
        known = related.connections
        lines.append(f"{known.symbol.name}  {known.symbol.path}:{known.symbol.line}")
        if related.tree is not None:
            lines += _branches(related.tree, 1)
        elif known.references is not None:
            lines += [f"  {path}" for path in known.references[:MOST_PLACES]]
        lines += [f"  not known: {gap.why}" for gap in known.gaps]
    if not found.related:
        lines.append("No definition of that name.")
    if found.did_you_mean:
        lines.append(f"Did you mean {', '.join(found.did_you_mean)}?")
    return "\n".join([*lines, *found.notes])


def _branches(tree: CallTree, depth: int) -> list[str]:
    lines = []
    for child in tree.children:
        target = child.edge.target
        place = f"{target.path}:{target.line}" if target.path else target.module or "elsewhere"
        lines.append(f"{'  ' * depth}{target.name}  {place} ({child.edge.known.value})")
        lines += _branches(child, depth + 1)
    return lines


def _readable(ground: CodeSource, typed: str) -> tuple[Path, str]:
    """A file that is or would be indexed, and its path in the repository; no other is shown."""
    root = os.path.realpath(ground.registered.repository.root)
    path = Path(os.path.realpath(on_disk(str(Path(root, typed)))))
    if not path.is_relative_to(root):
        raise PathOutside(f"{display_path(typed)} leads out of the repository; stay inside it.")
    relative = path.relative_to(root).as_posix()
    if not path.is_file():
        raise PathMissing(f"{display_path(typed)} is no file of the repository; check the path.")
    verdict = ground.engine.inspect(path).verdict
    if verdict is None or not verdict.indexed:
        reason = "it is in no list of files" if verdict is None else verdict.reason
        raise PathUnreadable(f"{display_path(typed)} is left out of the index ({reason}).")
    return path, relative


def _text(arguments: Mapping[str, object], name: str) -> str:
    value = arguments.get(name)
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise UsageError(f"{name} is missing, or no text; give one.")
    return value


def _whole(arguments: Mapping[str, object], name: str, default: int) -> int:
    value = arguments.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 1:
        raise UsageError(f"{name} is {value!r:.40}; give a whole number from 1 on.")
    return min(int(value), 1_000_000)


def _choice(arguments: Mapping[str, object], name: str, words: tuple[str, ...]) -> str:
    value = arguments.get(name, words[0])
    if value not in words:
        raise UsageError(f"{name} is {value!r:.40}; give one of {', '.join(words)}.")
    return str(value)
