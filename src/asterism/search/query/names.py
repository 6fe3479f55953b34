"""Names of code inside prose: what a reader knows for an identifier by its look."""

import re
from collections.abc import Sequence

from asterism.search.query.paths import is_product, without_places
from asterism.search.query.text import STOP_WORDS, Quote, inside, words

_ERROR = re.compile(
    r"^[^\S\n]*(?:\S{1,300}:\d+(?::\d+)?:\s*)?(?:Caused by: |Uncaught |\[?ERROR\]?:? )?(?:"
    r"Traceback \(most recent call last\)"
    r"|(?:\w{1,100}\.){0,20}[A-Z]\w{0,100}?(?:Error|Exception|Failure|Fault)(?: \[\w+\])?: \S"
    r"|(?:fatal )?error(?:\[?[A-Z]+\d+\]?| [A-Z]+\d+)?: \S"
    r"|panic: \S|fatal: \S|goroutine \d+ \[|Exception in thread \"|thread '[^']*' panicked"
    r"|Segmentation fault|undefined reference to|ld: )",
    re.MULTILINE,
)
# Lines that are written in no language of people.
_CODE_LINE = re.compile(
    "|".join(
        (
            r"[;{]\s*(?://.*|#.*)?$",
            r"^\s*[})\]]+[;,)]*\s*$",
            r"^\s*(?:async )?(?:def|fn|func|function\*?|sub)\s+[\w.:<>~]+\s*[(<\[]",
            r"^\s*func \(\w+ \*?\w+\) \w+\(",
            r"^\s*(?:export |public |private |abstract |final |data |sealed )*"
            r"(?:class|interface|struct|enum|trait|impl|type|namespace)\s+[\w.<>]+\s*"
            r"(?:[({:=]|extends |implements |for )",
            r"^\s*(?:const|let|var|val|final|static|auto|mut)\s+[\w:<>, \[\]{}]+?\s*=",
            r"^\s*(?:from\s+[\w.]+\s+import\s+\S|import\s+[\w{}*, ]+\s+from\s+['\"])",
            r"^\s*(?:import\s+['\"({]|import \w+(?:\.\w+)+;?$|#include\s*[<\"])",
            r"^\s*use\s+\w+(?:::[\w{}*]+)+",
            r"\{[^{}]*[;,][^{}]*\}\s*$",
            r"^\s*(?:if|for|while|switch|match|elif|except|with)\b.*[:{]\s*$",
            r"^\s*(?:return|throw|raise|yield|await|print|assert)\b.*[()\[\]=;]",
            r"^\s*[\w.\[\]$]+\s*(?::\s*[\w\[\], |]+)?\s(?:[-+*/|&^]|:)?=\s+\S",
            r"^\s*[\w.$]+(?:\.|::|->)\w+\(.*\)\s*;?$",
            r"^\s*\w+\(.*\)\s*;?\s*$",
            r"=>\s*[{(\w]|\)\s*->\s*\w|:=",
            r"^\s*@\w+(?:\.\w+)*(?:\(.*\))?\s*$",
            r"^\s*</?[A-Za-z][\w.-]*(?:\s+[\w:-]+=[^>]*)?/?>",
            r"^\s*(?:SELECT .+ FROM|INSERT INTO|UPDATE .+ SET|CREATE TABLE|DELETE FROM)\b",
        )
    )
)
_COMMENT_LINE = re.compile(r"^\s*(?://|#|/\*|\*|--|<!--)\s?\S")
# A call without arguments or a decorator is as often a name as a piece of code.
_BARE_NAME = re.compile(r"^\s*(?:[\w.:>-]+\(\s*\)|@[\w.]+)\s*$")
_PROSE = re.compile(r"(?<![^\W\d_])[^\W\d_]{2,}+(?:\s++[^\W\d_]{2,}+){4,}")
_TITLE = re.compile(r"(?<![^\W\d_])[^\W\d_]{2,}+(?:[ ,;:'’]++[^\W\d_]{1,}+){2,}")
# Characters of a line that are looked at: each pattern takes up to the square of them.
_LONGEST_LINE = 500


def is_error(text: str) -> bool:
    """Whether a text is what a program says when it fails."""
    return _ERROR.search(text) is not None


def is_snippet(text: str) -> bool:
    """Whether most lines of a text are code; of a single line, whether it can be nothing else."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) == 1:
        return _code_looks_like_code(text) and not _reads_as_prose(text)
    code = 0
    belongs = False
    for line in lines:
        # What is indented below a line of code belongs to it.
        belongs = (
            _code_looks_like_code(line)
            or _COMMENT_LINE.match(line) is not None
            or (belongs and line[0].isspace())
        )
        code += belongs
    return 2 * code >= len(lines) and code > 1


def has_title(text: str) -> bool:
    """Whether a text begins with a line of prose, as issues do however much code follows."""
    first = text.lstrip("\n").partition("\n")[0]
    is_code = _code_looks_like_code(first) or _COMMENT_LINE.match(first) is not None
    return not is_code and not first[:1].isspace() and _TITLE.search(first) is not None


def _code_looks_like_code(line: str) -> bool:
    line = line[:_LONGEST_LINE]
    return _CODE_LINE.search(line) is not None and not _BARE_NAME.match(line)


def _reads_as_prose(line: str) -> bool:
    """Five words of letters in a row outside quotes are rare in code."""
    return _PROSE.search(re.sub(r"\"[^\"]*\"|'[^']*'|`[^`]*`", " ", line)) is not None


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
