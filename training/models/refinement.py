"""Refines an encoder on functions among their neighbours.

    python -m training.models.refinement FUNCTIONS --start MODEL --out FOLDER [--without SOURCE...]

FUNCTIONS is what `training.examples.functions` wrote, MODEL a folder with `model.int8.onnx` and
`tokenizer.json` or one that `training.models.encoder` wrote. The right functions of a question
compete with those beside them in the same files, with the nearest ones of the same source, and with
all answers of the batch.
"""

import argparse
import json
import math
import random
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from training.inputs import present
from training.models import byte_graph
from training.models.batches import batches
from training.models.encoder import Held, all_vectors, save, vectors
from training.models.tokens import Padded
from training.models.transformer import Shape, build, loaded

if TYPE_CHECKING:
    import torch
    from tokenizers import Tokenizer

QUERY_TOKENS = 96
TEXT_TOKENS = 224
BATCH = 512
GROUP = 16
BESIDE, ELSEWHERE = 4, 3
"""Wrong answers of a question: from its own files, and from anywhere in its source."""
KEPT = 16
"""Of each kind; a step picks some of them."""
ANSWERS = 6
RATE = 1.5e-4
TEMPERATURE = 0.04
WARM_STEPS = 40
ROUNDS = 3
"""How often wrong answers are looked for again."""
TOO_ALIKE = 0.95
KEY_CHARACTERS = 120
"""Texts that begin alike are states of one function."""
LOWER = 0.3
"""The share of questions that are asked in lower case."""


class Functions(NamedTuple):
    """All questions and texts, by number; rows of -1 end a list."""

    queries: list[tuple[str, str]]
    """The subject and all of the message."""
    texts: list[str]
    sources: NDArray[np.int64]
    edges: NDArray[np.int64]
    """Where the texts of each source begin, and the end."""
    answers: NDArray[np.int64]
    beside: NDArray[np.int64]
    keys: NDArray[np.int64]


def load(folder: Path, without: Sequence[str] = (), documented: float = 1.0) -> Functions:
    """Everything below a folder but some sources; of documentation a share."""
    chance = random.Random(0)
    queries: list[tuple[str, str]] = []
    texts: list[str] = []
    rows: list[tuple[int, list[int], list[int]]] = []
    edges = [0]
    for path in sorted(folder.glob("*.json")):
        told = json.loads(path.read_text(encoding="utf-8"))
        if told["source"] in without or not told["asked"]:
            continue
        for query, kind, answers, others in told["asked"]:
            if kind == "documentation" and chance.random() >= documented:
                continue
            queries.append((query.partition("\n")[0], query))
            right, wrong = ([n + edges[-1] for n in some] for some in (answers, others))
            rows.append((len(edges) - 1, right, wrong))
        texts += told["texts"]
        edges.append(len(texts))
    keys: dict[str, int] = {}
    return Functions(
        queries,
        texts,
        np.array([row[0] for row in rows], np.int64),
        np.array(edges, np.int64),
        _table([row[1] for row in rows], ANSWERS),
        _table([row[2] for row in rows], 60),
        np.array([keys.setdefault(text[:KEY_CHARACTERS], len(keys)) for text in texts], np.int64),
    )


def _table(rows: Sequence[Sequence[int]], width: int) -> NDArray[np.int64]:
    table = np.full((len(rows), width), -1, np.int64)
    for number, row in enumerate(rows):
        table[number, : len(row[:width])] = row[:width]
    return table


class Course(NamedTuple):
    """What training needs on the device."""

    made: Functions
    subjects: Held
    messages: Held
    texts: Held
    answers: "torch.Tensor"
    beside: "torch.Tensor"
    keys: "torch.Tensor"

    @classmethod
    def of(cls, made: Functions, tokenizer: "Tokenizer", padding: int, device: str) -> "Course":
        """Tokens of everything."""
        import torch

        chance = random.Random(1)
        asked = [
            (first.lower(), every.lower()) if chance.random() < LOWER else (first, every)
            for first, every in made.queries
        ]
        held = [
            Held.of(Padded(tokenizer, some, size), padding, device)
            for some, size in (
                ([first for first, _every in asked], QUERY_TOKENS),
                ([every for _first, every in asked], QUERY_TOKENS),
                (made.texts, TEXT_TOKENS),
            )
        ]
        numbers = (made.answers, made.beside, made.keys)
        return cls(made, *held, *(torch.from_numpy(some).to(device) for some in numbers))


