"""Reranking by a local model, encoder or reranker, within a time limit."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from asterism.analysis.chunks.units import RECIPE_VERSION
from asterism.engine.metrics import measured_call, record_look_up
from asterism.indexing.index import Cache, text_hash
from asterism.models.embed.encoder import EncoderEmbedder
from asterism.models.embed.options import EmbedOptions, encoder_folder, static_folder
from asterism.models.rerank.options import RerankOptions
from asterism.models.weights.folder import DESCRIPTION, Kind, ModelFolder, described, read_folder
from asterism.search.query.parts import sentences_in
from asterism.search.ranking.options import RankOptions, ScorerOptions
from asterism.search.ranking.symbol_weights import Calibration
from asterism.store.chunk_table import ChunkKey
from asterism.types.errors import ProviderError, ProviderRefused
from asterism.types.index import Chunk
from asterism.types.search import Question

PREFIX = "vectors."
"""Prefix of the numbers in a model's folder that apply to rankings with its vectors; the others
apply to the scores it gives to single texts."""

_OLDER_NAMES = {"wished": "change_weights", "wished_start": "change_start"}
"""Keys of options in a folder's `model.json` that have another name by now."""

_FOLDERS_KEPT = 4


def rank_options(options: EmbedOptions) -> RankOptions:
    """The ranking options for vectors of this model: defaults with its folder's overrides."""
    if options.provider == "encoder":
        return _of_folder(*described(encoder_folder(options)), "encoder")
    if options.provider == "local" and (static_folder(options) / DESCRIPTION).is_file():
        return _of_folder(*described(static_folder(options)), "static")
    return RankOptions()


def weighed(folder: ModelFolder) -> RankOptions:
    """The default options with a folder's overrides, as `vectors.weights.nearby`."""
    found = RankOptions()
    for name, value in folder.ranking.items():
        if name.startswith(PREFIX):
            try:
                found = _with(found, name.removeprefix(PREFIX).split("."), value)
            except (LookupError, TypeError) as error:
                raise ProviderRefused(
                    f"The model in {folder.path} sets {name}, which this version of Asterism does "
                    "not know; update Asterism, or take that number out of its model.json."
                ) from error
    return found


def _with(options: Any, path: list[str], value: float) -> Any:
    """The options with the number at a path of field names replaced."""
    name, *rest = path
    name = _OLDER_NAMES.get(name, name)
    if not is_dataclass(options) or name not in {field.name for field in fields(options)}:
        raise LookupError(name)
    held = getattr(options, name)
    if rest:
        return replace(options, **{name: _with(held, rest, value)})  # type: ignore[type-var]
    if isinstance(held, bool) or not isinstance(held, int | float):
        raise TypeError(name)
    return replace(options, **{name: type(held)(value)})  # type: ignore[type-var]


@lru_cache(maxsize=_FOLDERS_KEPT)
def _of_folder(path: Path, _changed_ns: int, kind: Kind) -> RankOptions:
    return weighed(read_folder(path, kind))


class LocalScorer:
    """Scores chunks by a local model; failures and timeouts are in `notes`."""

    def __init__(self, options: ScorerOptions, score: "Score", seconds: float) -> None:
        self.options = options
        self.notes: list[str] = []
        self.failed = False
        """Whether no text could be scored."""
        self._score = score
        self._seconds = seconds

    def scores(self, question: Question, chunks: Sequence[Chunk]) -> Mapping[ChunkKey, float]:
        """A score for each chunk, as far as the time allows."""
        texts = [chunk.embedding_text for chunk in chunks]
        try:
            with measured_call("rerank", self.options.name, len(texts)):
                scores = self._score(asked_texts(question), texts, self._seconds)
        except ProviderError as error:
            self.notes.append(f"Answered without the {self.options.name}: {error}")
            self.failed = True
            return {}
        left = sum(score is None for score in scores)
        if left:
            self.notes.append(
                f"In {self._seconds:g} s the {self.options.name} scored {len(texts) - left} of "
                f"{len(texts)} hits; the others keep their places. Raise rerank.seconds for more."
            )
        return {
            ChunkKey(chunk.repo, chunk.id): score
            for chunk, score in zip(chunks, scores, strict=True)
            if score is not None
        }


