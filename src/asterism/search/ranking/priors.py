"""What is known of a hit whatever the question: priors, which only reorder and can be named."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator
from functools import lru_cache
from posixpath import basename, splitext
from typing import NamedTuple

from asterism.search.ranking.options import RankOptions
from asterism.search.recall import FileKey
from asterism.types.index import Chunk
from asterism.types.search import Intent, Question, Signal

_TEST_NAME = re.compile(
    r"(?:^|/)(?:test_[^/]*|conftest\.py|[^/]*[_.-](?:tests?|specs?|bench)\.[^/]*)$"
    r"|(?-i:[a-z0-9](?:Tests?|Specs?|Suite|TestCase|IT)\.[a-z]+)$",
    re.IGNORECASE,
)
# Where languages have no tests in `spec`, it holds what a specification says.
_TEST_FOLDER = re.compile(
    r"(?:^|/)(?:tests?|__tests__|testing|testdata|fixtures?|bench(?:es|marks?)?|"
    r"mocks?|__\w*(?:mock|fixture|snapshot)s?__|(?-i:src/[a-z]\w*Test)|step_definitions)/"
    r"|(?:^|/)specs?/(?:.*/)?[^/]*\.(?:rb|lua|cr|coffee|[cm]?[jt]sx?)$",
    re.IGNORECASE,
)
# What is delivered, whatever its packages are called.
_DELIVERED = re.compile(r"(?:^|/)src/(?:main|[a-z]\w*Main)/")
_MENTIONS_TESTS = re.compile(r"\b(?:tests?|testing|fixtures?|mock(?:s|ed|ing)?)\b", re.IGNORECASE)
_EXAMPLE = re.compile(
    r"(?:^|/)(?:_?examples?|docs?_src|samples?|demos?|tutorials?|playground)/", re.IGNORECASE
)
_COMPATIBILITY = re.compile(
    r"(?:^|[/_.-])(?:compat|compatibility|legacy|deprecated)(?:[/_.-]|$)", re.IGNORECASE
)
_ASKS_COMPATIBILITY = re.compile(r"compat|legacy|deprecat", re.IGNORECASE)
_GENERATED = re.compile(
    r"(?:^|/)(?:vendor(?:ed)?|third[_-]?party|node_modules|dist|priv/static|generated|_generated|extern(?:al)?)/"
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
HOLDERS = frozenset({"class", "interface", "enum", "object", "protocol", "extension"})
"""Kinds of types that hold code, where a file is little else."""
FUNCTIONS = frozenset({"function", "method", "constructor", "macro"})
"""Kinds of chunks that do something."""
PROPERTY = "property"
# A file's first comment begins at the latest here, behind a licence.
_HEAD_LINES = 15


_INTENDED = {
    Intent.tests: ("test",),
    Intent.examples: ("example", "documentation"),
    Intent.documentation: ("documentation", "example"),
}
_TEST_MODULES = frozenset({"tests", "test", "unit_tests"})
# Who quotes a text asks where it stands, in whatever kind of file.
_QUOTED = frozenset(
    {"test", "mentioned_test", "example", "documentation", "generated", "header", "barrel"}
)
_CHUNKS = (
    dict.fromkeys(_PARTS, "detail")
    | dict.fromkeys(_COMMENTS, "comment")
    | dict.fromkeys(_IMPORTS, "imports")
)


class Traits(NamedTuple):
    """What a path says of its file, whatever the question."""

    kinds: tuple[str, ...]
    """Priors that it has always."""
    is_compatibility: bool
    stem: str
    """The path without extension."""
    is_header: bool
    is_body: bool
    versions: tuple[tuple[str, int], ...]
    """For each folder `v3` the path above it, and 3."""


@lru_cache(maxsize=20_000)
def traits_of(path: str) -> Traits:
    """Look a path over once; a repository's are asked for again and again."""
    stem, extension = splitext(path)
    checks = {
        "test": _is_test(path),
        "example": _EXAMPLE.search(path),
        "documentation": extension.lower() in _PROSE,
        "generated": _GENERATED.search(path),
        "barrel": basename(path) in _BARRELS,
    }
    return Traits(
        tuple(name for name, holds in checks.items() if holds),
        _COMPATIBILITY.search(path) is not None,
        stem,
        extension in _HEADERS,
        extension in _BODIES,
        tuple((path[: found.start()], int(found[1])) for found in _VERSION.finditer(path)),
    )


