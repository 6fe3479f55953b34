"""A model's folder: what its `model.json` says, and whether its files are the ones it means."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from asterism.types.errors import ProviderRefused
from asterism.types.files import display_path

DESCRIPTION = "model.json"

# Of a file that is read at once to be hashed.
_BLOCK = 1 << 20

Kind: TypeAlias = Literal["static", "encoder", "reranker"]

Reads: TypeAlias = Literal["text", "path_and_text", "path_and_code", "place_and_code"]
"""A document as it is, or the last words of its path and its code alone."""


class FileMark(NamedTuple):
    """What tells a file from any other."""

    bytes: int
    sha256: str


class Probe(NamedTuple):
    """Texts, and the output that the model must have for them on every machine."""

    texts: tuple[tuple[str, ...], ...]
    """One text each, or a question and a text."""
    values: tuple[tuple[float, ...], ...]


NO_PROBE = Probe((), ())


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFolder:
    """A model that can be run: everything but its weights."""

    path: Path
    name: str
    kind: Kind
    dimensions: int
    """Numbers in an answer: a vector's, or 1."""
    max_tokens: int
    """Later tokens are not read."""
    query_tokens: int
    """The same of a question."""
    weights: str
    tokenizer: str
    files: Mapping[str, FileMark]
    reads: Reads = "text"
    """What it was trained to read of a document."""
    probe: Probe = NO_PROBE
    ranking: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    """Weights of its scores in a ranking, and their calibration, by name."""
    context: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    """What its cosines mean where items of a context are chosen; by name."""

    @property
    def mark(self) -> str:
        """Tells these weights, and what they are given to read, from others of the same name."""
        weights = self.files[self.weights].sha256
        if self.reads == "text":
            return weights[:8]
        return hashlib.sha256(f"{weights} {self.reads}".encode()).hexdigest()[:8]

    @property
    def size(self) -> int:
        """All files together."""
        return sum(mark.bytes for mark in self.files.values())


def read_folder(path: Path, kind: Kind) -> ModelFolder:
    """What a folder says of its model; the weights are not touched."""
    try:
        content = json.loads((path / DESCRIPTION).read_text("utf-8"))
    except FileNotFoundError as error:
        raise unusable(path, f"it has no {DESCRIPTION}") from error
    except (OSError, ValueError) as error:
        raise unusable(path, f"its {DESCRIPTION} cannot be read") from error
    try:
        found = _folder(path, content)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise unusable(path, f"its {DESCRIPTION} does not describe a model") from error
    if found.kind != kind:
        raise unusable(path, f"it holds a model of the kind {found.kind}, not {kind}")
    return found


def described(path: Path) -> tuple[Path, int]:
    """A folder, and when its description was written: what tells one state of it from another."""
    try:
        return path, (path / DESCRIPTION).stat().st_mtime_ns
    except OSError as error:
        raise unusable(path, f"it has no {DESCRIPTION}") from error


def damage(folder: ModelFolder, *, by_size: bool = False) -> list[str]:
    """What is wrong with each file that is not as it was described, in words.

    Hashing 15 MB takes some 10 ms; `by_size` looks at the lengths alone.
    """
    found = (_damage(folder, name, by_size) for name in folder.files)
    return [wrong for wrong in found if wrong]


def _damage(folder: ModelFolder, name: str, by_size: bool) -> str:
    file, mark = folder.path / name, folder.files[name]
    try:
        size = file.stat().st_size
        if size != mark.bytes:
            return f"{name} has {size:,} bytes instead of {mark.bytes:,}"
        return "" if by_size or _sha256(file) == mark.sha256 else f"{name} is not what it should be"
    except FileNotFoundError:
        return f"{name} is missing"
    except OSError as error:
        return f"{name} cannot be read ({error.strerror})"


def check(folder: ModelFolder, *, by_size: bool = False) -> None:
    """Refuse a model whose files are damaged: it would answer, and wrongly."""
    wrong = damage(folder, by_size=by_size)
    if wrong:
        raise unusable(folder.path, "; ".join(wrong))


def check_file(folder: ModelFolder, name: str) -> None:
    """The same of one file, every byte of it."""
    wrong = _damage(folder, name, by_size=False)
    if wrong:
        raise unusable(folder.path, wrong)


def unusable(path: Path, why: str) -> ProviderRefused:
    """The message about a model that must not be used."""
    return ProviderRefused(
        f"The model in {display_path(str(path))} cannot be used: {why}. Install Asterism again, or "
        "copy the model's folder again."
    )


def _folder(path: Path, content: Mapping[str, Any]) -> ModelFolder:
    kind, reads = content["kind"], content.get("reads", "text")
    if kind not in get_args(Kind) or reads not in get_args(Reads):
        raise ValueError(kind, reads)
    files = {
        _plain(name): FileMark(int(mark["bytes"]), str(mark["sha256"]))
        for name, mark in content["files"].items()
    }
    probe = content.get("probe", {"texts": [], "values": []})
    found = ModelFolder(
        path=path,
        name=str(content["name"]),
        kind=kind,
        dimensions=int(content["dimensions"]),
        max_tokens=int(content["max_tokens"]),
        query_tokens=int(content["query_tokens"]),
        weights=content["weights"],
        tokenizer=content["tokenizer"],
        files=MappingProxyType(files),
        reads=reads,
        probe=Probe(
            tuple(tuple(map(str, texts)) for texts in probe["texts"]),
            tuple(tuple(map(float, values)) for values in probe["values"]),
        ),
        ranking=_numbers(content.get("ranking", {})),
        context=_numbers(content.get("context", {})),
    )
    if found.weights not in files or found.tokenizer not in files:
        raise ValueError("a file without a mark")
    if min(found.dimensions, found.max_tokens, found.query_tokens) < 1:
        raise ValueError("nothing to read or to say")
    return found


def _numbers(content: Mapping[str, Any]) -> Mapping[str, float]:
    return MappingProxyType({str(name): float(value) for name, value in content.items()})


def _plain(name: str) -> str:
    """A file of the folder itself: a description must not lead out of it."""
    if Path(name).name != name:
        raise ValueError(name)
    return name


def _sha256(file: Path) -> str:
    found = hashlib.sha256()
    with file.open("rb") as content:
        while block := content.read(_BLOCK):
            found.update(block)
    return found.hexdigest()
