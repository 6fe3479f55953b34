"""Scores symbols: what speaks for each candidate by itself, by its file and by its neighbours."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from asterism.analysis.terms import terms_of
from asterism.search.query.text import STOP_WORDS, content_text
from asterism.search.ranking.priors import FUNCTIONS, PLAIN, is_inline_test, is_quoting
from asterism.search.ranking.symbol_weights import SymbolFeatures, weighed
from asterism.search.ranking.words import READ_CHARACTERS, asked_stems, rarity, said_by, share
from asterism.search.recall import FileKey
from asterism.store.chunk_table import ChunkKey, Match
from asterism.types.deadlines import check_deadline
from asterism.types.index import Chunk
from asterism.types.search import FileLine, Intent, Question

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::|#|->)[A-Za-z_]\w*)*")
_SEPARATOR = re.compile(r"\.|::|#|->")
_HUMP = re.compile(r"[a-z][A-Z]")
_WORD = re.compile(r"[A-Za-z]{2,}")
_STRING = re.compile(
    r'"((?:[^"\\\n]|\\.){8,400})"|\'((?:[^\'\\\n]|\\.){8,400})\'|`((?:[^`\\]|\\.){8,400})`'
)
# Characters of a symbol whose strings are compared with messages.
_READ = 20_000
_RUN = 3
_RUNS = 6
# A name of one or two letters is in every text.
_SHORTEST = 3
# Lines that count; a longer function is no more likely to be what is meant.
_LONGEST = 400
_DOC_CHARACTERS = 400
_SIGNATURE_CHARACTERS = 300
# BM25 as the store computes it.
_K1, _B = 1.2, 0.75
_TYPES = frozenset(
    {"class", "interface", "struct", "enum", "trait", "object", "protocol", "type", "impl"}
    | {"extension", "namespace", "module", "component", "union", "record"}
)
_PROPERTIES = frozenset({"property", "enum_member", "variable", "constant", "field"})


class SaidNames:
    """The names and words of a query, for looking up those of symbols."""

    def __init__(self, question: Question) -> None:
        parts = question.parts
        self.title = question.text if parts is None else parts.title
        self.prose = self.title if parts is None else " ".join([parts.title, *parts.prose])
        code = () if parts is None else (*parts.code, *parts.output)
        self.code = "\n".join(code)
        self.text = f"{self.prose}\n{self.code}"
        self.messages = () if parts is None else parts.messages
        self._chains = {_SEPARATOR.sub(".", name) for name in _IDENTIFIER.findall(self.text)}
        self._dotted = {part for name in self._chains if "." in name for part in name.split(".")}
        self.names = {part for name in self._chains for part in name.split(".")}
        self.in_title = {
            part for name in _IDENTIFIER.findall(self.title) for part in _SEPARATOR.split(name)
        }
        self.words = frozenset(re.findall(r"\w+", self.prose.lower()))

    def is_code(self, name: str) -> bool:
        """Whether a name of the query can be nothing but a name."""
        return "_" in name.strip("_") or bool(_HUMP.search(name)) or name in self._dotted

    def has_chain(self, name: str) -> bool:
        """Whether the query has a dotted name, or one that ends with it."""
        return name in self._chains or any(one.endswith(f".{name}") for one in self._chains)

    @cached_property
    def runs(self) -> frozenset[tuple[str, ...]]:
        """Runs of words of the error messages."""
        return frozenset(run for message in self.messages for run in _runs(message))

    @property
    def code_text(self) -> str:
        """The code of the query, and every name in it that is written as code."""
        named = [name for name in self._chains if "." in name or self.is_code(name)]
        return "\n".join([self.code, *sorted(named)])


def _runs(text: str) -> set[tuple[str, ...]]:
    words = [word.lower() for word in _WORD.findall(text)]
    return {tuple(words[at : at + _RUN]) for at in range(len(words) - _RUN + 1)}


def content_terms(text: str) -> list[str]:
    """The terms of prose that carry meaning, each once."""
    terms = dict.fromkeys(terms_of(content_text(text)))
    return [term for term in terms if term.lower() not in STOP_WORDS]


class Channels(NamedTuple):
    """What full-text queries found for ranking symbols, best first."""

    text: Sequence[Match] = ()
    body: Sequence[Match] = ()
    name: Sequence[Match] = ()
    title: Sequence[Match] = ()
    title_body: Sequence[Match] = ()
    code: Sequence[Match] = ()


class Cosines(NamedTuple):
    """Cosines of the candidates to the texts of the query, in standard deviations."""

    title: Mapping[ChunkKey, float] = {}
    body: Mapping[ChunkKey, float] = {}
    mean: Mapping[ChunkKey, float] = {}
    code: Mapping[ChunkKey, float] = {}


class SymbolCase(NamedTuple):
    """What is known about the candidates before they are read."""

    question: Question
    said: SaidNames
    shares: Mapping[str, Mapping[ChunkKey, float]]
    """The scores of each channel, as shares of its best."""
    cosines: Cosines
    files: Mapping[ChunkKey, FileKey]
    odds: Mapping[FileKey, float]
    """Of the files, below those of the best."""
    kinds: Callable[[FileKey], frozenset[str]]
    """The kinds of a file that count against it for this query: test, documentation …"""
    lines: Mapping[ChunkKey, FileLine]


def shares_of(channels: Channels) -> dict[str, dict[ChunkKey, float]]:
    """Each channel's scores as shares of its best."""
    found: dict[str, dict[ChunkKey, float]] = {}
    for name, matches in zip(Channels._fields, channels, strict=True):
        best = matches[0].score if matches else 0.0
        found[name] = {match.key: match.score / best for match in matches} if best > 0 else {}
    return found


