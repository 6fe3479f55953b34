"""Write ONNX files: `python -m training.export FOLDER --out FOLDER --name asterism-encoder-1`."""

import argparse
import hashlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from training.transformer import loaded

OPSET = 17


def with_small_table(module: Any) -> Any:
    """The module with a table of signed bytes and a scale for each row: a quarter of the size.

    A scale for each row costs two bytes a word and keeps a cosine of 0.9999 to the real vectors;
    one scale for the whole table, which the quantiser would choose, does not.
    """
    import torch

    table = module.words.weight.detach()
    scale = table.abs().amax(1, keepdim=True) / 127
    module.register_buffer("small", (table / scale).round().clamp(-127, 127).to(torch.int8))
    module.register_buffer("scales", scale)
    del module.words

    def embedded(ids: "torch.Tensor") -> "torch.Tensor":
        return module.small[ids].to(torch.float32) * module.scales[ids]

    module.embedded = embedded
    return module


def write_onnx(module: Any, output: str, path: Path) -> None:
    """The graph with inputs `input_ids` and `attention_mask`."""
    import torch

    ids = torch.tensor([[0, 5, 6, 2], [0, 7, 2, 1]])
    mask = torch.tensor([[1, 1, 1, 1], [1, 1, 1, 0]])
    axes = {0: "batch", 1: "tokens"}
    torch.onnx.export(
        module,
        (ids, mask),
        str(path),
        input_names=["input_ids", "attention_mask"],
        output_names=[output],
        dynamic_axes={"input_ids": axes, "attention_mask": axes, output: {0: "batch"}},
        opset_version=OPSET,
        dynamo=False,
    )


def quantised(source: Path, target: Path, reduced: bool) -> None:
    """Weights of products as signed bytes, a scale for each column.

    `reduced` leaves a bit unused, so that processors without VNNI cannot overflow.
    """
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    # The inputs of these have outliers that bytes cannot hold. With bytes on both sides the vectors
    # have a cosine of 0.968 to the real ones (0.88 where the second product has them as well), and
    # the NDCG@10 of the vectors alone falls by 0.03; without, 0.998, for a fifth of the speed.
    products = [
        node.name
        for node in onnx.load(str(source)).graph.node
        if "/inner/" in node.name or "/outer/" in node.name
    ]
    quantize_dynamic(
        source,
        target,
        op_types_to_quantize=["MatMul"],
        per_channel=True,
        nodes_to_exclude=products,
        reduce_range=reduced,
        weight_type=QuantType.QInt8,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Write `model.int8.onnx`, `tokenizer.json` and `config.json`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--name", required=True)
    parser.add_argument(
        "--full-range", action="store_true", help="eight bits; needs VNNI to be exact"
    )
    options = parser.parse_args(arguments)
    from tokenizers import Tokenizer

    options.out.mkdir(parents=True, exist_ok=True)
    module, shape, scores = loaded(options.folder)
    whole = options.out / "model.fp32.onnx"
    write_onnx(with_small_table(module), "score" if scores else "v", whole)
    quantised(whole, options.out / "model.int8.onnx", not options.full_range)
    whole.unlink()
    tokenizer = Tokenizer.from_file(str(options.tokenizer))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.save(str(options.out / "tokenizer.json"), pretty=False)
    config = {
        "name": options.name,
        "pad_token_id": shape.padding,
        "layers": shape.layers,
        "width": shape.width,
        "vocabulary": shape.vocabulary,
        "max_tokens": 128 if scores else 256,
        "output": "score" if scores else "v",
    }
    (options.out / "config.json").write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")
    for path in sorted(options.out.iterdir()):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        sys.stderr.write(f"{path.name} {path.stat().st_size} {digest}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
