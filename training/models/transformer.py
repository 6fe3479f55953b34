"""A small encoder in the shape of RoBERTa, cut from a trained one."""

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import torch

EPSILON = 1e-12
# RoBERTa counts positions from the one after its padding id.
FIRST_POSITION = 2
# Added to the attention to padding.
HIDDEN = -10_000.0


class Shape(NamedTuple):
    """What a set of weights looks like."""

    vocabulary: int
    width: int
    heads: int
    inner: int
    layers: int
    padding: int
    keeps_words: bool = False
    """Whether a weighted mean of the words as they are is a part of the vector."""


def build(shape: Shape, scores: bool = False) -> Any:
    """A module with random weights; `scores` gives one number for a text instead of a vector."""
    import torch
    from torch import nn
    from torch.nn import functional

    class Layer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.query = nn.Linear(shape.width, shape.width)
            self.key = nn.Linear(shape.width, shape.width)
            self.value = nn.Linear(shape.width, shape.width)
            self.output = nn.Linear(shape.width, shape.width)
            self.output_norm = nn.LayerNorm(shape.width, eps=EPSILON)
            self.inner = nn.Linear(shape.width, shape.inner)
            self.outer = nn.Linear(shape.inner, shape.width)
            self.outer_norm = nn.LayerNorm(shape.width, eps=EPSILON)

        def forward(
            self, every: "torch.Tensor", x: "torch.Tensor", bias: "torch.Tensor"
        ) -> "torch.Tensor":
            """What becomes of some tokens that attend to every one."""
            query, key, value = (
                part(some)
                .view(some.shape[0], some.shape[1], shape.heads, shape.width // shape.heads)
                .transpose(1, 2)
                for part, some in ((self.query, x), (self.key, every), (self.value, every))
            )
            if x.is_cuda:
                mixed = functional.scaled_dot_product_attention(
                    query, key, value, bias.to(query.dtype)
                )
            else:
                scale = math.sqrt(shape.width // shape.heads)
                mixed = (query @ key.transpose(2, 3) / scale + bias).softmax(-1) @ value
            mixed = mixed.transpose(1, 2).reshape(x.shape[0], x.shape[1], shape.width)
            x = self.output_norm(x + self.output(mixed))
            return self.outer_norm(x + self.outer(functional.gelu(self.inner(x))))

    class Encoder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words = nn.Embedding(shape.vocabulary, shape.width)
            self.positions = nn.Embedding(514, shape.width)
            self.norm = nn.LayerNorm(shape.width, eps=EPSILON)
            self.layers = nn.ModuleList(Layer() for _ in range(shape.layers))
            self.score = nn.Linear(shape.width, 1) if scores else None
            if shape.keeps_words:
                self.worth = nn.Embedding(shape.vocabulary, 1)
                self.kept = nn.Linear(shape.width, shape.width, bias=False)
                nn.init.zeros_(self.worth.weight)
                nn.init.zeros_(self.kept.weight)

        def forward(
            self, input_ids: "torch.Tensor", attention_mask: "torch.Tensor"
        ) -> "torch.Tensor":
            mask = attention_mask.to(torch.float32)
            places = attention_mask.cumsum(1) * attention_mask + FIRST_POSITION - 1
            words = self.words(input_ids)
            x = self.norm(words + self.positions(places))
            bias = ((1.0 - mask) * HIDDEN)[:, None, None, :]
            for layer in self.layers[:-1]:
                x = layer(x, x, bias)
            # Nothing but the first token is looked at, so the last layer makes no other.
            first = self.layers[-1](x, x[:, :1], bias)[:, 0]
            if shape.keeps_words:
                weights = self.worth(input_ids).float().exp() * mask[:, :, None]
                mean = (weights * words).sum(1) / weights.sum(1)
                first = first + self.kept(mean)
            if self.score is not None:
                return self.score(first)[:, 0]
            return functional.normalize(first.float(), dim=1)

    return Encoder()


_LAYER_NAMES = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "output": "attention.output.dense",
    "output_norm": "attention.output.LayerNorm",
    "inner": "intermediate.dense",
    "outer": "output.dense",
    "outer_norm": "output.LayerNorm",
}


def start(
    folder: Path, layers: list[int], rows: list[int], scores: bool = False
) -> tuple[Any, Shape]:
    """An encoder with some layers of a published one and some rows of its table of words."""
    import torch
    from safetensors.torch import load_file

    told = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    weights = {
        name: value.float() for name, value in load_file(folder / "model.safetensors").items()
    }
    shape = Shape(
        len(rows),
        told["hidden_size"],
        told["num_attention_heads"],
        told["intermediate_size"],
        len(layers),
        rows.index(told["pad_token_id"]),
    )
    module = build(shape, scores)
    # The type of a token is always the first one, so its row is a part of every position's.
    types = weights["embeddings.token_type_embeddings.weight"][0]
    state = {
        "words.weight": weights["embeddings.word_embeddings.weight"][torch.tensor(rows)],
        "positions.weight": weights["embeddings.position_embeddings.weight"] + types,
        "norm.weight": weights["embeddings.LayerNorm.weight"],
        "norm.bias": weights["embeddings.LayerNorm.bias"],
    }
    for number, layer in enumerate(layers):
        for ours, theirs in _LAYER_NAMES.items():
            for part in ("weight", "bias"):
                state[f"layers.{number}.{ours}.{part}"] = weights[
                    f"encoder.layer.{layer}.{theirs}.{part}"
                ]
    module.load_state_dict(state, strict=not scores)
    return module, shape


def keeping_words(module: Any, shape: Shape) -> tuple[Any, Shape]:
    """The same encoder with a part for the words themselves, which begins as nothing."""
    wider = shape._replace(keeps_words=True)
    made = build(wider)
    made.load_state_dict({**made.state_dict(), **module.state_dict()})
    return made, wider


def joined(module: Any, shape: Shape, count: int) -> tuple[Any, Shape]:
    """An encoder with a layer for each so many of another: it looks around as the first of them.

    What each of them then makes of a token is added up, so its inner part is as much wider. That is
    not what they make of it one after the other, but training goes on from there.
    """
    import torch

    if shape.layers % count:
        raise ValueError(f"{shape.layers} layers cannot be joined by {count}")
    wider = shape._replace(layers=shape.layers // count, inner=shape.inner * count)
    made, known = build(wider), module.state_dict()
    state = {name: known.get(name) for name in made.state_dict()}
    for number in range(wider.layers):
        for name in (name for name in state if name.startswith(f"layers.{number}.")):
            part = name.split(".", 2)[2]
            every = [known[f"layers.{number * count + each}.{part}"] for each in range(count)]
            if part.startswith("inner."):
                state[name] = torch.cat(every)
            elif part == "outer.weight":
                state[name] = torch.cat(every, 1)
            elif part == "outer.bias":
                state[name] = torch.stack(every).sum(0)
            else:
                state[name] = every[-1 if part.startswith("outer_norm.") else 0]
    made.load_state_dict(state)
    return made, wider


def loaded(folder: Path) -> tuple[Any, Shape, bool]:
    """The trained module, its shape, and whether it scores pairs."""
    import torch

    shape = Shape(**json.loads((folder / "shape.json").read_text(encoding="utf-8")))
    weights = {name: value.float() for name, value in torch.load(folder / "weights.pt").items()}
    scores = "score.weight" in weights
    module = build(shape, scores)
    module.load_state_dict(weights)
    return module.eval(), shape, scores
