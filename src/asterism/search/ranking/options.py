"""How hits are found and ordered: every number of the ranking, by name, with its reason.

The weights are log-odds, from listwise logistic regression on two sets of questions, rounded: the
420 of a benchmark about 21 repositories, whose labels follow the names of files near the root, and
420 that readers of the code of 14 others wrote, who were told to ask about its corners. Each counts
half. The first alone would want 1.9 for a file's name and −3.3 for its depth, the second 0.7 and
1.0. Every weight begins with one and leaves it as far as the questions lead
(`benchmarks.ranking.refit`),
so that the answers' NDCG@10 on the first is 0.890, and 0.889 fitted in seven folds of languages,
each left out in turn. Change requests have separate weights.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from asterism.search.ranking.symbol_weights import Calibration, SymbolOptions
from asterism.store.chunk_table import Boosts

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
    misspelt: int = 1
    """Names that nothing has, for which names like them are looked up; each costs 5 to 50 ms."""
    shortest_misspelt: int = 5
    """Letters; a shorter name is a slip of too many others."""
    spellings: int = 3
    """Names to take instead."""
    spelt_alike: float = 0.8
    """How alike they are to be, by the letters they share in order: two slips in ten letters."""
    lines: int = 10
    """Lines to find the chunks of; the first frames of a stack trace say the most."""
    files_of_line: int = 10
    """Files to look into for one line; `index.js:3` may be meant of so many that it says little."""
    of_sentence: int = 10
    """Of several sentences, how many of the chunks nearest to one may represent it."""
    sentence_nearness: float = 0.6
    """What a sentence's nearest chunk has to have of the nearest's cosine; thanks ask nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """What one full unit of each piece of evidence adds to a file's log-odds."""

    text: float = 1.05
    """The best chunk by its words, beside the best of all files."""
    vector: float = 1.65
    """The best chunk by its vector, beside the best and the farthest candidate."""
    vector_second: float = 1.0
    """The next chunk of the file by its vector: what answers is rarely one chunk alone."""
    text_sum: float = 0.3
    """Coherence: how much of the file the words found, beside the file of which most was found."""
    vector_sum: float = 0.7
    nearby: float = 0.95
    """Any chunk of it is among the nearest."""
    name: float = 0.75
    """The best chunk by the parts of names, where the question has names."""
    said: float = 1.1
    """How much of the question the file's candidates say together; rare words count more."""
    said_at_once: float = 1.25
    """How much of it a single chunk says."""
    said_at_length: float = 2.0
    """The same for each six words beyond the usual six: where a long question is said in one place,
    it comes from there. Neutral for the questions that were fitted, which are short."""
    signature: float = 1.1
    """How much of it the signatures of the file's candidates say together."""
    phrase: float = 5.0
    """It contains what the question has in quotation marks, or all of the question. Set by hand: of
    the questions that were fitted none quotes, and none names a file, a line or a wrong name."""
    offers: float = 0.55
    """A candidate of the file is exported: what others may use answers more."""
    length: float = 1.4
    """How long its longest candidate is, in logarithms; 1 is a function of a hundred lines, and all
    else counts a third of that. A line that matches is often a mention, a body that does is what it
    is about."""
    properties: float = -1.05
    """Which share of its candidates are properties: they mention what others do."""
    type_found: float = -0.6
    """A class, or another type that holds code, is among its candidates. Such a type says by itself
    what its members say, so that all of it counts for more than it should. Not where the question
    is one name."""
    stem_whole: float = 1.25
    """The question says all of the file's name. This and `depth` count less, `said` and
    `said_at_once` more, the more words a question has."""
    folder_named: float = 0.9
    """How much of the folder's name it says."""
    depth: float = -0.8
    """For three folders: what a repository is about stands near its root."""
    importers_alone: float = 3.0
    """Where the question is one name: of several files that have it, the one that most import; 1 is
    the most imported candidate."""
    importer_near: float = 0.9
    """How near the nearest of the files that import it is: what a match relies on is often meant.
    This and the next are worth 0.008 with vectors of an encoder, nothing with static ones."""
    folder_near: float = 0.65
    """How near the nearest of the other files in its folder is."""
    imported_by_hits: float = 0.35
    """For the candidates that import it, in logarithms; where no vectors were compared."""
    definition: float = 0.2
    """It defines a name that occurs in the question. The folds differ, −0.4 to 0.5: `name` says
    most of it."""
    definition_alone: float = 2.3
    """It defines the name that is all of the question, or one like it; this is added."""
    definition_file: float = 1.05
    """It is called after a name in the question."""
    definition_like: float = 2.5
    """It defines a name like one that nothing has. Set by hand, like the next two."""
    named_path: float = 6.0
    """The question names the file. Above whatever else can speak for its neighbours."""
    named_line: float = 3.0
    """The question names a line of it; this is added."""


OF_VECTORS = ("vector", "vector_second", "vector_sum", "nearby")
"""The weights that belong to the model whose vectors are compared; the others speak of any."""

