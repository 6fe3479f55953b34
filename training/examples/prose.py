"""What documentation files say: sections under their headings, and options with descriptions."""

import html
import re
from collections.abc import Iterator
from typing import NamedTuple

LONGEST_TITLE = 90
FEWEST_WORDS = 6
# English prose has more of these words than code, names and other languages have.
COMMON_SHARE = 0.16
COMMON = frozenset([
    "a", "an", "the", "of", "to", "for", "in", "on", "at", "by", "with", "and", "or", "is", "are",
    "be", "this", "that", "it", "its", "from", "as", "if", "when", "which", "will", "can", "has",
    "have", "not", "into", "than", "then", "these", "those", "you", "your", "we", "our", "i",
    "they", "their", "use", "used", "all", "any", "each", "one", "no", "only", "must", "should",
    "may", "do", "does", "was", "were", "but", "so", "how", "what", "where", "more", "other",
    "there",
])  # fmt: skip
_RIGHTS = re.compile(
    r"copyright|licen[sc]|warrant|all rights reserved|redistribut|sponsor|donat|code of conduct"
    r"|table of contents|lorem ipsum",
    re.IGNORECASE,
)
_MARKUP = (
    (re.compile(r"!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])"), " "),
    (re.compile(r"\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])"), r"\1"),
    (re.compile(r":[\w:+-]+:`([^`<]*?)\s*(?:<[^`]*>)?`"), r"\1"),
    (re.compile(r"`([^`<]*?)\s*<[^`]*>`_+"), r"\1"),
    (re.compile(r"(?:link|xref|https?):\S*?\[([^\]]*)\]"), r"\1"),
    (re.compile(r"<<[^,>]*,([^>]*)>>"), r"\1"),
    (re.compile(r"\{%.*?%\}|\{\{.*?\}\}"), " "),
    (re.compile(r"<!--.*?-->", re.DOTALL), " "),
    (re.compile(r"</?[a-zA-Z][^<>]{0,200}>"), " "),
    (re.compile(r"@[a-z]+\{([^{}]*)\}"), r"\1"),
    (re.compile(r"https?://\S+"), " "),
    (re.compile(r"`+_*|\*\*|__|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)|\|"), ""),
    (re.compile(r"\s+([.,;:)])"), r"\1"),
    (re.compile(r"\s+"), " "),
)
_WORD = re.compile(r"[A-Za-z][A-Za-z'-]*")
SENTENCE_END = re.compile(r"(?<=[a-z0-9)'\"])[.!?]\s+(?=[A-Z])")
_RULED = re.compile(r"^([=\-~^\"'*+#.`:])\1{2,}\s*$")
_MARKED = re.compile(r"^(#{1,6}|={1,6})\s+(.*?)[#=\s]*(?:\{[^}]*\})?$")
_FENCE = re.compile(r"^\s*(```|~~~|-{4,}\s*$|\.{4,}\s*$|\+{4,}\s*$|<pre|\{code)")
_NOT_TEXT = re.compile(
    r"^\s*(\.\. |:\w+:|\[[^\]]*\]:?\s*(\S*)$|//|include::|import |export |<[!/a-zA-Z]|---$|!!!|\|"
    r"|:::|@\w+\s*$|\*\*\*|\[!\[|!\[|\+$|={3,}\s|-{3,}\s)"
)
_ITEM = re.compile(r"^\s{0,8}(?:[-*+•]|\d+[.)])\s+")
_OPTION_ITEM = re.compile(
    r"^\s{0,8}[-*+]\s+[`*]+((?:--?)?[A-Za-z][\w.-]*)[^`*\n]{0,40}[`*]+\s*(?:\([^)]*\))?\s*[:–—-]\s*(\S.{25,})$"
)
_OPTION_ROW = re.compile(
    r"^\s*\|?\s*[`*]*((?:--?)?[A-Za-z][\w.-]{2,40})[`*]*\s*\|(?:[^|]{0,40}\|){0,2}?\s*([A-Z][^|]{30,})(?:\||$)"
)
_DEFINED = re.compile(r"^(?:\.\. option::\s+)?[`+']*(--?[A-Za-z][\w-]+)[^:]{0,60}(?:::|:)?\s*$")
_TAGGED = re.compile(
    r"<h([1-6])[^>]*>(?P<head>.*?)</h\1>|<(?P<t>title|term)>(?P<title>.*?)</(?P=t)>"
    r"|<(?:section|subsection|attribute)\s+name=\"(?P<named>[^\"]+)\""
    r"|<(?P<p>p|para|simpara)(?:\s[^>]*)?>(?P<para>.*?)"
    r"(?=</(?P=p)>|<p[ >]|<h\d|<div|<pre|<table|<programlisting)",
    re.DOTALL | re.IGNORECASE,
)
_ROFF_FONT = re.compile(r"\\f(?:\[[^\]]*\]|\(..|.)|\\[&|^/,]|\\s[-+]?\d")


