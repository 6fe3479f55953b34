"""Train the table of word vectors: `python -m training.models.static EXAMPLES --out FOLDER`."""

import argparse
import json
import math
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from training.evaluation import scoring as asked
from training.evaluation.scoring import Collection, Question, summary
from training.examples.prepare import Examples, load
from training.inputs import present
from training.models.batches import batches
from training.models.tokens import Padded, train_words

if TYPE_CHECKING:
    import torch
    from tokenizers import Tokenizer

VOCABULARY = 50_000
WIDTH = 256
TOKENS_AT_MOST = 512
# Ids below are those of padding and of unknown words; they are no part of a vector.
FIRST_KNOWN = 2
BATCH = 8_192
GROUP = 64
RATE = 0.01
TEMPERATURE = 0.1
# Tokens left out at random, so that no single word decides.
DROPPED = 0.12
# Values beyond this quantile are clipped when rows become whole numbers.
CLIPPED = 0.9995
RANKED = 100
TEXTS_FOR_WORDS = 400_000


class Bags(NamedTuple):
    """The different tokens of each text with the roots of their counts, on the device."""

    ids: "torch.Tensor"
    weights: "torch.Tensor"
    starts: "torch.Tensor"

    def some(
        self, numbers: "torch.Tensor", table: "torch.Tensor", dropped: float = 0.0
    ) -> "torch.Tensor":
        """The sums of some texts."""
        import torch
        from torch.nn import functional

        first = self.starts[numbers]
        sizes = self.starts[numbers + 1] - first
        offsets = torch.cumsum(sizes, 0) - sizes
        total = int(sizes.sum())
        places = torch.repeat_interleave(first - offsets, sizes, output_size=total)
        places = places + torch.arange(total, device=places.device)
        weights = self.weights[places]
        if dropped:
            weights = weights * (torch.rand(total, device=places.device) > dropped)
        return functional.embedding_bag(
            self.ids[places], table, offsets, mode="sum", per_sample_weights=weights.to(table.dtype)
        )

    def all(self, table: "torch.Tensor") -> "torch.Tensor":
        """The unit vectors of all texts."""
        import torch
        from torch.nn import functional

        count = len(self.starts) - 1
        parts = [
            self.some(torch.arange(start, min(count, start + 20_000), device=table.device), table)
            for start in range(0, count, 20_000)
        ]
        return functional.normalize(torch.cat(parts), dim=1)


def bags(tokens: Padded, vocabulary: int, device: str) -> Bags:
    """Count the tokens of each text."""
    import torch

    ids = torch.from_numpy(tokens.ids).to(device, torch.int64)
    texts = torch.repeat_interleave(
        torch.arange(len(tokens), device=device), torch.from_numpy(tokens.sizes).to(device)
    )
    known = ids >= FIRST_KNOWN
    keys = (texts[known] * vocabulary + ids[known]).sort().values
    keys, counts = torch.unique_consecutive(keys, return_counts=True)
    owners = torch.div(keys, vocabulary, rounding_mode="floor")
    starts = torch.searchsorted(owners, torch.arange(len(tokens) + 1, device=device))
    return Bags((keys % vocabulary).to(torch.int32), counts.float().sqrt(), starts)


