"""How hits are found and ordered: every number of the ranking, by name, with its reason.

The weights are log-odds, from listwise logistic regression on 420 questions about 21 repositories,
rounded. Seven folds of languages, each left out in turn, agree on every sign, and on the sizes to
about a fifth where nothing else is said.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from asterism.backends.store.chunk_table import Boosts

_EVEN = Boosts(1.0, 1.0, 1.0)
_KINDS = MappingProxyType(
    {
        "property": 0.4,
        "enum_member": 0.4,
        "constructor": 0.5,
        "extension": 0.5,
        "impl": 0.6,
        "signature": 0.6,
        "variable": 0.6,
        "method": 0.7,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallOptions:
    """How many candidates each channel brings, and what words count in which column."""

    pool: int = 300
    """Six for each result up to a limit of 50, so that the order does not depend on the limit."""
    per_limit: int = 6
    """Candidates of each channel for each result beyond."""
    boosts: Boosts = _EVEN
    """Names and paths are short columns, so a word in them scores high without a boost."""
    symbols: int = 30
    """Definitions of one name to look at; a name with more says little."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """What one full unit of each piece of evidence adds to a file's log-odds."""

    text: float = 1.5
    """The best chunk by its words, beside the best of all files."""
    vector: float = 1.4
    """The best chunk by its vector, beside the best and the farthest candidate."""
    text_sum: float = 0.9
    """Coherence: how much of the file the words found, beside the file of which most was found."""
    vector_sum: float = 1.2
    said: float = 1.3
    """How much of the question the file's candidates say together; rare words count more."""
    said_at_once: float = 1.2
    """How much of it a single chunk says."""
    stem: float = 0.75
    """How much of the file's name the question says."""
    stem_whole: float = 1.0
    """All of it."""
    folder: float = 1.0
    """How much of the question the folder's name says."""
    depth: float = -2.0
    """For five folders: what a repository is about stands near its root. Fitted: −2.7."""
    importers: float = 0.9
    """Files that many others import answer more; 1 is the most imported candidate."""
    definition: float = 0.4
    """It defines a name that occurs in the question. The folds differ: 0.3 to 0.9."""
    definition_alone: float = 1.3
    """It defines the name that is all of the question; this is added."""
    definition_file: float = 0.9
    """It is called after a name in the question."""
    named_path: float = 3.0
    """The question names the file. Set by hand: the questions that were fitted name none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Priors:
    """What multiplies the odds of a hit; 1 says nothing. The first eight are about its file."""

    test: float = 0.15
    """Fitted: 0.16. Off where the question asks for tests."""
    example: float = 0.4
    """Set by hand, milder than tests: the questions that were fitted meet none."""
    documentation: float = 0.4
    """Prose, where code is asked for. Fitted: 0.39."""
    compatibility: float = 0.7
    """Shims for other versions. Fitted: 0.74."""
    generated: float = 0.5
    """Generated and vendored code. Fitted: 0.82, on few files; lowered by hand."""
    barrel: float = 0.7
    """Files that mostly pass names on. Fitted: 0.80."""
    older_version: float = 0.2
    """Below `v3`, with a `v4` beside it. Fitted: 0.10, in one repository that has them."""
    header: float = 0.3
    """A C header whose implementation is a candidate too. Fitted: 0.28."""
    imports: float = 0.1
    """A chunk that only imports, exports or includes. From here on: beside its file's others."""
    comment: float = 0.3
    detail: float = 0.6
    """Properties, members of enumerations, single statements."""
    exported: float = 1.2


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkWeights:
    """What makes a chunk stand for its file; only the proportions matter."""

    text: float = 1.0
    vector: float = 1.0
    name: float = 0.3
    definition: float = 2.0
    """A definition of a name in the question is what is shown, whatever else matches."""
    least: float = 0.05
    """For a candidate that no list ranks high; keeps proportions finite."""
    unsaid: float = 0.3
    """What a chunk that says nothing of the question keeps beside one that says all of it: 1.3."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """From log-odds to a probability: a logistic curve over a hit's log-odds.

    Fitted on the ten best files for 420 questions, each asked of the repository it is about and of
    another one, where nothing is right. Over repositories that were left out, a score between 0.4
    and 0.5 was right in 44 % of cases, one between 0.5 and 0.6 in 61 %, above 0.9 in 89 %; of the
    first hits for questions to the wrong repository 3 % score 0.5 or more.
    """

    offset: float
    slope: float
    lead: float
    """For how far a hit is behind the first: a second best is less likely at equal odds."""
    cosine: float = 0.0
    """For the cosine of the nearest candidate; it belongs to the built-in model."""


_HYBRID = Calibration(offset=-6.9, slope=0.54, lead=0.75, cosine=5.2)
_BY_WORDS = Calibration(offset=-4.7, slope=0.9, lead=0.8)
_BY_MEANING = Calibration(offset=-6.5, slope=0.72, lead=1.0, cosine=4.9)


@dataclass(frozen=True, slots=True, kw_only=True)
class RankOptions:
    """Everything that can be tuned about `hybrid` and `semantic` search."""

    recall: RecallOptions = field(default_factory=RecallOptions)
    weights: Weights = field(default_factory=Weights)
    priors: Priors = field(default_factory=Priors)
    off: frozenset[str] = frozenset()
    """Names of priors that are not applied, `same_file` and `same_family` among them."""
    chunk: ChunkWeights = field(default_factory=ChunkWeights)
    calibration: Calibration = _HYBRID
    by_words: Calibration = _BY_WORDS
    """Where no vector was compared: there is less evidence, so equal odds mean more."""
    by_meaning: Calibration = _BY_MEANING
    """Where only vectors were."""
    definition_kinds: Mapping[str, float] = field(default_factory=lambda: _KINDS)
    """What the definition of a name is worth by its kind; kinds that are not named are worth 1."""
    candidates: int = 120
    """Chunks whose text is read, of some 50 files: no right file of the 420 questions was lost."""
    next_in_file: float = 0.5
    """What each further chunk of a file keeps of its odds when candidates are chosen."""
    same_file: float = 0.1
    """Diversity: what each further chunk of a file keeps of its odds in the answer."""
    same_family: float = 0.3
    """What a chunk keeps behind its parent, its child or another part of the same symbol."""
