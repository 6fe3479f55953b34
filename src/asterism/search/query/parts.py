"""Splits a long query, such as an issue, into parts: title, prose, code, messages, boilerplate."""

import re
from collections.abc import Callable, Iterator, Sequence

from asterism.types.search import QueryParts

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_DETAILS = re.compile(r"</?(?:details|summary|br|hr|p|img|sub|sup|b|i|em|strong)\b[^>]*>", re.I)
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n]*\n(.*?)(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.M | re.S)
_SPAN = re.compile(r"(?<!`)(`{1,2})(?!`)([^`\n]{1,200}?)\1(?!`)")
_URL = re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s)>\]\"'`]+|\bwww\.\S+", re.IGNORECASE)
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)")
_TASK = re.compile(r"^[ \t]*[-*+]?[ \t]*\[[ xX]?\][^\n]*$", re.MULTILINE)
_RULE = re.compile(r"^[ \t]*(?:[-=*_~^]{3,}|\|?[ \t:|-]{5,}\|?)[ \t]*$", re.MULTILINE)
_HEADING = re.compile(r"^[ \t]*(?:#{1,6}[ \t]+|\*\*)(.*?)(?:\*\*|#*)[ \t]*:?[ \t]*$")
# Headings that come from issue templates and say nothing about the issue itself.
_TEMPLATE = re.compile(
    r"(?:(?:please )?(?:describe|explain) (?:the|your) (?:bug|issue|problem|feature)\w*"
    r"|(?:brief |detailed |clear )?(?:issue |bug |problem )?(?:description|summary|report|overview)"
    r"|(?:steps?|code|how|a?minimal\w*|commands?)?[ /]*(?:code )?(?:to )?reproduc\w*(?: .{0,30})?"
    r"|(?:a )?minimal.{0,30}example|mcve.{0,60}|code (?:sample|for reproduction).{0,60}"
    r"|what (?:happened|did you (?:do|expect|see)|you expected|actually happen\w*).{0,40}"
    r"|(?:the )?(?:expected|actual|current|observed|desired)[ /-]*"
    r"(?:behaviou?rs?|results?|outcomes?|outputs?)?|additional (?:context|information|info|notes?)"
    r"|screenshots?|context|example"
    r"|(?:possible |proposed |suggested )?(?:solutions?|fix(?:es)?)|anything else.{0,40}|motivation"
    r"|describe (?:the solution|alternatives).{0,40}|is your feature request.{0,60}"
    r"|(?:relevant )?(?:log|traceback|stack ?trace|error)s?(?: output| message)?"
    r"|(?:your )?(?:environment|versions?|system|platform|setup|os)\b.{0,40}"
    r"|installed versions?|output of .{0,60}|issue type|checklist|prerequisites)\W*",
    re.IGNORECASE,
)
# After such a heading come versions and machines, not the problem.
_VERSIONS_HEADING = re.compile(
    r"(?:your )?(?:environment|versions?|system|platform|setup|os|installed versions?|configuration"
    r"|software|package)\b.{0,40}|output of .{0,60}version.{0,40}",
    re.IGNORECASE,
)
_VERSION_LINE = re.compile(
    r"^[ \t>*-]*(?:[\w.\- ()/]{1,40}?[ \t]*(?:[:=|]+|==|\bversion\b|[ \t])[ \t]*)?"
    r"v?\d+(?:\.[\w+*-]+)+"
    r"(?:[ \t]*[(\[|,;].*)?[ \t]*\|?$"
    r"|^[ \t>*-]*(?:os|platform|python|machine|processor|byteorder|lang|locale|lc_all|compiler"
    r"|executable|commit|arch\w*|browser|node|os-release|python-bits|cpu|memory)[ \t]*[:=].*$"
    r"|^[\w.\-]{1,30}[ \t]*[:=][ \t]*(?:none|true|false|installed)?[ \t]*$",
    re.IGNORECASE,
)
_TRACE_START = re.compile(
    r"^[ \t>]*(?:Traceback \(most recent call last\)|Exception in thread|panic: |goroutine \d+ \["
    r"|Caused by: |thread '.*' panicked|Fatal error: Uncaught|stack backtrace:"
    r"|Unhandled exception)"
)
_TRACE_LINE = re.compile(
    r"^[ \t>]*(?:File \".*\", line \d+|at .+[:(]\d+|from \S+:\d+:in |\.\.\. \d+ more|#\d+ "
    r"|\^+[ \t]*$"
    r"|\S+\.\w{1,5}:\d+(?::\d+)?(?::| in )|\d+:\s+0x|E   |During handling of|The above exception)"
)
_ERROR = re.compile(
    r"^[ \t>]*(?:E[ \t]+)?(?:[\w.]+\.)?"
    r"(?P<name>[A-Z]\w*(?:Error|Exception|Warning|Failure|Fault|Exit)"
    r"|panic|error|fatal|warning)(?:\[[^\]\n]*\])?:[ \t]+(?P<said>\S.*)$",
    re.IGNORECASE,
)
_LOG = re.compile(
    r"^[ \t]*(?:\[?\d{4}-\d\d-\d\d|\[?\d\d:\d\d:\d\d|\[(?:INFO|DEBUG|WARN|ERROR)"
    r"|(?:INFO|DEBUG|WARNING|WARN|ERROR|FATAL|TRACE)[ \t:\]])"
)
_PROMPT = re.compile(
    r"^[ \t]*(?:>>>|\.\.\.(?=\s|$)|In \[\d*\]:|\$ |irb\S*>|ghci>|iex\S*>|> (?=\w+\())"
)
_CODE_LINE = re.compile(
    r"^(?: {4,}|\t)\S"
    r"|^[ \t]*(?:from [\w.]+ import |import [\w.{*'\"]|def \w+\(|class \w+[(:]|@\w[\w.]*"
    r"|(?:const|let|var) \w+ ?=|return\b.*[;)]?$|#include|func \w+\(|fn \w+|public \w+ )|[{};]\s*$"
    r"|^[ \t]*[\w.\[\]]+ = \S"
)
_QUOTE_MARK = re.compile(r"^[ \t]*>[ \t]?", re.MULTILINE)
_BLANKS = re.compile(r"[ \t]+")
# A part for each paragraph is enough; an issue with more repeats itself.
MOST_PARTS = 60
# Characters of one line that patterns look at.
_LONGEST_LINE = 1_000


