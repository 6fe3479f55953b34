"""The features of a symbol, and the weights that were fitted for them."""

import math
from dataclasses import dataclass, field, fields
from operator import attrgetter

from asterism.types.search import Signal


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """From log-odds to a probability: a logistic curve over a hit's log-odds.

    Fitted on the ten best hits for the 840 questions of the weights and some 800 that were asked of
    a repository of another language, which weigh half as much; then first hits were moved so that
    their score is the probability that they are right where there is an answer. In per cent of the
    hits with a score from the column's to below the next column's, reranked or not:

        score                                   0.1  0.2  0.3  0.4  0.5  0.6  0.7  0.8  0.9
        right, of ten, every kind of question    14   19   20   27   36   60   73   84   85
        right, of first hits, where there is
        an answer                                          73   52   69   73   76   87   90

    First hits score 0.74 in the mean, and 78 % are right. They have 0.5 or more for 93 % of
    questions, 0.3 or more for 99 %; for 16 % and 47 % of the questions to the wrong repository.
    """

    offset: float
    slope: float
    first: float = 0.0
    """For being the first."""
    margin: float = 0.0
    """For the first: its log-odds above those of the second."""
    cosine: float = 0.0
    """For the cosine of the nearest candidate; it belongs to the built-in model."""
    unsaid: float = 0.0
    """For the share of the question's words that no candidate says."""
    answer: "AnswerCurve | None" = None
    """Where it is set, a hit's probability is that there is an answer, times that it is the hit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerCurve:
    """From what speaks for the code as a whole to the odds that the question has an answer there.

    Of a question about other code nothing is near; how far the best hit stands out tells little.
    """

    offset: float
    cosine: float = 0.0
    """For the cosine of the nearest candidate."""
    unsaid: float = 0.0
    """For the share of the question's words that no candidate says."""
    near: float = 0.0
    """For the mean cosine of the nearest candidates."""
    read: float = 0.0
    """For the mean score of the candidates that the encoder read."""


@dataclass(slots=True, kw_only=True)
class SymbolFeatures:
    """A number for each feature of a symbol; weights are a record of the same fields.

    Scores of channels are shares of the best score of the channel. Cosines are in standard
    deviations from the mean of the candidates.
    """

    text: float = 0.0
    """BM25 over body, name and path, by all words of the query."""
    body: float = 0.0
    """BM25 over the body alone."""
    name: float = 0.0
    """BM25 over the name alone."""
    title: float = 0.0
    """Of a long query: BM25 by its title."""
    title_body: float = 0.0
    code: float = 0.0
    """BM25 by the names and the code in the query."""
    vector_title: float = 0.0
    """Cosine to the title, or to all of a short query."""
    vector_body: float = 0.0
    """Cosine to title and prose as one text."""
    vector_mean: float = 0.0
    """Mean cosine to the sentences."""
    vector_code: float = 0.0
    """Cosine to the code and output in the query."""
    head_title: float = 0.0
    """BM25 over qualified name, signature, first lines of the doc, and path."""
    head_prose: float = 0.0
    said: float = 0.0
    """How many of the query's words its text contains in any form, rare ones counting more."""
    said_head: float = 0.0
    """The same for its name and signature."""
    file: float = 0.0
    """The log-odds of the symbol's file, below those of the best file."""
    file_text: float = 0.0
    """The best `text` in its file."""
    file_title: float = 0.0
    """The best `title` in its file."""
    beside_text: float = 0.0
    """The best `text` among the members of its parent."""
    beside_vector: float = 0.0
    name_code: float = 0.0
    """Its name is in the query, written as code."""
    name_word: float = 0.0
    """Its name is in the query as a word."""
    name_title: float = 0.0
    parent: float = 0.0
    """The name of its parent is in the query."""
    parent_title: float = 0.0
    qualified: float = 0.0
    """Its dotted name is in the query."""
    path: float = 0.0
    """Its path, or its module's dotted name, is in the query."""
    stem: float = 0.0
    """The name of its file is a word of the query."""
    trace: float = 0.0
    """A frame of a traceback is in it: 1 for the innermost one, 0.5 for the outermost."""
    message: float = 0.0
    """Runs of three words that an error message of the query and its strings share, 1 for six."""
    length: float = 0.0
    """Logarithm of its lines."""
    function: float = 0.0
    type: float = 0.0
    property: float = 0.0
    constructor: float = 0.0
    special: float = 0.0
    """Named like `__eq__`."""
    private: float = 0.0
    """Named like `_helper`."""
    depth: float = 0.0
    exported: float = 0.0
    plain: float = 0.0
    """An import, an export, a comment."""
    test: float = 0.0
    documentation: float = 0.0
    example: float = 0.0
    """An example, or generated."""
    encoder: float = 0.0
    """What the encoder says, in standard deviations from the mean of those that it read."""


_values = attrgetter(*(field.name for field in fields(SymbolFeatures)))


