"""Objective-C: what sets it apart, as data."""

from asterism.languages.facets import (
    BaseFacets,
    CallFacets,
    Dialect,
    Facets,
    OptionalGrammar,
    ScopeFacets,
    TraceFacets,
    TypeFacets,
)

OBJECTIVE_C = Facets(
    name="objective_c",
    title="Objective-C",
    order=145,
    visibility="not `static`, not in a class extension or a block, and not inside a function",
    optional=OptionalGrammar("languages", "tree_sitter_objc"),
    aliases=("objc",),
    dialects=(
        Dialect(
            key="objective_c",
            rules="objective_c.rules:OBJECTIVE_C",
            extensions=(".m", ".mm"),
            # `.m` is also MATLAB, and `.h` any language of the family.
            shared=(".h", ".m"),
            claims="objective_c.contents:is_objective_c",
        ),
    ),
    scopes=ScopeFacets(
        family="c",
        reach=frozenset({"global"}),
        one_symbol="header",
        headers=(".h",),
        free_members=("enum_member",),
        lifted=("enum",),
        global_members=("enum_member",),
        open_types="yes",
        added_members=True,
    ),
    types=TypeFacets(
        place="before", returns_first=True, declarations="first", fixed=True, typedefs=True
    ),
    bases=BaseFacets(mark=rb":(?!:)"),
    # A message has no brackets behind its name.
    calls=CallFacets(bare=True, of_types=False),
    traces=TraceFacets(
        frames=(
            # A symbolised crash report: `3  Shop  0x0001 -[Cart add:] + 52 (Cart.m:17)`.
            r"{margin}\d+\s+\S+\s+0x[0-9a-f]+ [-+]\[\w+(?:\([^)\n]*\))? (?P<name>[\w:]+)\]"
            r"(?: \+ \d+)?(?: \({path}:(?P<line>\d+)\))?",
        )
    ),
)

LANGUAGES = (OBJECTIVE_C,)
