"""Connections as short lines of text, so that expectations can be read."""

from typing import Any

from asterism.types.structure import Connections, Edge, Known, TypeFlow

EDGES = ("extends", "implements", "subtypes", "calls", "callers", "users")


def described(found: Connections) -> dict[str, Any]:
    """Every fact that is there: edges as `name path:line <lines>`, flows as `name: type <- …`."""
    facts: dict[str, Any] = {"signature": found.signature}
    for name in EDGES:
        if edges := getattr(found, name):
            facts[name] = [_edge(edge) for edge in edges]
    if found.references != ():
        facts["references"] = list(found.references) if found.references is not None else None
    for name in ("types_in", "types_out"):
        if flows := getattr(found, name):
            facts[name] = [_flow(flow) for flow in flows]
    if found.members:
        facts["members"] = [
            f"{member.line} {member.kind} {member.signature}"
            + (f" in {member.path}" if member.path else "")
            for member in found.members
        ]
    for name in ("type", "value"):
        if (text := getattr(found, name)) is not None:
            facts[name] = text
    if found.gaps:
        facts["gaps"] = [gap.why for gap in found.gaps]
    return facts


def _edge(edge: Edge) -> str:
    place = f"{edge.target.path}:{edge.target.line}" if edge.target.path else edge.target.module
    sure = "" if edge.known is Known.resolved else f" ~{edge.confidence:g}"
    lines = ",".join(str(line) for line in edge.lines)
    return f"{edge.target.name} {place}{sure}" + (f" <{lines}>" if lines else "")


def _flow(flow: TypeFlow) -> str:
    origins = ", ".join(_edge(origin) for origin in flow.origins)
    name = f"{flow.name}: " if flow.name else ""
    return f"{name}{flow.type}" + (f" <- {origins}" if origins else "")