def weighed(features: SymbolFeatures, weights: SymbolFeatures) -> float:
    """The score of a symbol, in log-odds against the other candidates."""
    pairs = zip(_values(features), _values(weights), strict=True)
    return math.fsum([value * weight for value, weight in pairs])


def reasons(features: SymbolFeatures, weights: SymbolFeatures) -> list[Signal]:
    """What each feature adds to the score, the largest first."""
    found = [
        Signal(f"symbol:{field.name}", value * weight)
        for field, value, weight in zip(
            fields(SymbolFeatures), _values(features), _values(weights), strict=True
        )
        if value * weight
    ]
    return sorted(found, key=lambda signal: (-abs(signal.value), signal.name))


# Fitted on the ten best symbols for 90 readers' questions, each also asked of three other
# repositories; expected calibration error 0.017 over 3,420 pairs, each repository left out in turn
# (`python -m training.evaluation.calibration`).
_HYBRID = Calibration(
    offset=-3.89,
    slope=0.26,
    first=1.4,
    margin=0.79,
    answer=AnswerCurve(offset=-13.23, cosine=10.35, unsaid=-3.25, near=2.96, read=30.85),
)
# The same without the encoder.
_UNREAD = Calibration(
    offset=-4.04,
    slope=0.27,
    first=1.06,
    margin=1.13,
    answer=AnswerCurve(offset=-5.74, cosine=14.4, unsaid=-3.78, near=9.78),
)
# Fitted before, with the usual cosine of a nearest symbol.
_BY_WORDS = Calibration(offset=-3.6, slope=0.26, first=1.04, margin=0.65, unsaid=-1.2)

SHORT = SymbolFeatures(
    text=0.49,
    body=0.81,
    name=-0.06,
    title=-0.17,
    title_body=-0.38,
    code=0.58,
    vector_body=0.1,
    vector_mean=0.18,
    vector_code=-0.02,
    head_title=-0.02,
    head_prose=0.52,
    said=1.16,
    said_head=0.48,
    file=0.58,
    file_text=0.14,
    file_title=0.09,
    beside_text=-0.04,
    beside_vector=-0.22,
    name_code=0.32,
    name_word=0.21,
    name_title=-0.04,
    parent=0.6,
    parent_title=-0.23,
    qualified=0.61,
    path=0.57,
    stem=0.51,
    trace=1.8,
    message=0.6,
    length=0.55,
    function=1.25,
    type=-0.09,
    property=-0.3,
    constructor=0.33,
    special=-0.14,
    private=0.13,
    depth=-0.19,
    exported=-0.04,
    plain=-4.0,
    test=-4.82,
    documentation=-4.84,
    example=-1.26,
    encoder=0.62,
)
"""For queries of one paragraph."""

LONG = SymbolFeatures(
    text=0.75,
    body=1.36,
    name=0.28,
    title=-0.34,
    title_body=-0.33,
    code=0.96,
    vector_title=0.11,
    vector_body=0.09,
    vector_mean=0.18,
    vector_code=0.08,
    head_title=-0.06,
    head_prose=0.41,
    said=1.34,
    said_head=0.41,
    file=0.12,
    file_text=0.63,
    file_title=0.33,
    beside_text=0.21,
    beside_vector=0.07,
    name_code=0.71,
    name_word=0.27,
    name_title=-0.02,
    parent=0.66,
    parent_title=-0.23,
    qualified=0.76,
    path=0.83,
    stem=0.44,
    trace=1.74,
    message=0.61,
    length=0.55,
    function=1.87,
    type=-0.51,
    property=-0.27,
    constructor=0.03,
    special=0.28,
    private=0.32,
    depth=0.19,
    exported=-0.35,
    plain=-4.0,
    test=-4.88,
    documentation=-4.82,
    example=-1.22,
    encoder=0.43,
)
"""For issues: a title with prose, code or output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SymbolOptions:
    """How symbols are found, read and scored."""

    pool: int = 400
    """Candidates that each full-text query brings."""
    terms: int = 400
    """Different terms of a query that are looked up."""
    read: int = 150
    """Candidates whose text is read, for a short query."""
    read_long: int = 300
    """The same for an issue."""
    scored: int = 100
    """Candidates of an issue that the encoder reads; of a short query `rerank.top`."""
    file_floor: float = -12.0
    """The least log-odds of a file beside the best."""
    further_in_file: float = 3.0
    """What each further symbol of a file loses in lists, in log-odds: a list of places should show
    more than one file. Not for issues, whose changes are often in one file."""
    further_in_reply: float = 1.5
    """The same in replies with code, which have space for several symbols of a file."""
    calibration: Calibration = _HYBRID
    unread: Calibration = _UNREAD
    """Where no encoder read them."""
    by_words: Calibration = _BY_WORDS
    """Where no vector was compared."""
    short: SymbolFeatures = field(default_factory=lambda: SHORT)
    long: SymbolFeatures = field(default_factory=lambda: LONG)
