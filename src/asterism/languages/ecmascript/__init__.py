"""TypeScript and JavaScript: what sets it apart, as data."""

from collections.abc import Sequence
from posixpath import dirname, join, normpath, splitext

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
    imports=ImportFacets(file="ecmascript:typescript_file", only_exports=True),
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
    imports=ImportFacets(file="ecmascript:javascript_file", only_exports=True),
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

LANGUAGES = (TYPESCRIPT, JAVASCRIPT)


# In the compiler's order. An import of a script that is compiled from a source means the source.
_TYPESCRIPT = (".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mts", ".d.mts", ".mjs", ".cts", ".d.cts")
_TYPESCRIPT_FIRST = (*_TYPESCRIPT, ".cjs", ".json")
_JAVASCRIPT_FIRST = (".js", ".jsx", ".mjs", ".cjs", ".json", *_TYPESCRIPT)
_SOURCES_OF = {
    ".js": (".ts", ".tsx", ".d.ts"),
    ".jsx": (".tsx", ".d.ts"),
    ".mjs": (".mts", ".d.mts"),
    ".cjs": (".cts", ".d.cts"),
}


def typescript_file(importer: str, module: str, files: FileSet) -> str | None:
    """The file that a module of TypeScript means."""
    return _ecmascript(importer, module, files, _TYPESCRIPT_FIRST)


def javascript_file(importer: str, module: str, files: FileSet) -> str | None:
    """The file that a module of JavaScript means."""
    path = _beside(importer, module)
    # A script that names a script means it, even beside the source of another.
    if path in files:
        return path
    return _ecmascript(importer, module, files, _JAVASCRIPT_FIRST)


def _ecmascript(
    importer: str, module: str, files: FileSet, extensions: Sequence[str]
) -> str | None:
    path = _beside(importer, module)
    if path is None:
        return None
    stem, extension = splitext(path)
    candidates: list[str] = []
    if not module.endswith(("/", "/.", "/..")) and module not in (".", ".."):
        candidates += [stem + source for source in _SOURCES_OF.get(extension, ())]
        candidates.append(path)
        candidates += [path + extension for extension in extensions]
    candidates += [join(path, "index" + extension) for extension in extensions]
    return files.first(candidates)


def _beside(importer: str, module: str) -> str | None:
    """The path that a relative module names, without what bundlers add behind `?`."""
    if not module.startswith(("./", "../")) and module not in (".", ".."):
        return None
    path = normpath(join(dirname(importer), module.partition("?")[0]))
    if path == ".":
        return ""
    return None if path.startswith("..") and path[2:3] in ("", "/") else path
