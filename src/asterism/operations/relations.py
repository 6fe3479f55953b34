"""The operation that follows calls: symbol_relations."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from asterism.operations.calls import Call
from asterism.operations.json import Accounted, Located, located
from asterism.operations.limits import MOST_CHARS, CallReply, plain_account, reply_of
from asterism.operations.operation import Operation, Route
from asterism.operations.requests import SymbolRelations
from asterism.operations.schema import Json
from asterism.types.files import wire_path
from asterism.types.structure import CallTree, Connections, Edge, Gap, SymbolPlace

if TYPE_CHECKING:
    # They bring the engine, which a list of operations does not need.
    from asterism.engine.relations import RelatedSymbol, Relation, RelationsReply
    from asterism.store.registry import Registered


@dataclass(frozen=True, kw_only=True)
class RelationsFound(Accounted, Located):
    """Every definition of a name with what was asked about it."""

    name: str
    relation: str
    depth: int
    did_you_mean: tuple[str, ...]
    definitions: tuple[Json, ...]
    """A tree of calls is as deep as asked; `calls` holds the edges below."""


def symbol_relations(call: Call, asked: SymbolRelations) -> CallReply:
    """Every definition of a name with its callers, callees or references."""
    from asterism.engine.relations import Relation, RelationsRequest

    registered = call.repository()
    request = RelationsRequest(
        name=asked.name.strip(),
        relation=Relation(asked.relation),
        depth=asked.depth,
        below=_below(registered, asked.path),
    )
    found = relations_found(call.engine.relations(registered, request), registered, call.limit)
    return reply_of(found, "definitions")


def relations_found(
    reply: RelationsReply, registered: Registered, limit: int | None = None
) -> RelationsFound:
    """The record of what was found."""
    request = reply.request
    return RelationsFound(
        **located(registered),
        **plain_account(reply.total, len(reply.related), limit or MOST_CHARS),
        name=request.name,
        relation=request.relation.value,
        depth=request.depth,
        did_you_mean=reply.did_you_mean,
        cursor=None,
        index_state=reply.state._asdict(),
        notes=reply.notes,
        definitions=tuple(_definition(related, request.relation) for related in reply.related),
    )


def _below(registered: Registered, typed: str | None) -> str:
    """The path in the repository that is named; nothing for all of it."""
    from asterism.operations.repositories import inside

    if typed is None:
        return ""
    place = inside(registered, typed)
    relative = os.path.relpath(place, os.path.realpath(registered.repository.root))
    if relative == os.curdir:
        return ""
    plain = relative.replace(os.sep, "/")
    return f"{plain}/" if place.is_dir() else plain


def _definition(related: RelatedSymbol, relation: Relation) -> Json:
    known = related.connections
    shared = {
        **_place(known.symbol),
        "kind": known.kind,
        "signature": known.signature,
        "is_exported": known.is_exported,
        "not_known": _reasons(known.gaps, relation),
    }
    if related.tree is not None:
        return {**shared, "calls": _tree(related.tree, related.unknown)}
    return {**shared, **_references(known)}


def _references(known: Connections) -> Json:
    """The files that refer to it, null where that is unknown, and the symbols that do."""
    files = known.references
    return {
        "references": None if files is None else [wire_path(path) for path in files],
        "callers": _edges(known.callers),
        "users": _edges(known.users),
        "subtypes": _edges(known.subtypes),
    }


def _tree(tree: CallTree, unknown: Mapping[SymbolPlace, tuple[str, ...]]) -> Json:
    return {
        "left_out": tree.left_out,
        "not_known": list(unknown.get(tree.edge.target, ())),
        "mark": tree.mark,
        "calls": [{**_edge(child.edge), **_tree(child, unknown)} for child in tree.children],
    }


def _edges(edges: Sequence[Edge]) -> list[Json]:
    return [_edge(edge) for edge in edges]


def _edge(edge: Edge) -> Json:
    return {
        **_place(edge.target),
        "known": edge.known.value,
        "confidence": edge.confidence,
        "lines": list(edge.lines),
    }


def _place(symbol: SymbolPlace) -> Json:
    return {
        "qualified_name": wire_path(symbol.name),
        "file_path": None if symbol.path is None else wire_path(symbol.path),
        "line": symbol.line,
        "kind": symbol.kind,
        "module": symbol.module,
    }


def _reasons(gaps: Sequence[Gap], relation: Relation) -> list[str]:
    from asterism.engine.relations import FACTS

    return [gap.why for gap in gaps if FACTS[relation] in gap.facts]


OPERATIONS = (
    Operation(
        name="symbol_relations",
        title="Follow the calls of a symbol",
        description="""\
Show who calls a symbol, what it calls, or which files refer to it, as deep as asked. Compilers \
answer where there is one, else names and imports; each edge says how it is known.""",
        request=SymbolRelations,
        reply=RelationsFound,
        run=symbol_relations,
        needs_index=True,
        route=Route("POST", "/api/relations"),
    ),
)
