"""The models under evaluation: those that come with Asterism, and those in other folders."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from asterism.models.embed import options as embed
from asterism.models.embed.options import EmbedOptions
from asterism.models.embed.provider import Embedder, make_embedder
from asterism.models.rerank import options as rerank
from asterism.models.rerank.options import RerankOptions
from asterism.models.rerank.provider import LocalReranker
from asterism.models.weights.folder import DESCRIPTION, Kind, ModelFolder, check, read_folder
from asterism.types.errors import AsterismError

# A reranker gets all the time it needs: figures must not depend on the machine.
UNHURRIED_SECONDS = 3_600

BUILT_IN = embed.MODELS / embed.STATIC_IDENTITY.model


class Contender(NamedTuple):
    """A model and where it is."""

    name: str
    kind: Kind
    folder: Path

    @property
    def is_default(self) -> bool:
        """Whether the product uses it without being told."""
        return self.folder == BUILT_IN

    def described(self) -> ModelFolder:
        """The description in its folder, if every byte of it is as described."""
        found = read_folder(self.folder, self.kind)
        check(found)
        return found

    def embedder(self) -> Embedder:
        """It, as the index would use it."""
        provider: embed.Provider = "local" if self.kind == "static" else "encoder"
        return make_embedder(EmbedOptions(provider, str(self.folder)))

    def reranker(self) -> LocalReranker:
        """It, as a search would use it."""
        return LocalReranker(RerankOptions("local", str(self.folder)))

    def searches(self) -> dict[str, dict[str, object]]:
        """Ways to use it in the product's search: a name for each, and what the settings say."""
        folder = str(self.folder)
        if self.kind == "static":
            return {f"hybrid with {self.name}": {"embedding.model": folder}}
        if self.kind == "encoder":
            return {f"hybrid with {self.name}": {"embedding.upgrade": folder}}
        reranker = {"rerank.provider": "local", "rerank.model": folder}
        return {
            f"hybrid reranked by {self.name}": {**reranker, "rerank.seconds": UNHURRIED_SECONDS}
        }


def shipped() -> Iterator[Contender]:
    """Every model in the package; the default first."""
    yield Contender(BUILT_IN.name, "static", BUILT_IN)
    kinds: tuple[tuple[Path, Kind], ...] = (
        (embed.MODELS, "static"),
        (embed.MODELS, "encoder"),
        (rerank.MODELS, "reranker"),
    )
    for models, kind in kinds:
        for description in sorted(models.glob(f"*/{DESCRIPTION}")):
            folder = description.parent
            if folder != BUILT_IN and is_of(folder, kind):
                yield Contender(folder.name, kind, folder)


def is_of(folder: Path, kind: Kind) -> bool:
    """Whether a folder says that it holds such a model."""
    try:
        return read_folder(folder, kind).kind == kind
    except AsterismError:
        return False


def named(folders: Sequence[Path], kind: Kind) -> Iterator[Contender]:
    """Models in folders named by the user, which are not checked yet."""
    for folder in folders:
        yield Contender(folder.name, kind, folder.resolve())
