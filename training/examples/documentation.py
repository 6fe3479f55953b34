"""What a documentation comment says in its first sentences, and code without that comment."""

import re

SHORTEST_CHARS = 12
LONGEST_CHARS = 320
FEWEST_WORDS = 3

# Where a comment stops being prose: tags, sections, examples, lists.
_SECTION = re.compile(
    r"^\s*(?:[@\\:](?!brief|summary|short|class|desc)\w|(?:Args?|Arguments|Parameters?|Returns?"
    r"|Raises|Yields|Usage|Examples?|Notes?|Throws|See|Attributes|Inputs?|Outputs?|Globals?)\b\s*:?\s*$"
    r"|Args?:|Arguments:|Returns?:|Raises:|Parameters?:|Examples?:?|Usage:|>>>|```|~~~|#+ |\.\. "
    r"|<(?:example|param|returns|remarks|exception|typeparam|pre|see)"
    r"|</summary|- |\* |\d+[.)] |\||-{3,}|={3,})"
)
_NOISE = re.compile(
    r"copyright|licen[sc]e|all rights reserved|eslint|noqa|pylint|rubocop|clang-format"
    r"|do not edit|auto.?generated|SPDX|istanbul|prettier|@ts-|nolint|vim:|-\*-|^todo|^fixme|^xxx"
    r"|^hack|inheritdoc|deprecated since|#region|#endregion"
    r"|https?://|@suppress|^param|^returns?$|^note:?$|^(private|public|internal)$|^see ",
    re.IGNORECASE,
)
MARKERS = " \t/*#-!\"'<>=%;|~"
_WORD = re.compile(r"[A-Za-z][A-Za-z'-]*")
_REPLACED = (
    (re.compile(r"^\s*[@\\](?:brief|summary|short|class|desc)\w*\s*"), ""),
    (re.compile(r"</?[a-zA-Z][^>]{0,120}>"), " "),
    (re.compile(r"\{@\w+\s+([^}]*)\}"), r"\1"),
    (re.compile(r":\w+:`~?([^`]*)`"), r"\1"),
    (re.compile(r"\[([^\]]*)\]\([^)]*\)"), r"\1"),
    (re.compile(r"[`*_]{2,}|`|[\[\]]"), " "),
    (re.compile(r"\s+"), " "),
)
# Lines that only open or close a documentation.
_FRAME = re.compile(
    r"^\s*(?:///?|\*|#)?\s*(?:</?(?:summary|para|remarks)>|@(?:module|type)?doc\s*(?:~[sS])?\"*)\s*$"
)
_SENTENCE_END = re.compile(r"(?<=[a-z)'\"])\.\s+(?=[A-Z])")


def first_sentences(doc: str) -> str | None:
    """The first sentence, or two short ones; None where the comment says nothing in prose."""
    lines: list[str] = []
    for line in doc.split("\n"):
        if not line.strip():
            if lines:
                break
            continue
        if _SECTION.match(line):
            if lines:
                break
            if not line.strip().startswith(("<summary", "<para")):
                continue
        lines.append(line.strip())
    text = " ".join(lines)
    for pattern, replacement in _REPLACED:
        text = pattern.sub(replacement, text)
    first, *rest = _SENTENCE_END.split(text.strip(" -*:/#|"), 2)
    if len(first) < 60 and rest:
        first = f"{first}. {rest[0]}"
    first = first[:LONGEST_CHARS].strip()
    return first if _is_prose(first) else None


def _is_prose(text: str) -> bool:
    if len(text) < SHORTEST_CHARS or len(_WORD.findall(text)) < FEWEST_WORDS:
        return False
    letters = sum(sign.isascii() and (sign.isalpha() or sign == " ") for sign in text)
    return letters >= 0.78 * len(text) and text[-1] not in ";{},(=" and not _NOISE.search(text)


def without_documentation(code: str, doc: str) -> str:
    """The code, less the lines that say what the documentation says, and their empty marks."""
    said = {line.strip(MARKERS) for line in doc.split("\n")} - {""}
    kept: list[str] = []
    dropped = False
    for line in code.split("\n"):
        bare = line.strip(MARKERS)
        marks = line.strip()
        if bare in said or _FRAME.match(line):
            dropped = True
            continue
        if not bare and marks and (dropped or marks[0] in "/*#-\"'") and marks[0] not in "<>=;|%~":
            continue
        kept.append(line)
        dropped = False
    return "\n".join(kept)