def worth_reading(case: SymbolCase, weights: SymbolFeatures, most: int) -> list[ChunkKey]:
    """The best candidates by what is known without reading them, in a stable order."""
    keys = [*case.files]
    found = dict(zip(keys, _features(case, keys), strict=True))
    _beside_files(case, found)
    scores = {key: weighed(features, weights) for key, features in found.items()}
    return sorted(keys, key=lambda key: (-scores[key], key))[:most]


def read_symbols(case: SymbolCase, chunks: Sequence[Chunk]) -> list[SymbolFeatures]:
    """All features of candidates that were read, the encoder's aside."""
    keys = [ChunkKey(chunk.repo, chunk.id) for chunk in chunks]
    found = _features(case, keys)
    # What a file has is what all of its candidates have, read or not.
    every = dict(zip(case.files, _features(case, [*case.files]), strict=True))
    _beside_files(case, every)
    for key, features in zip(keys, found, strict=True):
        features.file_text, features.file_title = every[key].file_text, every[key].file_title
    _beside_members(chunks, found)
    heads = _Heads(chunks)
    titles = heads.scores(content_terms(case.said.title))
    prose = heads.scores(content_terms(case.said.prose))
    innermost = _places_in_trace(case)
    _read_stems(case, chunks, found)
    asks_tests = Intent.tests in case.question.intents or is_quoting(case.question)
    for at, (chunk, features) in enumerate(zip(chunks, found, strict=True)):
        check_deadline()
        features.head_title, features.head_prose = titles[at], prose[at]
        features.trace = innermost.get(keys[at], 0.0)
        _read_names(case.said, chunk, features)
        _read_shape(chunk, features)
        if is_inline_test(chunk) and not asks_tests:
            features.test = 1.0
        if case.said.runs:
            strings = " . ".join(
                a or b or c for a, b, c in _STRING.findall(chunk.full_source[:_READ])
            )
            features.message = min(len(_runs(strings) & case.said.runs), _RUNS) / _RUNS
    return found


def _features(case: SymbolCase, keys: Sequence[ChunkKey]) -> list[SymbolFeatures]:
    """What channels, vectors and files say."""
    shares, cosines = case.shares, case.cosines
    lowest = min(case.odds.values(), default=0.0)
    found: list[SymbolFeatures] = []
    for key in keys:
        file = case.files[key]
        kinds = case.kinds(file)
        found.append(
            SymbolFeatures(
                **{name: values.get(key, 0.0) for name, values in shares.items()},
                vector_title=cosines.title.get(key, 0.0),
                vector_body=cosines.body.get(key, 0.0),
                vector_mean=cosines.mean.get(key, 0.0),
                vector_code=cosines.code.get(key, 0.0),
                file=case.odds.get(file, lowest),
                test=float("test" in kinds),
                documentation=float("documentation" in kinds),
                example=float("example" in kinds),
            )
        )
    return found


def _beside_files(case: SymbolCase, found: Mapping[ChunkKey, SymbolFeatures]) -> None:
    text: defaultdict[FileKey, float] = defaultdict(float)
    title: defaultdict[FileKey, float] = defaultdict(float)
    for key, features in found.items():
        file = case.files[key]
        text[file] = max(text[file], features.text)
        title[file] = max(title[file], features.title)
    for key, features in found.items():
        file = case.files[key]
        features.file_text, features.file_title = text[file], title[file]


def _beside_members(chunks: Sequence[Chunk], found: Sequence[SymbolFeatures]) -> None:
    text: defaultdict[tuple[str, ...], float] = defaultdict(float)
    vector: defaultdict[tuple[str, ...], float] = defaultdict(lambda: -math.inf)
    parents = [(chunk.repo, chunk.relative_path, chunk.parent_name or "") for chunk in chunks]
    for parent, features in zip(parents, found, strict=True):
        text[parent] = max(text[parent], features.text)
        vector[parent] = max(vector[parent], features.vector_mean)
    for parent, features in zip(parents, found, strict=True):
        features.beside_text, features.beside_vector = text[parent], vector[parent]


