"""Comment markers off, text out: what a doc comment or docstring says."""

import re
import textwrap
from collections.abc import Sequence

from asterism.analysis.syntax.conventions import Conventions

_BLOCK_OPEN = re.compile(r"^(?:/\*+!?|\{-\s*\|?|--\[=*\[|=begin\b|<#|\(\*+)")
_BLOCK_CLOSE = re.compile(r"(?:(?<!\*)\*++[/)]|\A/|-\}|\]=*\]|=end|#>)\s*$")
_STAR = re.compile(r"^[ \t]*\*+(?!/)[ \t]?", re.MULTILINE)
_LINE = re.compile(r"^[ \t]*(?://[/!]?|#+(?!\[)|---?[ \t]?[|^]?|;+)[ \t]?", re.MULTILINE)
_STRING = re.compile(
    r"^[a-zA-Z~]{0,2}(?P<quote>\"\"\"|'''|\"|')(?P<text>.*?)(?P=quote)?$", re.DOTALL
)


def attached_doc(comments: Sequence[str], conventions: Conventions) -> str | None:
    """The documentation among the comments directly above a declaration, cleaned, or None."""
    prefixes = conventions.doc_prefixes
    docs = [text for text in comments if text.startswith(prefixes)]
    if not docs:
        return None
    if _BLOCK_OPEN.match(docs[-1]):
        return clean_comment(docs[-1]) or None
    lines = [text for text in docs if not _BLOCK_OPEN.match(text)]
    return clean_comment("\n".join(lines)) or None


def clean_comment(text: str) -> str:
    """A comment's words without its markers."""
    opened = _BLOCK_OPEN.match(text)
    if opened:
        # Only the last line can hold the closing marker; searching all of them takes its time.
        last = max(text.rstrip().rfind("\n") + 1, opened.end())
        inner = text[opened.end() : last] + _BLOCK_CLOSE.sub("", text[last:])
        inner = _STAR.sub("", inner) if text.startswith(("/*", "(*")) else inner
    else:
        inner = _LINE.sub("", text)
    head, _, rest = inner.partition("\n")
    return f"{head.strip()}\n{textwrap.dedent(rest)}".strip()


def clean_docstring(text: str) -> str | None:
    """A string literal's text, its indentation removed as `inspect.cleandoc` would."""
    found = _STRING.match(text.strip())
    inner = found["text"] if found else text
    head, _, rest = inner.partition("\n")
    return f"{head.strip()}\n{textwrap.dedent(rest)}".strip() or None
