"""What choosing context costs: the first selection, later ones, many tools, expansion, the graph.

    python -m benchmarks.context.cost [--runs 30]

Items are made from a seed, out of the words of the labelled set: 100 items are 40 rules and 20
references of a few paragraphs and 40 tools. The model is the built-in one, loaded before the clock
starts; "first" embeds everything and fills an empty cache on disk, "from disk" finds it there in a
new process's stead. Requests differ each time. Times are of the CPU, so that other work on the
machine does not count.
"""

import argparse
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from asterism.context.request import Built, Chooser, ContextInput, build_request
from asterism.context.vectors import ItemIndex
from asterism.evaluation.tables import table
from asterism.models.embed.cache import EmbeddingCache
from asterism.models.embed.static import StaticEmbedder
from asterism.types.agent_settings import Layer
from asterism.types.context import Agent, Include, Reference, Rule, Server, Tool
from benchmarks.context.quality import load_set

CACHE_BYTES = 500_000_000
PARAGRAPHS = 3
WORDS = 45
"""Of a paragraph, some 280 characters."""

_OFF: Layer = {"contextExpansionEnabled": False}
_EAGER: Layer = {"contextExpansionDepth": 2, "contextExpansionThreshold": 0.3}
_GRAPH: Layer = {**_EAGER, "contextGraphEnabled": True}


class Maker:
    """Makes items and requests out of the labelled set's words."""

    def __init__(self) -> None:
        labelled = load_set()
        texts = [item.text for item in labelled.agent.texts]
        self._words = sorted({word for text in texts for word in text.split()})
        self._asks = [request.ask for request in labelled.requests if request.needs]
        self._chance = random.Random(11)

    def asked(self, rules: int, references: int, tools: int) -> ContextInput:
        """A request to an agent that has so many items."""
        agent = Agent(
            name="made",
            rules=tuple(
                Rule(
                    name=f"Rule {at}",
                    description=self._some(6),
                    text=self._text(1),
                    include=Include.agent,
                )
                for at in range(rules)
            ),
            references=tuple(
                Reference(
                    name=f"Page {at}",
                    description=self._some(6),
                    text=self._text(PARAGRAPHS),
                    include=Include.agent,
                )
                for at in range(references)
            ),
            servers=(Server(name="made", command="made", include=Include.agent),),
        )
        listed = tuple(
            Tool(
                server="made",
                name=f"{self._word()}_{at}",
                description=self._some(12),
                schema={"type": "object", "properties": {"path": {"type": "string"}}},
            )
            for at in range(tools)
        )
        return ContextInput(agent=agent, message="", tools=listed)

    def messages(self, count: int) -> list[str]:
        """Requests of one to three sentences, no two alike."""
        return [
            " ".join(
                f"{self._chance.choice(self._asks)}. Also {self._some(4)}."
                for _sentence in range(1 + at % 2)
            )
            for at in range(count)
        ]

    def _text(self, paragraphs: int) -> str:
        return "\n\n".join(f"{self._some(WORDS)}." for _paragraph in range(paragraphs))

    def _some(self, count: int) -> str:
        return " ".join(self._chance.choice(self._words) for _word in range(count))

    def _word(self) -> str:
        return "".join(filter(str.isalpha, self._chance.choice(self._words))) or "tool"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--runs", type=int, default=30)
    options = parser.parse_args(arguments)
    StaticEmbedder().embed_queries(["warm"])
    maker = Maker()
    rows = [
        *_measured("100 items", maker.asked(40, 20, 40), maker.messages(options.runs)),
        *_measured("2,000 tools", maker.asked(0, 0, 2_000), maker.messages(options.runs)),
    ]
    head = ("", "first", "from disk", "later, median", "slowest", "chosen")
    sys.stdout.write("\n".join(table(head, rows)) + "\n")
    return 0


def _measured(name: str, asked: ContextInput, messages: Sequence[str]) -> Iterator[list[str]]:
    for label, settings in (
        ("no expansion", _OFF),
        ("expansion, two passes", _EAGER),
        ("and relations", _GRAPH),
    ):
        with tempfile.TemporaryDirectory() as folder:
            with _chooser(Path(folder)) as chooser:
                first, _built = _run(asked, settings, messages[0], chooser)
            with _chooser(Path(folder)) as chooser:
                again, _built = _run(asked, settings, messages[0], chooser)
                runs = [_run(asked, settings, message, chooser) for message in messages]
        spent = sorted(seconds for seconds, _built in runs)
        chosen = statistics.mean(len(built.context.items) for _seconds, built in runs)
        yield [
            f"{name}, {label}",
            *(f"{1000 * value:.1f} ms" for value in (first, again)),
            f"{1000 * statistics.median(spent):.2f} ms",
            f"{1000 * spent[-1]:.2f} ms",
            f"{chosen:.1f}",
        ]


@contextmanager
def _chooser(folder: Path) -> Iterator[Chooser]:
    with EmbeddingCache(folder, CACHE_BYTES) as cache:
        yield Chooser(index=ItemIndex(StaticEmbedder(), cache), relations=folder / "relations")


def _run(
    asked: ContextInput, settings: Layer, message: str, chooser: Chooser
) -> tuple[float, Built]:
    start = time.process_time()
    built = build_request(replace(asked, message=message, overrides=settings), chooser)
    return time.process_time() - start, built


if __name__ == "__main__":
    sys.exit(main())