Score = Callable[[Sequence[str], Sequence[str], float], list[float | None]]
"""Takes the texts of a query, other texts and seconds; returns a score for each of the others,
None where time ran out.

Loading the model does not count: without it the next query would wait just as long.
"""


class LocalRerankModel(NamedTuple):
    """A local model that scores texts for a query."""

    folder: ModelFolder
    name: str
    """Its name in reasons and notes."""
    score: Score

    def scorer(self, top: int, seconds: float) -> LocalScorer:
        """A scorer for one query: at most `top` hits within `seconds`."""
        options = scorer_options(self.folder, self.name, top)
        if not (options.best or options.second or options.whole or options.chunk):
            raise ProviderRefused(
                f"{self.folder.name} has no weights for its scores; put the numbers that "
                "`python -m benchmarks.ranking.rerank` finds into its model.json, as ranking."
            )
        return LocalScorer(options, self.score, seconds)


def local_rerank_model(options: RerankOptions, cache: Callable[[], Cache]) -> LocalRerankModel:
    """The model that the options name; only its description is read here."""
    if options.provider in ("auto", "encoder"):
        chosen = EmbedOptions(provider="encoder", model=options.model)
        folder = read_folder(encoder_folder(chosen), "encoder")
        return LocalRerankModel(folder, "encoder", by_encoder(EncoderEmbedder(chosen), cache))
    from asterism.models.rerank.provider import LocalReranker

    reranker = LocalReranker(options)

    def score(asked: Sequence[str], texts: Sequence[str], seconds: float) -> list[float | None]:
        return reranker.score_within(asked[0], texts, seconds)

    return LocalRerankModel(reranker.folder, "reranker", score)


def by_encoder(embedder: EncoderEmbedder, cache: Callable[[], Cache]) -> Score:
    """Scores by cosine; the vectors of texts are cached."""
    import numpy as np

    def score(asked_for: Sequence[str], texts: Sequence[str], seconds: float) -> list[float | None]:
        first, *others = embedder.embed_queries(asked_for)
        # The mean of cosines to title, prose and sentences.
        asked = (first + others[0] + np.mean(others[1:] or others, axis=0)) / 3 if others else first
        kept = cache()
        try:
            hashes = [text_hash(text) for text in texts]
            known = kept.get(embedder.identity, RECIPE_VERSION, hashes)
            missing = [n for n, key in enumerate(hashes) if key not in known]
            record_look_up("candidate_vectors", not missing)
            made, done = embedder.embed_within([texts[n] for n in missing], seconds)
            fresh = {
                hashes[n]: vector
                for n, vector, is_done in zip(missing, made, done, strict=True)
                if is_done
            }
            kept.put(embedder.identity, RECIPE_VERSION, fresh)
        finally:
            kept.close()
        known = {**known, **fresh}
        return [
            float(np.dot(asked, known[key])) if key in known else None  # as unit vectors
            for key in hashes
        ]

    return score


_SENTENCES = 10
"""Of an issue, that the encoder compares with symbols."""


def asked_texts(question: Question) -> list[str]:
    """What the encoder compares with symbols: the query, or the parts of an issue."""
    parts = question.parts
    if parts is None:
        return [question.text]
    body = f"{parts.title}. {' '.join(parts.prose)}"
    return [parts.title, body, *[*sentences_in(parts)][1 : _SENTENCES + 1]]


def scorer_options(folder: ModelFolder, name: str, top: int) -> ScorerOptions:
    """The weights of the model's scores in a ranking, from its folder."""
    numbers, usual = folder.ranking, ScorerOptions(name=name, top=top)
    return replace(
        usual,
        best=numbers.get("best", 0.0),
        second=numbers.get("second", 0.0),
        whole=numbers.get("whole", 0.0),
        chunk=numbers.get("chunk", 0.0),
        keeps=numbers.get("keeps", 1.0),
        sure=numbers.get("sure", math.inf),
        calibration=_curve(usual.calibration, "calibration", numbers),
        by_meaning=_curve(usual.by_meaning, "by_meaning", numbers),
    )


def _curve(usual: Calibration, name: str, numbers: Mapping[str, float]) -> Calibration:
    given: dict[str, Any] = {
        field.name: numbers[f"{name}.{field.name}"]
        for field in fields(usual)
        if f"{name}.{field.name}" in numbers
    }
    return replace(usual, **given)