# For change requests. The words and the meaning of single places answer them best: the name of a
# file, its folder and how much of it matches tell less about where to make the change. The weights
# lie three quarters of the way from the earlier weights of topics to those fitted on the subjects
# of 3,496 commits to 61 repositories (`benchmarks.ranking.refit --change-requests`). They have
# 0.641 on these commits; the fitted ones have 0.639 over languages left out, and the weights of
# topics had 0.625. Less is lost this way where the query means a topic after all.
_CHANGE_WEIGHTS = Weights(
    text=1.15,
    vector=1.4,
    vector_second=0.4,
    text_sum=0.1,
    vector_sum=0.55,
    nearby=0.95,
    name=0.4,
    said=1.6,
    said_at_once=1.6,
    signature=1.05,
    offers=0.1,
    length=1.15,
    properties=-0.1,
    type_found=-0.1,
    stem_whole=0.95,
    folder_named=0.15,
    depth=-1.05,
    importer_near=0.35,
    folder_near=0.5,
    definition_file=0.6,
    # Set by hand: a name without a definition is often the one that the change shall add.
    definition_like=0.5,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Priors:
    """What multiplies the odds of a hit; 1 says nothing. The first ten are about its file."""

    test: float = 0.12
    """Fitted: 0.09. Off where the question asks for tests."""
    mentioned_test: float = 0.35
    """A test where the question speaks of tests, but may ask how they are run. Set by hand."""
    example: float = 0.4
    """Set by hand, milder than tests: the questions that were fitted meet none."""
    documentation: float = 0.2
    """Prose, where code is asked for. Fitted: 0.36, on few pages; whole checkouts want less."""
    compatibility: float = 0.6
    """Shims for other versions. Fitted: 0.57."""
    generated: float = 0.5
    """Generated and vendored code. Fitted: 0.78, on few files; lowered by hand."""
    barrel: float = 0.7
    """Files that mostly pass names on. Fitted: 0.71."""
    older_version: float = 0.08
    """Below `v3`, with a `v4` beside it. Fitted: 0.05, in one repository that has them."""
    header: float = 0.2
    """A C header whose implementation is a candidate too. Fitted: 0.12."""
    asked: float = 4.0
    """A test where tests are asked for, a page where documentation is. Set by hand."""
    imports: float = 0.1
    """A chunk that only imports, exports or includes. From here on: beside its file's others."""
    comment: float = 0.3
    detail: float = 0.6
    """Properties, members of enumerations, single statements."""
    inline_test: float = 0.3
    """A test beside the code that it tests. Set by hand: a file counts by its best chunk."""
    exported: float = 1.2


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkWeights:
    """What makes a chunk the representative of its file; only the proportions matter."""

    text: float = 1.0
    vector: float = 1.0
    name: float = 0.3
    definition: float = 2.0
    """A definition of a name in the question is what is shown, whatever else matches."""
    line: float = 4.0
    """So is a line that it names, even before a definition."""
    phrase: float = 4.0
    """And what it has in quotation marks."""
    least: float = 0.05
    """For a candidate that no list ranks high; keeps proportions finite."""
    unsaid: float = 0.1
    """What a chunk that says nothing of the question keeps beside one that says all of it: 1.1."""


_HYBRID = Calibration(offset=-5.6, slope=0.31, first=2.0, cosine=3.1, unsaid=-1.6)
_BY_WORDS = Calibration(offset=-3.75, slope=0.39, first=2.45, unsaid=-2.8)
_BY_MEANING = Calibration(offset=-5.65, slope=0.33, first=2.2, cosine=3.05, unsaid=-1.4)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorerOptions:
    """What the scores of a model that reranks the best candidates add to their log-odds.

    The numbers belong to the model and are kept beside its weights.
    """

    name: str
    """As reasons call it: `encoder`, `rerank`."""
    top: int = 40
    """Chunks that are reranked."""
    sure: float = math.inf
    """No chunk is reranked where the first file is so far ahead of the next, in log-odds."""
    keeps: float = 1.0
    """The share of their weight that the index vectors keep: the reranking model, which is better,
    compares the meaning again."""
    best: float = 0.0
    """For the best reranked chunk of a file."""
    second: float = 0.0
    """For the one after it: a file that answers twice is about it."""
    whole: float = 0.0
    """For all of them together, beside the file that has most."""
    chunk: float = 0.0
    """For a chunk beside the others of its file."""
    calibration: Calibration = _HYBRID
    by_meaning: Calibration = _BY_MEANING


@dataclass(frozen=True, slots=True, kw_only=True)
class RankOptions:
    """Everything that can be tuned about `hybrid` and `semantic` search."""

    recall: RecallOptions = field(default_factory=RecallOptions)
    symbols: SymbolOptions = field(default_factory=SymbolOptions)
    weights: Weights = field(default_factory=Weights)
    change_weights: Weights = field(default_factory=lambda: _CHANGE_WEIGHTS)
    """Instead of `weights` for change requests; the other queries name topics."""
    change_start: float = 0.0
    """Log-odds for every hit of a change request, where vectors were compared: its weights may add
    up to more or less than those of topics. 77 % of change requests have a first hit of 0.5 or
    more, and 58 % of these hits are right. The value belongs to the built-in model; the folder of
    an encoder has another."""
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
    candidates: int = 80
    """Chunks whose text is read, of some 40 files; 60 and 120 are as good to a thousandth."""
    next_in_file: float = 0.5
    """What each further chunk of a file keeps of its odds when candidates are chosen."""
    same_file: float = 0.05
    """Diversity: what each further chunk of a file keeps of its odds in the answer.

    A compromise: each further chunk takes a place. With 0.1 it is worse by 0.001 to 0.002 where
    files are the answers, and better by 0.001 to 0.005 where documented symbols are. Its score is
    lower as well, so that less than this would keep it out of what is asked by score."""
    same_file_named: float = 0.2
    """The same of one that defines a name of the question, or whose file it names: several may be
    meant."""
    sentence_within: int = 5
    """By which place the best hit of each of several sentences stands at the latest."""
    same_family: float = 0.5
    """What a chunk keeps behind its parent, its child or another part of the same symbol."""
    distance_cutoff: float = 1.4
    """Farther than this a chunk has little to do with a question, where distances alone are looked
    at, as in a chat; it belongs to the built-in model."""