def hard(module: Any, course: Course) -> "tuple[torch.Tensor, torch.Tensor]":
    """For each question the nearest wrong texts beside its answers, and those of its source."""
    import torch

    texts = all_vectors(module, course.texts)
    asked = all_vectors(module, course.messages)
    beside = torch.full((len(asked), KEPT), -1, device=asked.device)
    elsewhere = beside.clone()
    for source in np.unique(course.made.sources):
        first, last = course.made.edges[source : source + 2].tolist()
        numbers = torch.from_numpy(np.flatnonzero(course.made.sources == source)).to(asked.device)
        for part in numbers.split(1_024):
            right = course.answers[part]
            keys = torch.where(right >= 0, course.keys[right.clamp(min=0)], -1)
            same = (course.keys[first:last][None, None] == keys[:, :, None]).any(1)
            own = (texts[right[:, 0].clamp(min=0)] @ texts[first:last].T) > TOO_ALIKE
            alike = (asked[part] @ texts[first:last].T).float().masked_fill(same | own, -9.0)
            near = course.beside[part]
            within = (
                torch.where(
                    near >= 0, alike.gather(1, (near - first).clamp(min=0)), torch.tensor(-9.0)
                )
                if len(near)
                else alike
            )
            best = within.topk(min(KEPT, within.shape[1]), 1)
            chosen = near.gather(1, best.indices).masked_fill(best.values < -1, -1)
            beside[part, : chosen.shape[1]] = chosen
            best = alike.topk(min(KEPT, alike.shape[1]), 1)
            chosen = (best.indices + first).masked_fill(best.values < -1, -1)
            elsewhere[part, : chosen.shape[1]] = chosen
    return beside, elsewhere


def _some(table: "torch.Tensor", count: int) -> "torch.Tensor":
    """So many of each row at random; -1 where there are fewer."""
    import torch

    odds = torch.rand(table.shape, device=table.device).masked_fill(table < 0, -1.0)
    return table.gather(1, odds.topk(count, 1).indices)


def loss_of(
    module: Any, course: Course, wrong: "tuple[torch.Tensor, torch.Tensor]",
    chosen: "torch.Tensor", scale: "torch.Tensor",
) -> "torch.Tensor":  # fmt: skip
    """The right function shall be nearer than its neighbours and than the answers of others."""
    import torch
    from torch.nn import functional

    right = course.answers[chosen]
    usable = (right >= 0).sum(1)
    pick = (torch.rand(len(chosen), device=chosen.device) * usable).long()
    answer = right.gather(1, pick[:, None])[:, 0]
    others = torch.cat([_some(wrong[0][chosen], BESIDE), _some(wrong[1][chosen], ELSEWHERE)], 1)
    others = others.flatten()
    others = others[others >= 0]
    numbers = torch.cat([answer, others])
    by_subject = torch.rand(len(chosen), device=chosen.device) < 0.5
    asking = torch.empty((len(chosen), module.words.weight.shape[1]), device=chosen.device)
    for held, some in ((course.subjects, by_subject), (course.messages, ~by_subject)):
        if some.any():
            asking[some] = vectors(module, held, chosen[some], 2).float()
    texts = vectors(module, course.texts, numbers, 8)
    alike = (asking @ texts.T).float() * scale.exp().clamp(max=100)
    keys = torch.where(right >= 0, course.keys[right.clamp(min=0)], -1)
    also = (course.keys[numbers][None, None] == keys[:, :, None]).any(1)
    wanted = torch.arange(len(chosen), device=chosen.device)
    also[wanted, wanted] = False
    alike = alike.masked_fill(also, -1e4)
    back = alike[:, : len(chosen)].T
    return functional.cross_entropy(alike, wanted) + 0.3 * functional.cross_entropy(back, wanted)


