"""The requests that commands of the terminal share with MCP and HTTP.

They are apart from what answers them, so that building the command line loads little.
"""

from dataclasses import asdict, dataclass, field, fields
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

from asterism.operations.schema import (
    FILTERS_TEXT,
    LAST_LINE,
    NOT_A_FLAG,
    Json,
    MaxTokens,
    Option,
    ProjectId,
    RepositoryId,
    choice,
    choices,
    mapping,
    share,
    switch,
    text,
    texts,
    whole,
)
from asterism.types.index import Role
from asterism.types.search import Filters, Mode, Stage

MODES = tuple(mode.value for mode in Mode)
STAGES = tuple(stage.value for stage in Stage)
RELATIONS = ("callers", "callees", "references")
NAME_FORMS = "x, A.x, A::x, 'A > x' or 'path > A > x'"
"""How the command line takes a symbol's name."""

_FILTER = Option(
    flag="--filter",
    metavar="KEY=VALUE",
    help="only such code: path_prefix=src/, type=class, languages=python …",
)
_TOKENS = Option(
    flag="--tokens", help="give no more text than this; less detail instead", is_bounded=False
)
_QUERY = Option(
    is_position=True,
    help="words, names, code, regex:PATTERN or symbol = NAME; - reads it from standard input",
)
_LISTED = Option(is_of_lists=True)
_Explain: TypeAlias = Annotated[bool, switch("Say why each row is where it is."), _LISTED]
_ContextLines: TypeAlias = Annotated[
    int, whole("Lines of the file above and below each row.", 0, 10), _LISTED
]
_MinScore: TypeAlias = Annotated[float | None, share("Leave out what scores less.")]
_Filters: TypeAlias = Annotated[Json, mapping(FILTERS_TEXT), _FILTER]
_Stage: TypeAlias = Annotated[str | None, choice("Look around widely, or strictly.", STAGES)]
_Limit: TypeAlias = Annotated[
    int,
    whole("Rows at most: 1 to 50, or 1 to 100 a page when exhaustive.", 1, 100),
    # How many depends on another option, so the engine says it.
    Option(is_bounded=False),
]
_Exhaustive: TypeAlias = Annotated[
    bool, switch("Every match, in stable order, page by page."), _LISTED
]
_Cursor: TypeAlias = Annotated[
    str | None, text("From the last page of the same exhaustive search."), _LISTED
]
_Tokens: TypeAlias = Annotated[MaxTokens, _TOKENS]


