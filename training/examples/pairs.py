"""Pairs of a question and the English that answers it, out of documents, code and histories."""

import gzip
import json
import random
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from asterism.analysis.chunks.chunker import FileOrigin, chunk_file
from asterism.analysis.source.text import decode, is_binary
from asterism.analysis.syntax.outlines import outline
from training.sources.archives import SourceFile, git_directory
from training.examples.documentation import MARKERS, first_sentences
from training.examples.mine import LINE_CHARS
from training.examples.prose import COMMON, SENTENCE_END, Section, is_prose, options, plain, sections
from training.examples.queries import phrased, words

TEXT_CHARS = 900
QUERY_CHARS = 240
SHORTEST_TEXT = 60
# Older commits say less about code as it is.
COMMITS = 8_000

_RULE_FILE = re.compile(
    r"(^|/)(contributing|agents|claude|style|coding|code_?style|guidelines?|hacking|security"
    r"|best.?practices?|conventions|review|testing|\.cursorrules|\.windsurfrules"
    r"|copilot-instructions)[^/]*$|/rules?/[^/]+\.md$",
    re.IGNORECASE,
)
_EXAMPLE = re.compile(r"\bExamples?\b:?|>>>|\bUsage:|::\s|\s@[a-z]+\b")
_ARGUMENT = re.compile(
    r"add_argument\(\s*(?:[\"'][\w-]+[\"'],\s*)?[\"'](?P<a>-{0,2}[\w-]+)[\"']"
    r"[^)]{0,200}?help=(?P<ah>(?:\s*\(?\s*[rf]?[\"'][^\"'\n]+[\"'])+)"
    r"|Flags\(\)\.\w+\((?:&\w+(?:\.\w+)*,\s*)?\"(?P<g>[\w-]+)\","
    r"[^\n]{0,60}?\"(?P<gh>[^\"\n]{30,})\"\)"
    r"|\.option\(\s*[\"'](?P<j>-[^\"']+)[\"'],\s*[\"'`](?P<jh>[^\"'`\n]{30,})[\"'`]"
    r"|@(?:click\.|app\.)?option\([^)]{0,60}?[\"'](?P<c>--[\w-]+)"
    r"[^)]{0,200}?help=[\"'](?P<ch>[^\"'\n]{30,})[\"']"
)
_TOOL = re.compile(
    r"\bname\"?\s*[:=]\s*[\"'`](?P<name>[A-Za-z][\w./-]{2,50})[\"'`],?\s*(?:title:[^\n]*\n\s*)?"
    r"\"?description\"?\s*[:=]\s*[\"'`](?P<said>[^\"`\n]{40,900}?)[\"'`]\s*[,})]",
    re.IGNORECASE,
)
_COMMAND = re.compile(
    r"Use:\s*\"(?P<use>[\w-]+)[^\"]*\",[^}]{0,300}?Short:\s*\"(?P<short>[^\"]+)\","
    r"[^}]{0,200}?Long:\s*[`\"](?P<long>[^`\"]{60,})[`\"]",
    re.DOTALL,
)
_TRAILER = re.compile(
    r"^(?:[A-Z][A-Za-z-]+-by:|Change-Id|Co-authored|PR-URL|PR close|Fix(?:es|ed)?:? |Close[sd]?:? "
    r"|Refs?:? |See:? |Reviewed|Signed|Bug:|Issue:|Test plan|Differential|git-svn|Resolves?|cc @"
    r"|For golang|Updates? #|TryBot|LUCI|BREAKING CHANGE|Related|Link:|Backport|Approved|https?:"
    r"|>|\||`{3}|\* [0-9a-f]{7}|Change log|\(cherry)",
)
# What a form for pull requests asks for, and numbers of issues.
_TEMPLATE = re.compile(
    r"\(?#\d+\)?|^#+ .*$"
    r"|^(?:Summary|What|Why|Problem|Solution|Description|Motivation|Changes|Review URL)\b:?",
    re.MULTILINE,
)
_SUBJECT = re.compile(
    r"^(?:\w+(?:\([^)]*\))?!?:\s+|\[[^\]]*\]\s*|vim-patch:[\d.]+:\s*|[\w/.,*{} -]{2,40}:\s+"
    r"|(?:Fixed|Refs|Fixes|Closes)\s+#\d+(?:\s*,\s*#?\d+)*\s*(?:--|-|:)\s*)+"
)
_NO_SUBJECT = re.compile(
    r"^(?:merge|bump|release|update changelog|revert|version|prepare|backport|upgrade"
    r"|update dependenc|changelog|\d)",
    re.IGNORECASE,
)
_NUMBERED = re.compile(
    r"^[\d.]+\s+|\(\d\)$|\[[^\]]*\]|^(?:(?:async )?(?:class|method|param|option|event|property):)+"
)
_NO_TOPIC = re.compile(
    r"^(?:names?|authors?|see also|bug ?fix(?:es)?|changes|new features|features|fixed|added"
    r"|changed|removed|notes?|links?|badges?|contents|index|references|further reading|resources"
    r"|when not to use it|compatibility|version|breaking changes|improvements|\W*v?\d+\.\d+.*)$",
    re.IGNORECASE,
)
# What people type who want something explained, done, or allowed.
ASKED = (
    "how do I {}", "how do we {}", "how to {}", "how does {} work", "what is {}", "what is {} for",
    "what does {} mean", "what do I need to know about {}", "explain {}", "tell me about {}",
    "help me with {}", "when should I use {}", "when do we {}", "why {}", "can I {}", "may I {}",
    "should I {}", "is it ok to {}", "what are the rules for {}", "is there a way to {}",
    "I want to {}", "we need to {}", "I have to {}", "please {}", "problem with {}", "add {}",
    "change {}", "fix {}", "set up {}", "review {}", "write {}", "where do I find {}", "{}?",
    "which tool can {}", "docs for {}", "{} not working", "{} best practice", "look up {}",
)  # fmt: skip


