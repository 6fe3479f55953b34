"""Callers, callees and references as JSON, for programs that ask by command or over HTTP."""

from collections.abc import Mapping, Sequence

from asterism.domain.files import wire_path
from asterism.domain.structure import CallTree, Connections, Edge, Gap, SymbolPlace
from asterism.engine.relations import FACTS, Related, Relation, RelationsReply
from asterism.operations.schema import Json


def relations_json(reply: RelationsReply) -> Json:
    """Every definition with what was asked about it."""
    request = reply.request
    return {
        "name": request.name,
        "relation": request.relation.value,
        "depth": request.depth,
        "definitions": [_definition(related, request.relation) for related in reply.related],
        "total": reply.total,
        "did_you_mean": list(reply.did_you_mean),
        "notes": list(reply.notes),
        "index_state": reply.state._asdict(),
    }


def _definition(related: Related, relation: Relation) -> Json:
    known = related.connections
    shared = {
        **_place(known.symbol),
        "kind": known.kind,
        "signature": known.signature,
        "is_exported": known.is_exported,
        "not_known": _reasons(known.gaps, relation),
    }
    if related.tree is not None:
        return {**shared, "calls": _below(related.tree, related.unknown)}
    return {**shared, **_references(known)}


def _references(known: Connections) -> Json:
    """The files, none of them where nobody could say, and who in them is known to refer to it."""
    files = known.references
    return {
        "references": None if files is None else [wire_path(path) for path in files],
        "callers": _edges(known.callers),
        "users": _edges(known.users),
        "subtypes": _edges(known.subtypes),
    }


def _below(tree: CallTree, unknown: Mapping[SymbolPlace, tuple[str, ...]]) -> Json:
    return {
        "left_out": tree.left_out,
        "not_known": list(unknown.get(tree.edge.target, ())),
        "mark": tree.mark,
        "calls": [{**_edge(child.edge), **_below(child, unknown)} for child in tree.children],
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
        "name": wire_path(symbol.name),
        "path": None if symbol.path is None else wire_path(symbol.path),
        "line": symbol.line,
        "kind": symbol.kind,
        "module": symbol.module,
    }


def _reasons(gaps: Sequence[Gap], relation: Relation) -> list[str]:
    return [gap.why for gap in gaps if FACTS[relation] in gap.facts]
