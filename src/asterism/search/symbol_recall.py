"""Candidates for ranking symbols: full-text matches, and cosines to the parts of the query."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from asterism.analysis.terms import terms_of
from asterism.search.ranking.symbol_weights import SymbolOptions
from asterism.search.ranking.symbols import (
    Channels,
    Cosines,
    SaidNames,
    content_terms,
    standardised,
)
from asterism.search.recall import FileKey, Sources
from asterism.store.chunk_table import Boosts, ChunkKey, Match, Vector
from asterism.types.search import Question

_ALL = Boosts(1.0, 1.0, 1.0)
_BODY = Boosts(terms=1.0, name_terms=0.0, path_terms=0.0)
_NAME = Boosts(terms=0.0, name_terms=1.0, path_terms=0.0)


class SymbolVectors(NamedTuple):
    """The vectors of a query's parts; a part that it lacks has none."""

    title: Sequence[Vector] = ()
    body: Sequence[Vector] = ()
    sentences: Sequence[Vector] = ()
    code: Sequence[Vector] = ()


class SymbolPools(NamedTuple):
    """What was found for ranking symbols."""

    said: SaidNames
    channels: Channels
    vectors: SymbolVectors
    sources: Sources

    def files(self) -> dict[ChunkKey, FileKey]:
        """The file of every candidate, the best of each channel first."""
        keys: dict[tuple[str, str], FileKey] = {}
        found: dict[ChunkKey, FileKey] = {}
        for matches in self.channels:
            for key, path, _ in matches:
                if key not in found:
                    found[key] = keys.setdefault((key.repo, path), FileKey(key.repo, path))
        return found

    def cosines(self, keys: Collection[ChunkKey]) -> Cosines:
        """The cosines of candidates to the parts of the query."""
        if not self.vectors.title:
            return Cosines()
        stored = self.sources.chunks.vectors([*keys])

        def mean(vectors: Sequence[Vector]) -> dict[ChunkKey, float]:
            if not vectors:
                return {}
            # The mean of cosines is the cosine to the mean, of unit vectors.
            summed = sum(vectors[1:], vectors[0]) / len(vectors)
            return standardised({key: float(own @ summed) for key, own in stored.items()})

        title, body, sentences, code = self.vectors
        return Cosines(mean(title), mean(body), mean(sentences), mean(code))


def symbol_vectors(question: Question, vectors: Sequence[Vector]) -> SymbolVectors:
    """The vectors of the sentences, or of `details_of` a long query, by part."""
    parts = question.parts
    if parts is None:
        return SymbolVectors(vectors[:1], vectors, vectors)
    if not vectors:
        return SymbolVectors()
    title, body, code, *sentences = vectors
    has_code = bool(parts.code or parts.output)
    return SymbolVectors((title,), (body,), sentences, (code,) if has_code else ())


def recall_symbols(
    question: Question, vectors: Sequence[Vector], sources: Sources, options: SymbolOptions
) -> SymbolPools:
    """Ask the full-text index by the parts of a query."""
    said = SaidNames(question)
    where, size = sources.where, options.pool

    def matching(terms: Sequence[str], boosts: Boosts) -> Sequence[Match]:
        return sources.chunks.matching([*terms][: options.terms], size, where, boosts)

    prose = content_terms(said.prose)
    every = [*dict.fromkeys([*prose, *terms_of(said.code)])]
    code = [*dict.fromkeys(terms_of(said.code_text))]
    channels = Channels(
        text=matching(every, _ALL),
        body=matching(every, _BODY),
        name=matching(every, _NAME),
        code=matching(code, _ALL) if code else (),
    )
    if question.parts is None:
        channels = channels._replace(title=channels.text, title_body=channels.body)
    else:
        title = content_terms(said.title)
        channels = channels._replace(title=matching(title, _ALL), title_body=matching(title, _BODY))
    return SymbolPools(said, channels, symbol_vectors(question, vectors), sources)
