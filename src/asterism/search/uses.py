"""Where a name is used: the chunks that use it, before whatever else a question brings."""

import math
from collections import Counter
from collections.abc import Sequence

from asterism.search.ranking.options import RankOptions
from asterism.search.ranking.priors import Company, file_priors
from asterism.search.recall import FileKey, Sources
from asterism.store.chunk_table import ChunkKey
from asterism.store.filtering import predicate
from asterism.types.catalogue import SymbolQuery
from asterism.types.search import Hit, Question, Signal
from asterism.types.symbol import Role

# Uses that are counted; a name with more is used everywhere.
MOST_USES = 2_000
# Chunks that are read: some times the largest limit, so that duplicates leave enough.
READ_AT_MOST = 300
# The name is used there; whether that is the one meant, names do not tell.
SCORE = 0.85
# What does not use the name is rarely asked for beside what does.
BESIDE = 0.3


def led_by_uses(hits: Sequence[Hit], question: Question, sources: Sources) -> list[Hit]:
    """The hits behind the chunks that use the name the question asks about, if it does so.

    A chunk counts by how often it uses the name and by the kind of its file; those that are among
    the hits keep their reasons.
    """
    uses = _uses(question, sources)
    known = {ChunkKey(hit.chunk.repo, hit.chunk.id): hit for hit in hits}
    passes = predicate(sources.where)
    first = [
        known.get(ChunkKey(chunk.repo, chunk.id), Hit(chunk, 0.0))
        for chunk in sources.chunks.chunks([key for key, _ in uses.most_common(READ_AT_MOST)])
        if passes(chunk)
    ]
    if not first:
        return [*hits]
    company = Company([FileKey(hit.chunk.repo, hit.chunk.relative_path) for hit in first])
    placed = sorted((_placed(hit, uses, question, company) for hit in first), key=_order)
    rest = [
        hit._replace(score=min(hit.score, BESIDE)) for key, hit in known.items() if key not in uses
    ]
    return [hit._replace(score=SCORE) for _, hit in placed] + rest


def _uses(question: Question, sources: Sources) -> Counter[ChunkKey]:
    """How often each chunk uses the name."""
    if question.used is None:
        return Counter()
    repos = tuple(sources.where.repos)
    query = SymbolQuery(question.used, roles=(Role.USAGE,), repos=repos, limit=MOST_USES)
    return Counter(
        ChunkKey(symbol.repo, symbol.row.chunk_id)
        for symbol in sources.catalogue.find_symbols(query).rows
        if symbol.row.chunk_id is not None
    )


def _placed(
    hit: Hit, uses: Counter[ChunkKey], question: Question, company: Company
) -> tuple[float, Hit]:
    chunk = hit.chunk
    count = uses[ChunkKey(chunk.repo, chunk.id)]
    priors = file_priors(FileKey(chunk.repo, chunk.relative_path), company, question, RankOptions())
    weight = (1.0 + math.log2(count)) * math.prod(prior.value for prior in priors)
    own = [signal for signal in hit.why if not signal.name.startswith("prior:")]
    return weight, hit._replace(why=(Signal("uses", float(count)), *own, *priors))


def _order(placed: tuple[float, Hit]) -> tuple[float, str, str, int]:
    weight, hit = placed
    return -weight, hit.chunk.repo, hit.chunk.relative_path, hit.chunk.start_line
