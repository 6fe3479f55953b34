"""The operations on files as they are now: file_outline, file_lines and skipped_files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from asterism.operations.calls import Call
from asterism.operations.json import Accounted, Located, located
from asterism.operations.limits import CallReply, plain_account, reply_of
from asterism.operations.operation import Operation, Route
from asterism.operations.schema import LAST_LINE, MaxTokens, ProjectId, RepositoryId, text, whole
from asterism.types.errors import (
    IndexMissing,
    NotText,
    PathMissing,
    PathUnreadable,
    StoreError,
    UsageError,
)
from asterism.types.files import display_path, wire_path
from asterism.types.outline import Outline

if TYPE_CHECKING:
    # They bring the engine, which a list of operations does not need.
    from asterism.store.registry import Registered

MOST_LINES = 5_000
"""Lines of a file in one reply."""

_FILE = text("The file, from the repository's root.")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileOutline:
    """A file whose symbols are wanted."""

    file_path: Annotated[str, _FILE]
    repository_id: RepositoryId = None
    project_id: ProjectId = None
    max_tokens: MaxTokens = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLines:
    """Lines of a file."""

    file_path: Annotated[str, _FILE]
    start_line: Annotated[int, whole("The first line.", 1, LAST_LINE)] = 1
    end_line: Annotated[
        int | None, whole(f"The last line; {MOST_LINES:,} lines at most.", 1, LAST_LINE)
    ] = None
    repository_id: RepositoryId = None
    project_id: ProjectId = None
    max_tokens: MaxTokens = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedFiles:
    """The files that an index leaves out."""

    reason: Annotated[
        str | None, text("Only these, such as gitignored, binary, too_large or secret.")
    ] = None
    repository_id: RepositoryId = None
    project_id: ProjectId = None
    max_tokens: MaxTokens = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlineSymbol:
    """A symbol of a file; `depth` says how deep it is."""

    name: str
    kind: str
    qualified_name: str
    depth: int
    start_line: int
    end_line: int
    signature: str
    is_exported: bool


@dataclass(frozen=True, kw_only=True)
class OutlineFound(Accounted, Located):
    """The symbols of a file, in its order."""

    file_path: str
    language: str | None
    problems_count: int
    symbols: tuple[OutlineSymbol, ...]


@dataclass(frozen=True, kw_only=True)
class LinesFound(Accounted, Located):
    """Lines of a file as it is now."""

    file_path: str
    start_line: int
    total_lines: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedRow:
    """A file or folder that is left out."""

    file_path: str
    reason: str
    detail: str | None


@dataclass(frozen=True, kw_only=True)
class SkippedFound(Accounted, Located):
    """What an index leaves out, and why."""

    counts: Mapping[str, int]
    skipped: tuple[SkippedRow, ...]


def file_outline(call: Call, asked: FileOutline) -> CallReply:
    """The symbols of a file, in its order."""
    from asterism.analysis.contents import read_outline

    registered = call.repository()
    path, relative = shown_file(call, registered, asked.file_path)
    outline = read_outline(str(path), relative)
    symbols = _symbols(outline)
    found = OutlineFound(
        **_listed(call, registered, len(symbols)),
        file_path=wire_path(relative),
        language=outline.language,
        problems_count=len(outline.problems),
        symbols=symbols,
    )
    return reply_of(found, "symbols")


def _symbols(outline: Outline) -> tuple[OutlineSymbol, ...]:
    return tuple(
        OutlineSymbol(
            name=item.name,
            kind=item.kind,
            qualified_name=item.qualified_name,
            depth=item.depth,
            start_line=item.start_line,
            end_line=item.end_line,
            signature=item.signature,
            is_exported=item.exported,
        )
        for item in outline.items
        if item.is_symbol
    )


def file_lines(call: Call, asked: FileLines) -> CallReply:
    """Lines of a file as it is now."""
    from asterism.analysis.source.text import is_binary, read
    from asterism.analysis.syntax.outlines import text_of

    registered = call.repository()
    path, relative = shown_file(call, registered, asked.file_path)
    data = read(str(path))
    if is_binary(data):
        raise NotText(f"{display_path(relative)} is a binary file; only text can be shown.")
    lines = text_of(relative, data).decode("utf-8", "replace").split("\n")
    if lines[-1] == "":
        lines.pop()
    first = asked.start_line
    last = first + MOST_LINES - 1 if asked.end_line is None else asked.end_line
    if last < first:
        raise UsageError(
            f"end_line is {last:,} and start_line is {first:,}; give the first line first."
        )
    wanted = lines[first - 1 : last]
    page = wanted[:MOST_LINES]
    found = LinesFound(
        **_listed(call, registered, len(wanted), len(page)),
        file_path=wire_path(relative),
        start_line=first,
        total_lines=len(lines),
        lines=tuple(page),
    )
    return reply_of(found, "lines")


def skipped_files(call: Call, asked: SkippedFiles) -> CallReply:
    """What the index leaves out, and why."""
    from asterism.operations.repositories import shown_detail
    from asterism.store.catalogue.catalogue import Catalogue

    registered = call.repository()
    repo = registered.repository.name
    with Catalogue.open(registered.project.directory) as catalogue:
        if repo not in {known.name for known in catalogue.repositories()}:
            raise IndexMissing(f"{repo} is not indexed yet.")
        entries, counts = catalogue.skipped(repo), catalogue.skipped_counts(repo)
    rows = tuple(
        SkippedRow(
            file_path=wire_path(entry.path),
            reason=entry.reason,
            detail=shown_detail(entry.detail, registered.repository.root),
        )
        for entry in entries
        if asked.reason in (None, entry.reason)
    )
    found = SkippedFound(**_listed(call, registered, len(rows)), counts=counts, skipped=rows)
    return reply_of(found, "skipped")


def _listed(
    call: Call, registered: Registered, total: int, returned: int | None = None
) -> dict[str, Any]:
    """Place and account of a list; files are read as they are, whatever the index knows of them."""
    return {
        **located(registered),
        **plain_account(total, total if returned is None else returned, call.limit),
        "cursor": None,
        "index_state": {"behind": 0, "message": ""},
        "notes": (),
    }


def shown_file(call: Call, registered: Registered, typed: str) -> tuple[Path, str]:
    """A file that may be shown, and its path in the repository: one that is or would be indexed.

    What is kept out of the index, secrets among it, is not shown either, by whichever link.
    """
    from asterism.operations.repositories import inside

    path = Path(os.path.realpath(inside(registered, typed)))
    root = os.path.realpath(registered.repository.root)
    relative = os.path.relpath(path, root).replace(os.sep, "/")
    if not path.exists():
        raise PathMissing(f"{display_path(typed)} does not exist; check the path.")
    if not _is_indexed(registered, relative):
        verdict = call.engine.inspect(path).verdict
        if verdict is None or not verdict.indexed:
            reason = "it is in no list of files" if verdict is None else verdict.reason
            raise PathUnreadable(
                f"{display_path(typed)} is left out of the index ({reason}), and not shown; "
                "index_debug says more."
            )
    return path, relative


def _is_indexed(registered: Registered, relative: str) -> bool:
    from asterism.store.catalogue.catalogue import Catalogue

    try:
        with Catalogue.open(registered.project.directory) as catalogue:
            return catalogue.file(registered.repository.name, relative) is not None
    except (StoreError, UsageError):
        return False


OPERATIONS = (
    Operation(
        name="skipped_files",
        title="Files that are left out",
        description="""\
List the files and folders of a repository that its index leaves out, each with the reason.""",
        request=SkippedFiles,
        reply=SkippedFound,
        run=skipped_files,
        route=Route("GET", "/api/skipped"),
    ),
    Operation(
        name="file_outline",
        title="Outline of a file",
        description="Show the symbols of a file as it is now, in its order; `depth` says how deep.",
        request=FileOutline,
        reply=OutlineFound,
        run=file_outline,
        route=Route("GET", "/api/outline"),
    ),
    Operation(
        name="file_lines",
        title="Lines of a file",
        description="""\
Show lines of a file as it is now. Only files that are, or would be, indexed are shown.""",
        request=FileLines,
        reply=LinesFound,
        run=file_lines,
        route=Route("GET", "/api/file"),
    ),
)
