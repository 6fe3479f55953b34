"""The text a model reads for a chunk: where it stands, what it is for, what it uses, its code."""

from collections.abc import Iterable, Sequence

from asterism.analysis.chunks.options import ChunkOptions
from asterism.analysis.syntax.catalogue import titles

RULE = "---"


def preamble(
    language: str,
    relative_path: str,
    path: Sequence[str],
    doc: str | None,
    signature: str | None,
    modules: Iterable[str],
    quotes: Iterable[tuple[str, str]],
    options: ChunkOptions,
) -> str:
    """Everything above the code, down to the rule."""
    lines = [f"[{titles().get(language, language)}] {' > '.join((relative_path, *path))}"]
    if doc:
        lines.append(f"Purpose: {first_paragraph(doc, options.max_purpose_chars)}")
    if signature:
        lines.append(f"Signature: {signature}")
    dependencies = list(dict.fromkeys(modules))[: options.max_dependencies]
    if dependencies:
        lines.append(f"Dependencies: {', '.join(dependencies)}")
    quoted = [f"- {name}: {_cut(text, options.max_quote_chars)}" for name, text in quotes]
    if quoted:
        lines.extend(["", "Referenced symbols:", *quoted, ""])
    lines.append(RULE)
    return "\n".join(lines)


def first_paragraph(doc: str, limit: int) -> str:
    """The doc's first paragraph on one line."""
    head = doc.split("\n\n", 1)[0]
    return _cut(" ".join(head.split()), limit)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[:limit].rstrip() + " …"
