"""From the channels' lists to evidence: what speaks for each file, before any text is read."""

import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from typing import NamedTuple

from asterism.backends.store.chunk_table import ChunkKey, Match
from asterism.domain.search import Question
from asterism.retrieval.options import RankOptions, Weights
from asterism.retrieval.paths import PathWords, alike, path_words, share_asked, share_named
from asterism.retrieval.recall import Definition, FileKey, Pools

# Shorter words stand in too many paths by accident.
SHORTEST_ASKED = 3
# A file's name is said in full although one of its words was said in another form.
WHOLE_NAME = 0.85
# So many folders count as 1.
DEEP = 5

Evidence = dict[str, float]
"""What speaks for a file, by the names of `Weights`, each between 0 and about 1."""


class Strengths(NamedTuple):
    """Each channel's scores between 0 and 1, by chunk; 1 is the best of its list."""

    text: Mapping[ChunkKey, float]
    vector: Mapping[ChunkKey, float]
    name: Mapping[ChunkKey, float]
    path: Mapping[ChunkKey, float]


def strengths_of(pools: Pools) -> Strengths:
    """Min-max over each list: words from 0, distances from the farthest candidate."""
    return Strengths(
        _relative(pools.text),
        _closeness(pools.vector),
        _relative(pools.name),
        _relative(pools.path),
    )


def files_of(pools: Pools) -> dict[ChunkKey, FileKey]:
    """The file of every candidate."""
    found = {key: FileKey(key.repo, path) for key, path in pools.places.items()}
    for matches in (pools.text, pools.vector, pools.name, pools.path):
        for match in matches:
            found[match.key] = FileKey(match.key.repo, match.path)
    return found


def gather(
    question: Question, pools: Pools, files: Mapping[ChunkKey, FileKey], options: RankOptions
) -> dict[FileKey, Evidence]:
    """What speaks for each file by what the channels and the catalogue say."""
    strengths = strengths_of(pools)
    found: dict[FileKey, Evidence] = {file: {} for file in files.values()}
    _put(found, "text", _best(strengths.text, files))
    _put(found, "text_sum", _sums(strengths.text, files))
    _put(found, "vector", _best(strengths.vector, files))
    _put(found, "vector_sum", _sums(strengths.vector, files))
    _put(found, "importers", _logarithmic(pools.importers))
    _put_path_words(found, question)
    _put_definitions(found, question, pools.definitions, files, options)
    return found


def log_odds(evidence: Evidence, weights: Weights) -> float:
    """The evidence weighed; what is missing weighs nothing."""
    by_name = _by_name(weights)
    return sum([by_name[name] * value for name, value in evidence.items()])


@lru_cache(maxsize=8)
def _by_name(weights: Weights) -> dict[str, float]:
    return asdict(weights)


def is_one_word(question: Question) -> bool:
    """Whether the question is a name and nothing else."""
    return len(question.text.split()) == 1


def _put_path_words(found: dict[FileKey, Evidence], question: Question) -> None:
    asked = {term for term in question.terms if len(term) >= SHORTEST_ASKED}
    names = {path_words(name.rpartition(".")[2] + ".").joined for name in question.identifiers}
    words = {file: path_words(file.path) for file in found}
    rarity = _rarity(asked, words.values())
    for file, its in words.items():
        said = share_named(its.stem, asked)
        found[file] |= {
            "stem": said,
            "stem_whole": float(said > WHOLE_NAME),
            "folder": share_asked(rarity, its.folder),
            "definition_file": float(its.joined in names),
            "named_path": float(any(_ends_with(file.path, path) for path in question.paths)),
            "depth": file.path.count("/") / DEEP,
        }


def _ends_with(path: str, named: str) -> bool:
    return f"/{path}".endswith(f"/{named.lstrip('./')}")


def _put_definitions(
    found: dict[FileKey, Evidence],
    question: Question,
    definitions: Mapping[ChunkKey, Definition],
    files: Mapping[ChunkKey, FileKey],
    options: RankOptions,
) -> None:
    alone = is_one_word(question)
    for key, definition in definitions.items():
        own = found[files[key]]
        value = options.definition_kinds.get(definition.kind, 1.0)
        own["definition"] = max(own.get("definition", 0.0), value)
        own["definition_alone"] = own["definition"] * alone


def _relative(matches: Sequence[Match]) -> dict[ChunkKey, float]:
    best = matches[0].score if matches else 0.0
    return {match.key: match.score / best for match in matches} if best > 0 else {}


def _closeness(matches: Sequence[Match]) -> dict[ChunkKey, float]:
    if not matches:
        return {}
    near, far = matches[0].score, matches[-1].score
    if near == far:
        return {match.key: 1.0 for match in matches}
    return {match.key: (far - match.score) / (far - near) for match in matches}


def _put(found: dict[FileKey, Evidence], name: str, values: Mapping[FileKey, float]) -> None:
    for file in found.keys() & values.keys():
        found[file][name] = values[file]


def _best(
    scores: Mapping[ChunkKey, float], files: Mapping[ChunkKey, FileKey]
) -> dict[FileKey, float]:
    best: defaultdict[FileKey, float] = defaultdict(float)
    for key, score in scores.items():
        file = files[key]
        if score > best[file]:
            best[file] = score
    return best


def _sums(
    scores: Mapping[ChunkKey, float], files: Mapping[ChunkKey, FileKey]
) -> dict[FileKey, float]:
    """How much of a file is in a list, beside the file of which most is: its coherence."""
    sums: defaultdict[FileKey, float] = defaultdict(float)
    for key, score in scores.items():
        sums[files[key]] += score
    most = max(sums.values(), default=0.0) or 1.0
    return {file: total / most for file, total in sums.items()}


def _logarithmic(counts: Mapping[FileKey, int]) -> dict[FileKey, float]:
    most = math.log1p(max(counts.values(), default=1))
    return {file: math.log1p(count) / most for file, count in counts.items()}


def _rarity(asked: Collection[str], paths: Collection[PathWords]) -> dict[str, float]:
    """What each asked word is worth in a path: little where many candidates' paths have it."""
    holders: defaultdict[str, int] = defaultdict(int)
    for words in paths:
        for word in {*words.stem, *words.folder}:
            holders[word] += 1
    return {
        term: math.log1p(
            len(paths) / (1 + sum(count for word, count in holders.items() if alike(term, word)))
        )
        for term in asked
    }
