"""Vue and Svelte: components with their script, markup and style in one file, as data."""

from asterism.languages.ecmascript import typescript_file
from asterism.languages.facets import (
    BaseFacets,
    CallFacets,
    Dialect,
    DisplayFacets,
    Facets,
    FileSet,
    ImportFacets,
    ScopeFacets,
    TraceFacets,
    TypeFacets,
)

_DISPLAY = DisplayFacets(path_line="<!-- {} -->", doc_is_jsdoc=True, answers_as="ecmascript")
# Their scripts are TypeScript or JavaScript, and call both.
_SCOPES = ScopeFacets(family="typescript")
_IMPORTS = ImportFacets(file="components:module_file", only_exports=True)
_TYPES = TypeFacets(declarations="words", fixed=True, attribute_set=r"\bthis\.(?=\w+\s*=(?!=))")
_BASES = BaseFacets(mark=rb"\b(?:extends|implements|with)\b")
_CALLS = CallFacets(decorators=True)
_VISIBILITY = "the component, as the default export; in scripts as in TypeScript"


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
    visibility=_VISIBILITY,
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
    visibility=_VISIBILITY,
    dialects=(Dialect(key="svelte", parts="components.svelte:parts", extensions=(".svelte",)),),
    display=_DISPLAY,
    scopes=_SCOPES,
    imports=_IMPORTS,
    types=_TYPES,
    bases=_BASES,
    calls=_CALLS,
    traces=TraceFacets(frames=(_browser_frame("svelte"),)),
)

LANGUAGES = (VUE, SVELTE)

# What bundlers are usually configured to read as the folder of the sources. SvelteKit's `$lib` is
# the folder `lib` in it.
_SOURCES = {"@/": "src/", "~/": "src/", "~~/": "", "@@/": "", "$lib/": "src/lib/", "#/": "src/"}


def module_file(importer: str, module: str, files: FileSet) -> str | None:
    """The file that a module means: relative to the importer, or below the sources by an alias."""
    found = typescript_file(importer, module, files)
    if found is not None:
        return found
    for alias, folder in _SOURCES.items():
        if module.startswith(alias):
            return _in_sources(importer, folder, module.removeprefix(alias), files)
    return None


def _in_sources(importer: str, folder: str, path: str, files: FileSet) -> str | None:
    """The file below the nearest folder above the importer that has it."""
    above = importer.split("/")[:-1]
    while True:
        root = "/".join(above)
        # As a file at that root would import it.
        beside = f"{root}/-" if root else "-"
        for start in dict.fromkeys((folder, "")):
            found = typescript_file(beside, f"./{start}{path}", files)
            if found is not None:
                return found
        if not above:
            return None
        above.pop()
