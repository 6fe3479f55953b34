"""Vue and Svelte: components with their script, markup and style in one file, as data."""

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

_DISPLAY = DisplayFacets(path_line="<!-- {} -->", doc_is_jsdoc=True, answers_as="ecmascript")
# Their scripts are TypeScript or JavaScript, and call both.
_SCOPES = ScopeFacets(family="typescript")
_IMPORTS = ImportFacets(file="components.files:module_file", only_exports=True)
_TYPES = TypeFacets(declarations="words", fixed=True, attribute_set=r"\bthis\.(?=\w+\s*=(?!=))")
_BASES = BaseFacets(mark=rb"\b(?:extends|implements|with)\b")
_CALLS = CallFacets(decorators=True)


def _browser_frame(extension: str) -> str:
    """A frame with the address of a development server: `at add (http://host/src/App.vue?t=1:2:3)`."""
    return (
        r"{margin}at (?:async )?(?P<name>[\w$.]+) \((?:https?://[^\s/()]+/)?"
        rf"(?P<path>[^\s:()?]+\.{extension})(?:\?[^\s:()]*)?:(?P<line>\d+)"
    )


VUE = Facets(
    name="vue",
    title="Vue",
    order=23,
    dialects=(Dialect(key="vue", parts="components.vue:parts", extensions=(".vue",)),),
    display=_DISPLAY,
    scopes=_SCOPES,
    imports=_IMPORTS,
    types=_TYPES,
    bases=_BASES,
    calls=_CALLS,
    # A warning names the components; an error has the frames of a browser.
    traces=TraceFacets(frames=(r"{margin}at <(?P<name>[A-Z]\w*)[^>\n]*>", _browser_frame("vue"))),
)
SVELTE = Facets(
    name="svelte",
    title="Svelte",
    order=24,
    dialects=(Dialect(key="svelte", parts="components.svelte:parts", extensions=(".svelte",)),),
    display=_DISPLAY,
    scopes=_SCOPES,
    imports=_IMPORTS,
    types=_TYPES,
    bases=_BASES,
    calls=_CALLS,
    traces=TraceFacets(frames=(_browser_frame("svelte"),)),
)

LANGUAGES = (
    VUE,
    SVELTE,
)
