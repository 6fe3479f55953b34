"""What is known of a hit whatever the question: priors, which only reorder and can be named."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator
from posixpath import basename, splitext

from asterism.domain.chunk import Chunk
from asterism.domain.search import Intent, Question, Signal
from asterism.retrieval.options import RankOptions
from asterism.retrieval.recall import FileKey

_TEST = re.compile(
    r"(?:^|/)(?:tests?|__tests__|specs?|testing|testdata|fixtures?|benchmarks?|(?:__)?mocks?(?:__)?)/"
    r"|(?:^|/)(?:test_[^/]*|conftest\.py|[^/]*[_.-](?:tests?|specs?|bench)\.[^/]*)$"
    r"|(?-i:[a-z0-9](?:Tests?|Specs?|Suite|TestCase|IT)\.[a-z]+)$",
    re.IGNORECASE,
)
_EXAMPLE = re.compile(
    r"(?:^|/)(?:_?examples?|docs?_src|samples?|demos?|tutorials?|playground)/", re.IGNORECASE
)
_COMPATIBILITY = re.compile(
    r"(?:^|[/_.-])(?:compat|compatibility|legacy|deprecated)(?:[/_.-]|$)", re.IGNORECASE
)
_ASKS_COMPATIBILITY = re.compile(r"compat|legacy|deprecat", re.IGNORECASE)
_GENERATED = re.compile(
    r"(?:^|/)(?:vendor(?:ed)?|third[_-]?party|node_modules|generated|_generated|extern(?:al)?)/"
    r"|[._-](?:generated|pb|g|gen|min|bundle)\.[a-z]+$|_pb2(?:_grpc)?\.pyi?$",
    re.IGNORECASE,
)
_PROSE = frozenset({".md", ".markdown", ".mdx", ".rst", ".adoc", ".txt"})
_BARRELS = frozenset({"__init__.py", "package-info.java"})
_VERSION = re.compile(r"(?:^|/)v(\d+)(?=/)")
_HEADERS = frozenset({".h", ".hh", ".hpp", ".hxx"})
_BODIES = frozenset({".c", ".cc", ".cpp", ".cxx", ".m", ".mm"})
_IMPORTS = frozenset({"import", "re-export", "export", "package", "directive"})
_COMMENTS = frozenset({"comment", "text", "docstring"})
PLAIN = _IMPORTS | _COMMENTS
"""Kinds of chunks that are poor answers by themselves."""
_PARTS = frozenset({"property", "enum_member", "variable", "expression", "control", "signature"})


class Company:
    """The candidates' files together: which of them have a newer or fuller companion."""

    def __init__(self, files: Collection[FileKey]) -> None:
        """Look over the paths once."""
        self._bodies = {
            (file.repo, splitext(file.path)[0])
            for file in files
            if splitext(file.path)[1] in _BODIES
        }
        self._newest: defaultdict[tuple[str, str], int] = defaultdict(int)
        for file in files:
            for place, number in _versions(file):
                self._newest[place] = max(self._newest[place], number)

    def has_body_beside(self, file: FileKey) -> bool:
        """Whether a header's implementation is among the candidates."""
        stem, extension = splitext(file.path)
        return extension in _HEADERS and (file.repo, stem) in self._bodies

    def has_newer_beside(self, file: FileKey) -> bool:
        """Whether the file is below `v3` and there is a `v4` beside it."""
        return any(number < self._newest[place] for place, number in _versions(file))


def file_priors(
    file: FileKey, company: Company, question: Question, options: RankOptions
) -> list[Signal]:
    """The priors of a file, those that the question asks about left out."""
    asked = _asked(question)
    return [
        Signal(f"prior:{name}", getattr(options.priors, name))
        for name in _kinds_of_file(file, company, question)
        if name not in asked and name not in options.off
    ]


def chunk_priors(chunk: Chunk, options: RankOptions) -> list[Signal]:
    """The priors of a chunk beside others of its file."""
    kind = chunk.node_kind
    names = []
    if kind in _IMPORTS:
        names.append("imports")
    elif kind in _COMMENTS:
        names.append("comment")
    elif kind in _PARTS:
        names.append("detail")
    if chunk.is_exported:
        names.append("exported")
    return [
        Signal(f"prior:{name}", getattr(options.priors, name))
        for name in names
        if name not in options.off
    ]


def _asked(question: Question) -> set[str]:
    switched = {
        Intent.tests: ("test",),
        Intent.examples: ("example", "documentation"),
        Intent.documentation: ("documentation", "example"),
    }
    return {name for intent in question.intents for name in switched.get(intent, ())}


def _kinds_of_file(file: FileKey, company: Company, question: Question) -> Iterator[str]:
    path = file.path
    if _TEST.search(path):
        yield "test"
    if _EXAMPLE.search(path):
        yield "example"
    if splitext(path)[1].lower() in _PROSE:
        yield "documentation"
    if _COMPATIBILITY.search(path) and not _ASKS_COMPATIBILITY.search(question.text):
        yield "compatibility"
    if _GENERATED.search(path):
        yield "generated"
    if basename(path) in _BARRELS:
        yield "barrel"
    if company.has_newer_beside(file) and not _names_version(path, question):
        yield "older_version"
    if company.has_body_beside(file):
        yield "header"


def _names_version(path: str, question: Question) -> bool:
    return any(f"v{number}" in question.terms for number in _VERSION.findall(path))


def _versions(file: FileKey) -> Iterator[tuple[tuple[str, str], int]]:
    for found in _VERSION.finditer(file.path):
        yield (file.repo, file.path[: found.start()]), int(found[1])
