"""A product of bytes in an ONNX graph: which numbers are kept, and which nodes multiply them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from training.transformer import EPSILON

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