def _read_stems(case: SymbolCase, chunks: Sequence[Chunk], found: Sequence[SymbolFeatures]) -> None:
    stems = asked_stems(case.question)
    every: list[frozenset[str]] = []
    for chunk in chunks:
        text = chunk.full_source[:READ_CHARACTERS]
        every.append(said_by(f"{chunk.qualified_name}\n{text}", stems))
    worth = rarity(stems, every)
    for chunk, words, features in zip(chunks, every, found, strict=True):
        features.said = share(words, worth)
        if words:
            head = f"{chunk.qualified_name} {chunk.signature or ''}"
            features.said_head = share(said_by(head, words), worth)


def _places_in_trace(case: SymbolCase) -> dict[ChunkKey, float]:
    """The chunks around the lines of a traceback by how near they are to where it was raised."""
    order = {line: at for at, line in enumerate(case.question.lines)}
    last = max(len(order) - 1, 1)
    return {
        key: 0.5 + 0.5 * order.get(line, 0) / last if len(order) > 1 else 1.0
        for key, line in case.lines.items()
    }


def _read_names(said: SaidNames, chunk: Chunk, features: SymbolFeatures) -> None:
    name, parent = chunk.name, (chunk.parent_name or "").rpartition(".")[2]
    path = chunk.relative_path
    is_said = name in said.names
    long = len(name) >= _SHORTEST
    if is_said and said.is_code(name):
        features.name_code = 1.0
    elif is_said and long:
        features.name_word = 1.0
    features.name_title = float(name in said.in_title and long)
    features.parent = float(parent in said.names and len(parent) >= _SHORTEST)
    features.parent_title = float(parent in said.in_title and len(parent) >= _SHORTEST)
    if is_said and long and "." in chunk.qualified_name:
        features.qualified = float(said.has_chain(chunk.qualified_name))
    bare = path.rpartition(".")[0] or path
    module = bare.replace("/", ".")
    features.path = float(path in said.text or ("." in module and module in said.text))
    stem = bare.rpartition("/")[2].lower()
    features.stem = float(len(stem) > _SHORTEST and stem in said.words)


def _read_shape(chunk: Chunk, features: SymbolFeatures) -> None:
    name, kind = chunk.name, chunk.node_kind
    lines = chunk.end_line - chunk.start_line + 1
    features.length = math.log1p(min(lines, _LONGEST))
    features.function = float(kind in FUNCTIONS)
    features.type = float(kind in _TYPES)
    features.property = float(kind in _PROPERTIES)
    features.plain = float(kind in PLAIN)
    features.constructor = float(kind == "constructor" or name == "__init__")
    features.special = float(name.startswith("__") and name != "__init__")
    features.private = float(name.startswith("_") and not name.startswith("__"))
    features.depth = float(chunk.depth)
    features.exported = float(chunk.is_exported)


class _Heads:
    """BM25 over the heads of candidates: name, signature, first lines of the doc, path."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self._postings: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        sizes: list[int] = []
        for at, chunk in enumerate(chunks):
            doc = (chunk.docstring or chunk.jsdoc or "")[:_DOC_CHARACTERS]
            signature = (chunk.signature or "")[:_SIGNATURE_CHARACTERS]
            terms = terms_of(f"{chunk.qualified_name} {signature} {doc} {chunk.relative_path}")
            for term, count in Counter(terms).items():
                self._postings[term].append((at, count))
            sizes.append(len(terms))
        usual = sum(sizes) / len(sizes) if sizes else 1.0
        self._norms = [_K1 * (1.0 - _B + _B * size / (usual or 1.0)) for size in sizes]

    def scores(self, terms: Iterable[str]) -> list[float]:
        """A score for each candidate, as a share of the best."""
        found = [0.0] * len(self._norms)
        for term in terms:
            postings = self._postings.get(term, ())
            rarity = math.log1p((len(found) - len(postings) + 0.5) / (len(postings) + 0.5))
            for at, count in postings:
                found[at] += rarity * count * (_K1 + 1.0) / (count + self._norms[at])
        best = max(found, default=0.0) or 1.0
        return [score / best for score in found]


def standardised(values: Mapping[ChunkKey, float]) -> dict[ChunkKey, float]:
    """The values in standard deviations from their mean."""
    if not values:
        return {}
    mean = math.fsum(values.values()) / len(values)
    spread = math.sqrt(math.fsum((value - mean) ** 2 for value in values.values()) / len(values))
    if spread < 1e-9:
        return dict.fromkeys(values, 0.0)
    return {key: (value - mean) / spread for key, value in values.items()}
