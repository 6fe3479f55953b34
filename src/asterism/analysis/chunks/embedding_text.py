"""The text a model reads for a chunk: where it stands, what it is for, what it uses, its code."""

from collections.abc import Sequence

from asterism.analysis.chunks.options import ChunkOptions
from asterism.types.files import display_path

RULE = "---"
QUOTED = "Referenced symbols:"


def file_crumb(title: str, relative_path: str) -> str:
    """How a file's breadcrumbs begin: its language and its path, whatever the file is called."""
    return f"[{title}] {display_path(relative_path)}"


def breadcrumb(crumb: str, path: Sequence[str]) -> str:
    """The first line: the file's crumb and the names down to the chunk."""
    return " > ".join((crumb, *path))


def preamble(
    breadcrumb: str,
    doc: str | None,
    signature: str | None,
    modules: Sequence[str],
    quotes: Sequence[tuple[str, str]],
    options: ChunkOptions,
) -> str:
    """Everything above the code, down to the rule."""
    lines = [breadcrumb]
    if doc:
        lines.append(f"Purpose: {first_paragraph(doc, options.max_purpose_chars)}")
    if signature:
        lines.append(f"Signature: {signature}")
    if modules:
        dependencies = list(dict.fromkeys(modules))[: options.max_dependencies]
        lines.append(f"Dependencies: {', '.join(dependencies)}")
    if quotes:
        lines.extend(["", QUOTED])
        lines.extend(quote(name, text, options) for name, text in quotes)
        lines.append("")
    lines.append(RULE)
    return "\n".join(lines)


def quote(name: str, signature: str, options: ChunkOptions) -> str:
    """The line that tells what another symbol is."""
    return f"- {name}: {cut(signature, options.max_quote_chars)}"


def shortened(head: str, limit: int) -> str:
    """A preamble that leaves room for code: lines go from the bottom, the breadcrumb stays."""
    first, *lines = head.split("\n")
    room = limit - len(RULE) - 1
    kept = [cut(first, room)]
    room -= len(kept[0])
    for line in lines[:-1]:
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    return "\n".join([*kept, RULE])


def first_paragraph(doc: str, limit: int) -> str:
    """The doc's first paragraph on one line."""
    head = doc.split("\n\n", 1)[0]
    return cut(" ".join(head.split()), limit)


def cut(text: str, limit: int) -> str:
    """The text, or its beginning and a mark that there is more."""
    return text if len(text) <= limit else text[:limit].rstrip() + " …"
