"""Write ONNX files: `python -m training.models.export FOLDER --examples EXAMPLES --out FOLDER`."""

import argparse
import hashlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from training.examples.prepare import load
from training.inputs import present
from training.models import byte_graph
from training.models.transformer import loaded

# What comes into the products is looked at over so many texts, one of each so many.
LOOKED_AT = 48
TEXT_TOKENS = 256
PAIR_TOKENS = 128


def main(arguments: Sequence[str] | None = None) -> int:
    """Write `model.int8.onnx`, `tokenizer.json` and `config.json`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=present)
    parser.add_argument("--tokenizer", type=present, help="that of the folder")
    parser.add_argument(
        "--examples", type=present, required=True, help="what training.examples.prepare wrote"
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--name", required=True)
    options = parser.parse_args(arguments)
    from tokenizers import Tokenizer

    options.out.mkdir(parents=True, exist_ok=True)
    module, shape, scores = loaded(options.folder)
    tokenizer = Tokenizer.from_file(str(options.tokenizer or options.folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.save(str(options.out / "tokenizer.json"), pretty=False)
    longest = PAIR_TOKENS if scores else TEXT_TOKENS
    tokenizer.enable_truncation(longest)
    made = load(options.examples)
    some = slice(None, None, max(1, len(made.texts) // LOOKED_AT))
    texts = zip(made.queries[some], made.texts[some], strict=True)
    looked_at = [
        tokenizer.encode(*pair).ids if scores else tokenizer.encode(pair[1]).ids for pair in texts
    ]
    byte_graph.write(module, shape, scores, looked_at, options.out / "model.int8.onnx")
    config = {
        "name": options.name,
        "pad_token_id": shape.padding,
        "layers": shape.layers,
        "width": shape.width,
        "vocabulary": shape.vocabulary,
        "max_tokens": longest,
        "output": "score" if scores else "v",
    }
    (options.out / "config.json").write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")
    for path in sorted(options.out.iterdir()):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        sys.stderr.write(f"{path.name} {path.stat().st_size} {digest}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
