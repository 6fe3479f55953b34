"""Code for an agent: what was found, how it connects, and the source, inside a token budget."""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from asterism.analysis.resolve.scopes import FileScope
from asterism.engine.connector import Connector, Questions
from asterism.engine.search import SearchReply, SearchRequest
from asterism.engine.snapshot import QuerySnapshot
from asterism.reply.budget import (
    Assembly,
    AssemblyOptions,
    FileSource,
    OtherCandidate,
    ReplyPart,
    ReplyResult,
    assemble,
)
from asterism.reply.graph import GraphOptions
from asterism.reply.snapshots import stated, targets_at
from asterism.search.ranking.priors import traits_of
from asterism.search.selection.excerpts import matching_lines
from asterism.search.selection.options import (
    CHARS_PER_TOKEN,
    CHUNKS,
    CONTEXT,
    WORTH,
)
from asterism.search.selection.worth import (
    WorthChoice,
    WorthRequest,
    behind,
    candidates,
    chosen,
)
from asterism.structure.positions import (
    SymbolTarget,
    with_overloads,
    with_same_name,
    with_same_text,
)
from asterism.structure.repository import FilesOnce
from asterism.types.deadlines import check_deadline
from asterism.types.errors import UsageError
from asterism.types.files import display_path
from asterism.types.index import Chunk
from asterism.types.search import (
    Account,
    Detail,
    Dropped,
    Lines,
    Question,
    Reason,
    TruncationInfo,
)

# Less than this has no place for anything but the first line.
LEAST_BUDGET = 50

# Characters of the serialised parts; the text around them counts towards the ceiling.
MOST_CHARS = CHUNKS.limit_chars

MOST_MATCHES = 2
"""Lines that are shown of a result without its code."""

_WHILE_LOOKING = "the file changed while it was looked at"