class Pair(NamedTuple):
    """A question and its answer."""

    query: str
    text: str
    kind: str
    """What it was made of: section, rule, sentence, cloze, option, tool, docstring or commit."""


def pairs_of_document(file: SourceFile, chance: random.Random) -> Iterator[Pair]:
    """Headings, sentences and options of one documentation file."""
    text = decode(file.data).decode("utf-8", "replace")
    kind = "rule" if _RULE_FILE.search(file.path) else "section"
    for section in sections(file.path, text):
        yield from _of_section(section, kind, chance)
    for option in options(file.path, text):
        yield from _of_named(option.name, option.description, "option", chance)


def _of_section(section: Section, kind: str, chance: random.Random) -> Iterator[Pair]:
    whole = "\n".join(section.paragraphs)
    title = _topic(section.headings, whole)
    if title and len(whole) >= SHORTEST_TEXT:
        text = whole
        if kind == "rule" and len(section.paragraphs) > 2 and chance.random() < 0.5:
            text = chance.choice(section.paragraphs)
        elif chance.random() < 0.15:
            text = f"{section.headings[-1]}\n{whole}"
        yield Pair(phrased(title, chance, questions=ASKED), text, kind)
    for paragraph in section.paragraphs[:6]:
        first, rest = _split(paragraph)
        if rest and chance.random() < 0.5:
            yield Pair(phrased(first, chance, questions=ASKED), rest, "sentence")
    said = SENTENCE_END.split(" ".join(section.paragraphs)[: 2 * TEXT_CHARS])
    if len(said) >= 4 and chance.random() < 0.5:
        place = chance.randrange(1, len(said) - 1)
        if is_prose(said[place], 7) and len(said[place]) < QUERY_CHARS:
            rest = ". ".join(said[:place] + said[place + 1 :])
            yield Pair(phrased(said[place], chance, questions=ASKED), rest, "cloze")


def _topic(headings: tuple[str, ...], text: str) -> str:
    """The heading, with the one above it where it says little alone."""
    told = [_NUMBERED.sub("", head).strip(" :") for head in headings]
    told = [head for head in told if re.search(r"[A-Za-z]{3}", head)]
    if told and _NO_TOPIC.match(told[-1]):
        return ""
    if not told or told[-1].lower() in {"description", "overview", "introduction", "synopsis"}:
        told = told[:-1]
    if not told:
        return ""
    alone = len(_telling(told[-1])) > 1 or len(told) == 1
    title = told[-1] if alone else f"{told[-2]} {told[-1]}"
    telling = _telling(title)
    # A heading that shares nothing with its text, like "Overview", asks for nothing.
    return title if len(telling) > 1 or any(word in text.lower() for word in telling) else ""


def _telling(text: str) -> list[str]:
    return [word.lower() for word in words(text) if len(word) > 2 and word.lower() not in COMMON]


def _split(paragraph: str) -> tuple[str, str]:
    """The first sentence and the rest, where both say something."""
    first, *rest = SENTENCE_END.split(paragraph, maxsplit=1)
    if not rest or not 25 <= len(first) <= QUERY_CHARS or len(rest[0]) < SHORTEST_TEXT:
        return "", ""
    return (first, rest[0]) if is_prose(first, 5) and is_prose(rest[0]) else ("", "")


def _of_named(name: str, said: str, kind: str, chance: random.Random) -> Iterator[Pair]:
    """A name asks for its description; a sentence of that asks for the name and the rest."""
    spelt = " ".join(words(name)) if chance.random() < 0.7 else name
    if len(said) < 40:
        return
    if len(words(name)) > 1:
        query = spelt.lower()
        if chance.random() < 0.4:
            query = chance.choice(("{} option", "what does {} do", "{} setting", "{}?")).format(
                query
            )
        yield Pair(query, said, kind)
    first, rest = _split(said)
    if rest:
        yield Pair(phrased(first, chance, questions=ASKED), f"{name}: {rest}", kind)


