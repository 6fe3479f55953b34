"""What a chunk can be queried for, and topics that no repository is about."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from asterism.analysis.source.text import read
from asterism.analysis.syntax.language import TABLE
from asterism.analysis.syntax.outlines import text_of
from asterism.analysis.terms import terms_of
from asterism.evaluation.datasets import LabelledPlace
from asterism.types.errors import InputError
from asterism.types.index import Chunk
from asterism.types.outline import ROOT_KINDS


def texts_of(root: Path, files: Iterable[str]) -> Iterator[str]:
    """The text of each file that can still be read."""
    for path in files:
        try:
            yield text_of(path, read(str(root / path))).decode("utf-8", "replace")
        except InputError:
            continue


# Files that are no code: they have no definitions, and their quotation marks hold no literals.
NOT_CODE = frozenset(entry.language for entry in TABLE if entry.home in ("prose", "text"))

# Shorter names are words like `id` and `get`, which mean nothing by themselves.
NAME_LENGTH = 5

# A slip in a short name makes another name.
MISSPELT_LENGTH = 8

# Fewer words of their own do not say what is wanted.
SENTENCE_WORDS = 5
SENTENCE_LENGTH = 300

# A sentence is letters and blanks for the most part; tables and examples are not.
SENTENCE_LETTERS = 0.85

SNIPPET_LINES = 3
# Three lines of brackets are everywhere.
SNIPPET_LETTERS = 45

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*[?!]?")
# A name that prose mentions: in backquotes, or so written that it is no word of a language.
_MENTION = re.compile(
    r"(?::\w+:)?`+[~!]?(?:\w+[.#:]+)*(?P<quoted>[A-Za-z]\w+)(?:\(\))?`+"
    r"|\b(?P<plain>[A-Za-z][a-z0-9]+(?:[A-Z][a-z0-9]+)+|[a-z]+(?:_[a-z0-9]+)+)\b"
)
# What follows lists parameters, not sentences.
_TAG = re.compile(r"^\s*(?:[@\\]\w+|:\w+[^:\n]*:|<\w+)", re.MULTILINE)
_LEFT_BLANK = re.compile(r"\s+(?=[.,;:!?])")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`])|\n\s*\n")
# Between single marks: what stands between three of them is documentation.
_LITERAL = re.compile(
    r"(?<![\"\w])\"([^\"\\\n{}<>$%]{16,90})\"(?!\")|(?<!['\w])'([^'\\\n{}<>$%]{16,90})'(?!')"
)
_LETTERS = re.compile(r"[^\W\d_]")


class QueryCandidate(NamedTuple):
    """A question whose answer may still have to be looked up."""

    category: str
    key: str
    """What the draw knows it by."""
    text: str
    name: str = ""
    targets: tuple[LabelledPlace, ...] = ()
    given: tuple[LabelledPlace, ...] = ()
    unique: bool = False
    """It is only clear if its text stands once in the repository."""


def candidates(chunk: Chunk) -> Iterator[QueryCandidate]:
    """Every question that a chunk suggests."""
    if chunk.part:
        return
    if chunk.language not in NOT_CODE:
        if chunk.node_kind not in ROOT_KINDS:
            yield from _about_name(chunk)
            yield from _about_doc(chunk)
        if not chunk.child_chunk_ids:
            yield from _about_source(chunk)
    yield from _mentions(chunk)


def _about_name(chunk: Chunk) -> Iterator[QueryCandidate]:
    name = chunk.name
    if len(name) < NAME_LENGTH or not _NAME.fullmatch(name):
        return
    yield QueryCandidate("definition", name, name, name)
    yield QueryCandidate("usage", name, f"where is {name} used", name)
    if len(name) >= MISSPELT_LENGTH:
        yield QueryCandidate("misspelt", name, name, name)


def _about_doc(chunk: Chunk) -> Iterator[QueryCandidate]:
    sentence = next(_sentences(chunk.docstring or chunk.jsdoc or ""), "")
    own = set(terms_of(chunk.name))
    words = [word for word in sentence.split() if not own & set(terms_of(word))]
    if len(words) >= SENTENCE_WORDS:
        text = " ".join(words)
        yield QueryCandidate("docstring", text, text, chunk.name, (_lines(chunk),))


def _about_source(chunk: Chunk) -> Iterator[QueryCandidate]:
    lines = chunk.full_source.split("\n")
    for number, line in enumerate(lines):
        for found in _LITERAL.finditer(line):
            text = found[1] or found[2]
            if len(text.split()) > 1:
                at = chunk.start_line + number
                target = LabelledPlace(chunk.relative_path, at, at)
                yield QueryCandidate("literal", text, text, targets=(target,), unique=True)
    snippet = _snippet(chunk, lines)
    if snippet is not None:
        yield snippet


def _snippet(chunk: Chunk, lines: list[str]) -> QueryCandidate | None:
    """The middle of a symbol that is long enough to have one."""
    at = (len(lines) - SNIPPET_LINES) // 2
    middle = lines[at : at + SNIPPET_LINES]
    if at < 1 or len(_LETTERS.findall("".join(middle))) < SNIPPET_LETTERS:
        return None
    # Inner margins are kept, so that the text occurs in the file verbatim.
    text = "\n".join(middle).strip()
    first = chunk.start_line + at
    target = LabelledPlace(chunk.relative_path, first, first + SNIPPET_LINES - 1)
    return QueryCandidate("snippet", text, text, targets=(target,), unique=True)


def _mentions(chunk: Chunk) -> Iterator[QueryCandidate]:
    """Sentences of prose and documentation about something that they call by its name."""
    is_prose = chunk.language in NOT_CODE and chunk.language != "text"
    text = chunk.full_source if is_prose else chunk.docstring or chunk.jsdoc or ""
    if is_prose and chunk.child_chunk_ids:
        # Its sections are chunks of their own.
        return
    for sentence in _sentences(text):
        named = {found["quoted"] or found["plain"] for found in _MENTION.finditer(sentence)}
        if len(named) != 1:
            continue
        (name,) = named
        rest = _LEFT_BLANK.sub("", " ".join(_MENTION.sub(" ", sentence).split()))
        words = terms_of(rest)
        # A path in the sentence, or all words of the name, would give the answer away.
        is_open = "/" not in rest and not set(terms_of(name)) <= set(words)
        is_asked = len(name) >= NAME_LENGTH and name != chunk.name
        if is_open and is_asked and len(words) >= SENTENCE_WORDS:
            yield QueryCandidate("mention", rest, rest, name, given=(_lines(chunk),))


def _sentences(text: str) -> Iterator[str]:
    """The sentences of a text that are sentences: no tables, lists of values or examples."""
    tag = _TAG.search(text)
    for part in _SENTENCE_END.split(text[: tag.start()] if tag else text):
        sentence = " ".join(part.split())
        plain = sum(letter.isalpha() or letter.isspace() for letter in sentence)
        if len(sentence) <= SENTENCE_LENGTH and plain >= SENTENCE_LETTERS * len(sentence) > 0:
            yield sentence


def _lines(chunk: Chunk) -> LabelledPlace:
    return LabelledPlace(chunk.relative_path, chunk.start_line, chunk.end_line)


class Topic(NamedTuple):
    """A question, and the words that a repository about it would use."""

    question: str
    words: tuple[str, ...]


def _topic(question: str, words: str) -> Topic:
    return Topic(question, tuple(words.split()))


# Each of a field of its own, so that a repository is about few of them. The words are parts of
# words, in lower case: where one stands anywhere in a repository, its question is not asked.
TOPICS = (
    _topic("how are withdrawals from a bank account limited per day", "withdrawal overdraft"),
    _topic("where is the mortgage interest amortized over the years", "mortgage amortiz"),
    _topic("how is VAT added to an invoice", "invoice vat_rate vatrate"),
    _topic("convert an exchange rate between two currencies", "exchange_rate exchangerate forex"),
    _topic("match buy and sell orders in the order book", "orderbook order_book bidask"),
    _topic("compute the payroll of hourly employees", "payroll salary"),
    _topic("reserve a seat on a flight", "airline boarding passenger"),
    _topic("check a hotel room in and out", "hotel checkout_date housekeeping"),
    _topic("find the shortest route for a delivery truck", "courier truck freight"),
    _topic("how does the elevator choose its next floor", "elevator lift_car"),
    _topic("where are parking tickets paid", "parking parked_car"),
    _topic("apply a coupon to a shopping cart", "coupon shopping"),
    _topic("dose of a drug by the weight of the patient", "patient dosage"),
    _topic("align two DNA sequences", "dna nucleotide genom"),
    _topic("classify tumours in an X-ray image", "tumor tumour radiolog"),
    _topic("schedule the nurses of a hospital ward", "nurse hospital"),
    _topic("fold a protein into its structure", "protein amino_acid"),
    _topic("forecast tomorrow's rainfall from radar images", "rainfall precipitation weather"),
    _topic("compute the orbit of a satellite", "satellite orbital ephemeris"),
    _topic("steer a drone back to its launch site", "quadcopter drone waypoint"),
    _topic("read the acceleration from a gyroscope", "gyroscope accelerometer"),
    _topic("keep a robot arm from colliding with the table", "robot_arm robotarm kinematic"),
    _topic("open the garage door over Bluetooth", "bluetooth garage"),
    _topic("charge the battery of an electric car overnight", "charging_station electric_car"),
    _topic("switch the street lights on at dusk", "street_light dusk"),
    _topic("irrigate a greenhouse when the soil is dry", "irrigat greenhouse soil"),
    _topic("count the sheep of a flock in an aerial image", "sheep livestock"),
    _topic("brew coffee at a set temperature", "coffee espresso"),
    _topic("scale a recipe to more servings", "servings ingredient cookbook"),
    _topic("shuffle and deal a deck of cards", "shuffle_deck playing_card poker"),
    _topic("find the best chess move by alpha-beta search", "chess alphabeta checkmate"),
    _topic("let enemies follow the player through a maze", "enemy enemies player"),
    _topic("detect collisions between sprites", "sprite hitbox"),
    _topic("shade a surface with normal maps", "normal_map shader"),
    _topic("trace rays against a bounding volume hierarchy", "raytrac ray_trac bounding_volume"),
    _topic("mix several audio tracks into one", "audio_track mixdown waveform"),
    _topic("tune a guitar from the microphone", "guitar microphone"),
    _topic("encode video frames as H.264", "h264 h.264 keyframe"),
    _topic("remove the background of a portrait photo", "portrait chroma_key"),
    _topic("recognise handwritten digits", "handwritten handwriting"),
    _topic("train a neural network by backpropagation", "backprop neural gradient_descent"),
    _topic("cluster customers by what they buy", "kmeans k-means centroid"),
    _topic("translate a sentence from Spanish to German", "spanish bilingual"),
    _topic("detect spam in incoming mail", "spam bayesian"),
    _topic("rank web pages by their incoming links", "pagerank page_rank"),
    _topic("elect a leader among replicas by a quorum of votes", "quorum raft_log paxos"),
    _topic("mine a block and check its proof of work", "blockchain proof_of_work"),
    _topic("sign a transaction with a hardware wallet", "hardware_wallet seed_phrase bitcoin"),
    _topic("grade the exams of a class", "exam_grade student gradebook"),
    _topic("borrow a book and pay the overdue fine", "library_card overdue_fine borrower"),
    _topic("how are votes counted in an election", "ballot election_result"),
    _topic("simulate cars at a traffic light", "traffic_light intersection_car vehicle"),
    _topic("solve a sudoku by elimination", "sudoku"),
    _topic("draw a family tree of ancestors", "genealog ancestor_tree grandparent"),
    _topic("show the phases of the moon", "lunar moon_phase"),
    _topic("plan a running training by heart rate", "heart_rate heartrate marathon"),
    _topic("measure the noise of the ocean with buoys", "buoy ocean"),
    _topic("control the rods of a nuclear reactor", "nuclear coolant"),
    _topic("print a three-dimensional model in layers", "gcode g-code extruder"),
    _topic("carve a roof truss to bear snow", "truss snow_load"),
)
