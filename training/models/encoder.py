"""Train the encoder: `python -m training.models.encoder EXAMPLES --start FOLDER --out FOLDER`."""

import argparse
import json
import math
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from asterism.models.embed.encoder import place_and_code
from training.evaluation import scoring as asked
from training.evaluation.scoring import Collection, Question
from training.examples.prepare import Examples, load
from training.inputs import present
from training.models.batches import batches
from training.models.negatives import Owners, nearest
from training.models.static import ranked
from training.models.tokens import Padded, cut, with_code_normalizer
from training.models.transformer import Shape, joined, keeping_words, loaded, start

if TYPE_CHECKING:
    import torch
    from tokenizers import Tokenizer

VOCABULARY = 20_000
LAYERS = [0, 2, 4]
QUERY_TOKENS = 48
TEXT_TOKENS = 224
MEASURED_TOKENS = 256
BATCH = 2_048
GROUP = 32
RATE = 3e-4
# Of the rate, once the model knows its way.
RATE_AGAIN = 0.4
TEMPERATURE = 0.04
WARM_STEPS = 60
# What a teacher's opinion counts, the right answer being the rest.
TAUGHT = 0.7
# Of a teacher's cosines: three quarters of what it learns itself, so that its doubts are heard.
TEACHER_FACTOR = 24.0
# Texts for counting which tokens code needs.
COUNTED = 60_000


# What a trained encoder makes of all examples, beside its weights.
VECTORS = "vectors.pt"


