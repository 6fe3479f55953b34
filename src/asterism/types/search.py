"""A query, its hits, and the selection of them that is returned, with the account of the rest."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, NamedTuple, TypeAlias, TypedDict, get_args, get_type_hints

from asterism.types.index import Chunk
from asterism.types.request_limits import GLOBS, NAME, NAMES, PATHS, WORDS, Bound


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Every condition that is given must hold; an empty filter lets everything pass."""

    repos: tuple[str, ...] = ()
    """Any of these repositories."""
    paths: tuple[str, ...] = ()
    """Any of these: a file, a directory (all below it), or a glob."""
    path_prefixes: tuple[str, ...] = ()
    """The path begins with one of these."""
    path_contains: tuple[str, ...] = ()
    """The path contains all of these."""
    path_not_contains: tuple[str, ...] = ()
    """The path contains none of these."""
    path_globs: tuple[str, ...] = ()
    """The whole path matches one of these: `*` within a folder, `**` across, `?`, `[…]`."""
    kinds: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    """With the dot: `.ts`."""
    languages: tuple[str, ...] = ()
    is_exported: bool | None = None
    decorator_contains: str | None = None
    """A part of any decorator's name."""
    has_docstring: bool | None = None


NO_FILTER = Filter()
Texts: TypeAlias = str | Sequence[str]


class FilterKey(NamedTuple):
    """How users give a filter: by a key, whose value is a switch, one text or several texts."""

    field: str = ""
    """The field of `Filter`; nothing means that it is called like the key."""
    bound: Bound = Bound()
    note: str = ""
    """The remark after its name in the descriptions of tools."""
    of_symbols: bool = True
    """Look-ups of symbols have it too."""
    narrows: str = ""
    """Another key, whose values it narrows."""
    aliases: tuple[str, ...] = ()
    """Names of other programs for it, for which an error suggests the key."""


class Filters(TypedDict, total=False):
    """What a search may be narrowed to; every condition that is given must hold."""

    path: Annotated[
        Texts, FilterKey("paths", PATHS, "files, folders, globs", aliases=("file", "directory"))
    ]
    path_prefix: Annotated[Texts, FilterKey("path_prefixes", NAMES)]
    path_contains: Annotated[Texts, FilterKey(bound=NAMES, note="all")]
    path_not_contains: Annotated[Texts, FilterKey(bound=NAMES, note="any", aliases=("exclude",))]
    path_glob: Annotated[Texts, FilterKey("path_globs", GLOBS, aliases=("glob",))]
    type: Annotated[
        Texts,
        FilterKey(
            "kinds", WORDS, "function, class, method, interface …", aliases=("kind", "node_kind")
        ),
    ]
    extension: Annotated[Texts, FilterKey("extensions", WORDS)]
    languages: Annotated[Texts, FilterKey(bound=WORDS, of_symbols=False, aliases=("lang",))]
    is_exported: Annotated[bool, FilterKey(aliases=("exported",))]
    decorator_contains: Annotated[
        str, FilterKey(bound=NAME, of_symbols=False, aliases=("decorator",))
    ]
    has_docstring: Annotated[bool, FilterKey(of_symbols=False, aliases=("docstring",))]
    context_filepaths: Annotated[Texts, FilterKey(bound=PATHS, narrows="path")]
    context_path_prefix: Annotated[Texts, FilterKey(bound=NAMES, narrows="path_prefix")]
    repo: Annotated[Texts, FilterKey("repos", NAMES, aliases=("repository",))]


_HINTS = get_type_hints(Filters, include_extras=True)
FILTER_KEYS: dict[str, FilterKey] = {key: get_args(hint)[1] for key, hint in _HINTS.items()}
"""Every filter, from the declarations of `Filters`; what a filter selects is in `store.filters`."""
SWITCHES = {key for key, hint in _HINTS.items() if get_args(hint)[0] is bool}
SINGLE_TEXTS = {key for key, hint in _HINTS.items() if get_args(hint)[0] is str}


class Mode(StrEnum):
    """How a question is answered."""

    hybrid = "hybrid"
    semantic = "semantic"
    exact = "exact"
    definition = "definition"
    similar = "similar"


class Intent(StrEnum):
    """What a question asks for beside its subject; it switches priors off."""

    tests = "tests"
    examples = "examples"
    documentation = "documentation"
    configuration = "configuration"


class FileLine(NamedTuple):
    """A line of a file that a question names, as stack traces do."""

    path: str
    line: int


class QueryParts(NamedTuple):
    """The parts of a query, such as an issue, each in its order; a part that it lacks is empty."""

    title: str
    """The first line with words."""
    prose: tuple[str, ...] = ()
    """Paragraphs in words, without the title."""
    code: tuple[str, ...] = ()
    """Fenced and indented code, console sessions, code spans."""
    output: tuple[str, ...] = ()
    """What programs printed: tracebacks, logs."""
    messages: tuple[str, ...] = ()
    """Error messages, without the name of the error."""
    boilerplate: tuple[str, ...] = ()
    """Ignored: template comments, checklists, version tables, headings of templates, addresses."""

    @property
    def is_long(self) -> bool:
        """Whether the query has more than a title."""
        return bool(self.prose or self.code or self.output)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What the user's words mean, before anything is looked up."""

    text: str
    """As the user wrote it."""
    sentences: tuple[str, ...] = ()
    """What is embedded, each by itself."""
    terms: tuple[str, ...] = ()
    """Search terms, split for code, in order and with repetitions."""
    identifiers: tuple[str, ...] = ()
    """Words that are names in code: `getUser`, `MAX_SIZE`, `user_id`, `TokenService.issue`."""
    paths: tuple[str, ...] = ()
    """Words that are paths or file names."""
    phrases: tuple[str, ...] = ()
    """What stood in quotation marks; exact mode wants them literally."""
    pattern: str | None = None
    """The regular expression of `regex:…`."""
    symbol: str | None = None
    """The name in a query `symbol = NAME`."""
    intents: frozenset[Intent] = frozenset()
    is_code: bool = False
    """The question is a piece of code, an error message or a stack trace."""
    is_change_request: bool = False
    """It words a change, `Fix a leak in uploads`; others name what to read."""
    lines: tuple[FileLine, ...] = ()
    """Lines that it names, `token.ts:42`; their files are among `paths`."""
    parts: QueryParts | None = None
    """The parts of a query of several paragraphs. Its sentences, terms and names are those of the
    title; its lines and paths are those of all of it."""
    details: tuple[str, ...] = ()
    """Texts of its parts that are embedded beside the sentences, for ranking symbols."""
    used: str | None = None
    """The name of which it asks where it is used."""
    left_out: int = 0
    """How many characters at the end were too many and are not searched for."""


