"""Go: what sets it apart, as data."""

from asterism.languages.facets import (
    BaseFacets,
    CallFacets,
    Dialect,
    Facets,
    ImportFacets,
    ScopeFacets,
    TraceFacets,
    TypeFacets,
)

GO = Facets(
    name="go",
    title="Go",
    order=40,
    visibility="a capital initial, at package level or in a type",
    aliases=("golang",),
    dialects=(Dialect(key="go", rules="go.rules:GO", extensions=(".go",)),),
    outside_packages=(
        r"/pkg/mod/(.+?)@",
        r"/vendor/([^/]+\.[^/]+/[^/]+/[^/]+)/",
        r"/go[^/]*/src/(.+)/[^/]+\.go$",
    ),
    scopes=ScopeFacets(reach=frozenset({"folder"}), one_symbol="folder"),
    imports=ImportFacets(folder="go.folders:import_folder", local_name="go.folders:import_name"),
    types=TypeFacets(
        place="behind",
        bare_return=True,
        receiver_before_name=True,
        declarations="var",
        fixed=True,
        error_results=True,
        several_results=True,
    ),
    bases=BaseFacets(embeds=True),
    calls=CallFacets(of_types=False),
    traces=TraceFacets(
        frames=(
            # A function with its arguments, and below it the place.
            r"^(?P<name>(?:[\w./-]+/)?\w+\.(?:\(\*?\w+\)\.)?[\w.]+)"
            r"\((?:\.\.\.|[^)\n]*0x[^)\n]*|)\)$",
            r"^\t{path}:(?P<line>\d+)(?: \+0x[0-9a-f]+)?[^\S\n]*$",
        )
    ),
)

LANGUAGES = (GO,)