def pairs_of_code(file: SourceFile, chance: random.Random) -> Iterator[Pair]:
    """Options and tools that code declares."""
    text = decode(file.data).decode("utf-8", "replace")
    for match in _ARGUMENT.finditer(text):
        name = match["a"] or match["g"] or match["j"] or match["c"]
        said = match["ah"] or match["gh"] or match["jh"] or match["ch"]
        said = re.sub(r"[\"']\s*[\"']", "", said).strip(" ()\n\"'")
        if is_prose(said):
            yield from _of_named(name.split("<")[0].split(",")[-1].strip(), said, "option", chance)
    for match in _TOOL.finditer(text):
        if is_prose(plain(match["said"])):
            yield from _of_named(match["name"], plain(match["said"]), "tool", chance)
    for match in _COMMAND.finditer(text):
        said = plain(match["long"])
        if is_prose(said):
            yield Pair(
                phrased(match["short"], chance, questions=ASKED), f"{match['use']}: {said}", "tool"
            )


def pairs_of_documentation(file: SourceFile, chance: random.Random) -> Iterator[Pair]:
    """The first sentence of a symbol's documentation asks for the rest."""
    text = decode(file.data)
    if is_binary(file.data) or len(text) > LINE_CHARS * (text.count(b"\n") + 1):
        return
    try:
        found = outline(file.path, text)
    except (IndexError, RecursionError):
        return
    for chunk in chunk_file(found, text, FileOrigin("", file.path, file.path)):
        if not chunk.docstring or len(chunk.docstring) < 120:
            continue
        lines = [line.strip(MARKERS) for line in chunk.docstring.split("\n")]
        doc = "\n".join(lines)
        first = first_sentences(doc)
        if not first or first not in plain(doc):
            continue
        rest = plain(re.sub(r"[@:\\](?:param|return|throws|raises|type)\w*:?|\{[^}]*\}", "", doc))
        rest = _EXAMPLE.split(rest[rest.find(first) + len(first) :])[0].strip(" .:")
        if len(rest) >= SHORTEST_TEXT and is_prose(rest[:TEXT_CHARS], 10):
            name = f"{' '.join(words(chunk.name))}: " if chance.random() < 0.3 else ""
            yield Pair(phrased(first, chance, questions=ASKED), name + rest, "docstring")


def pairs_of_service(data: bytes, chance: random.Random) -> Iterator[Pair]:
    """The operations of a described web service, which are what tools of servers look like."""
    try:
        told = json.loads(gzip.decompress(data))
        operations, shapes = told["operations"], told["shapes"]
    except (OSError, ValueError, KeyError, TypeError):
        return
    for name, about in sorted(operations.items()):
        said = plain(about.get("documentation", ""))
        if not is_prose(said):
            continue
        members = shapes.get(about.get("input", {}).get("shape"), {}).get("members", {})
        given = (
            f"{key}: {plain(member.get('documentation', ''))[:120]}"
            for key, member in list(members.items())[:6]
        )
        first, *rest = SENTENCE_END.split(said, maxsplit=1)
        query = first if chance.random() < 0.7 else " ".join(words(name)).lower()
        text = f"{name}: {rest[0][:400] if rest else ''}\n" + "\n".join(given)
        if query == first or rest:
            yield Pair(phrased(query, chance, questions=ASKED), text, "tool")


def pairs_of_history(folder: Path, chance: random.Random) -> Iterator[Pair]:
    """Subjects of commits, which are short change requests, with the text of their bodies."""
    git = ["git", "--git-dir", str(git_directory(folder)), "log", "--no-merges", "-n", str(COMMITS)]
    told = subprocess.run([*git, "--format=%s%x00%b%x1e"], capture_output=True, check=True).stdout
    commits = told.decode("utf-8", "replace").split("\x1e")
    chance.shuffle(commits)
    for commit in commits:
        subject, _nul, body = commit.strip().partition("\0")
        bare = re.sub(r"\s*\(?#\d+\)?\.?$", "", _SUBJECT.sub("", subject))
        if body.count("\n* ") > 1:
            continue  # The subjects of commits that were put together.
        lines = [line.rstrip() for line in body.split("\n")]
        lines = [line for line in lines if not _TRAILER.match(line) and not line.startswith("    ")]
        said = plain(_TEMPLATE.sub(" ", "\n".join(lines)))
        if _NO_SUBJECT.match(bare) or not is_prose(said, 12) or len(bare.split()) < 3:
            continue
        if len(said) >= 80 and not said.startswith(bare):
            yield Pair(phrased(bare, chance, questions=ASKED), said, "commit")
