"""OCaml: what sets it apart, as data."""

from posixpath import dirname

from asterism.languages.facets import (
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

OCAML = Facets(
    name="ocaml",
    title="OCaml",
    order=173,
    visibility="neither `private` nor with a leading underscore, and not inside a function",
    optional=OptionalGrammar("languages", "tree_sitter_ocaml"),
    dialects=(
        Dialect(
            key="ocaml",
            rules="ocaml.rules:OCAML",
            extensions=(".ml",),
            interpreters=("ocaml", "ocamlrun"),
        ),
        Dialect(key="ocaml_interface", rules="ocaml.rules:INTERFACE", extensions=(".mli",)),
    ),
    display=DisplayFacets(path_line="(* {} *)"),
    scopes=ScopeFacets(
        one_symbol="header",
        headers=(".mli",),
        free_members=("constructor", "property"),
        lifted=("type",),
    ),
    imports=ImportFacets(file="ocaml:module_file", implicit=True, passes_stars=True),
    types=TypeFacets(signature="arrows"),
    calls=CallFacets(bare=True, of_types=False),
    traces=TraceFacets(
        frames=(
            r"{margin}(?:Raised|Re-raised|Called)(?: by primitive operation)? (?:at|from) "
            r"(?:(?P<name>[\w.]+) in )?file \"(?P<path>[^\"\n]+)\"(?: \(inlined\))?, "
            r"line (?P<line>\d+)",
            r"{margin}File \"(?P<path>[^\"\n]+\.mli?)\", line (?P<line>\d+), characters \d+-\d+:",
        )
    ),
)

LANGUAGES = (OCAML,)


def module_file(importer: str, module: str, files: FileSet) -> str | None:
    """The file of a module: of the innermost one that has a file, the nearest or the only one."""
    for step in reversed(module.split(".")):
        stem = step[:1].lower() + step[1:]
        for name in (f"{stem}.ml", f"{step}.ml", f"{stem}.mli"):
            found = files.ending(name)
            beside = [path for path in found if dirname(path) == dirname(importer)]
            best = beside or found
            if len(best) == 1 and best[0] != importer:
                return best[0]
    return None
