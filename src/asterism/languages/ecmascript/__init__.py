"""TypeScript and JavaScript: what sets it apart, as data."""

from asterism.languages.facets import (
    BaseFacets,
    CallFacets,
    Dialect,
    DisplayFacets,
    Facets,
    ImportFacets,
    ScopeFacets,
    TraceFacets,
    TypeFacets,
)

_DISPLAY = DisplayFacets(doc_is_jsdoc=True, answers_as="ecmascript")
_BASES = BaseFacets(mark=rb"\b(?:extends|implements|with)\b")
_CALLS = CallFacets(decorators=True)
_ATTRIBUTE = r"\bthis\.(?=\w+\s*=(?!=))"

TYPESCRIPT = Facets(
    name="typescript",
    title="TypeScript",
    order=10,
    visibility="`export`, an export clause, `module.exports` and `exports.x`",
    dialects=(
        Dialect(
            key="typescript",
            rules="ecmascript.rules:TYPESCRIPT",
            extensions=(".ts", ".mts", ".cts"),
            interpreters=("ts-node", "deno", "tsx"),
        ),
        Dialect(key="tsx", rules="ecmascript.rules:TSX", extensions=(".tsx",)),
    ),
    display=_DISPLAY,
    scopes=ScopeFacets(family="typescript"),
    imports=ImportFacets(file="ecmascript.files:typescript_file", only_exports=True),
    types=TypeFacets(declarations="words", fixed=True, attribute_set=_ATTRIBUTE),
    bases=_BASES,
    calls=_CALLS,
)
JAVASCRIPT = Facets(
    name="javascript",
    title="JavaScript",
    order=20,
    visibility="`export`, an export clause, `module.exports` and `exports.x`",
    server="typescript",
    dialects=(
        Dialect(
            key="javascript",
            rules="ecmascript.rules:JAVASCRIPT",
            extensions=(".js", ".jsx", ".mjs", ".cjs"),
            interpreters=("node", "nodejs", "bun"),
        ),
    ),
    display=_DISPLAY,
    scopes=ScopeFacets(family="typescript", reach=frozenset({"loose"})),
    imports=ImportFacets(file="ecmascript.files:javascript_file", only_exports=True),
    types=TypeFacets(attribute_set=_ATTRIBUTE),
    bases=_BASES,
    calls=_CALLS,
    traces=TraceFacets(
        frames=(
            # With a function and without.
            r"{margin}at (?:async )?(?:new )?(?P<name>[\w$.<>*:#~\[\]{}-]+?)(?: \[as \w+\])? "
            r"\((?:file://|webpack:///)?{path}:(?P<line>\d+):\d+\)",
            r"{margin}at (?:async )?(?:file://|webpack:///)?{path}:(?P<line>\d+)(?::\d+)?"
            r"[^\S\n]*$",
        )
    ),
)

LANGUAGES = (
    TYPESCRIPT,
    JAVASCRIPT,
)