def _is_test(path: str) -> bool:
    if _TEST_NAME.search(path):
        return True
    return _TEST_FOLDER.search(path) is not None and _DELIVERED.search(path) is None


class Company:
    """The candidates' files together: which of them have a newer or fuller companion."""

    def __init__(self, files: Collection[FileKey]) -> None:
        """Look over the paths once."""
        self._bodies: set[tuple[str, str]] = set()
        self._newest: defaultdict[tuple[str, str], int] = defaultdict(int)
        for repo, path in files:
            traits = traits_of(path)
            if traits.is_body:
                self._bodies.add((repo, traits.stem))
            for above, number in traits.versions:
                self._newest[repo, above] = max(self._newest[repo, above], number)

    def has_body_beside(self, file: FileKey) -> bool:
        """Whether a header's implementation is among the candidates."""
        traits = traits_of(file.path)
        return traits.is_header and (file.repo, traits.stem) in self._bodies

    def has_newer_beside(self, file: FileKey) -> bool:
        """Whether the file is below `v3` and there is a `v4` beside it."""
        versions = traits_of(file.path).versions
        return any(number < self._newest[file.repo, above] for above, number in versions)


def file_priors(
    file: FileKey, company: Company, question: Question, options: RankOptions
) -> list[Signal]:
    """The priors of a file; what the question asks for is an advantage to it, not the contrary."""
    names = [*_kinds_of_file(file, company, question)]
    if not names:
        return []
    wanted = _wanted(question)
    if wanted.intersection(names):
        names.append("asked")
    given = _QUOTED if is_quoting(question) else wanted
    return [
        Signal(f"prior:{name}", getattr(options.priors, name))
        for name in names
        if name not in given and name not in options.off
    ]


def chunk_priors(chunk: Chunk, question: Question, options: RankOptions) -> list[Signal]:
    """The priors of a chunk beside others of its file."""
    names = [_CHUNKS[chunk.node_kind]] if chunk.node_kind in _CHUNKS else []
    if is_inline_test(chunk) and not (Intent.tests in question.intents or is_quoting(question)):
        names.append("inline_test")
    if chunk.is_exported:
        names.append("exported")
    return [
        Signal(f"prior:{name}", getattr(options.priors, name))
        for name in names
        if name not in options.off
    ]


def is_inline_test(chunk: Chunk) -> bool:
    """Whether it is a test, or helps one, in a file of code: Rust and Zig keep them there."""
    return "test" in chunk.decorator_names or chunk.qualified_name.split(".")[0] in _TEST_MODULES


def is_quoting(question: Question) -> bool:
    """Whether it gives a text, code or a stack trace: then it asks where that stands."""
    return question.is_code or bool(question.phrases)


def _wanted(question: Question) -> set[str]:
    """The kinds of files that the question asks for."""
    return {name for intent in question.intents for name in _INTENDED.get(intent, ())}


def _kinds_of_file(file: FileKey, company: Company, question: Question) -> Iterator[str]:
    traits = traits_of(file.path)
    for kind in traits.kinds:
        mentioned = kind == "test" and _mentions_tests(question)
        yield "mentioned_test" if mentioned else kind
    if traits.is_compatibility and not _ASKS_COMPATIBILITY.search(question.text):
        yield "compatibility"
    if company.has_newer_beside(file) and not _names_version(traits, question):
        yield "older_version"
    if company.has_body_beside(file):
        yield "header"


def _mentions_tests(question: Question) -> bool:
    """Whether it speaks of tests without asking for any."""
    asked = Intent.tests in question.intents
    return not asked and _MENTIONS_TESTS.search(question.text) is not None


def _names_version(traits: Traits, question: Question) -> bool:
    return any(f"v{number}" in question.terms for _, number in traits.versions)


def speaks_for_file(chunk: Chunk) -> bool:
    """Whether it is the comment that a file begins with: what that says is said of all of it."""
    return chunk.node_kind in _COMMENTS and chunk.start_line <= _HEAD_LINES
