"""What a search found, for people: each hit with its place, its reasons and its code."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from asterism.cli.render.snippets import MARGIN, matching_rows, print_rows, rows_of
from asterism.cli.terminal import console, show, words
from asterism.engine.search import ContextLines, SearchReply
from asterism.search.recall import Model
from asterism.search.snippets import Marker, marking
from asterism.store.chunk_table import ChunkKey
from asterism.types.files import display_name, display_path
from asterism.types.index import Chunk
from asterism.types.search import Detail, Hit, Kept, Reason, Signal, TruncationInfo

if TYPE_CHECKING:
    from rich.console import Console


# How a channel found it, in the order in which a reader believes them.
_CHANNELS = {"name": "name", "path": "path", "text": "words", "vector": "meaning"}
_PRIORS = {
    "test": "a test",
    "example": "an example",
    "documentation": "documentation",
    "compatibility": "for compatibility",
    "generated": "generated",
    "barrel": "passes names on",
    "older_version": "an older version",
    "header": "a header",
    "imports": "an import",
    "comment": "a comment",
}


def in_words(hit: Hit) -> str:
    """A few plain words: `defines it, by name and meaning; a test`."""
    names = {signal.name: signal for signal in hit.why}
    found = []
    if hit.lines:
        count = len(hit.lines)
        found.append("1 matching line" if count == 1 else f"{count:,} matching lines")
    if "definition" in names:
        found.append("defines it")
    if "uses" in names:
        count = int(names["uses"].value)
        found.append("uses it" if count == 1 else f"uses it {count:,} times")
    if "line" in names:
        found.append("holds the line")
    if "spelling" in names:
        found.append("spelt alike")
    channels = [word for name, word in _CHANNELS.items() if name in names]
    if channels:
        found.append(f"by {_listed(channels)}")
    if "prior:sentence" in names:
        found.append("the best for one of the sentences")
    if "rerank" in names:
        found.append("reranked")
    priors = (signal.name.partition(":")[2] for signal in hit.why if signal.value < 1)
    # The prior of comments applies to every text that is no code; the reader sees which it is.
    said = [
        _PRIORS[prior]
        for prior in priors
        if prior in _PRIORS and (prior != "comment" or hit.chunk.node_kind == "comment")
    ]
    return "; ".join(filter(None, (", ".join(found), ", ".join(said))))


def table(hit: Hit) -> list[str]:
    """A line for each signal: channels with rank and raw score, priors with their factor."""
    rows = [
        (signal.name, f"rank {signal.rank}" if signal.rank else "", _value(signal))
        for signal in hit.why
    ]
    if hit.distance is not None:
        rows.append(("distance", "", f"{hit.distance:.3f}"))
    if not rows:
        return ["no reasons are known"]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return [
        f"{name:<{widths[0]}}  {rank:<{widths[1]}}  {value:>{widths[2]}}".rstrip()
        for name, rank, value in rows
    ]


def _value(signal: Signal) -> str:
    if signal.name.startswith("prior:"):
        return f"× {signal.value:.2f}"
    if signal.name == "definition":
        return "yes"
    return f"{signal.value:,.0f}" if signal.name in ("lines", "uses") else f"{signal.value:.3f}"


def _listed(words: Iterable[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


# From these scores on a hit is likely, or at least worth a look.
LIKELY = 0.5
POSSIBLE = 0.2
# Below this even the best is more than nine times out of ten something else.
DOUBTFUL = 0.1
# Characters of a place or name that still say something.
LEAST_ROOM = 8


def print_reply(reply: SearchReply, explain: bool, listed: bool) -> None:
    """Print the hits and the account; `listed` is for every match, each as short as possible."""
    with marking(reply.search.question, reply.search.mode) as marker:
        _print_hits(reply, explain, listed, marker)
    _print_account(reply, listed)


def _print_hits(reply: SearchReply, explain: bool, listed: bool, marker: Marker) -> None:
    out = console()
    if reply.model is not None:
        show(out, ("Like ", "dim"), *_named(reply.model))
        show(out, ("", ""))
    if _is_doubtful(reply):
        show(out, ("Nothing here is a likely answer. The nearest:", "yellow"))
    for number, kept in enumerate(reply.selection.kept, 1):
        if listed:
            _print_listed(out, kept, marker)
        else:
            around = reply.around.get(_key(kept.hit.chunk), ContextLines())
            _print_hit(out, number, kept, marker, around)
        if explain:
            for line in table(kept.hit):
                show(out, (f"{MARGIN}{line}", "dim"))
        if not listed:
            show(out, ("", ""))


def _print_account(reply: SearchReply, listed: bool) -> None:
    """What follows the hits: how many there are, what was left out, and notes."""
    out = console()
    if not reply.selection.kept:
        show(out, (_nothing(reply), "yellow"))
    if reply.did_you_mean:
        _show_all(out, (f"Did you mean {', '.join(reply.did_you_mean)}?", ""))
    _show_all(out, (", ".join(_account(reply, listed)), "dim"))
    if reply.cursor:
        _show_all(out, ("Go on with ", "dim"), (f"--cursor {reply.cursor}", ""))
    # What was said so far comes first wherever both streams go to one place.
    sys.stdout.flush()
    for note in (*reply.notes, *([reply.state.message] if reply.state.message else [])):
        sys.stderr.write(f"asterism: {note}\n")


def _show_all(out: Console | None, *parts: tuple[str, str]) -> None:
    """Print a line of which nothing may be missing: the terminal breaks it and copies it whole."""
    if out is not None and out.is_terminal:
        out.print(words(*parts), soft_wrap=True)
    else:
        show(out, *parts)


def _is_doubtful(reply: SearchReply) -> bool:
    """Whether even the best of a ranking is hardly what was asked for."""
    best = max((kept.hit.score for kept in reply.selection.kept), default=1.0)
    return best < DOUBTFUL and not reply.total.exact


def _nothing(reply: SearchReply) -> str:
    """Why there is no hit: nothing was found, or nothing of it may be shown."""
    account = reply.selection.account
    if account.dropped.below_gate:
        return f"Nothing here scores {reply.search.min_score:g} or more."
    if account.dropped.budget:
        return "Something matches, and not even its name fits the limit; allow more --tokens."
    return "Nothing here matches."


def _print_hit(
    out: Console | None, number: int, kept: Kept, marker: Marker, around: ContextLines
) -> None:
    chunk, score = kept.hit.chunk, _score(kept.hit)
    show(
        out,
        (f"{number}. ", "bold"),
        (_fitting(out, _place(chunk), len(f"{number}. {score[0]}")), "cyan"),
        score,
        ("  below the threshold" if kept.below_threshold else "", "yellow"),
    )
    kind, reasons = f"{MARGIN}{chunk.node_kind} ", in_words(kept.hit)
    reasons = f"  {reasons}" if reasons else ""
    name = _fitting(out, _name(chunk), len(f"{kind}{reasons}"))
    show(out, (kind, "magenta"), (name, "bold"), (reasons, "dim"))
    if kept.detail is Detail.within:
        show(out, (f"{MARGIN}its code is in another hit", "dim"))
    elif kept.detail is not Detail.location:
        print_rows(out, rows_of(kept, marker, around), chunk, marker)


def _score(hit: Hit) -> tuple[str, str]:
    """The score, where it is in question at all."""
    score = hit.score
    if hit.lines or (score == 1 and hit.distance is None):
        return "", ""
    style = "green" if score >= LIKELY else "yellow" if score >= POSSIBLE else "dim"
    return f"  {score:.2f}", style


def _print_listed(out: Console | None, kept: Kept, marker: Marker) -> None:
    chunk = kept.hit.chunk
    show(
        out,
        (_fitting(out, _place(chunk), 0), "cyan"),
        (f"  {chunk.node_kind} ", "magenta"),
        (_name(chunk), "bold"),
    )
    print_rows(out, matching_rows(kept), chunk, marker)


def _account(reply: SearchReply, listed: bool) -> Iterator[str]:
    """What was found and what of it is not shown, part by part."""
    account = reply.selection.account
    least = "" if reply.total.exact else "at least "
    lines = reply.total.matches
    if reply.places:
        yield f"{account.returned_count:,} of {least}{reply.places:,}"
    if reply.total.exact and lines > reply.places:
        yield f"{lines:,} matching lines"
    dropped = account.dropped
    if dropped.below_gate:
        yield f"{dropped.below_gate:,} below the minimum score"
    if dropped.per_file:
        yield f"{dropped.per_file:,} more of the same files"
    if dropped.duplicate:
        yield f"{dropped.duplicate:,} duplicate" + ("" if dropped.duplicate == 1 else "s")
    yield from _shortened(account.truncation_info)
    if account.over_count and not listed:
        yield "more with --limit"
    yield f"{reply.seconds * 1000:,.0f} ms"


def _shortened(info: TruncationInfo) -> Iterator[str]:
    if info.reason is Reason.character_limit:
        yield f"shortened to {info.limit_chars:,} characters"
    elif info.reason is not None:
        yield f"shortened to {info.limit_tokens:,} token" + ("" if info.limit_tokens == 1 else "s")


def _named(model: Model) -> Iterator[tuple[str, str]]:
    first = model.chunks[0]
    if model.place.first is None:
        yield model.place.path, "cyan"
        return
    yield f"{first.node_kind} ", "magenta"
    yield _name(first), "bold"
    yield f"  {_place(first)}", "cyan"


def _place(chunk: Chunk) -> str:
    last = f"–{chunk.end_line}" if chunk.end_line > chunk.start_line else ""
    return f"{display_path(chunk.relative_path)}:{chunk.start_line}{last}"


def _fitting(out: Console | None, text: str, taken: int) -> str:
    """The end of a place or name that is too long for its line, for the end says the most.

    A line too short even for that is cut at the edge like any other.
    """
    if out is None or not out.is_terminal or len(text) <= out.width - taken:
        return text
    room = out.width - taken - 1
    return text if room < LEAST_ROOM else f"…{text[len(text) - room :]}"


def _name(chunk: Chunk) -> str:
    """The name without its kind, which is printed before it: that of an import begins with it."""
    return display_name(chunk.qualified_name.removeprefix(f"{chunk.node_kind}:"))


def _key(chunk: Chunk) -> ChunkKey:
    return ChunkKey(chunk.repo, chunk.id)
