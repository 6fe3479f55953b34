"""Describe a folder with a model: write its `model.json`, with checksums and a probe.

    python -m scripts.describe_model FOLDER --kind encoder --name NAME [--ranking NUMBERS.json]

The folder has the weights (one `.onnx` file) and `tokenizer.json`. The probe is what the model says
here; wherever it says something else, it will refuse to work.
"""

import argparse
import hashlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from asterism.backends.weights.folder import DESCRIPTION, read_folder
from asterism.backends.weights.runtime import Runtime

TEXTS = (
    "how is a token checked",
    'def check_token(token):\n    """Is it valid?"""\n    return 1\n',
)

# Numbers of a vector that are kept; as many tell a wrong one.
KEPT = 32


def describe(folder: Path, content: dict[str, Any]) -> dict[str, Any]:
    """What the folder's `model.json` should say; the file is written."""
    [weights] = folder.glob("*.onnx")
    files = {}
    for file in (weights, folder / "tokenizer.json"):
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        files[file.name] = {"bytes": file.stat().st_size, "sha256": digest}
    content |= {"weights": weights.name, "tokenizer": "tokenizer.json", "files": files}
    _write(folder, content)
    return content | {"probe": _probe(folder, content["kind"])}


def _probe(folder: Path, kind: Any) -> dict[str, Any]:
    found = read_folder(folder, kind)
    runtime = Runtime(found)
    if kind == "encoder":
        texts = [[text] for text in TEXTS]
        rows = runtime.tokens(TEXTS, found.max_tokens)
    else:
        texts = [[TEXTS[0], text] for text in (TEXTS[1], "def read(path): ...")]
        rows = [row for query, text in texts for row in runtime.pairs(query, [text])]
    answers = [answer for answer in runtime.answers(rows) if answer is not None]
    values = [[round(float(value), 5) for value in answer[:KEPT]] for answer in answers]
    return {"texts": texts, "values": values}


def _write(folder: Path, content: dict[str, Any]) -> None:
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    (folder / DESCRIPTION).write_text(text, "utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the description."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kind", choices=("encoder", "reranker"), required=True)
    parser.add_argument("--name", required=True)
    parser.add_argument("--dimensions", type=int, default=384)
    parser.add_argument("--max-tokens", type=int, default=256)
    parser.add_argument("--query-tokens", type=int, default=64)
    parser.add_argument("--reads", choices=("text", "path_and_code"), default="text")
    parser.add_argument("--ranking", type=Path, help="what it counts in a ranking, as JSON")
    given: Any = parser.parse_args(arguments)
    content = {
        "name": given.name,
        "kind": given.kind,
        "dimensions": given.dimensions if given.kind == "encoder" else 1,
        "max_tokens": given.max_tokens,
        "query_tokens": given.query_tokens,
        "reads": given.reads,
        "ranking": json.loads(given.ranking.read_text("utf-8")) if given.ranking else {},
    }
    _write(given.folder, describe(given.folder, content))
    return 0


if __name__ == "__main__":
    sys.exit(main())
