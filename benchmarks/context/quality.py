"""How well items are chosen for requests: precision, recall and noise on the labelled set.

    python -m benchmarks.context.quality [--embedder local|fake|minilm|encoder|FOLDER]... [--misses]

`context_set/items.yaml` is what a made-up team's assistant could be told, and
`context_set/requests.yaml` what developers of that team would type, with the items that matter;
both were written by hand. Every item may be chosen, nothing is in the session, and the settings are
those of the preset `normal`. Then one part at a time is left out or added.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from ruamel.yaml import YAML

from asterism.context.choice import ALL_PARTS, ChoosingOptions
from asterism.context.request import Chooser, ContextInput, build_request
from asterism.context.vectors import ItemIndex
from asterism.engine.agents import told_of_cosines
from asterism.evaluation.tables import table
from asterism.models.embed.cache import NoCache
from asterism.models.embed.options import EmbedOptions, Provider
from asterism.models.embed.provider import Embedder, Matrix, make_embedder
from asterism.models.weights.folder import DESCRIPTION
from asterism.types.agent_settings import Layer
from asterism.types.context import (
    Agent,
    Include,
    ItemKey,
    Reference,
    ReferenceKey,
    RequestMode,
    Rule,
    RuleKey,
    Server,
    Tool,
    ToolKey,
)
from tests.models.embed.counting_embedder import CountingEmbedder

SET = Path(__file__).with_name("requests")
Vector = NDArray[np.float32]
PROVIDERS: Mapping[str, Provider] = {"local": "local", "minilm": "minilm", "encoder": "encoder"}


class Labelled(NamedTuple):
    """A request and the items that matter for it."""

    ask: str
    needs: frozenset[ItemKey]


class LabelledSet(NamedTuple):
    """The items, as an agent and the tools of its servers, and the requests."""

    agent: Agent
    tools: tuple[Tool, ...]
    requests: tuple[Labelled, ...]


def load_set(directory: Path = SET) -> LabelledSet:
    """The labelled set; every item is to be chosen by meaning."""
    yaml = YAML(typ="safe")
    items = yaml.load(directory / "items.yaml")
    chosen = Include.agent
    agent = Agent(
        name="larkspur",
        rules=tuple(Rule(include=chosen, **entry) for entry in items["rules"]),
        references=tuple(Reference(include=chosen, **entry) for entry in items["references"]),
        servers=tuple(Server(name=name, command=name, include=chosen) for name in items["servers"]),
        settings={"toolPermission": "always"},
    )
    tools = tuple(
        Tool(server=server, **entry)
        for server, entries in items["servers"].items()
        for entry in entries
    )
    requests = tuple(
        Labelled(entry["ask"], frozenset(map(key_of, entry["needs"])))
        for entry in yaml.load(directory / "requests.yaml")
    )
    return LabelledSet(agent, tools, requests)


def load_pairs(directory: Path = SET) -> list[list[str]]:
    """The pairs of items that go together, as they are spelt."""
    found: list[list[str]] = YAML(typ="safe").load(directory / "pairs.yaml")
    return found


def key_of(written: str) -> ItemKey:
    """The key that the set spells `rule/NAME`, `reference/NAME` or `tool/SERVER/NAME`."""
    kind, _, name = written.partition("/")
    match kind:
        case "rule":
            return RuleKey(name)
        case "reference":
            return ReferenceKey(name)
    server, _, tool = name.partition("/")
    return ToolKey(server, tool)


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """Which parts of choosing take part."""

    name: str
    options: ChoosingOptions = ALL_PARTS
    settings: Layer


_ALONE: Layer = {"contextExpansionEnabled": False, "contextGraphEnabled": False}
_GRAPH: Layer = {"contextExpansionEnabled": True, "contextGraphEnabled": True}
_GRAPH_ALONE: Layer = {"contextExpansionEnabled": False, "contextGraphEnabled": True}
_BARE = ChoosingOptions(hybrid=False, floor=False, representation=False)

VARIANTS = (
    Variant(name="as it is (normal)", settings={}),
    Variant(name="without expansion", settings=_ALONE),
    Variant(name="with the relationship graph too", settings=_GRAPH),
    Variant(name="the graph instead of expansion", settings=_GRAPH_ALONE),
    Variant(name="without keywords", options=ChoosingOptions(hybrid=False), settings={}),
    Variant(name="without the floor", options=ChoosingOptions(floor=False), settings={}),
    Variant(
        name="without a place for each sentence",
        options=ChoosingOptions(representation=False),
        settings={},
    ),
    Variant(name="cosine alone, none of these", options=_BARE, settings=_ALONE),
    Variant(name="preset conservative", settings={"preset": "conservative"}),
    Variant(name="preset aggressive", settings={"preset": "aggressive"}),
)


class Outcome(NamedTuple):
    """What was chosen for one request."""

    request: Labelled
    chosen: Mapping[ItemKey, RequestMode]

    @property
    def hits(self) -> int:
        """Items that matter and were chosen."""
        return len(self.request.needs & self.chosen.keys())


class Quality(NamedTuple):
    """The figures of one run."""

    precision: float
    """Of the items chosen, the share that matters."""
    recall: float
    """Of the items that matter, the share that was chosen."""
    whole: float
    """Of the requests that need something, the share that got all of it."""
    sentences: float
    """The recall of requests with several sentences."""
    noise: float
    """Items that do not matter, for each request that needs something."""
    disturbed: float
    """Of the requests that need nothing, the share that got something."""
    idle: float
    """Items for each request that needs nothing."""


def run(labelled: LabelledSet, index: ItemIndex, variant: Variant) -> list[Outcome]:
    """What is chosen for every request."""
    chooser = Chooser(index=index, options=variant.options)
    asked = ContextInput(agent=labelled.agent, message="", tools=labelled.tools)
    asked = replace(asked, overrides=variant.settings)
    outcomes = []
    for request in labelled.requests:
        built = build_request(replace(asked, message=request.ask), chooser)
        if built.context.notes:
            raise SystemExit(" ".join(built.context.notes))
        outcomes.append(Outcome(request, {item.key: item.mode for item in built.context.items}))
    return outcomes


def quality(outcomes: Sequence[Outcome]) -> Quality:
    """The figures over all requests."""
    needy = [one for one in outcomes if one.request.needs]
    idle = [one for one in outcomes if not one.request.needs]
    several = [one for one in needy if _sentences(one.request.ask) > 1]
    hits = sum(one.hits for one in needy)
    chosen = sum(len(one.chosen) for one in outcomes)
    return Quality(
        precision=_share(hits, chosen),
        recall=_share(hits, _needed(needy)),
        whole=_share(sum(one.hits == len(one.request.needs) for one in needy), len(needy)),
        sentences=_share(sum(one.hits for one in several), _needed(several)),
        noise=_share(sum(len(one.chosen) - one.hits for one in needy), len(needy)),
        disturbed=_share(sum(bool(one.chosen) for one in idle), len(idle)),
        idle=_share(sum(len(one.chosen) for one in idle), len(idle)),
    )


def _needed(outcomes: Iterable[Outcome]) -> int:
    return sum(len(one.request.needs) for one in outcomes)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _sentences(text: str) -> int:
    return sum(text.rstrip(".!?").count(f"{end} ") for end in ".!?") + 1


def report(labelled: LabelledSet, index: ItemIndex) -> str:
    """A table with a row for each variant."""
    rows = []
    for variant in VARIANTS:
        figures = quality(run(labelled, index, variant))
        shares = (figures.precision, figures.recall, figures.whole, figures.sentences)
        rows.append(
            [
                variant.name,
                *(f"{share:.2f}" for share in shares),
                f"{figures.noise:.2f}",
                f"{figures.disturbed:.2f}",
                f"{figures.idle:.2f}",
            ]
        )
    head = (
        index.identity.model,
        *("precision", "recall", "all of it", "recall, several sentences"),
        *("noise a request", "idle requests disturbed", "items an idle request"),
    )
    return "\n".join(table(head, rows))


def misses(labelled: LabelledSet, index: ItemIndex) -> str:
    """Each request that did not get what it needs, or got more, as lines for reading."""
    outcomes = run(labelled, index, VARIANTS[0])
    lines = []
    for one in outcomes:
        lost = sorted(map(str, one.request.needs - one.chosen.keys()))
        extra = sorted(
            f"{key} ({one.chosen[key]})" for key in one.chosen.keys() - one.request.needs
        )
        if lost or extra:
            lines.append(f"{one.request.ask}\n    missing: {lost}\n    extra: {extra}")
    return "\n".join(lines)


class Remembering:
    """An embedder that embeds each text once, for every variant asks the same."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self._known: dict[tuple[str, str], Vector] = {}
        self.identity = inner.identity

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        """A vector for each text."""
        return self._embed("document", texts, self._inner.embed_documents)

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """A vector for each question."""
        return self._embed("query", texts, self._inner.embed_queries)

    def close(self) -> None:
        """Let go of the model."""
        self._inner.close()

    def _embed(self, kind: str, texts: Sequence[str], embed: Callable[..., Matrix]) -> Matrix:
        new = [text for text in dict.fromkeys(texts) if (kind, text) not in self._known]
        if new:
            for text, row in zip(new, embed(new), strict=True):
                self._known[kind, text] = row
        return np.stack([self._known[kind, text] for text in texts])


