"""Tokens in a text, found by their well-known forms and masked."""

import math
import re
import tomllib
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

RULES_FILE = Path(__file__).with_name("token_rules.toml")

LEAST_ENTROPY = 2.0
"""Bits per character: what is below is a placeholder such as `ghp_xxxxxxxx`; keys are over 3."""

PRIVATE_KEY = "private key"
KEY_AT_MOST = 20_000
"""Characters of a private key between its first and last line: RSA of 16,384 bits takes 13,000."""
KEY_ENTROPY = 4.6
"""Bits per character of base64 lines; those of a hexadecimal digest have 4 at most."""
KEY_LINES = 3
"""Lines of 64 characters of base64 from which they are taken for the middle of a key."""


class FoundToken(NamedTuple):
    """A token in a text, from its first character to the one after its last."""

    start: int
    end: int
    kind: str
    proven: bool = False
    """Whether its checksum is right."""


class Masked(NamedTuple):
    """A text without its tokens, and what was masked."""

    text: str
    tokens: tuple[FoundToken, ...] = ()
    """The tokens, by their places in the original text."""

    @property
    def counts(self) -> Mapping[str, int]:
        """How many of each kind."""
        return Counter(token.kind for token in self.tokens)


class TokenRule(NamedTuple):
    """One form of a token."""

    kind: str
    words: tuple[str, ...]
    pattern: re.Pattern[str]
    checksum: Callable[[str], bool] | None
    placeholders: frozenset[str]


def masked(text: str) -> Masked:
    """The text with `[masked: KIND]` in each token's place; its lines keep their numbers."""
    tokens = find_tokens(text)
    if not tokens:
        return Masked(text)
    parts: list[str] = []
    at = 0
    for token in tokens:
        lines = text.count("\n", token.start, token.end)
        parts += [text[at : token.start], mark(token.kind), "\n" * lines]
        at = token.end
    return Masked("".join([*parts, text[at:]]), tuple(tokens))


def mark(kind: str) -> str:
    """The text that replaces a token."""
    return f"[masked: {kind}]"


def find_tokens(text: str) -> list[FoundToken]:
    """Every token of a text, in order and without overlaps; the time grows with the text only."""
    found = [token for rule in rules() for token in _by_rule(rule, text)]
    if "-----" in text:
        found += _private_keys(text)
    found += _key_lines(text)
    found += _cut_off(text)
    found.sort(key=lambda token: (token.start, -token.end))
    kept: list[FoundToken] = []
    for token in found:
        if not kept or token.start >= kept[-1].end:
            kept.append(token)
    return kept


def line_of(text: str, token: FoundToken) -> int:
    """The number of the line where a token begins, from 1."""
    return text.count("\n", 0, token.start) + 1


@lru_cache(maxsize=1)
def rules() -> tuple[TokenRule, ...]:
    """The forms of the data file."""
    content = tomllib.loads(RULES_FILE.read_text(encoding="utf-8"))
    return tuple(
        TokenRule(
            rule["kind"],
            tuple(rule["words"]),
            re.compile(rule["pattern"], re.ASCII),
            _CHECKSUMS[rule["checksum"]] if "checksum" in rule else None,
            frozenset(rule.get("not", ())),
        )
        for rule in content["rules"]
    )


def _by_rule(rule: TokenRule, text: str) -> Iterator[FoundToken]:
    if not any(word in text for word in rule.words):
        return
    group = min(rule.pattern.groups, 1)
    for match in rule.pattern.finditer(text):
        value = match.group(group)
        if entropy(value) >= LEAST_ENTROPY and value.lower() not in rule.placeholders:
            proven = rule.checksum is not None and rule.checksum(value)
            yield FoundToken(*match.span(group), rule.kind, proven)


def entropy(text: str) -> float:
    """Bits per character by the text's own frequencies."""
    counts = Counter(text).values()
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts)


_TAIL = re.compile(r"[A-Za-z0-9_+/=.~-]{8,400}\Z")
"""The end of a text that may be the first part of a token."""
CUT_WORD = 4
"""Characters of a prefix that is known for one vendor's tokens."""