def train(module: Any, course: Course, rate: float, epochs: float, seed: int) -> None:
    """Train; wrong answers are looked for again a few times."""
    import torch

    device = course.keys.device
    scale = torch.nn.Parameter(torch.tensor(math.log(1 / TEMPERATURE), device=device))
    optimizer = torch.optim.AdamW(
        [
            {"params": list(module.parameters()), "weight_decay": 0.01},
            {"params": [scale], "weight_decay": 0.0},
        ],
        lr=rate,
        betas=(0.9, 0.98),
        fused=device.type == "cuda",
    )
    size = min(BATCH, len(course.made.queries) // 2)
    steps = max(ROUNDS, int(epochs * len(course.made.queries) / size))
    again = -(-steps // ROUNDS)
    began = time.time()
    for step, numbers in zip(range(steps), _endless(course, size, seed), strict=False):
        if step % again == 0:
            wrong = hard(module.eval(), course)
            module.train()
        share = min(1.0, (step + 1) / WARM_STEPS) * (1 - step / steps)
        optimizer.param_groups[0]["lr"] = rate * share
        optimizer.param_groups[1]["lr"] = 1e-3 * share
        chosen = torch.from_numpy(numbers).to(device)
        with torch.autocast(device.type, torch.bfloat16):
            loss = loss_of(module, course, wrong, chosen, scale)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(module.parameters(), 1.0)
        optimizer.step()
        if step % 50 == 0:
            sys.stderr.write(
                f"step {step} of {steps} loss {loss.item():.3f} after {time.time() - began:.0f} s\n"
            )


def _endless(course: Course, size: int, seed: int) -> Iterator[NDArray[np.int64]]:
    chance = np.random.default_rng(seed)
    languages = np.zeros(len(course.made.sources), np.int64)
    while True:
        yield from batches(course.made.sources, languages, size, GROUP, chance)


def begun(folder: Path) -> "tuple[Tokenizer, Any, Shape]":
    """An encoder to refine: of weights in bytes, or as it was trained."""
    import torch
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    if (folder / "model.int8.onnx").exists():
        padding = tokenizer.token_to_id("<pad>") or 0
        weights, shape = byte_graph.read(folder / "model.int8.onnx", padding)
        module = build(shape)
        module.load_state_dict({name: torch.from_numpy(some) for name, some in weights.items()})
    else:
        module, shape, _scores = loaded(folder)
    return tokenizer, module, shape


def main(arguments: Sequence[str] | None = None) -> int:
    """Refine and write."""
    import torch

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("functions", type=present)
    parser.add_argument("--start", type=present, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--without", nargs="*", default=[], help="sources that are left out")
    parser.add_argument("--documented", type=float, default=1.0, help="share of documentation")
    parser.add_argument("--rate", type=float, default=RATE)
    parser.add_argument("--epochs", type=float, default=3.0)
    parser.add_argument("--kept", type=float, default=0.0, help="share of the start in the result")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(options.seed)
    made = load(options.functions, options.without, options.documented)
    tokenizer, module, shape = begun(options.start)
    before = {name: some.clone() for name, some in module.state_dict().items()}
    module.to(options.device)
    course = Course.of(made, tokenizer, shape.padding, options.device)
    sys.stderr.write(f"{len(made.queries)} questions, {len(made.texts)} texts\n")
    train(module, course, options.rate, options.epochs, options.seed)
    after = {name: some.cpu() for name, some in module.state_dict().items()}
    mixed = {name: torch.lerp(after[name], before[name], options.kept) for name in after}
    module.cpu().load_state_dict(mixed)
    tokenizer.save(str(options.out / "tokenizer.json"))
    save(options.out, module, shape)
    return 0


if __name__ == "__main__":
    sys.exit(main())