class Held(NamedTuple):
    """Tokens of many texts on the device, and how to take some of them."""

    ids: "torch.Tensor"
    starts: "torch.Tensor"
    sizes: "torch.Tensor"
    padding: int

    @classmethod
    def of(cls, tokens: Padded, padding: int, device: str) -> "Held":
        """Move tokens to the device."""
        import torch

        return cls(
            torch.from_numpy(tokens.ids).to(device),
            torch.from_numpy(tokens.starts[:-1].copy()).to(device),
            torch.from_numpy(tokens.sizes).to(device),
            padding,
        )

    def some(self, numbers: "torch.Tensor") -> tuple["torch.Tensor", "torch.Tensor"]:
        """Ids and mask of some texts, as wide as the longest of them."""
        import torch

        sizes = self.sizes[numbers]
        width = -(-int(sizes.max()) // 16) * 16
        columns = torch.arange(width, device=numbers.device)
        mask = columns[None] < sizes[:, None]
        places = (self.starts[numbers][:, None] + columns[None]).clamp(max=len(self.ids) - 1)
        return torch.where(mask, self.ids[places].long(), self.padding), mask.long()


def vectors(module: Any, held: Held, numbers: "torch.Tensor", parts: int = 6) -> "torch.Tensor":
    """Vectors of some texts; short ones are read together, so that little is padding."""
    import torch

    order = held.sizes[numbers].argsort()
    found = [module(*held.some(numbers[part])) for part in order.tensor_split(parts) if len(part)]
    return torch.cat(found)[order.argsort()]


def all_vectors(module: Any, held: Held) -> "torch.Tensor":
    """Vectors of all texts, without learning."""
    import torch

    order = held.sizes.argsort(descending=True)
    with torch.no_grad(), torch.autocast(order.device.type, torch.bfloat16):
        found = [
            module(*held.some(order[first : first + 4_096])).half()
            for first in range(0, len(order), 4_096)
        ]
    return torch.cat(found)[order.argsort()]


def measured(
    module: Any, tokenizer: "Tokenizer", padding: int, asking: list[Question],
    collections: dict[str, Collection], device: str,
) -> dict[str, float]:  # fmt: skip
    """NDCG@10 of the vectors alone."""

    def of(texts: list[str]) -> "torch.Tensor":
        tokens = Padded(tokenizer, texts, MEASURED_TOKENS)
        return all_vectors(module, Held.of(tokens, padding, device)).float()

    found = {name: of(list(map(place_and_code, some.texts))) for name, some in collections.items()}
    return ranked(of([str(question["query"]) for question in asking]), found, asking, collections)


class Teacher(NamedTuple):
    """What a larger encoder makes of all examples: it knows which wrong ones are nearly right."""

    queries: "torch.Tensor"
    texts: "torch.Tensor"

    @classmethod
    def of(cls, folders: Sequence[Path], device: str) -> "Teacher":
        """What trained encoders said of the same examples; of several what they say in the mean."""
        import torch

        every = zip(
            *(torch.load(folder / VECTORS, map_location=device) for folder in folders), strict=True
        )
        return cls(*(torch.cat(parts, 1) / math.sqrt(len(parts)) for parts in every))

    def opinion(self, asking: "torch.Tensor", answers: "torch.Tensor") -> "torch.Tensor":
        """How likely each answer is the one to each question."""
        alike = (self.queries[asking] @ self.texts[answers].T).float()
        return (alike * TEACHER_FACTOR).softmax(1)


class Course(NamedTuple):
    """What a training run needs."""

    made: Examples
    queries: Held
    texts: Held
    owners: Owners
    rate: float
    minutes: float
    seed: int
    teacher: Teacher | None = None


def train(module: Any, course: Course, wrong: "torch.Tensor") -> None:
    """Right answers shall be nearer than those of the batch and than one chosen to confuse."""
    import torch

    device = wrong.device
    scale = torch.nn.Parameter(torch.tensor(math.log(1 / TEMPERATURE), device=device))
    optimizer = torch.optim.AdamW(
        [
            {"params": list(module.parameters()), "weight_decay": 0.01},
            {"params": [scale], "weight_decay": 0.0},
        ],
        lr=course.rate,
        betas=(0.9, 0.98),
        fused=device.type == "cuda",
    )
    began = time.time()
    for step, numbers in enumerate(_endless(course), 1):
        done = (time.time() - began) / (60 * course.minutes)
        if done >= 1:
            break
        share = min(1.0, step / WARM_STEPS) * (1 - done)
        optimizer.param_groups[0]["lr"] = course.rate * share
        optimizer.param_groups[1]["lr"] = 1e-3 * share
        chosen = torch.from_numpy(numbers).to(device)
        with torch.autocast(device.type, torch.bfloat16):
            loss = _loss(module, course, wrong, chosen, scale)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(module.parameters(), 1.0)
        optimizer.step()
        if step % 100 == 0 or step == 3:
            seen = step * len(numbers) / len(course.made.queries)
            sys.stderr.write(
                f"step {step} epoch {seen:.2f} loss {loss.item():.3f}"
                f" scale {scale.exp().item():.1f} after {time.time() - began:.0f} s\n"
            )


def _wrong(
    module: Any, course: Course, known: "Sequence[torch.Tensor] | None" = None
) -> "torch.Tensor":
    """Wrong answers by the vectors of another model, or by its own."""
    device = course.queries.ids.device
    vectors_of = (
        [some.to(device) for some in known]
        if known
        else [all_vectors(module, held) for held in (course.queries, course.texts)]
    )
    return nearest(course.made, course.owners, *vectors_of)


def _endless(course: Course) -> Iterator[NDArray[np.int64]]:
    chance = np.random.default_rng(course.seed)
    size = min(BATCH, len(course.made.queries) // 2)
    while True:
        yield from batches(course.made.sources, course.made.languages, size, GROUP, chance)


def _loss(
    module: Any,
    course: Course,
    nearest_wrong: "torch.Tensor",
    chosen: "torch.Tensor",
    scale: "torch.Tensor",
) -> "torch.Tensor":
    import torch
    from torch.nn import functional

    pick = torch.randint(0, nearest_wrong.shape[1] // 2, (len(chosen), 1), device=chosen.device)
    wrong = nearest_wrong[chosen].gather(1, pick)[:, 0].long()
    wrong = torch.where(wrong < 0, chosen[torch.randperm(len(chosen), device=chosen.device)], wrong)
    asking = vectors(module, course.queries, chosen, 2)
    both = vectors(module, course.texts, torch.cat((chosen, wrong)), 8)
    factor = scale.exp().clamp(max=100)
    alike = (asking @ both.T).float() * factor
    wanted = torch.arange(len(chosen), device=chosen.device)
    answers = torch.cat((chosen, wrong))
    also_right = course.owners.also_right(chosen, answers)
    also_right[wanted, wanted] = False
    hard = alike.masked_fill(also_right, -1e4)
    back = hard[:, : len(chosen)].T
    loss = functional.cross_entropy(hard, wanted) + 0.5 * functional.cross_entropy(back, wanted)
    if course.teacher is None:
        return loss
    told = course.teacher.opinion(chosen, answers)
    return (1 - TAUGHT) * loss + TAUGHT * functional.cross_entropy(alike, told)


def tokenised(
    tokenizer: "Tokenizer", made: Examples, padding: int, device: str
) -> tuple[Held, Held]:
    """Questions and texts on the device."""
    queries = Held.of(Padded(tokenizer, made.queries, QUERY_TOKENS), padding, device)
    return queries, Held.of(Padded(tokenizer, made.texts, TEXT_TOKENS), padding, device)


def save(folder: Path, module: Any, shape: Shape) -> None:
    """Write weights in half precision and what they look like."""
    import torch

    torch.save(
        {name: value.half().cpu() for name, value in module.state_dict().items()},
        folder / "weights.pt",
    )
    (folder / "shape.json").write_text(json.dumps(shape._asdict()), encoding="utf-8")


def _begun(options: argparse.Namespace, made: Examples) -> "tuple[Tokenizer, Any, Shape]":
    """The encoder to train: one that was, or some layers of a published one."""
    from tokenizers import Tokenizer

    if options.resume:
        tokenizer = Tokenizer.from_file(str(options.resume / "tokenizer.json"))
        module, shape, _scores = loaded(options.resume)
        if options.join > 1:
            module, shape = joined(module, shape, options.join)
    else:
        full = with_code_normalizer(options.start / "tokenizer.json")
        step = max(1, len(made.texts) // COUNTED)
        tokenizer, rows = cut(full, [*made.texts[::step], *made.queries[::step]], VOCABULARY)
        module, shape = start(options.start, options.layers, rows)
    if options.words and not shape.keeps_words:
        module, shape = keeping_words(module, shape)
    return tokenizer, module.train(), shape


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, measure, write."""
    import torch

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("examples", type=present)
    begun = parser.add_mutually_exclusive_group(required=True)
    begun.add_argument("--start", type=present, help="folder of a published encoder")
    begun.add_argument("--resume", type=present, help="folder of an encoder that was trained here")
    parser.add_argument(
        "--vectors", type=present, help="vectors.pt of the model that finds wrong answers; its own"
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--layers", type=int, nargs="+", default=LAYERS, help="of the start")
    parser.add_argument("--join", type=int, default=1, help="so many layers to resume into each")
    parser.add_argument("--words", action="store_true", help="keep words in the vectors")
    parser.add_argument(
        "--teacher", type=present, nargs="+", help="folders of encoders that were trained here"
    )
    parser.add_argument("--rate", type=float, default=RATE)
    parser.add_argument("--minutes", type=float, default=4.0)
    parser.add_argument("--again", type=float, default=0.0, help="minutes with new wrong answers")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--questions", type=present, nargs="*", default=[])
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(options.seed)
    began = time.time()
    made = load(options.examples)
    tokenizer, module, shape = _begun(options, made)
    tokenizer.save(str(options.out / "tokenizer.json"))
    module.to(options.device)
    queries, texts = tokenised(tokenizer, made, shape.padding, options.device)
    torch.save((tuple(queries), tuple(texts)), options.out / "tokens.pt")
    mean_size = float(texts.sizes.float().mean())
    sys.stderr.write(
        f"{shape.vocabulary} tokens, {mean_size:.0f} a text, after {time.time() - began:.0f} s\n"
    )
    owners = Owners.of(made, options.device)
    course = Course(made, queries, texts, owners, options.rate, options.minutes, options.seed)
    known = torch.load(options.vectors) if options.vectors else None
    if options.teacher:
        known = Teacher.of(options.teacher, options.device)
        course = course._replace(teacher=known)
    train(module, course, _wrong(module, course, known))
    if options.again:
        further = course._replace(
            rate=RATE_AGAIN * options.rate, minutes=options.again, seed=options.seed + 1
        )
        train(module, further, _wrong(module, further))
    save(options.out, module, shape)
    for path in options.questions:
        figures = measured(module, tokenizer, shape.padding, *asked.load(path), options.device)
        told = json.dumps({"model": "encoder", "seed": options.seed, path.stem: figures})
        sys.stderr.write(told + "\n")
        with (options.out / "figures.jsonl").open("a", encoding="utf-8") as file:
            file.write(told + "\n")
    torch.save((all_vectors(module, queries), all_vectors(module, texts)), options.out / VECTORS)
    return 0


if __name__ == "__main__":
    sys.exit(main())
