"""Julia: what sets it apart, as data."""

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
    TypeFacets,
)

JULIA = Facets(
    name="julia",
    title="Julia",
    order=172,
    visibility="without a leading underscore, and not inside a function",
    optional=OptionalGrammar("languages", "tree_sitter_julia"),
    dialects=(
        Dialect(
            key="julia", rules="julia.rules:JULIA", extensions=(".jl",), interpreters=("julia",)
        ),
    ),
    display=DisplayFacets(path_line="# {}", comments="hash"),
    # Included files are in the module of the file that includes them.
    scopes=ScopeFacets(reach=frozenset({"loose"}), free_members=("function", "macro", "const")),
    imports=ImportFacets(file="julia:module_file", passes_stars=True),
    types=TypeFacets(declarations="line"),
    bases=BaseFacets(mark=rb"<:"),
    calls=CallFacets(behind=rb"[.!]?\s*\(|\{[^{}\n]*\}\("),
    traces=TraceFacets(
        frames=(
            r"{margin}\[\d+\] (?:\(::[^\n]*\) )?(?P<name>[\w.!#]+)(?=\(|[^\S\n]*$)",
            r"{margin}@ (?:[A-Z][\w.]* )?{path}:(?P<line>\d+)",
        )
    ),
)

LANGUAGES = (JULIA,)


def module_file(importer: str, module: str, files: FileSet) -> str | None:
    """The file that is included, or the one that is called like the module."""
    if module.endswith(".jl"):
        path = normpath(join(dirname(importer), module))
        return path if path in files else None
    name = f"{module.rpartition('.')[2]}.jl"
    found = files.ending(name)
    best = [path for path in found if path == f"src/{name}"] or found
    return best[0] if len(best) == 1 else None
