"""Compares TypeScript connections with a count by the classic compiler."""

import json
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from asterism.structure.typescript.config import SOURCE_ENDINGS, is_config, is_source, plan
from asterism.structure.typescript.project import TypeScriptProject, require_compiler
from asterism.types.files import FoundFile
from asterism.types.outline import Item
from asterism.types.structure import Connections, Edge, Known
from benchmarks.structure.samples import Difference, Sample, Texts, difference

ENDINGS = SOURCE_ENDINGS

_ORACLE = Path(__file__).with_name("structure_oracle.js")
_MADE_WITH = frozenset({"property", "constructor"})


def compare(
    root: str, files: Sequence[FoundFile], chosen: Sequence[Sample], classic: str
) -> list[Difference]:
    """Every difference about some symbols; `classic` has npm's `typescript` installed."""
    texts = Texts(root)
    ours = _ours(root, files, chosen)
    theirs = _theirs(root, files, chosen, classic)
    found: list[Difference] = []
    for sample, mine, other in zip(chosen, ours, theirs, strict=True):
        if not other["found"]:
            found.append(Difference(sample, "symbol", (), ("not found",)))
            continue
        found += difference(
            sample, "reference files", mine.references or (), _files(root, sample, other)
        )
        found += difference(sample, "callers", _sites(mine.callers), _callers(texts, other))
        found += difference(sample, "callees", _called(mine.calls), _callees(texts, sample, other))
    return found


def _ours(
    root: str, files: Sequence[FoundFile], chosen: Sequence[Sample]
) -> tuple[Connections, ...]:
    with tempfile.TemporaryDirectory() as cache:
        project = TypeScriptProject(require_compiler(), root, cache)
        try:
            return project.connections([sample.target for sample in chosen], files)
        finally:
            project.close()


def _theirs(
    root: str, files: Sequence[FoundFile], chosen: Sequence[Sample], classic: str
) -> list[dict[str, Any]]:
    """The classic compiler gets the same files and options, and nothing else from Asterism."""
    paths = [file.path for file in files if is_source(file.path) or is_config(file.path)]
    projects = [
        {"options": one.configuration["compilerOptions"], "files": sorted(one.right)}
        for one in plan(root, paths)
    ]
    targets = [{"file": f"{root}/{s.target.path}", "pos": s.unit} for s in chosen]
    done = subprocess.run(
        ["node", "--max-old-space-size=6000", str(_ORACLE), classic],
        input=json.dumps({"root": root, "projects": projects, "targets": targets}),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    answered: list[dict[str, Any]] = json.loads(done.stdout)
    return answered


def _files(root: str, sample: Sample, other: dict[str, Any]) -> set[str]:
    found = {one["file"].removeprefix(root + "/") for one in other["references"]}
    return found - {sample.target.path}


def _callers(texts: Texts, other: dict[str, Any]) -> Iterable[tuple[str, int, int]]:
    """Where it is called: the file, the line of the symbol that calls, the line of the call."""
    for one in other["references"]:
        is_call = one["use"] == "calls" or (other["accessor"] and one["use"] == "mentions")
        if is_call:
            text = texts.get(one["file"])
            owner = text.name_line(text.owner(one["pos"]))
            yield text.path, owner, text.line(one["pos"])


def _sites(edges: Iterable[Edge]) -> Iterable[tuple[str | None, int | None, int]]:
    return ((e.target.path, e.target.line, line) for e in edges for line in e.lines)


def _callees(
    texts: Texts, sample: Sample, other: dict[str, Any]
) -> Iterable[tuple[str, int | str, int]]:
    """What is called: the file, the line of its name (its name outside), the line of the call."""
    text = texts.get(sample.target.path)
    items = text.outline.items
    name = items[sample.item].qualified_name
    owners = {i for i, item in text.outline.symbols() if item.qualified_name == name}
    # `const { a, b } = …` makes its calls for each of its names.
    owners.update(i for i, item in text.outline.symbols() if _is_beside(item, items[sample.item]))
    for index in list(owners):
        if items[index].kind == "class":
            made = [c for c in items[index].children if items[c].kind in _MADE_WITH]
            inner = [c for m in made for c in items[m].children if items[c].kind == "property"]
            owners.update(made, inner)
    for call in other["calls"]:
        to = call["to"]
        if text.owner(call["pos"]) not in owners:
            continue
        line = text.line(call["pos"])
        if to["file"] is None:
            yield "", to["name"], line
            continue
        target = texts.get(to["file"])
        byte = target.units.to_bytes(to["pos"])
        is_symbol = any(item.name_offset == byte for _, item in target.outline.symbols())
        if is_symbol or not to["local"]:
            yield target.path, target.line(to["pos"]), line


def _is_beside(item: Item, own: Item) -> bool:
    is_value = item.kind in ("const", "variable") and item.kind == own.kind
    return is_value and item.span.end == own.span.end


def _called(edges: Iterable[Edge]) -> Iterable[tuple[str, int | str | None, int]]:
    for edge in edges:
        if edge.known is not Known.resolved:
            continue
        to = edge.target
        for line in edge.lines:
            if to.path is None:
                yield "", to.name.rpartition(".")[2], line
            else:
                yield to.path, to.line, line