def embedder_named(name: str) -> Embedder:
    """One of the embedders that are compared."""
    if name == "fake":
        return CountingEmbedder(256)
    return Remembering(make_embedder(_options(name)))


def index_named(name: str) -> ItemIndex:
    """The same with what its folder says of its cosines."""
    told = {} if name == "fake" else told_of_cosines(_options(name))
    return ItemIndex(embedder_named(name), NoCache(), told)


def _options(name: str) -> EmbedOptions:
    if name in PROVIDERS:
        return EmbedOptions(provider=PROVIDERS[name])
    folder = Path(name).resolve()
    kind = json.loads((folder / DESCRIPTION).read_text("utf-8"))["kind"]
    return EmbedOptions(provider="local" if kind == "static" else "encoder", model=str(folder))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table for each embedder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--embedder", action="append", metavar="local|fake|minilm|encoder|FOLDER")
    parser.add_argument("--misses", action="store_true", help="list what went wrong instead")
    options = parser.parse_args(arguments)
    labelled = load_set()
    needy = sum(bool(request.needs) for request in labelled.requests)
    items = len(labelled.agent.rules) + len(labelled.agent.references) + len(labelled.tools)
    sys.stdout.write(
        f"{len(labelled.requests)} requests over {items} items; {needy} need "
        f"{sum(len(request.needs) for request in labelled.requests)} of them, the rest none.\n"
    )
    for name in options.embedder or ("local",):
        index = index_named(name)
        shown = misses(labelled, index) if options.misses else report(labelled, index)
        sys.stdout.write(f"\n{shown}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