class Section(NamedTuple):
    """Paragraphs, and the headings above them from the outermost to their own."""

    headings: tuple[str, ...]
    paragraphs: tuple[str, ...]


class Option(NamedTuple):
    """An option, a setting or a parameter, and what is said about it."""

    name: str
    description: str


def plain(text: str) -> str:
    """Text without its markup, in one line."""
    for pattern, replacement in _MARKUP:
        text = pattern.sub(replacement, text)
    return html.unescape(text).strip(" -*:#|¶")


def is_prose(text: str, fewest: int = FEWEST_WORDS) -> bool:
    """Whether a text is English sentences, and not about rights."""
    found = _WORD.findall(text)
    if len(found) < fewest or _RIGHTS.search(text) or text.startswith("Example"):
        return False
    letters = sum(sign.isascii() and (sign.isalpha() or sign in " .,'-") for sign in text)
    common = sum(word.lower() in COMMON for word in found)
    return letters >= 0.86 * len(text) and common >= COMMON_SHARE * len(found)


def sections(path: str, text: str) -> list[Section]:
    """The sections of a file, by the markup that its name says."""
    suffix = path.rsplit(".", 1)[-1].lower()
    if suffix in {"html", "htm", "xml", "sgml", "xhtml"}:
        return list(_tagged(text))
    if suffix in set("12345678"):
        text = _from_roff(text)
    if suffix == "texi":
        text = _from_texinfo(text)
    return list(_lined(text))


def _tagged(text: str) -> Iterator[Section]:
    heads: list[str] = []
    paragraphs: list[str] = []
    for match in _TAGGED.finditer(text):
        if match["para"] is not None:
            said = plain(match["para"])
            if is_prose(said):
                paragraphs.append(said)
            continue
        if paragraphs:
            yield Section(tuple(heads), tuple(paragraphs))
        title = plain(match["head"] or match["title"] or match["named"] or "")[:LONGEST_TITLE]
        heads, paragraphs = [*heads[:1], title] if heads else [title], []
    if paragraphs:
        yield Section(tuple(heads), tuple(paragraphs))


def _lined(text: str) -> Iterator[Section]:
    heads: list[tuple[int, str]] = []
    marks: list[str] = []
    body: list[str] = []
    lines = text.split("\n")
    fence = ""
    underline = -1
    for number, line in enumerate(lines):
        if number == underline:
            continue
        following = lines[number + 1] if number + 1 < len(lines) else ""
        level, title = (0, "") if fence else _heading(line, following, marks)
        if level:
            underline = number + 1 if _RULED.match(following) else -1
            said = tuple(_paragraphs(body))
            if said and heads:
                yield Section(tuple(title for _level, title in heads), said)
            body = []
            heads = [head for head in heads if head[0] < level]
            heads.append((level, plain(title)[:LONGEST_TITLE]))
            continue
        opened = _FENCE.match(line)
        if opened and (not fence or opened[1].strip()[:3] == fence):
            fence = "" if fence else opened[1].strip()[:3]
        elif fence and fence.startswith(("<pr", "{co")) and re.search(r"</pre|\{code", line):
            fence = ""
        elif not fence and not _RULED.match(line):
            body.append(line)
    said = tuple(_paragraphs(body))
    if said and heads:
        yield Section(tuple(title for _level, title in heads), said)


