"""Does a model with any damage refuse to answer, as an embedder and as a reranker?"""

import hashlib
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from asterism.models.embed.options import EmbedOptions
from asterism.models.embed.provider import make_embedder
from asterism.models.rerank.options import RerankOptions
from asterism.models.rerank.provider import LocalReranker
from asterism.types.errors import ProviderRefused
from tests.models.weights.tiny_models import make_encoder, make_reranker, rewrite


def embed(folder: Path) -> object:
    return make_embedder(EmbedOptions("encoder", str(folder))).embed_documents(["pay cart"])


def judge(folder: Path) -> object:
    return LocalReranker(RerankOptions("local", str(folder))).rerank("pay", ["cart"])


USES: Mapping[str, tuple[Callable[[Path], Path], Callable[[Path], object]]] = {
    "encoder": (make_encoder, embed),
    "reranker": (make_reranker, judge),
}


def changed(name: str, change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        file = folder / name
        file.write_bytes(change(file.read_bytes()))

    return damage


def described_anew(change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    """Weights that are damaged, and a description that was written of the damaged ones."""

    def damage(folder: Path) -> None:
        changed("model.onnx", change)(folder)
        content = (folder / "model.onnx").read_bytes()
        files = json.loads((folder / "model.json").read_text("utf-8"))["files"]
        mark = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        rewrite(folder, files=files | {"model.onnx": mark})

    return damage


def missing(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def wrong_probe(folder: Path) -> None:
    probe = json.loads((folder / "model.json").read_text("utf-8"))["probe"]
    values = [[-5 * value - 5 for value in row] for row in probe["values"]]
    rewrite(folder, probe=probe | {"values": values})


def flipped(content: bytes) -> bytes:
    return content[:80] + bytes([content[80] ^ 0x10]) + content[81:]


@pytest.mark.parametrize("kind", sorted(USES))
@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (missing("model.json"), r"model\.json"),
        (missing("model.onnx"), r"model\.onnx is missing"),
        (missing("tokenizer.json"), r"tokenizer\.json is missing"),
        (changed("model.onnx", flipped), r"model\.onnx is not what it should be"),
        (changed("tokenizer.json", flipped), r"tokenizer\.json is not what it should be"),
        (changed("model.onnx", lambda content: content[:-9]), r"bytes instead of"),
        (changed("model.onnx", lambda _: b""), r"has 0 bytes instead of"),
        (described_anew(lambda content: content[: len(content) // 2]), "cannot load tiny"),
        (described_anew(lambda _: b""), "cannot load tiny"),
        (described_anew(lambda _: b"\x00" * 100), "cannot load tiny"),
        (wrong_probe, "does not say on this processor what it should"),
    ],
)
def test_no_answer(tmp_path: Path, kind: str, damage: Callable[[Path], None], words: str) -> None:
    make, use = USES[kind]
    folder = make(tmp_path / "model")
    use(folder)
    damage(folder)
    # A model that is loaded stays what it was; a later process reads the new files.
    other = folder.rename(tmp_path / "moved")
    with pytest.raises(ProviderRefused, match=words):
        use(other)


@pytest.mark.parametrize("kind", sorted(USES))
def test_without_the_library(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    make, use = USES[kind]
    folder = make(tmp_path / "model")
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ProviderRefused, match="pip install onnxruntime"):
        use(folder)
