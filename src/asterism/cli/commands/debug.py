"""`asterism debug`: what is indexed of a file, and why not the rest."""

import argparse
import sys
from collections.abc import Iterator
from datetime import datetime

from asterism.cli.commands.symbols import counted
from asterism.cli.options import add_json
from asterism.cli.parser import CommandParser
from asterism.cli.setup import directory_named, engine
from asterism.cli.terminal import write_json
from asterism.engine.inspection import FileFreshness, FileVerdict, IndexedChunk, Inspection
from asterism.operations.schema import Json
from asterism.types.errors import PathMissing
from asterism.types.files import SkipReason, display_path, wire_path
from asterism.types.index import Link

_BEHIND = {
    FileFreshness.equal: "up to date",
    FileFreshness.changed: "behind: the file has changed since; run `asterism index`",
    FileFreshness.new: "not in the index yet; run `asterism index`",
    FileFreshness.gone: "behind: the file is gone, the index still has it; run `asterism index`",
    FileFreshness.excluded: "behind: the index still has the file, which is skipped now; "
    "run `asterism index`",
    FileFreshness.skipped: "nothing, because the file is skipped",
    FileFreshness.unknown: "cannot be compared",
}


def declare(parser: CommandParser) -> None:
    """Add the arguments."""
    parser.add_argument("what", choices=("file",), help="what to look at")
    parser.add_argument("path", metavar="PATH", help="the file")
    parser.add_argument("--text", action="store_true", help="print the text a model reads as well")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Print what there is to know about one file."""
    if "\0" in options.path:
        raise PathMissing(f"{display_path(options.path)} is not a possible path; check it.")
    found = engine().inspect(directory_named(options.path))
    if options.json:
        write_json(_inspection_json(found, options.text))
    else:
        _print(found, options.text)
    return 0


def _print(found: Inspection, text: bool) -> None:
    from asterism.cli.terminal import console, show

    out = console()
    place = found.registered.repository
    show(
        out,
        (display_path(found.path), "bold"),
        (f"  in {place.name} ({display_path(place.root)})", "dim"),
    )
    for label, words in _facts(found):
        show(out, (f"{label:<12}", "dim"), (words, ""))
    for title, lines in _lists(found):
        if lines:
            show(out, (title, "bold"))
        for line in lines:
            show(out, (f"  {line}", ""))
    if found.held.chunks:
        show(out, ("Chunks", "bold"))
    for entry in found.held.chunks:
        show(out, *_chunk_line(entry))
        if text and entry.chunk is not None:
            from asterism.cli.terminal import printable

            # Not through the console: a text is printed as it is, however long its lines.
            sys.stdout.write(f"{printable(entry.chunk.embedding_text)}\n\n")


def _facts(found: Inspection) -> Iterator[tuple[str, str]]:
    """Label and words of each single fact."""
    if found.disk is None:
        yield "On disk", "gone"
    else:
        kind = "a link, " if found.disk.link else ""
        yield "On disk", f"{kind}{found.disk.size:,} bytes, changed {_time(found.disk.mtime)}"
    if found.verdict is not None:
        yield "Discovery", _verdict_words(found.verdict)
    yield "Index", _BEHIND[found.freshness]
    state = found.held.state
    if state is not None:
        yield "Language", state.language or "none"
        yield "Compared", f"with the disk {_time(state.scanned_ns / 1e9)}"
        counts = [counted(role, count) for role, count in found.held.symbols.items() if count]
        yield "Symbols", ", ".join(counts) or "none"
    if found.held.trouble:
        yield "Trouble", found.held.trouble
    if found.unread:
        yield "Not read", found.unread


def _verdict_words(verdict: FileVerdict) -> str:
    if verdict.indexed:
        return "to be indexed"
    assert verdict.reason is not None
    reason = verdict.reason.value + (f" ({display_path(verdict.detail)})" if verdict.detail else "")
    if verdict.folder is not None:
        return f"inside {display_path(verdict.folder)}/, which is skipped: {reason}"
    if verdict.reason is SkipReason.secret:
        if verdict.detail:
            return f"skipped: secret. By its content it is {display_path(verdict.detail)}."
        return "skipped: secret. By its name it may hold keys or passwords, so it is never opened."
    return f"skipped: {reason}"


def _lists(found: Inspection) -> Iterator[tuple[str, list[str]]]:
    path = display_path(found.path)
    yield "Problems", [f"{path}:{problem.line}: {problem.message}" for problem in found.problems]
    yield "Imports", [f"{link.module} → {_target(link)}{_names(link)}" for link in found.held.links]
    yield (
        "Imported by",
        [f"{display_path(importer)}{_names(link)}" for importer, link in found.held.importers],
    )


def _target(link: Link) -> str:
    return display_path(link.target) if link.target is not None else "not in this repository"


def _names(link: Link) -> str:
    names = f"  ({', '.join(link.names)})" if link.names else ""
    return f"{names}  passed on" if link.reexports else names


def _chunk_line(entry: IndexedChunk) -> tuple[tuple[str, str], ...]:
    facts = f"  {entry.id}  text {entry.text_hash.hex()[:12]}"
    if entry.chunk is None:
        return ("  lost", "red"), (facts, "dim")
    chunk = entry.chunk
    part = f" part {chunk.part + 1}" if chunk.part else ""
    return (
        (f"  {chunk.node_kind} ", "magenta"),
        (chunk.qualified_name, "bold"),
        (f"  {chunk.start_line}–{chunk.end_line}{part}", "cyan"),
        (facts, "dim"),
        ("" if entry.has_vector else "  without a vector", "red"),
    )


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().isoformat(" ", "seconds")


def _inspection_json(found: Inspection, text: bool) -> Json:
    place = found.registered
    state = found.held.state
    return {
        "file_path": wire_path(found.path),
        "repository": place.repository.name,
        "root": wire_path(place.repository.root),
        "project": place.project.name,
        "on_disk": found.disk
        and {
            "size": found.disk.size,
            "modified": _time(found.disk.mtime),
            "link": found.disk.link,
        },
        "discovery": found.verdict
        and {
            "indexed": found.verdict.indexed,
            "reason": found.verdict.reason and found.verdict.reason.value,
            "detail": found.verdict.detail,
            "inside": found.verdict.folder and f"{wire_path(found.verdict.folder)}/",
        },
        "freshness": found.freshness.value,
        "message": _BEHIND[found.freshness],
        "trouble": found.held.trouble or None,
        "not_read": found.unread or None,
        "index": state
        and {
            "language": state.language,
            "size": state.size,
            "content_hash": state.content_hash.hex(),
            "problems": state.problems,
            "compared": _time(state.scanned_ns / 1e9),
            "symbols": {role.value: count for role, count in found.held.symbols.items()},
        },
        "chunks": [_chunk_json(entry, text) for entry in found.held.chunks],
        "imports": [_link_json(link) for link in found.held.links],
        "imported_by": [
            {"file_path": wire_path(importer), "names": link.names, "reexports": link.reexports}
            for importer, link in found.held.importers
        ],
        "problems": [problem._asdict() for problem in found.problems],
    }


def _chunk_json(entry: IndexedChunk, text: bool) -> Json:
    chunk = entry.chunk
    made: Json = {
        "chunk_id": entry.id,
        "text_hash": entry.text_hash.hex(),
        "has_vector": entry.has_vector,
        "kind": chunk and chunk.node_kind,
        "name": chunk and chunk.name,
        "qualified_name": chunk and chunk.qualified_name,
        "start_line": chunk and chunk.start_line,
        "end_line": chunk and chunk.end_line,
    }
    if text:
        made["text"] = chunk and chunk.embedding_text
    return made


def _link_json(link: Link) -> Json:
    return {
        "module": link.module,
        "target": link.target and wire_path(link.target),
        "names": link.names,
        "reexports": link.reexports,
    }
