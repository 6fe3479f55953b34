"""Perl: what sets it apart, as data."""

import re
from posixpath import dirname, join, normpath

from asterism.languages.facets import (
    BaseFacets,
    CallFacets,
    Dialect,
    DisplayFacets,
    Facets,
    FileSet,
    ImportFacets,
    OptionalGrammar,
    ScopeFacets,
    TraceFacets,
)

PERL = Facets(
    name="perl",
    title="Perl",
    order=156,
    visibility="unless `my`, with a leading underscore, or inside a function",
    optional=OptionalGrammar("languages", "tree_sitter_perl"),
    dialects=(
        Dialect(
            key="perl",
            rules="perl.rules:PERL",
            extensions=(".pl", ".pm", ".t", ".psgi", ".cgi"),
            filenames=("cpanfile",),
            interpreters=("perl",),
            # `.pl` is also Prolog, and `.t` a test in several languages.
            shared=(".pl", ".t"),
            claims="perl:is_perl",
        ),
    ),
    display=DisplayFacets(path_line="# {}", comments="hash"),
    scopes=ScopeFacets(reach=frozenset({"loose"})),
    imports=ImportFacets(file="perl:module_file", joint="::"),
    bases=BaseFacets(
        mixins=rb"^[^\S\n]*(?:use[^\S\n]+(?:parent|base)|extends|with)\b[^\S\n'\"(]*[\w:, '\"-]*$"
    ),
    calls=CallFacets(bare=True, of_types=False),
    traces=TraceFacets(
        frames=(
            # With a function, as Carp writes it, and without.
            r"{margin}(?P<name>[\w:]+)\([^\n]*\) called at {path} line (?P<line>\d+)",
            r" at {path} line (?P<line>\d+)(?:, <\$?\w+> line \d+)?\.?[^\S\n]*$",
        )
    ),
)

LANGUAGES = (PERL,)

_STATEMENT = re.compile(
    rb"""^(?:
        \#![^\n]*\bperl
      | (?:use|package|require|no)[ \t]+[\w:]+[^\n]*;
      | [ \t]*(?:my|our|local)[ \t]+[$@%(]
      | [ \t]*sub[ \t]+\w+\s*[{(]
      | =(?:head1|pod|encoding)\b
    )""",
    re.MULTILINE | re.VERBOSE,
)


def is_perl(source: bytes) -> bool:
    """Whether a file holds a statement of Perl."""
    return _STATEMENT.search(source) is not None


def module_file(importer: str, module: str, files: FileSet) -> str | None:
    """The file of `Shop::Cart`, or of a path from the importer's folder or from the root."""
    if "/" in module or module.endswith((".pl", ".pm")):
        beside = normpath(join(dirname(importer), module))
        return files.first((beside, module))
    path = f"{module.replace('::', '/')}.pm"
    found = files.ending(path)
    best = [each for each in found if each in (path, f"lib/{path}")] or found
    return best[0] if len(best) == 1 else None