def _heading(line: str, following: str, marks: list[str]) -> tuple[int, str]:
    """The level and title of a heading; marks are the underlines seen, outermost first."""
    marked = _MARKED.match(line)
    if marked and len(marked[2]) <= LONGEST_TITLE:
        return len(marked[1]), marked[2]
    ruled = _RULED.match(following)
    bare = line.strip()
    if not ruled or not bare or line[0] in " \t-*|" or len(bare) > LONGEST_TITLE:
        return 0, ""
    if abs(len(following.strip()) - len(bare)) > 3 or _RULED.match(line):
        return 0, ""
    if ruled[1] not in marks:
        marks.append(ruled[1])
    return 1 + marks.index(ruled[1]), bare


def _paragraphs(lines: list[str]) -> Iterator[str]:
    block: list[str] = []
    directive = False
    for line in [*lines, ""]:
        bare = line.strip()
        if directive and (not bare or line[0] in " \t"):
            continue
        directive = False
        if bare.startswith(".. ") or (bare.endswith("::") and not block):
            directive = True
        item = _ITEM.match(line)
        code = line.startswith(("    ", "\t")) and not block and not item
        if not bare or item or _NOT_TEXT.match(line) or code:
            said = plain(" ".join(block))
            if is_prose(said):
                yield said
            block = [line[item.end() :]] if item else []
        else:
            block.append(bare)
        if bare.endswith("::"):
            directive = True


def _from_roff(text: str) -> str:
    """A manual page as marked headings and paragraphs."""
    lines: list[str] = []
    for line in text.replace("\\-", "-").replace("\\(aq", "'").split("\n"):
        line = _ROFF_FONT.sub("", line)
        macro, _blank, rest = line.partition(" ")
        rest = rest.replace('" "', " ").replace('"', "")
        if macro in {".SH", ".Sh"}:
            lines += ["", f"# {rest.capitalize()}", ""]
        elif macro in {".SS", ".Ss"}:
            lines += ["", f"## {rest}", ""]
        elif macro in {".B", ".I", ".BR", ".IR", ".BI", ".RB", ".IB", ".Nm", ".Ar", ".Xr", ".Ic"}:
            lines.append(rest)
        elif macro == ".It":
            lines += ["", re.sub(r"^(Fl|Ic|Xo Ic|Cm|Ar)\s+", "-", rest), ""]
        elif macro in {".TP", ".PP", ".P", ".LP", ".Pp", ".IP", ".sp", ".RS", ".RE", ".HP"}:
            lines += ["", rest if macro == ".IP" else "", ""]
        elif not line.startswith((".", "'")):
            lines.append(line)
    return "\n".join(lines)


def _from_texinfo(text: str) -> str:
    text = re.sub(r"^@(?:chapter|unnumbered) ", "# ", text, flags=re.MULTILINE)
    text = re.sub(r"^@(?:section|unnumberedsec) ", "## ", text, flags=re.MULTILINE)
    text = re.sub(r"^@subsection ", "### ", text, flags=re.MULTILINE)
    text = re.sub(r"@(?:smallexample|example).*?@end \w+", "\n", text, flags=re.DOTALL)
    text = re.sub(r"^@itemx? (-.*)$", r"\n\1::\n", text, flags=re.MULTILINE)
    return re.sub(r"^@(?!\w+\{).*$", "", text, flags=re.MULTILINE)


def options(path: str, text: str) -> Iterator[Option]:
    """Options, settings and parameters in lists, tables and manual pages."""
    suffix = path.rsplit(".", 1)[-1].lower()
    if suffix in set("12345678"):
        text = _from_roff(text)
    elif suffix == "texi":
        text = _from_texinfo(text)
    lines = text.split("\n")
    for number, line in enumerate(lines):
        match = _OPTION_ITEM.match(line) or _OPTION_ROW.match(line)
        if match:
            said = plain(match[2])
        else:
            match = _DEFINED.match(line)
            if not match:
                continue
            said = plain(" ".join(_following(lines, number + 1)))
        if is_prose(said):
            yield Option(match[1], said)


def _following(lines: list[str], start: int) -> Iterator[str]:
    """The paragraph that describes what was just named."""
    found = False
    for line in lines[start : start + 14]:
        bare = line.strip()
        if not bare or bare == "+" or _DEFINED.match(line):
            if found:
                return
            continue
        if bare.startswith(("-", ".", "#", "[")) or (found and bare.endswith("::")):
            return
        found = True
        yield bare
