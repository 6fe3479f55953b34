"""Describes the languages that are parsed, for `docs/outlines.md` and the README."""

from asterism.analysis.syntax.language import TABLE
from asterism.languages.facets import Facets
from asterism.languages.registry import languages

PARSED = {entry.language for entry in TABLE if entry.home not in ("prose", "text")}


def languages_list() -> str:
    """The languages with a grammar, those of an extra apart."""
    parsed = [facets for facets in languages() if facets.name in PARSED]
    lines = [f"- Structure: {_titles([each for each in parsed if each.optional is None])}."]
    for extra in dict.fromkeys(each.optional.extra for each in parsed if each.optional):
        found = [each for each in parsed if each.optional and each.optional.extra == extra]
        lines.append(f"- With the extra `{extra}`: {_titles(found)}.")
    return "\n".join([*lines, ""])


def languages_table() -> str:
    """The extensions, file names and interpreters of each language with a grammar."""
    lines = [
        "| language | extensions | file names | shebang | extra |",
        "| --- | --- | --- | --- | --- |",
    ]
    for facets in languages():
        if facets.name in PARSED:
            cells = (
                _codes(facets, "extensions"),
                _codes(facets, "filenames"),
                _codes(facets, "interpreters"),
                f"`{facets.optional.extra}`" if facets.optional else "",
            )
            lines.append(f"| {' | '.join([facets.title, *cells])} |")
    return "\n".join([*lines, ""])


def visibility_table() -> str:
    """What other files can use, language by language."""
    titles: dict[str, list[str]] = {}
    for facets in languages():
        titles.setdefault(facets.visibility, []).append(facets.title)
    rows = [f"| {', '.join(dict.fromkeys(found))} | {text} |" for text, found in titles.items()]
    return "\n".join(["| language | exported |", "| --- | --- |", *rows, ""])


def _titles(found: list[Facets]) -> str:
    return ", ".join(facets.title for facets in found)


def _codes(facets: Facets, field: str) -> str:
    names = [name for dialect in facets.dialects for name in getattr(dialect, field)]
    return " ".join(f"`{name}`" for name in names)