class Signal(NamedTuple):
    """The evidence of one channel or prior for a hit."""

    name: str
    """`vector`, `text`, `name`, `path`, `prior:test`, `rerank` …"""
    value: float
    """A channel's raw score, or what a prior multiplies the score by."""
    rank: int | None = None
    """The place in a channel's list, from 1."""


class Hit(NamedTuple):
    """A chunk with its score and the reasons for it."""

    chunk: Chunk
    score: float
    """0 to 1, higher is better: how likely it is what was asked for."""
    distance: float | None = None
    """2 − 2·cosine, lower is better, where a vector was compared."""
    why: tuple[Signal, ...] = ()
    lines: tuple[int, ...] = ()
    """The lines of the file that match, where each match is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """A question with everything that narrows or shapes the answer."""

    question: Question
    mode: Mode = Mode.hybrid
    where: Filter = NO_FILTER
    limit: int = 10
    min_score: float = 0.0
    rerank: bool = True
    """Whether a reranker may order the best; pages, which have to agree, go without."""
    spread: bool = True
    """Whether further symbols of a file come later, as in lists of places."""
    bm25_weight: float | None = None
    """Deprecated, for `hybrid`: what words count beside vectors, 0 to 1; 0.5 changes nothing."""


class Total(NamedTuple):
    """How many matches there are."""

    matches: int
    exact: bool
    """Whether that is all of them; vector search only knows how many it looked at."""


class Stage(StrEnum):
    """The stage of a task: discover returns more, looser hits; refine fewer, stricter ones."""

    discover = "discover"
    refine = "refine"


class Detail(StrEnum):
    """How much of a hit is given."""

    full = "full"
    """The whole source, children included."""
    collapsed = "collapsed"
    """The source with each child's body left out."""
    lines = "lines"
    """Only the lines that matter to the question, each gap between them marked."""
    signature = "signature"
    location = "location"
    """Name, path and lines."""
    cut = "cut"
    """The first lines of the source, with a mark that names the lines left out."""
    within = "within"
    """No text of its own: its code is part of another hit's text, named by `within`."""


class Reason(StrEnum):
    """Which limit took something away."""

    character_limit = "character_limit"
    token_budget = "token_budget"
    single_result_too_large = "single_result_too_large"


class Lines(NamedTuple):
    """A range of lines, from 1, both ends included."""

    first: int
    last: int


class Kept(NamedTuple):
    """A returned hit and its text."""

    hit: Hit
    detail: Detail
    text: str
    line_count: int
    """Lines of code in the text, marks aside."""
    below_threshold: bool = False
    """It did not pass; it is among the best of those that did not, and nothing passed."""
    left_out: Lines | None = None
    """What a cut left out; it begins inside its first line where that line alone is too long."""
    within: str | None = None
    """The id of the chunk whose text holds this one's code."""
    gaps: tuple[Lines, ...] = ()
    """The gaps between the returned lines, where `detail` is `lines`."""


class FileMatches(NamedTuple):
    """What was kept of one file."""

    repo: str
    path: str
    highest_match: float | None
    """The lowest distance, which is the best match; nothing where no distance is known."""
    best_score: float
    chunk_count: int
    line_count: int


class Dropped(NamedTuple):
    """How many hits were left out, by reason; each is counted once."""

    below_gate: int = 0
    per_file: int = 0
    duplicate: int = 0
    budget: int = 0
    """Over the count, character or token limit."""


class TruncationInfo(NamedTuple):
    """What the size limits did."""

    reason: Reason | None
    original_count: int
    """Hits before the size limits were applied."""
    returned_count: int
    estimated_chars: int
    """Measured on the real text; the name is the established one."""
    limit_chars: int
    estimated_tokens: int
    limit_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What came in, what goes out, and why the rest does not: total = returned + all dropped."""

    total_count: int
    returned_count: int
    dropped: Dropped
    truncation_info: TruncationInfo
    token_method: str
    """How tokens were counted."""
    over_count: int = 0
    """How many of `dropped.budget` were only over the count limit; a next page has them."""
    utilisation: float = 0.0
    """The fullest limit's share that is used, 0 to 1."""
    near_limit: bool = False
    """Nothing was dropped, but a size limit is nearly reached: worth a line in the log."""

    @property
    def truncated(self) -> bool:
        """Whether a size limit dropped, degraded or cut something."""
        return self.truncation_info.reason is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The returned hits in order, with the account of the rest."""

    kept: tuple[Kept, ...]
    files: tuple[FileMatches, ...]
    account: Account
