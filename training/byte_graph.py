"""An encoder as an ONNX graph whose products are of bytes.

A graph from torch's exporter, quantised by onnxruntime, has one scale for all tokens of a run:
vectors then depend on what is read beside a text, and outliers of one token ruin the others.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from training.byte_products import CONTRIB, Floats, Graph
from training.transformer import FIRST_POSITION, HIDDEN, Shape

OPSET = 17
FORMAT = 8


def largest_inputs(module: Any, texts: Sequence[Sequence[int]]) -> dict[str, Floats]:
    """The largest number in each channel of what comes into each product, over some texts."""
    import torch

    seen: dict[str, Floats] = {}

    def recorder(name: str) -> Any:
        def record(_part: Any, inputs: "tuple[torch.Tensor]") -> None:
            top = inputs[0].abs().flatten(0, -2).amax(0).numpy()
            seen[name] = np.maximum(seen.get(name, top), top)

        return record

    hooks = [
        part.register_forward_pre_hook(recorder(name))
        for name, part in module.named_modules()
        if isinstance(part, torch.nn.Linear)
    ]
    with torch.no_grad():
        for text in texts:
            ids = torch.tensor([text])
            module(ids, torch.ones_like(ids))
    for hook in hooks:
        hook.remove()
    return seen


def write(
    module: Any, shape: Shape, scores: bool, texts: Sequence[Sequence[int]], path: Path
) -> None:
    """The graph with inputs `input_ids` and `attention_mask`; texts only tell the outliers."""
    import onnx
    from onnx import TensorProto, helper

    weights = {name: value.detach().numpy() for name, value in module.state_dict().items()}
    graph = Graph(weights, largest_inputs(module, texts))
    mask = graph.node("Cast", "attention_mask", to=TensorProto.FLOAT)
    words = _words(graph)
    x = graph.norm(graph.node("Add", words, _places(graph)), "norm")
    bias = graph.node("Mul", graph.node("Sub", graph.held(1.0), mask), graph.held(HIDDEN))
    bias = graph.node("Unsqueeze", bias, graph.integers(1, 2))
    for number in range(shape.layers):
        x = _layer(graph, x, bias, f"layers.{number}.", shape, number == shape.layers - 1)
    x = graph.node("Squeeze", x, graph.integers(1))
    if shape.keeps_words:
        x = graph.node("Add", x, _kept(graph, words, mask))
    output = "score" if scores else "v"
    if scores:
        head = (graph.held(weights["score.weight"].T), graph.held(weights["score.bias"]))
        graph.nodes_made("Squeeze", [graph.node("Gemm", x, *head), graph.integers(1)], [output])
    else:
        length = graph.node("ReduceL2", x, axes=[1], keepdims=1)
        graph.nodes_made("Div", [x, length], [output])
    sizes = ["batch"] if scores else ["batch", shape.width]
    asked = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
        for name in ("input_ids", "attention_mask")
    ]
    told = [helper.make_tensor_value_info(output, TensorProto.FLOAT, sizes)]
    made = helper.make_graph(graph.nodes, "encoder", asked, told, graph.constants)
    sets = [helper.make_opsetid("", OPSET), helper.make_opsetid(CONTRIB, 1)]
    onnx.save(helper.make_model(made, opset_imports=sets, ir_version=FORMAT), str(path))


def _words(graph: Graph) -> str:
    """The rows of the words in bytes, a scale for each: a cosine of 0.9999 to the real ones."""
    from onnx import TensorProto

    table = graph.weights["words.weight"]
    scale = np.abs(table).max(1, keepdims=True) / 127
    scale = np.where(scale > 0, scale, 1.0)
    rows = graph.node("Gather", graph.held(np.round(table / scale), np.int8), "input_ids")
    scales = graph.node("Gather", graph.held(scale), "input_ids")
    return graph.node("Mul", graph.node("Cast", rows, to=TensorProto.FLOAT), scales)


def _places(graph: Graph) -> str:
    places = graph.node("CumSum", "attention_mask", graph.held(1, np.int64))
    places = graph.node("Mul", places, "attention_mask")
    places = graph.node("Add", places, graph.held(FIRST_POSITION - 1, np.int64))
    return graph.node("Gather", graph.held(graph.weights["positions.weight"]), places)


def _kept(graph: Graph, words: str, mask: str) -> str:
    """The mean of the words as they are, each by what it is worth."""
    column, row = graph.integers(2), graph.integers(1)
    worth = graph.node("Gather", graph.held(np.exp(graph.weights["worth.weight"])), "input_ids")
    worth = graph.node("Mul", worth, graph.node("Unsqueeze", mask, column))
    every = graph.node("ReduceSum", graph.node("Mul", worth, words), row, keepdims=0)
    mean = graph.node("Div", every, graph.node("ReduceSum", worth, row, keepdims=0))
    return graph.node("MatMul", mean, graph.held(graph.weights["kept.weight"].T))


def _layer(graph: Graph, x: str, bias: str, prefix: str, shape: Shape, first_only: bool) -> str:
    """One layer; the last one makes the first token alone, as nobody looks at another."""
    asking, parts, names = x, [], ["query", "key", "value"]
    if first_only:
        limits = (graph.integers(0), graph.integers(1), graph.integers(1))
        asking = graph.node("Slice", x, *limits)
        parts = [graph.product(asking, prefix, names.pop(0))]
    joined = graph.product(x, prefix, *names)
    parts += graph.nodes_made("Split", [joined], [f"{prefix}{name}" for name in names], axis=-1)
    size = shape.width // shape.heads
    heads = graph.integers(0, 0, shape.heads, size)
    query, key, value = (
        graph.node("Transpose", graph.node("Reshape", part, heads), perm=order)
        for part, order in zip(parts, ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]), strict=True)
    )
    looks = graph.node("Mul", graph.node("MatMul", query, key), graph.held(size**-0.5))
    looks = graph.node("Softmax", graph.node("Add", looks, bias), axis=-1)
    mixed = graph.node("Transpose", graph.node("MatMul", looks, value), perm=[0, 2, 1, 3])
    mixed = graph.node("Reshape", mixed, graph.integers(0, 0, shape.width))
    mixed = graph.product(mixed, prefix, "output")
    x = graph.norm(graph.node("Add", asking, mixed), f"{prefix}output_norm")
    inner = graph.node("Gelu", graph.product(x, prefix, "inner"), domain=CONTRIB)
    outer = graph.product(inner, prefix, "outer")
    return graph.norm(graph.node("Add", x, outer), f"{prefix}outer_norm")
