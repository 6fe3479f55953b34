"""The plainest search over an index: words by BM25, nothing else; what any ranking has to beat."""

from asterism.analysis.terms import terms_of
from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.registry import Registered
from asterism.types.filters import Filter
from asterism.types.search import Hit


def word_search(registered: Registered, query: str, limit: int) -> list[Hit]:
    """The chunks that share words with a query; scores are relative to the best."""
    from asterism.store.lance.table import LanceTable

    directory = registered.project.directory
    with Catalogue.open(directory) as catalogue:
        version, name = catalogue.chunks_version(), catalogue.table.name
    terms = list(dict.fromkeys(terms_of(query)))
    if not terms or version == 0:
        return []
    rows = LanceTable.open(directory, name=name).snapshot(version)
    matches = rows.matching(terms, limit, Filter(repos=(registered.repository.name,)))
    scores = {match.key.id: match.score for match in matches}
    best = max(scores.values(), default=1.0) or 1.0
    chunks = rows.chunks([match.key for match in matches])
    return [Hit(chunk, scores[chunk.id] / best) for chunk in chunks]
