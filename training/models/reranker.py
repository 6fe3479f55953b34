"""Trains the reranker.

python -m training.models.reranker EXAMPLES --encoder FOLDER --out FOLDER
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from asterism.models.embed.encoder import place_and_code
from training.evaluation import scoring as asked
from training.evaluation.scoring import Collection, Question, summary
from training.examples.prepare import load
from training.inputs import present
from training.models.encoder import MEASURED_TOKENS, Held, all_vectors, save, tokenised
from training.models.negatives import Owners, nearest
from training.models.tokens import Padded
from training.models.transformer import Shape, build

if TYPE_CHECKING:
    import torch
    from tokenizers import Tokenizer

PAIR_TOKENS = 128
QUERY_TOKENS = 32
SEPARATOR = 2
QUESTIONS_AT_ONCE = 256
CANDIDATES = 8
RATE = 2e-4
WARM_STEPS = 100
# How many of the candidates of another model are put in order when measuring.
RERANKED = 40


class Pairs(NamedTuple):
    """Questions and texts, joined as the tokenizer joins them."""

    queries: Held
    texts: Held

    def some(
        self, asking: "torch.Tensor", answers: "torch.Tensor"
    ) -> tuple["torch.Tensor", "torch.Tensor"]:
        """Ids and mask of some pairs: `<s> question </s></s> text </s>`."""
        import torch

        first = self.queries.sizes[asking].clamp(max=QUERY_TOKENS)
        sizes = (first + self.texts.sizes[answers]).clamp(max=PAIR_TOKENS)
        width = -(-int(sizes.max()) // 16) * 16
        columns = torch.arange(width, device=asking.device)[None]
        left = (self.queries.starts[asking][:, None] + columns).clamp(max=len(self.queries.ids) - 1)
        right = self.texts.starts[answers][:, None] + (columns - first[:, None]).clamp(min=0)
        ids = torch.where(
            columns < first[:, None],
            self.queries.ids[left].long(),
            self.texts.ids[right.clamp(max=len(self.texts.ids) - 1)].long(),
        )
        # The text's own first token becomes the second separator, and what was cut ends as all do.
        ends = (
            (columns == first[:, None])
            | (columns == first[:, None] - 1)
            | (columns == sizes[:, None] - 1)
        )
        ids = torch.where(ends, SEPARATOR, ids)
        mask = columns < sizes[:, None]
        return torch.where(mask, ids, self.queries.padding), mask.long()


def train(
    module: Any, pairs: Pairs, wrong: list["torch.Tensor"], minutes: float, seed: int
) -> None:
    """The right answer shall be the first of eight."""
    import torch
    from torch.nn import functional

    device = wrong[0].device
    count = len(wrong[0])
    optimizer = torch.optim.AdamW(
        module.parameters(),
        lr=RATE,
        betas=(0.9, 0.98),
        weight_decay=0.01,
        fused=device.type == "cuda",
    )
    torch.manual_seed(seed)
    size = min(QUESTIONS_AT_ONCE, count // 2)
    began, step, right, seen = time.time(), 0, 0.0, 0
    order = torch.randperm(count, device=device)
    while (done := (time.time() - began) / (60 * minutes)) < 1:
        optimizer.param_groups[0]["lr"] = RATE * min(1.0, (step + 1) / WARM_STEPS) * (1 - done)
        begin = step * size % (count - size)
        asking = order[begin : begin + size]
        answers = candidates(asking, wrong)
        with torch.autocast(device.type, torch.bfloat16):
            scores = scored(module, pairs, asking.repeat_interleave(CANDIDATES), answers.flatten())
            scores = scores.view(size, CANDIDATES).float()
            loss = functional.cross_entropy(
                scores, torch.zeros(size, dtype=torch.long, device=device)
            )
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(module.parameters(), 1.0)
        optimizer.step()
        step += 1
        if step % 10 == 0:
            right += float((scores.argmax(1) == 0).float().mean())
            seen += 1
        if step % 200 == 0 or step == 10:
            sys.stderr.write(
                f"step {step} epoch {step * size / count:.2f} loss {loss.item():.3f}"
                f" right {right / seen:.3f} after {time.time() - began:.0f} s\n"
            )
            right, seen = 0.0, 0


def candidates(asking: "torch.Tensor", wrong: list["torch.Tensor"]) -> "torch.Tensor":
    """The right answer, then seven wrong ones, of the models' or of chance."""
    import torch

    every = torch.cat([some[asking] for some in wrong], dim=1)
    places = torch.rand(every.shape, device=asking.device).argsort(dim=1)[:, : CANDIDATES - 1]
    chosen = every.gather(1, places).long()
    others = asking[torch.randint(0, len(asking), chosen.shape, device=asking.device)]
    others = torch.where(others == asking[:, None], asking.roll(1)[:, None], others)
    return torch.cat((asking[:, None], torch.where(chosen < 0, others, chosen)), dim=1)