def train(
    queries: Bags, texts: Bags, made: Examples, epochs: int, seed: int, device: str
) -> "torch.Tensor":
    """One table, trained from nothing: questions and their answers shall be alike, others not."""
    import torch
    from torch.nn import functional

    torch.manual_seed(seed)
    chance = np.random.default_rng(seed)
    size = min(BATCH, len(made.queries) // 2)
    table = torch.nn.Parameter(torch.randn(VOCABULARY, WIDTH, device=device) * 0.05)
    scale = torch.nn.Parameter(torch.tensor(math.log(1 / TEMPERATURE), device=device))
    optimizer = torch.optim.AdamW(
        [{"params": [table]}, {"params": [scale]}], lr=RATE, betas=(0.9, 0.99), weight_decay=0.0
    )
    steps = epochs * (len(made.queries) // size)
    step = 0
    wanted = torch.arange(size, device=device)
    for epoch in range(epochs):
        total = torch.zeros((), device=device)
        for numbers in batches(made.sources, made.languages, size, GROUP, chance):
            share = min(1, step / 100) * (0.49 * (1 + math.cos(math.pi * step / steps)) + 0.02)
            optimizer.param_groups[0]["lr"] = RATE * share
            optimizer.param_groups[1]["lr"] = 0.1 * RATE * share
            step += 1
            chosen = torch.from_numpy(numbers).to(device)
            asking = functional.normalize(queries.some(chosen, table, DROPPED), dim=1)
            answers = functional.normalize(texts.some(chosen, table, DROPPED), dim=1)
            alike = (asking.bfloat16() @ answers.bfloat16().T).float() * scale.exp().clamp(max=100)
            loss = (
                functional.cross_entropy(alike, wanted) + functional.cross_entropy(alike.T, wanted)
            ) / 2
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            total += loss.detach()
        if epoch % 5 == 4 or epoch + 1 == epochs:
            loss_here = float(total) * size / len(made.queries)
            sys.stderr.write(f"seed {seed} epoch {epoch + 1} loss {loss_here:.3f}\n")
    return table.detach()


def whole_numbers(table: "torch.Tensor") -> "torch.Tensor":
    """The table as signed bytes; one scale for all, so that no scale is needed."""
    import torch

    sample = table.abs().flatten()[:: max(1, table.numel() // 1_000_000)]
    scale = 127 / float(torch.quantile(sample.float(), CLIPPED))
    return (table * scale).round().clamp(-127, 127).to(torch.int8)


def measured(
    tokenizer: "Tokenizer",
    table: "torch.Tensor",
    asking: list[Question],
    collections: dict[str, Collection],
    device: str,
) -> dict[str, float]:
    """NDCG@10 of the vectors alone."""
    vectors = {
        name: bags(Padded(tokenizer, found.texts, TOKENS_AT_MOST, False), VOCABULARY, device).all(
            table
        )
        for name, found in collections.items()
    }
    texts = [str(question["query"]) for question in asking]
    questions = bags(Padded(tokenizer, texts, TOKENS_AT_MOST, False), VOCABULARY, device).all(table)
    return ranked(questions, vectors, asking, collections)


def ranked(
    questions: "torch.Tensor",
    vectors: dict[str, Any],
    asking: list[Question],
    collections: dict[str, Collection],
) -> dict[str, float]:
    """Rank each question's repository by similarity and score it."""
    rankings = {}
    for question, vector in zip(asking, questions, strict=True):
        here = vectors[question["repo"]]
        best = (here @ vector).topk(min(RANKED, len(here))).indices.tolist()
        places = collections[question["repo"]].places
        rankings[question["id"]] = [places[number] for number in best]
    return summary(asking, rankings)


def main(arguments: Sequence[str] | None = None) -> int:
    """Train every seed, measure each, and write the first as the model."""
    import torch

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("examples", type=present)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--questions", type=present, nargs="*", default=[])
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    began = time.time()
    made = load(options.examples)
    step = max(1, len(made.texts) // TEXTS_FOR_WORDS)
    tokenizer = train_words([*made.texts[::step], *made.queries], VOCABULARY)
    tokenizer.save(str(options.out / "tokenizer.json"))
    sys.stderr.write(f"{tokenizer.get_vocab_size()} words after {time.time() - began:.0f} s\n")
    queries, texts = (
        bags(Padded(tokenizer, some, TOKENS_AT_MOST, False), VOCABULARY, options.device)
        for some in (made.queries, made.texts)
    )
    sys.stderr.write(f"tokenised after {time.time() - began:.0f} s\n")
    measures = {path.stem: asked.load(path) for path in options.questions}
    for seed in options.seeds:
        table = whole_numbers(train(queries, texts, made, options.epochs, seed, options.device))
        np.save(options.out / f"embeddings.int8.{seed}.npy", table.cpu().numpy())
        figures = {
            name: measured(tokenizer, table.float(), *measure, options.device)
            for name, measure in measures.items()
        }
        told = json.dumps({"seed": seed, "seconds": round(time.time() - began), **figures})
        sys.stderr.write(told + "\n")
        with (options.out / "figures.jsonl").open("a", encoding="utf-8") as file:
            file.write(told + "\n")
    torch.save(
        (queries.all(table.float()).half(), texts.all(table.float()).half()),
        options.out / "vectors.pt",
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
