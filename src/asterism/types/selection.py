"""What a selection gives out, at which detail, and the account of what it left out."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from asterism.types.search import Hit


class Stage(StrEnum):
    """Where in a task a search stands: looking around, or narrowing down."""

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
    """No text of its own: its code stands in the text of another hit, named by `within`."""


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
    """A hit that is given out, and the text it is given as."""

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
    """What stands between the lines that are given, where `detail` is `lines`."""


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
    """Hits that were to be given out when their size was looked at."""
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
    """Nothing was taken away, and little room is left: worth a line in the log."""

    @property
    def truncated(self) -> bool:
        """Whether a size limit dropped, degraded or cut something."""
        return self.truncation_info.reason is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The hits that are given out, in the order they are given, with the account."""

    kept: tuple[Kept, ...]
    files: tuple[FileMatches, ...]
    account: Account
