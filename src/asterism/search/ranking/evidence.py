"""From the channels' lists to evidence: what speaks for each file, before any text is read."""

import heapq
import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from posixpath import dirname
from typing import NamedTuple

from asterism.search.ranking.options import RankOptions, Weights
from asterism.search.ranking.priors import traits_of
from asterism.search.ranking.words import AskedWords, names_file, path_words, wordiness
from asterism.search.recall import FileKey, Pools
from asterism.store.chunk_table import ChunkKey, Match
from asterism.types.deadlines import check_deadline
from asterism.types.search import Question

# A file's name is said in full although one of its words was said in another form.
WHOLE_NAME = 0.85
# So many folders below the shallowest candidates count as 1, and more do not count for more: a
# whole checkout keeps its code deeper than its pages.
DEEP = 3
# One candidate in so many may be nearer to the root than where the code begins.
STRAYS = 10

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
    # Each key is made once: most of the lists' entries are of files that were met before.
    keys: dict[tuple[str, str], FileKey] = {}
    found: dict[ChunkKey, FileKey] = {}
    for matches in (pools.text, pools.vector, pools.name, pools.path):
        for key, path, _ in matches:
            place = (key[0], path)
            file = keys.get(place)
            if file is None:
                file = keys[place] = FileKey(key[0], path)
            found[key] = file
    for key, path in pools.places.items():
        found.setdefault(key, FileKey(key.repo, path))
    return found


def gather(
    question: Question,
    pools: Pools,
    files: Mapping[ChunkKey, FileKey],
    strengths: Strengths,
    options: RankOptions,
) -> dict[FileKey, Evidence]:
    """What speaks for each file by what the channels and the catalogue say."""
    found: dict[FileKey, Evidence] = {file: {} for file in files.values()}
    _put_list(found, files, strengths.text, ("text", "text_sum"))
    _put_list(found, files, strengths.vector, ("vector", "vector_sum"))
    _put_list(found, files, strengths.name, ("name", ""))
    for match in pools.vector:
        found[files[match.key]]["nearby"] = 1.0
    _put_company(found, pools.importers)
    if is_one_word(question):
        _put_importers(found, pools.importers)
    _put_path_words(found, question)
    _put_definitions(found, question, pools, files, options)
    for key in pools.lines.keys() & files.keys():
        found[files[key]]["named_line"] = 1.0
    return found


def log_odds(evidence: Evidence, weights: Mapping[str, float]) -> float:
    """The evidence weighed; what is missing weighs nothing."""
    return sum([weights[name] * value for name, value in evidence.items()])


@lru_cache(maxsize=8)
def by_name(weights: Weights) -> Mapping[str, float]:
    """The weights as evidence is kept, by name."""
    return asdict(weights)


def is_one_word(question: Question) -> bool:
    """Whether the question is a name and nothing else."""
    return len(question.text.split()) == 1


def _put_path_words(found: dict[FileKey, Evidence], question: Question) -> None:
    asked = AskedWords(question.terms)
    names = {path_words(name.rpartition(".")[2] + ".").joined for name in question.identifiers}
    shallow, usual = _depths([file.path.count("/") for file in found])
    counts = 1.0 - wordiness(question)
    for file, own in found.items():
        check_deadline()
        its = path_words(file.path)
        if asked.share_named(its.stem) > WHOLE_NAME:
            own["stem_whole"] = counts
        own["folder_named"] = asked.share_named(its.folder)
        depth = file.path.count("/")
        if "documentation" in traits_of(file.path).kinds:
            # A page at the root is no more about the code than another.
            depth = max(depth, usual)
        own["depth"] = counts * min(max(depth - shallow, 0), DEEP) / DEEP
        if its.joined in names:
            own["definition_file"] = 1.0
        if question.paths and any(names_file(path, file.path) for path in question.paths):
            own["named_path"] = 1.0


def _depths(depths: list[int]) -> tuple[int, int]:
    """How deep the candidates begin, a few strays near the root aside, and how deep most are."""
    ordered = sorted(depths) or [0]
    return ordered[len(ordered) // STRAYS], ordered[len(ordered) // 2]


def _put_definitions(
    found: dict[FileKey, Evidence],
    question: Question,
    pools: Pools,
    files: Mapping[ChunkKey, FileKey],
    options: RankOptions,
) -> None:
    alone = is_one_word(question)
    for key, definition in pools.definitions.items():
        own = found[files[key]]
        value = options.definition_kinds.get(definition.kind, 1.0)
        name = "definition" if definition.is_exact else "definition_like"
        own[name] = max(own.get(name, 0.0), value)
        own["definition_alone"] = max(own.get("definition_alone", 0.0), value * alone)


def _relative(matches: Sequence[Match]) -> dict[ChunkKey, float]:
    best = matches[0].score if matches else 0.0
    return {key: score / best for key, _, score in matches} if best > 0 else {}


def _closeness(matches: Sequence[Match]) -> dict[ChunkKey, float]:
    if not matches:
        return {}
    near, far = matches[0].score, matches[-1].score
    if near == far:
        return {match.key: 1.0 for match in matches}
    spread = far - near
    return {key: (far - score) / spread for key, _, score in matches}


def _put_list(
    found: dict[FileKey, Evidence],
    files: Mapping[ChunkKey, FileKey],
    scores: Mapping[ChunkKey, float],
    names: tuple[str, str],
) -> None:
    """A file's best chunk in a list; and how much of it is there, beside the file with most."""
    best: defaultdict[FileKey, float] = defaultdict(float)
    sums: defaultdict[FileKey, float] = defaultdict(float)
    for key, score in scores.items():
        file = files[key]
        sums[file] += score
        if score > best[file]:
            best[file] = score
    most = max(sums.values(), default=0.0) or 1.0
    for file, score in best.items():
        own = found[file]
        own[names[0]] = score
        if names[1]:
            own[names[1]] = sums[file] / most


def _put_company(
    found: dict[FileKey, Evidence], importers: Mapping[FileKey, Collection[str]]
) -> None:
    """How near the importers of a file and its neighbours are to the query; tests do not count."""
    near = {
        file: own["vector"]
        for file, own in found.items()
        if "vector" in own and "test" not in traits_of(file.path).kinds
    }
    if not near:
        return
    folders: defaultdict[tuple[str, str], list[tuple[float, FileKey]]] = defaultdict(list)
    for file, value in near.items():
        folders[file.repo, dirname(file.path)].append((value, file))
    # The two best files of a folder: each file counts the best of the others.
    best = {place: heapq.nlargest(2, some) for place, some in folders.items()}
    for file, own in found.items():
        beside = best.get((file.repo, dirname(file.path)), ())
        own["folder_near"] = next((value for value, other in beside if other != file), 0.0)
        importing = (FileKey(file.repo, path) for path in importers.get(file, ()))
        values = [near[other] for other in importing if other in near and other != file]
        own["importer_near"] = max(values, default=0.0)


def _put_importers(
    found: dict[FileKey, Evidence], importers: Mapping[FileKey, Collection[str]]
) -> None:
    """By how many a file is imported: 1 is the candidate that most import."""
    counts = {file: len(some) for file, some in importers.items() if file in found}
    most = math.log1p(max(counts.values(), default=1))
    for file, count in counts.items():
        found[file]["importers_alone"] = math.log1p(count) / most