def parts_of(text: str) -> QueryParts:
    """Split a query; a query of one paragraph is its title alone."""
    found = _Found()
    text = found.drop(_COMMENT, text.replace("\r\n", "\n").replace("\r", "\n"))
    text = _DETAILS.sub(" ", text)
    lines = text.lstrip("\n").split("\n")
    first = next((at for at, line in enumerate(lines) if _says_something(line)), None)
    if first is None:
        return QueryParts(text.strip())
    if len([line for line in lines if line.strip()]) == 1 or _is_trace(lines[first]):
        title, rest = ("", lines) if _is_trace(lines[first]) else (lines[first], [])
    else:
        title, rest = lines[first], lines[first + 1 :]
    _split(found, "\n".join(rest))
    title = _URL.sub(" ", title).strip().lstrip("#").strip()
    spans = [match[2] for match in _SPAN.finditer(title)]
    return QueryParts(
        title,
        tuple(found.prose[:MOST_PARTS]),
        tuple([*spans, *found.code][:MOST_PARTS]),
        tuple(found.output[:MOST_PARTS]),
        tuple(dict.fromkeys([*_messages(title), *found.messages][:MOST_PARTS])),
        tuple(found.boilerplate),
    )


class _Found:
    """The parts so far."""

    def __init__(self) -> None:
        self.prose: list[str] = []
        self.code: list[str] = []
        self.output: list[str] = []
        self.messages: list[str] = []
        self.boilerplate: list[str] = []

    def drop(self, pattern: re.Pattern[str], text: str) -> str:
        """The text without what matches, which is boilerplate."""
        self.boilerplate += [match[0] for match in pattern.finditer(text)]
        return pattern.sub(" ", text)


def _split(found: _Found, text: str) -> None:
    """Fenced blocks first, then the paragraphs between them."""
    at, in_versions = 0, False
    for fence in _FENCE.finditer(text):
        in_versions = _paragraphs(found, text[at : fence.start()], in_versions)
        if in_versions or _mostly_versions(fence[2].split("\n")):
            found.boilerplate.append(fence[2])
        else:
            _block(found, fence[2])
        at = fence.end()
    _paragraphs(found, text[at:], in_versions)