class PlacedHit(NamedTuple):
    """A hit at its place in the file as it is now."""

    chunk: Chunk
    """As it was indexed."""
    path: str
    """Of the file in the repository; the chunk has it as it is displayed."""
    targets: tuple[int, ...]
    """Its items in the file's outline."""
    lines: Lines
    score: float
    is_head: bool = False
    """A type of which a member is a result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextOptions:
    """How many results a context has, and how large it is."""

    limit: int = WORTH.default_limit
    gate: float | None = None
    """The score that a result needs (default: in proportion to the best one's)."""
    budget: int | None = None
    """Tokens of the whole reply."""


_DEFAULT = ContextOptions()


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextReply:
    """A search, and what an agent reads of it."""

    search: SearchReply
    results: tuple[PlacedHit, ...]
    """What the assembly is about, in the order of its details."""
    assembly: Assembly
    account: Account
    """Of the search and of the assembly together."""
    candidates: tuple[OtherCandidate, ...] = ()
    """The best of what is not among the results, as far as the reply names them."""
    notes: tuple[str, ...] = ()
    """What the reader should know, those of the search included."""
    seconds: float = 0.0
    """For all of it, the search included."""

    @property
    def shown(self) -> int:
        """How many results have a place."""
        return len(self.results) - self.assembly.dropped


def pooled(request: SearchRequest) -> SearchRequest:
    """The request for all hits of which a context chooses its results, whole, however long."""
    if request.exhaustive or request.cursor is not None:
        raise UsageError("Every match, page by page, is a list; ask for it without context.")
    return request.whole(max(request.limit, WORTH.pool))


def budget_for(wanted: int | None) -> int:
    """The tokens a reply may have; too few for anything are refused before anything runs."""
    room = (CONTEXT.token_budget or 0) if wanted is None else wanted
    if room < LEAST_BUDGET:
        raise UsageError(f"The token budget is {room}; give {LEAST_BUDGET} or more.")
    return room


def context(
    reply: SearchReply,
    snapshot: QuerySnapshot,
    connector: Connector,
    options: ContextOptions = _DEFAULT,
) -> ContextReply:
    """The connection graph of the results, a snapshot of each file, and the other candidates."""
    room = budget_for(options.budget)
    notes: list[str] = [*reply.notes]
    questions, scopes = connector.questions(snapshot), dict[str, FileScope]()
    choice = _chosen(reply, options)
    found = [*_placed(reply, choice, questions.files, scopes, notes)]
    notes.extend(_more_notes(reply, choice))
    placed = [*{(place.path, place.targets): place for place in reversed(found)}.values()][::-1]
    paths = [*dict.fromkeys(place.path for place in placed)]
    question = None if reply.total.exact else reply.search.question
    wanted = _assembly_options(reply, choice, room)
    results = _results(placed, scopes, questions, question, wanted.most_code)
    notes.extend(questions.notes)
    files = [FileSource(outline=scopes[path].outline, source=scopes[path].source) for path in paths]
    assembly = _assembled(reply.search.question.text, files, results, room, wanted)
    notes.extend(_size_notes(assembly, room))
    if not placed and choice.unworthy:
        least = f"score less than {options.gate:g}" if options.gate else "are not likely enough"
        notes.append(
            f"Nothing here is a likely answer: {len(choice.unworthy):,} candidates {least}; ask "
            "with a lower minimum score to see their code."
        )
    return ContextReply(
        search=reply,
        results=tuple(placed),
        assembly=assembly,
        account=_account(reply, assembly, choice, len(found) - len(placed), room),
        candidates=tuple(wanted.candidates[: assembly.candidates]),
        notes=tuple(dict.fromkeys(notes)),
        seconds=time.monotonic() - snapshot.began,
    )


def _chosen(reply: SearchReply, options: ContextOptions) -> WorthChoice:
    """The results among the hits: of a ranking those worth their tokens, else the first ones."""
    hits = [kept.hit for kept in reply.selection.kept]
    if reply.total.exact:
        found = range(len(hits))
        return WorthChoice(
            tuple(found[: options.limit]), frozenset(), (), tuple(found[options.limit :])
        )
    wanted = WorthRequest(reply.search.question, options.limit, options.gate, reply.stage)
    return chosen(hits, wanted)


def _assembly_options(reply: SearchReply, choice: WorthChoice, room: int) -> AssemblyOptions:
    graph = GraphOptions(is_test=lambda path: "test" in traits_of(path).kinds)
    if reply.total.exact:
        return AssemblyOptions(graph=graph)
    account = reply.selection.account
    left_out = account.total_count - len(choice.results) - len(choice.nested)
    goal = max(WORTH.goal_tokens, int(WORTH.goal_share * room))
    return AssemblyOptions(
        graph=graph,
        goal=goal,
        most_code=WORTH.most_code * max(1, goal // WORTH.goal_tokens),
        candidates=[
            OtherCandidate(
                hit.chunk.relative_path,
                Lines(hit.chunk.start_line, hit.chunk.end_line),
                hit.chunk.qualified_name or hit.chunk.node_kind,
                hit.score,
            )
            for hit in candidates([kept.hit for kept in reply.selection.kept], choice)
        ],
        left_out=left_out - account.dropped.duplicate,
    )


def _placed(
    reply: SearchReply,
    choice: WorthChoice,
    files: FilesOnce,
    scopes: dict[str, FileScope],
    notes: list[str],
) -> Iterator[PlacedHit]:
    """The hits found again in their files; pieces of one symbol are that symbol."""
    for at in choice.results:
        check_deadline()
        hit = reply.selection.kept[at].hit
        chunk = hit.chunk
        path, shown = chunk.relative_path, display_path(chunk.relative_path)
        scope = files.scope(path)
        if scope is None:
            notes.append(
                f"{shown} is gone since it was indexed; {chunk.qualified_name} is left out."
            )
            continue
        scopes[path] = scope
        is_same = files.digest(path) == chunk.content_hash
        lines = Lines(chunk.start_line, chunk.end_line) if is_same else with_same_text(scope, chunk)
        targets = targets_at(scope.outline, [lines]) if lines else with_same_name(scope, chunk)
        if not targets:
            notes.append(
                f"{chunk.qualified_name} is not in {shown} any more since it was indexed; it is "
                "left out."
            )
            continue
        if lines is None:
            notes.append(
                f"{chunk.qualified_name} in {shown} has changed since it was indexed; it is shown "
                "as it is now."
            )
        targets = with_overloads(scope, targets)
        lines = _lines_of(scope, targets)
        yield PlacedHit(chunk, path, targets, lines, hit.score, at in choice.heads)


def _more_notes(reply: SearchReply, choice: WorthChoice) -> Iterator[str]:
    """A name that was asked for has more definitions than were wanted."""
    shown, total = len(choice.results), reply.total
    if reply.search.question.symbol is not None and total.exact and shown < total.matches:
        yield (
            f"{shown:,} of {total.matches:,} definitions are shown; ask with a higher limit, or "
            "say which by its path, as `path > A > x`."
        )


def _lines_of(scope: FileScope, targets: Sequence[int]) -> Lines:
    items = [scope.outline.items[target] for target in targets]
    return Lines(min(item.first_line for item in items), max(item.end_line for item in items))


def _results(
    placed: Sequence[PlacedHit],
    scopes: Mapping[str, FileScope],
    questions: Questions,
    question: Question | None,
    most_code: int | None,
) -> list[ReplyResult]:
    """The results, those that may have code with their connections.

    With the query of a ranking, the weak ones are marked and the lines that match are found.
    """
    paths = dict.fromkeys(place.path for place in placed)
    numbers = {path: number for number, path in enumerate(paths)}
    targets = [_target(place, scopes[place.path]) for place in placed]
    symbols = [target for target in targets[:most_code] if target is not None]
    known = dict(zip(symbols, questions.ask(symbols), strict=True))
    best = max((place.score for place in placed), default=0.0)
    results: list[ReplyResult] = []
    for place, target in zip(placed, targets, strict=True):
        scope = scopes[place.path]
        connections = known.get(target) if target is not None else None
        if connections is None:
            why = _WHILE_LOOKING if target in known else None
            connections = stated(scope.outline, scope.source, place.targets[0], why)
        is_weak = question is not None and behind(place.score, best) > WORTH.behind_strong
        results.append(
            ReplyResult(
                file=numbers[place.path],
                targets=place.targets,
                score=place.score,
                connections=connections,
                is_head=place.is_head,
                is_ranked=question is not None,
                is_weak=is_weak,
                matches=_matches(place, scope, question) if question is not None else (),
            )
        )
    return results


def _matches(place: PlacedHit, scope: FileScope, question: Question) -> tuple[tuple[int, str], ...]:
    """The lines of a result that say what is asked for, as they are now."""
    lines = scope.source.decode("utf-8", "replace").split("\n")
    text = "\n".join(lines[place.lines.first - 1 : place.lines.last])
    found = matching_lines(text, question, MOST_MATCHES)
    return tuple((place.lines.first + at, line) for at, line in found)


def _target(place: PlacedHit, scope: FileScope) -> SymbolTarget | None:
    """The symbol to ask about; a statement has no connections."""
    items = [scope.outline.items[number] for number in place.targets]
    item = next((item for item in items if item.is_symbol), None)
    if item is None:
        return None
    return SymbolTarget(place.path, item.qualified_name, item.start_line, item.name_offset)


def _assembled(
    query: str,
    files: Sequence[FileSource],
    results: Sequence[ReplyResult],
    budget: int,
    options: AssemblyOptions,
) -> Assembly:
    """The reply within the budget, and within the characters that any reply may have."""
    room = min(budget, MOST_CHARS // CHARS_PER_TOKEN)
    while True:
        assembly = assemble(query, files, results, room, _tokens, options)
        size = _serialised(assembly.parts)
        if size <= MOST_CHARS:
            return assembly
        # Quotes and line ends take two characters each once they are serialised.
        room = min(room - 1, room * MOST_CHARS // size)


def _serialised(parts: Sequence[ReplyPart]) -> int:
    return sum(len(json.dumps(part.text, ensure_ascii=False)) for part in parts)


def _tokens(text: str) -> int:
    """Four characters count as a token, as everywhere where no tokenizer is configured."""
    return -(-len(text) // CHARS_PER_TOKEN)


def _size_notes(assembly: Assembly, budget: int) -> Iterator[str]:
    if assembly.budget < budget and assembly.is_over:
        yield (
            f"A reply has at most {MOST_CHARS:,} characters; that is {assembly.budget:,} tokens "
            f"here, not {budget:,}."
        )
    if assembly.dropped:
        yield f"{assembly.dropped:,} results had no place within {assembly.budget:,} tokens."


def _account(
    reply: SearchReply, assembly: Assembly, choice: WorthChoice, again: int, budget: int
) -> Account:
    """What came in, what goes out, and why the rest does not; what is gone did not come in."""
    before = reply.selection.account
    results = len(assembly.details)
    gone = len(choice.results) - results - again
    dropped = before.dropped
    reason = None
    if assembly.is_over:
        reason = Reason.character_limit if assembly.budget < budget else Reason.token_budget
        # The best is the last to be shortened: alone it would have been too large as well.
        is_best_cut = assembly.details[:1] not in ((), (Detail.full,))
        reason = Reason.single_result_too_large if is_best_cut else reason
    return replace(
        before,
        total_count=before.total_count - gone,
        returned_count=results - assembly.dropped,
        dropped=Dropped(
            below_gate=dropped.below_gate + len(choice.unworthy),
            per_file=dropped.per_file,
            duplicate=dropped.duplicate + again + len(choice.nested),
            budget=dropped.budget + assembly.dropped + len(choice.over),
        ),
        truncation_info=TruncationInfo(
            reason=reason,
            original_count=results,
            returned_count=results - assembly.dropped,
            estimated_chars=_serialised(assembly.parts),
            limit_chars=MOST_CHARS,
            estimated_tokens=assembly.used_tokens,
            limit_tokens=assembly.budget,
        ),
        utilisation=min(1.0, assembly.used_tokens / assembly.budget),
        near_limit=False,
    )
