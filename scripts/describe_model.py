"""Describe a folder with a model: write its `model.json`, with checksums and a probe.

    python -m scripts.describe_model FOLDER --kind encoder --name NAME [--ranking NUMBERS.json]

The folder has the weights (one `.onnx` file, or one `.npy` file of a static model) and
`tokenizer.json`. The probe is what the model says here; wherever it says something else, it will
refuse to work.
"""

import argparse
import hashlib
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, get_args

from asterism.models.embed.static import TOKENS_AT_MOST, StaticModel
from asterism.models.weights.folder import DESCRIPTION, Reads, read_folder
from asterism.models.weights.runtime import Answer, Runtime

TEXTS = (
    "how is a token checked",
    'def check_token(token):\n    """Is it valid?"""\n    return 1\n',
)

# Numbers of a vector that are kept; as many tell a wrong one.
KEPT = 32


def describe(folder: Path, content: dict[str, Any]) -> dict[str, Any]:
    """What the folder's `model.json` should say; the file is written."""
    [weights] = folder.glob("*.npy" if content["kind"] == "static" else "*.onnx")
    files = {}
    for file in (weights, folder / "tokenizer.json"):
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        files[file.name] = {"bytes": file.stat().st_size, "sha256": digest}
    content |= {"weights": weights.name, "tokenizer": "tokenizer.json", "files": files}
    _write(folder, content)
    return content | {"probe": _probe(folder, content["kind"])}


def _probe(folder: Path, kind: Any) -> dict[str, Any]:
    found = read_folder(folder, kind)
    if kind == "static":
        vectors = StaticModel(found).encode(TEXTS)
        return {"texts": [[text] for text in TEXTS], "values": _rounded(vectors)}
    runtime = Runtime(found)
    if kind == "encoder":
        texts = [[text] for text in TEXTS]
        rows = runtime.tokens(TEXTS, found.max_tokens)
    else:
        texts = [[TEXTS[0], text] for text in (TEXTS[1], "def read(path): ...")]
        rows = [row for query, text in texts for row in runtime.pairs(query, [text])]
    answers = [answer for answer in runtime.answers(rows) if answer is not None]
    return {"texts": texts, "values": _rounded(answers)}


def _rounded(answers: Iterable[Answer]) -> list[list[float]]:
    return [[round(float(value), 5) for value in answer[:KEPT]] for answer in answers]


def _write(folder: Path, content: dict[str, Any]) -> None:
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    (folder / DESCRIPTION).write_text(text, "utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the description."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kind", choices=("static", "encoder", "reranker"), required=True)
    parser.add_argument("--name", required=True)
    parser.add_argument("--dimensions", type=int, help="384 unless told, 256 of a static model")
    parser.add_argument("--max-tokens", type=int, default=256)
    parser.add_argument("--query-tokens", type=int, default=64)
    parser.add_argument("--reads", choices=get_args(Reads), default="text")
    parser.add_argument("--ranking", type=Path, help="what it counts in a ranking, as JSON")
    given: Any = parser.parse_args(arguments)
    content = {
        "name": given.name,
        "kind": given.kind,
        "dimensions": given.dimensions
        or {"static": 256, "encoder": 384, "reranker": 1}[given.kind],
        "max_tokens": given.max_tokens if given.kind != "static" else TOKENS_AT_MOST,
        "query_tokens": given.query_tokens if given.kind != "static" else TOKENS_AT_MOST,
        "reads": given.reads,
        "ranking": json.loads(given.ranking.read_text("utf-8")) if given.ranking else {},
    }
    _write(given.folder, describe(given.folder, content))
    return 0


if __name__ == "__main__":
    sys.exit(main())