def _paragraphs(found: _Found, text: str, in_versions: bool) -> bool:
    """Sort paragraphs into prose, code and output; whether a section of versions is still open."""
    text = found.drop(_RULE, found.drop(_TASK, _QUOTE_MARK.sub("", text)))
    for paragraph in re.split(r"\n[ \t]*\n", text):
        lines = []
        for line in paragraph.split("\n"):
            heading = _heading(line)
            if heading is not None:
                in_versions = _VERSIONS_HEADING.fullmatch(heading) is not None
            if heading is not None and _TEMPLATE.fullmatch(heading):
                found.boilerplate.append(line)
            elif line.strip():
                lines.append(line[:_LONGEST_LINE])
        if not lines:
            continue
        if (in_versions and _short(lines)) or _mostly_versions(lines):
            found.boilerplate.append("\n".join(lines))
        elif _mostly(lines, _is_code) or any(map(_is_trace, lines)):
            _block(found, "\n".join(lines))
        else:
            _prose(found, lines)
    return in_versions


def _block(found: _Found, text: str) -> None:
    """A block of code or output; the lines of a traceback are output."""
    code: list[str] = []
    output: list[str] = []
    in_trace = False
    for line in (line[:_LONGEST_LINE] for line in text.split("\n")):
        if _TRACE_START.match(line):
            in_trace = True
        if in_trace or _TRACE_LINE.match(line) or _LOG.match(line) or _ERROR.match(line):
            output.append(line)
            # An error's own line ends a trace that has begun with its frames.
            in_trace = in_trace and not (_ERROR.match(line) and not line.startswith((" ", "\t")))
        elif line.strip():
            code.append(line)
    if code:
        found.code.append("\n".join(code))
    if output:
        found.output.append("\n".join(output))
        found.messages += _messages("\n".join(output))


def _prose(found: _Found, lines: Sequence[str]) -> None:
    text = _LINK.sub(r"\1", "\n".join(lines))
    text = found.drop(_URL, text)
    found.code += [match[2] for match in _SPAN.finditer(text)]
    found.messages += _messages(text)
    text = _BLANKS.sub(" ", text).strip()
    if _says_something(text):
        found.prose.append(text)


def _messages(text: str) -> list[str]:
    return [match["said"].strip() for line in text.split("\n") if (match := _ERROR.match(line))]


def _heading(line: str) -> str | None:
    """The words of a heading: marked as one, or a short line that ends like one."""
    match = _HEADING.match(line)
    if match:
        return match[1].strip(" *:#")
    bare = line.strip()
    if bare and len(bare) <= 60 and (bare.endswith(":") or _TEMPLATE.fullmatch(bare)):
        return bare.strip(" *:#")
    return None


def _mostly(lines: Sequence[str], holds: Callable[[str], bool]) -> bool:
    return 2 * sum(map(holds, lines)) > len(lines)


def _mostly_versions(lines: Sequence[str]) -> bool:
    said = [line for line in lines if line.strip()]
    return len(said) > 1 and _mostly(said, lambda line: _VERSION_LINE.match(line) is not None)


def _short(lines: Sequence[str]) -> bool:
    """Whether the lines are entries of a table, not sentences."""
    return sum(len(line.split()) for line in lines) <= 8 * len(lines)


def _is_code(line: str) -> bool:
    return bool(_PROMPT.match(line) or _CODE_LINE.search(line) or _is_trace(line))


def _is_trace(line: str) -> bool:
    return bool(_TRACE_START.match(line) or _TRACE_LINE.match(line))


def _says_something(line: str) -> bool:
    return any(char.isalnum() for char in line)


def sentences_in(parts: QueryParts) -> Iterator[str]:
    """The title, then the sentences of the prose that have more than three words."""
    if parts.title:
        yield parts.title
    for paragraph in parts.prose:
        for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z`\"'(])|\n(?=[ \t]*[-*+\d])", paragraph):
            plain = " ".join(sentence.split())
            if len(plain.split()) > 3:
                yield plain


MOST_SENTENCES = 24
"""Sentences that are embedded; an issue with more repeats itself."""
_BODY_CHARACTERS = 4_000
_CODE_CHARACTERS = 3_000


def details_of(parts: QueryParts) -> tuple[str, ...]:
    """The texts of a long query that are embedded: title, all prose, code, then the sentences."""
    body = " ".join([parts.title, *parts.prose])[:_BODY_CHARACTERS]
    code = "\n".join([*parts.code, *parts.output])[:_CODE_CHARACTERS]
    return (parts.title, body, code or parts.title, *[*sentences_in(parts)][:MOST_SENTENCES])
