"""Forms of a word: what plain English and code have in common when they name one thing."""

from functools import lru_cache

# Shorter stems are shared by words that have nothing to do with each other.
SHORTEST_STEM = 3
# The longest that fits is taken off, so `serialization`, `serializer` and `serialize` meet.
_ENDINGS = (
    *("izations", "ization", "izers", "izer", "izing", "ized", "izes", "ize"),
    *("ations", "ation", "ators", "ator", "ings", "ing", "ions", "ion"),
    *("ers", "ors", "ies", "er", "or", "ed", "es", "s", "e", "y"),
)
# What programmers write for short; a word that begins with its abbreviation needs no line here.
_SHORT = {
    "addr": "address",
    "arg": "argument",
    "attr": "attribute",
    "buf": "buffer",
    "cert": "certificate",
    "cfg": "configuration config",
    "cmd": "command",
    "col": "column",
    "conn": "connection",
    "ctx": "context",
    "db": "database",
    "deps": "dependency",
    "dest": "destination",
    "dst": "destination",
    "dir": "directory folder",
    "elem": "element",
    "env": "environment",
    "err": "error",
    "expr": "expression",
    "ext": "extension",
    "fmt": "format formatter",
    "fn": "function",
    "func": "function",
    "hdr": "header",
    "i18n": "internationalization translation",
    "id": "identifier",
    "idx": "index",
    "img": "image",
    "impl": "implementation",
    "io": "input output",
    "l10n": "localization",
    "len": "length",
    "lib": "library",
    "mgr": "manager",
    "msg": "message",
    "num": "number",
    "obj": "object",
    "op": "operation operator",
    "opt": "option",
    "param": "parameter",
    "pkg": "package",
    "pos": "position",
    "prev": "previous",
    "prop": "property",
    "recv": "receive",
    "ref": "reference",
    "repo": "repository",
    "req": "request",
    "res": "response resource result",
    "resp": "response",
    "seq": "sequence",
    "spec": "specification",
    "src": "source",
    "stats": "statistics",
    "stmt": "statement",
    "str": "string",
    "svc": "service",
    "sys": "system",
    "tbl": "table",
    "tmp": "temporary",
    "tok": "token",
    "tx": "transaction",
    "txn": "transaction",
    "util": "utility helper",
    "val": "value",
    "var": "variable",
    "ws": "websocket",
}


@lru_cache(maxsize=50_000)
def stem_of(word: str) -> str:
    """What the forms of a word have in common, roughly; only plain words have forms."""
    if word.isascii() and word.isalpha():
        for ending in _ENDINGS:
            if word.endswith(ending) and len(word) - len(ending) >= SHORTEST_STEM:
                return word[: -len(ending)]
    return word


_PAIRS = frozenset(
    (short, stem_of(word)) for short, words in _SHORT.items() for word in words.split()
)


def is_short_for(short: str, word: str) -> bool:
    """Whether the one is what programmers write for the other, in the plural as well."""
    return (short, stem_of(word)) in _PAIRS or (short.removesuffix("s"), stem_of(word)) in _PAIRS