def scored(
    module: Any, pairs: Pairs, asking: "torch.Tensor", answers: "torch.Tensor", parts: int = 4
) -> "torch.Tensor":
    """Scores of pairs; short ones are read together."""
    import torch

    order = (pairs.queries.sizes[asking] + pairs.texts.sizes[answers]).argsort()
    found = [
        module(*pairs.some(asking[part], answers[part]))
        for part in order.tensor_split(parts)
        if len(part)
    ]
    return torch.cat(found)[order.argsort()]


def measured(
    module: Any, encoder: Any, tokenizer: "Tokenizer", padding: int, asking: list[Question],
    collections: dict[str, Collection], device: str,
) -> dict[str, float]:  # fmt: skip
    """NDCG@10 of the encoder's best candidates in the reranker's order."""
    import torch

    def held(texts: list[str]) -> Held:
        return Held.of(Padded(tokenizer, texts, MEASURED_TOKENS), padding, device)

    queries = held([str(question["query"]) for question in asking])
    questions = all_vectors(encoder, queries).float()
    texts = {
        name: held(list(map(place_and_code, found.texts))) for name, found in collections.items()
    }
    found = {name: all_vectors(encoder, some).float() for name, some in texts.items()}
    rankings = {}
    for number, question in enumerate(asking):
        here = found[question["repo"]]
        best = (here @ questions[number]).topk(min(100, len(here))).indices
        first = best[:RERANKED]
        with torch.no_grad(), torch.autocast(first.device.type, torch.bfloat16):
            asked_for = torch.full_like(first, number)
            scores = scored(module, Pairs(queries, texts[question["repo"]]), asked_for, first, 1)
        order = torch.cat((first[scores.argsort(descending=True)], best[RERANKED:])).tolist()
        places = collections[question["repo"]].places
        rankings[question["id"]] = [places[place] for place in order]
    return summary(asking, rankings)


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, measure, write."""
    import torch
    from tokenizers import Tokenizer

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("examples", type=present)
    parser.add_argument("--encoder", type=present, required=True)
    parser.add_argument(
        "--vectors", type=present, nargs="+", required=True, help="vectors.pt of models"
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--minutes", type=float, default=4.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--questions", type=present, nargs="*", default=[])
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    began = time.time()
    made = load(options.examples)
    tokenizer = Tokenizer.from_file(str(options.encoder / "tokenizer.json"))
    shape = Shape(**json.loads((options.encoder / "shape.json").read_text(encoding="utf-8")))
    weights = {
        name: value.float() for name, value in torch.load(options.encoder / "weights.pt").items()
    }
    encoder = build(shape)
    encoder.load_state_dict(weights)
    encoder.to(options.device)
    cut_shape = shape._replace(layers=options.layers)
    module = build(cut_shape, scores=True)
    module.load_state_dict(
        {name: value for name, value in weights.items() if _kept(name, options.layers)},
        strict=False,
    )
    module.to(options.device)
    kept = options.encoder / "tokens.pt"
    pairs = Pairs(
        *(
            (Held(*some) for some in torch.load(kept))
            if kept.exists()
            else tokenised(tokenizer, made, shape.padding, options.device)
        )
    )
    owners = Owners.of(made, options.device)
    wrong = [
        nearest(made, owners, *(some.to(options.device) for some in torch.load(path)))
        for path in options.vectors
    ]
    sys.stderr.write(f"ready after {time.time() - began:.0f} s\n")
    train(module, pairs, wrong, options.minutes, options.seed)
    save(options.out, module, cut_shape)
    for path in options.questions:
        figures = measured(
            module, encoder, tokenizer, shape.padding, *asked.load(path), options.device
        )
        told = json.dumps(
            {"model": f"reranker {options.layers}", "seed": options.seed, path.stem: figures}
        )
        sys.stderr.write(told + "\n")
        with (options.out / "figures.jsonl").open("a", encoding="utf-8") as file:
            file.write(told + "\n")
    return 0


def _kept(name: str, layers: int) -> bool:
    return not name.startswith("layers.") or int(name.split(".")[1]) < layers


if __name__ == "__main__":
    sys.exit(main())