@dataclass(frozen=True, slots=True, kw_only=True)
class CodebaseSearch:
    """A search that is answered with the code and how it connects."""

    query: Annotated[
        str, text("A sentence or keywords about what the code does, or `symbol = NAME`.")
    ]
    path: Annotated[
        list[str] | None, texts("Only here: files, folders or globs, such as src/auth/ or **/*.ts.")
    ] = None
    languages: Annotated[
        list[str] | None, texts("Only these languages, such as typescript or python.")
    ] = None
    max_tokens: Annotated[int, whole("Budget of the reply in tokens.", 50, 25_000)] = 8_000
    min_score: Annotated[
        float | None,
        share("Give only results that score so much (default: those worth their tokens)."),
    ] = None
    limit: Annotated[int, whole("Results at most.", 1, 50)] = 10
    filters: Annotated[Json, mapping(FILTERS_TEXT)] = field(default_factory=dict)
    repository_id: RepositoryId = None
    project_id: ProjectId = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchCode:
    """A search that is answered with rows."""

    query: Annotated[str, text("Words, names, code, regex:PATTERN or `symbol = NAME`."), _QUERY]
    mode: Annotated[str, choice("How to search.", MODES)] = Mode.hybrid.value
    code_snippet: Annotated[
        str | None, text("With mode similar: the code to compare with."), NOT_A_FLAG
    ] = None
    limit: _Limit = 10
    exhaustive: _Exhaustive = False
    min_score: _MinScore = None
    filters: _Filters = field(default_factory=dict)
    stage: _Stage = None
    context_lines: _ContextLines = 0
    cursor: _Cursor = None
    file_type: Annotated[
        list[str] | None, texts("Only files with this extension, such as .ts."), NOT_A_FLAG
    ] = None
    directory: Annotated[list[str] | None, texts("Only below this folder."), NOT_A_FLAG] = None
    explain: _Explain = False
    bm25_weight: Annotated[
        float | None,
        share("Deprecated: what words count beside meaning in hybrid search."),
        NOT_A_FLAG,
    ] = None
    repository_id: RepositoryId = None
    project_id: ProjectId = None
    max_tokens: _Tokens = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarCode:
    """A comparison with the code at a place."""

    file_path: Annotated[str, text("The file, from the repository's root."), NOT_A_FLAG]
    start_line: Annotated[
        int | None,
        whole("The line, or the first of several; else the whole file.", 1, LAST_LINE),
        NOT_A_FLAG,
    ] = None
    end_line: Annotated[
        int | None, whole("The last of several lines.", 1, LAST_LINE), NOT_A_FLAG
    ] = None
    limit: _Limit = 10
    exhaustive: _Exhaustive = False
    min_score: _MinScore = None
    filters: _Filters = field(default_factory=dict)
    stage: _Stage = None
    context_lines: _ContextLines = 0
    cursor: _Cursor = None
    explain: _Explain = False
    repository_id: RepositoryId = None
    project_id: ProjectId = None
    max_tokens: _Tokens = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SymbolLookup:
    """A lookup of a name."""

    name: Annotated[
        str, text("The symbol's name, qualified or not."), Option(is_position=True, help=NAME_FORMS)
    ]
    kind: Annotated[
        list[str] | None,
        texts("Only these kinds: class, function, method, interface, type, variable …"),
    ] = None
    role: Annotated[
        list[str] | None, choices("Only these roles; all four unless told otherwise.", tuple(Role))
    ] = None
    filters: Annotated[
        Json,
        mapping(
            "Only places that pass: path, path_prefix, path_contains, path_not_contains, "
            "path_glob, extension, type, is_exported."
        ),
        NOT_A_FLAG,
    ] = field(default_factory=dict)
    include_context: Annotated[
        bool, switch("Give the code around each place too; takes more tokens."), NOT_A_FLAG
    ] = False
    limit: Annotated[int, whole("Places at most.", 1, 500), Option(is_bounded=False)] = 50
    cursor: Annotated[str | None, text("From the last page of the same lookup."), NOT_A_FLAG] = None
    repository_id: RepositoryId = None
    project_id: ProjectId = None
    max_tokens: Annotated[MaxTokens, NOT_A_FLAG] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SymbolRelations:
    """A query for how a symbol is connected."""

    name: Annotated[
        str,
        text("The symbol: x, A.x, A::x, `A > x` or `path > A > x`."),
        Option(is_position=True, metavar="SYMBOL", help=NAME_FORMS),
    ]
    relation: Annotated[str, choice("What is asked about it.", RELATIONS), NOT_A_FLAG] = "callers"
    depth: Annotated[int, whole("How many calls a way has at most.", 1, 10)] = 1
    path: Annotated[
        str | None,
        text("Only definitions in this file, or below this folder."),
        Option(
            is_position=True,
            help="only what is defined here: a directory or file in the index "
            "(default: the current repository)",
        ),
    ] = None
    repository_id: RepositoryId = None
    project_id: ProjectId = None
    max_tokens: Annotated[MaxTokens, NOT_A_FLAG] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexCodebase:
    """A repository that is to be indexed."""

    path: Annotated[
        str | None,
        text("The repository, or a folder in it; else the one the server was started in."),
        NOT_A_FLAG,
    ] = None
    repository_id: RepositoryId = None
    project_id: ProjectId = None
    force: Annotated[
        bool,
        switch("Read and embed every file anew."),
        Option(help="read and write every file anew"),
    ] = False
    wait: Annotated[bool, switch("Answer when it is done; false answers at once."), NOT_A_FLAG] = (
        True
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexPlace:
    """A repository whose index is meant."""

    path: Annotated[
        str | None,
        text("Anything in the repository that is meant; else the server's own."),
        Option(is_position=True, help="a directory in it (default: the current one)"),
    ] = None
    repository_id: RepositoryId = None
    project_id: ProjectId = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AddRepository:
    """A directory that is to be registered."""

    path: Annotated[str, text("The directory, an absolute path."), NOT_A_FLAG]
    name: Annotated[
        str | None,
        text("What it is called; the directory's name unless told otherwise."),
        Option(help="what to call the repository (default: its directory)"),
    ] = None
    project: Annotated[
        str | None,
        text("The project it belongs to; one of its own unless told otherwise."),
        Option(help="the project it belongs to (default: its own)"),
    ] = None


_Request = TypeVar("_Request")

ModeName: TypeAlias = Literal["hybrid", "semantic", "exact", "definition", "similar"]
StageName: TypeAlias = Literal["discover", "refine"]


class SimilarKeywords(Filters, total=False):
    """Keywords of `Codebase.similar`: the fields of `SimilarCode`, and filters."""

    limit: int
    exhaustive: bool
    min_score: float
    stage: StageName | None
    context_lines: int
    cursor: str | None
    max_tokens: int | None


class SearchKeywords(SimilarKeywords, total=False):
    """Keywords of `Codebase.search`: the fields of `SearchCode`, and filters."""

    mode: ModeName
    code_snippet: str | None
    bm25_weight: float | None


class ContextKeywords(Filters, total=False):
    """Keywords of `Codebase.context`: the fields of `CodebaseSearch`, and filters."""

    limit: int
    min_score: float | None
    max_tokens: int | None
    stage: StageName | None


_RENAMED = {
    "query": "text",
    "max_tokens": "token_budget",
    "agentName": "agent",
    "conversationId": "conversation",
    "requestId": "request_id",
}
"""Fields that requests of the engine call otherwise; `max_tokens` limits the texts of rows."""
_WORDS = {"mode": Mode, "stage": Stage}
"""Fields whose words are enumerations in requests of the engine."""


def engine_request(asked: Any, request: type[_Request], **given: Any) -> _Request:
    """A request of the engine: every field of the call that it has too, and what is given."""
    known = {each.name for each in fields(request)}  # type: ignore[arg-type]
    if isinstance(asked, SimilarCode):
        given["mode"] = Mode.similar
    for own, value in asdict(asked).items():
        name = own if own in known else _RENAMED.get(own, own)
        if name in known and value is not None:
            given[name] = _WORDS[name](value) if name in _WORDS else value
    return request(**given)
