"""Names of code inside prose: what a reader knows for an identifier by its look."""

import re
from collections.abc import Sequence

from asterism.search.query.paths import is_product, without_places
from asterism.search.query.quotes import Quote, inside
from asterism.search.query.text import STOP_WORDS, words

_NAME = r"[^\W\d]\w*"
_CHAIN = re.compile(
    rf"(?<![\w$@.-])(?P<mark>[@$#]|--(?=[a-z]))?(?P<chain>{_NAME}(?:(?:\.|::|\?\.|->|#){_NAME})*"
    rf"(?:(?<=\w)-(?=\w)[\w-]+)?)(?P<call>\((?!(?:s|es|ies)\)))?"
)
# How Lua writes about a method; in prose a colon is a colon.
_METHOD = re.compile(rf"(?P<owner>{_NAME}(?:\.{_NAME})*):(?P<name>{_NAME})")
_SEPARATOR = re.compile(r"::|\?\.|->|#")
_HUMP = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]{2}")
_CAPITALISED = re.compile(r"[A-Z][a-z]\w*")
_ABBREVIATIONS = frozenset({"e.g", "i.e", "a.k.a", "w.r.t", "etc"})
# Words that begin a request or an error message in sentence case.
_OPENERS = words("""
    add adding cannot check code convert create describe display ensure example examples expected
    explain failed file files find fix function functions give handle handling implement
    implementation invalid list locate logic look make method methods missing parse print read
    remove return returns search see test tests unable undefined unexpected unknown update use used
    uses using write
    """)
# Words that every snippet is full of.
_KEYWORDS = words("""
    and as assert async await bool boolean break case catch char class const constructor continue
    def default delete do double elif else end enum except export extends false final finally float
    fn for foreach from func function goto if impl implements import in instanceof int interface is
    let long match mod module mut namespace new nil none not null or override package pass pub
    private protected public raise require return self short static string struct super switch
    then this throw throws trait true try type typedef typeof undefined union unless unsigned use
    using val var void when where while with yield
    """)


def names_in(text: str, quotes: Sequence[Quote] = ()) -> list[str]:
    """The names in prose, in order: `Foo#bar`, `Foo::bar` and `foo->bar` with dots."""
    whole = text.strip()
    if re.fullmatch(_NAME, whole):
        return [whole]
    if method := _METHOD.fullmatch(whole):
        return [f"{method['owner']}.{method['name']}"]
    prose = without_places(text)
    is_quoted = inside([quote for quote in quotes if _is_name(quote.text)])
    found = (
        _written(match)
        for match in _CHAIN.finditer(prose)
        if is_quoted(match.start())
        or _looks_like_code(match, _starts_sentence(prose, match.start()))
    )
    return [*dict.fromkeys(found)]


def all_names_in(code: str) -> list[str]:
    """Every name in a piece of code but its keywords."""
    names = (_dotted(match["chain"]) for match in _CHAIN.finditer(code) if match["mark"] != "--")
    return [*dict.fromkeys(name for name in names if _is_own(name))]


def _is_own(name: str) -> bool:
    return len(name) > 1 and name.lower() not in _KEYWORDS


def _is_name(text: str) -> bool:
    return _CHAIN.fullmatch(text.removesuffix(")").removesuffix("(")) is not None


def _looks_like_code(match: re.Match[str], starts_sentence: bool) -> bool:
    chain = match["chain"]
    if match["mark"] in ("--", "@", "$"):
        return True
    plain = _SEPARATOR.sub(".", chain)
    if plain.lower() in _ABBREVIATIONS or is_product(plain):
        return False
    if match["call"] or plain != chain:
        return True
    if "-" in chain:
        # `re-used` is a word, `getUser-like` has a name in it.
        return any(map(_has_shape, chain.split("-")))
    return "." in chain or _has_shape(chain) or _is_proper(chain, starts_sentence)


def _has_shape(word: str) -> bool:
    """Underscores between or around letters, or a capital inside."""
    return bool(word.strip("_") and "_" in word) or _HUMP.search(word) is not None


def _is_proper(word: str, starts_sentence: bool) -> bool:
    """A capitalised word: a class's name, unless English asks for the capital."""
    if not _CAPITALISED.fullmatch(word) or word.lower() in STOP_WORDS:
        return False
    return not (starts_sentence and word.lower() in _OPENERS)


def _starts_sentence(text: str, position: int) -> bool:
    # A few characters tell; longer runs of blanks are rare.
    before = text[max(0, position - 4) : position].rstrip()
    return not before or before[-1] in ".!?:"


def _written(match: re.Match[str]) -> str:
    mark, chain = match["mark"] or "", match["chain"]
    if mark == "--":
        return f"--{chain}"
    if "-" in chain and "->" not in chain:
        chain = next(filter(_has_shape, chain.split("-")), chain)
    return _dotted(chain)


def _dotted(chain: str) -> str:
    return _SEPARATOR.sub(".", chain)