def _cut_off(text: str) -> Iterator[FoundToken]:
    """A token whose end was cut away with the rest of the text."""
    tail = _TAIL.search(text, max(0, len(text) - 400))
    if tail is None:
        return
    for rule in rules():
        for word in rule.words if rule.pattern.groups == 0 else ():
            at = tail.group().find(word) if len(word) >= CUT_WORD else -1
            rest = tail.group()[at + len(word) :]
            # In the middle of base64 there are such letters by chance.
            before = tail.group()[at - 1 : at]
            if at < 0 or before.isalnum() or before in ("+", "/"):
                continue
            if _is_random(rest) and entropy(rest) >= LEAST_ENTROPY:
                yield FoundToken(tail.start() + at, tail.end(), rule.kind)


def _is_random(text: str) -> bool:
    """Whether a text mixes characters as no word does."""
    mixed = any(map(str.isdigit, text)) or (text != text.lower() and text != text.upper())
    return len(text) >= 6 and (mixed or (len(text) >= 12 and text.isupper() and text.isalnum()))


_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
# A piece of a text may end before its key does, or begin within it. Quotes and escapes are how
# code writes lines.
_BODY = re.compile(r"(?:[\s\"'+,;.()]|\\[nr]|[A-Za-z0-9/=]|:\x20)*+")
_KEY_RUN = re.compile(r"[A-Za-z0-9+/]{40}")
_BASE64_LINES = re.compile(
    rf"(?:^[ \t\"'+]{{0,40}}[A-Za-z0-9+/]{{64}}[ \t\"'\\nr+,;]{{0,20}}$\n?){{{KEY_LINES},}}+",
    re.MULTILINE,
)
_PUBLIC = ("BEGIN CERTIFICATE", "END CERTIFICATE", "PUBLIC KEY", "PGP SIGNATURE", "ssh-rsa ")


def _private_keys(text: str) -> Iterator[FoundToken]:
    at = 0
    while begin := _BEGIN.search(text, at):
        limit = begin.end() + KEY_AT_MOST
        end = _END.search(text, begin.end(), limit)
        body = _BODY.match(text, begin.end(), limit)
        at = end.end() if end else body.end() if body else begin.end()
        # Without a body it is no key, but a program that looks for keys.
        if _KEY_RUN.search(text, begin.end(), end.start() if end else at):
            yield FoundToken(begin.start(), at, PRIVATE_KEY)
    first = _END.search(text)
    if first and not _BEGIN.search(text, 0, first.start()):
        head = text[max(0, first.start() - KEY_AT_MOST) : first.start()]
        kept = head.rstrip().splitlines()
        size = 0
        while kept and _is_key_line(kept[-1]):
            size += len(kept.pop()) + 1
        if size:
            start = first.start() - min(first.start(), size + len(head) - len(head.rstrip()))
            yield FoundToken(start, first.end(), PRIVATE_KEY)


def _is_key_line(line: str) -> bool:
    core = line.strip(" \t\"'+,;\\n")
    return len(core) >= 16 and re.fullmatch(r"[A-Za-z0-9+/=]+", core) is not None


def _key_lines(text: str) -> Iterator[FoundToken]:
    """The middle of a key without its first and last line, as an excerpt may have it."""
    if len(text) < KEY_LINES * 64 or any(word in text for word in _PUBLIC):
        return
    for match in _BASE64_LINES.finditer(text):
        end = match.end() - match.group().endswith("\n")
        if entropy(match.group()) >= KEY_ENTROPY:
            yield FoundToken(match.start(), end, PRIVATE_KEY)


_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_CHECKSUM_CHARS = 6


def _base62(number: int) -> str:
    digits = ""
    while number:
        number, digit = divmod(number, 62)
        digits = _BASE62[digit] + digits
    return digits.rjust(_CHECKSUM_CHARS, "0")


def has_crc32(token: str) -> bool:
    """Whether the last six characters are the CRC32 of those between the prefix and them."""
    body = token.rpartition("_")[2]
    text, said = body[:-_CHECKSUM_CHARS], body[-_CHECKSUM_CHARS:]
    return bool(text) and _base62(zlib.crc32(text.encode("ascii"))) == said


_CHECKSUMS: Mapping[str, Callable[[str], bool]] = {"github": has_crc32, "npm": has_crc32}


def masked_body(value: object, found: list[FoundToken]) -> object:
    """Masks every text in a request's body, at any depth."""
    if isinstance(value, str):
        result = masked(value)
        found.extend(result.tokens)
        return result.text
    if isinstance(value, Mapping):
        return {key: masked_body(inner, found) for key, inner in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return [masked_body(inner, found) for inner in value]
    return value
