"""An encoder as an ONNX graph with 8-bit matrix products.

A graph from torch's exporter, quantised by onnxruntime, has one scale for all tokens of a run:
vectors then depend on what is read beside a text, and outliers of one token ruin the others.
Here each token has its own scale, and a few channels keep full precision.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from training.models.transformer import EPSILON, FIRST_POSITION, HIDDEN, Shape

CONTRIB = "com.microsoft"
# Channels of what comes into the products behind the attention that stay in whole precision: a
# few hold the outliers. Twice as many cost a sixteenth of the speed for 0.00004 of the cosine.
OUTLIERS = {"inner": 16, "outer": 16}
# How much of a channel's spread is moved from the input into the weights.
MIGRATED = 0.5
SMALLEST_INPUT = 1e-3
SMALLEST_SPREAD = 1e-6

Floats = NDArray[np.float32]


def bytes_of(weight: Floats) -> tuple[NDArray[np.int8], Floats]:
    """Signed bytes and a scale for each row, such that no processor can overflow.

    Without VNNI two neighbouring products are added in 16 bits. 255 · (127 + 1) fits, so neighbours
    of one sign may add up to 128: that keeps half a bit more than to halve the range.
    """
    sums = [
        (part[:, 0::2] + part[:, 1::2]).max(1)
        for part in (np.maximum(weight, 0), np.maximum(-weight, 0))
    ]
    scale = np.maximum(np.maximum(*sums), np.abs(weight).max(1)) / 127
    scale = np.where(scale > 0, scale, 1.0).astype(np.float32)
    return np.round(weight / scale[:, None]).clip(-127, 127).astype(np.int8), scale


class Graph:
    """The nodes and constants of a graph that is being written."""

    def __init__(self, weights: Mapping[str, Floats], largest: Mapping[str, Floats]) -> None:
        """`largest` has, for each product, the largest number seen in each of its channels."""
        self.weights = weights
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._largest = largest

    def held(self, value: Any, kind: Any = np.float32) -> str:
        """The name of a constant."""
        from onnx import numpy_helper

        name = f"c{len(self.constants)}"
        numbers = np.ascontiguousarray(value, kind).reshape(np.shape(value))
        self.constants.append(numpy_helper.from_array(numbers, name))
        return name

    def integers(self, *values: int) -> str:
        """The name of a list of integers."""
        return self.held(values, np.int64)

    def node(self, kind: str, *inputs: str, **settings: Any) -> str:
        """The name of what a node makes."""
        return self.nodes_made(kind, inputs, [f"{kind}{len(self.nodes)}"], **settings)[0]

    def nodes_made(
        self, kind: str, inputs: Sequence[str], outputs: list[str], **settings: Any
    ) -> list[str]:
        """The names of all that a node makes."""
        from onnx import helper

        self.nodes.append(helper.make_node(kind, inputs, outputs, name=outputs[0], **settings))
        return outputs

    def norm(self, x: str, name: str) -> str:
        """A layer norm."""
        parts = (self.held(self.weights[f"{name}.{part}"]) for part in ("weight", "bias"))
        return self.node("LayerNormalization", x, *parts, axis=-1, epsilon=EPSILON)

    def product(self, x: str, prefix: str, *names: str) -> str:
        """`x` times the joined weights of some names, and their bias."""
        weight, bias = (
            np.concatenate([self.weights[f"{prefix}{name}.{part}"] for name in names])
            for part in ("weight", "bias")
        )
        top = np.maximum(self._largest[prefix + names[0]], SMALLEST_INPUT)
        large = np.argsort(-top, kind="stable")[: OUTLIERS.get(names[0], 0)]
        smooth = np.abs(weight).max(0) ** (1 - MIGRATED) / top**MIGRATED
        small = weight / smooth
        smooth[large] = small[:, large] = 0
        table, scale = bytes_of(small)
        flat = self.node("Reshape", x, self.integers(-1, weight.shape[1]))
        level, step, origin = self._in_bytes(self.node("Mul", flat, self.held(smooth)))
        made = self.node(
            "MatMulIntegerToFloat",
            level,
            self.held(table.T, np.int8),
            self.held(1.0),
            self.held(scale),
            self.held(0, np.uint8),
            self.held(np.zeros(len(scale)), np.int8),
            domain=CONTRIB,
        )
        column = self.integers(1)
        made = self.node("Mul", made, self.node("Unsqueeze", step, column))
        # What the zeros added, the outliers and the bias are one small product of floats.
        rest = self.node("Unsqueeze", self.node("Mul", step, origin), column)
        added = -(table.astype(np.float32) * scale[:, None]).sum(1, keepdims=True)
        if len(large):
            picked = self.node("Gather", flat, self.held(large, np.int64), axis=1)
            rest = self.node("Concat", picked, rest, axis=1)
        exact = self.held(np.concatenate([weight[:, large], added], 1).T)
        made = self.node("Add", made, self.node("Gemm", rest, exact, self.held(bias)))
        shape = self.node("Concat", self.node("Shape", x, end=2), self.integers(-1), axis=0)
        return self.node("Reshape", made, shape)

    def _in_bytes(self, level: str) -> tuple[str, str, str]:
        """Rows in bytes, with the step and the zero of each.

        Each token has its own, so its vector is the same whatever it is read together with.
        """
        from onnx import TensorProto

        zero = self.held(0.0)
        low = self.node("Min", self.node("ReduceMin", level, axes=[1], keepdims=0), zero)
        high = self.node("Max", self.node("ReduceMax", level, axes=[1], keepdims=0), zero)
        spread = self.node("Max", self.node("Sub", high, low), self.held(SMALLEST_SPREAD))
        step = self.node("Mul", spread, self.held(1 / 255))
        origin = self.node("Round", self.node("Neg", self.node("Div", low, step)))
        as_byte = self.node("Cast", origin, to=TensorProto.UINT8)
        return self.node("QuantizeLinear", level, step, as_byte, axis=0), step, origin


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
    """The weighted mean of the word vectors."""
    column, row = graph.integers(2), graph.integers(1)
    worth = graph.node("Gather", graph.held(np.exp(graph.weights["worth.weight"])), "input_ids")
    worth = graph.node("Mul", worth, graph.node("Unsqueeze", mask, column))
    every = graph.node("ReduceSum", graph.node("Mul", worth, words), row, keepdims=0)
    mean = graph.node("Div", every, graph.node("ReduceSum", worth, row, keepdims=0))
    return graph.node("MatMul", mean, graph.held(graph.weights["kept.weight"].T))


def _layer(graph: Graph, x: str, bias: str, prefix: str, shape: Shape, first_only: bool) -> str:
    """One layer; the last one computes the first token alone, because no other is used."""
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


def read(path: Path, padding: int) -> tuple[dict[str, Floats], Shape]:
    """The weights of an encoder that `write` wrote, those in bytes as they were rounded."""
    import onnx
    from onnx import numpy_helper

    graph = onnx.load(str(path)).graph
    held = {some.name: numpy_helper.to_array(some) for some in graph.initializer}
    of_kind: dict[str, list[Any]] = {}
    for node in graph.node:
        of_kind.setdefault(node.op_type, []).append(node)
    table, scale, places, *worth = (
        held[node.input[0]] for node in of_kind["Gather"] if node.input[0] in held
    )
    found = {"words.weight": table.astype(np.float32) * scale, "positions.weight": places}
    if worth:
        found["worth.weight"] = np.log(worth[0])
        found["kept.weight"] = held[of_kind["MatMul"][-1].input[1]].T
    norms = of_kind["LayerNormalization"]
    layers = len(norms) // 2
    names = ["norm"]
    names += [f"layers.{n}.{part}_norm" for n in range(layers) for part in ("output", "outer")]
    for name, node in zip(names, norms, strict=True):
        found[f"{name}.weight"], found[f"{name}.bias"] = (held[some] for some in node.input[1:])
    products = _products(graph.node, held)
    for number in range(layers):
        rows = np.concatenate([next(products) for _part in range(1 + (number == layers - 1))])
        for name, part in zip(("query", "key", "value"), np.split(rows, 3), strict=True):
            found |= _linear(f"layers.{number}.{name}", part)
        for name in ("output", "inner", "outer"):
            found |= _linear(f"layers.{number}.{name}", next(products))
    heads = next(
        held[node.input[1]] for node in of_kind["Reshape"] if len(held.get(node.input[1], ())) == 4
    )
    inner = len(found["layers.0.inner.weight"])
    words, width = table.shape
    shape = Shape(words, width, int(heads[2]), inner, layers, padding, bool(worth))
    return {name: np.array(value, np.float32) for name, value in found.items()}, shape


def _linear(name: str, rows: Floats) -> dict[str, Floats]:
    return {f"{name}.weight": rows[:, :-1], f"{name}.bias": rows[:, -1]}


def _products(nodes: Sequence[Any], held: Mapping[str, Any]) -> Iterator[Floats]:
    """The weights of each product, its bias as the last column."""
    makers = {output: node for node in nodes for output in node.output}
    smooth: Any = None
    level: Any = None
    for node in nodes:
        if node.op_type == "QuantizeLinear":
            smooth = held[makers[node.input[0]].input[1]]
        elif node.op_type == "MatMulIntegerToFloat":
            level = node
        elif node.op_type == "Gemm" and level is not None:
            weight = held[level.input[1]].T * held[level.input[3]][:, None] * smooth
            exact = held[node.input[1]].T
            if makers[node.input[0]].op_type == "Concat":
                picked = makers[makers[node.input[0]].input[0]]
                weight[:, held[picked.input[1]]] = exact[:, :-1]
            yield np.concatenate([weight, held[node.input[2]][:, None]], 1)
            level = None
