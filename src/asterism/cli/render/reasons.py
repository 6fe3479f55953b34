"""Why a hit was found, in words and as a table."""

from collections.abc import Iterable

from asterism.types.search import Hit, Signal

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
    # The prior of comments holds for every text that is no code; whoever reads can tell them apart.
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
