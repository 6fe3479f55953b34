"""Go: what sets it apart, as data."""

import re
from collections.abc import Callable
from posixpath import dirname, join

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
    imports=ImportFacets(folder="go:import_folder", local_name="go:import_name"),
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


_MODULE = re.compile(rb"^module\s+\"?([^\s\"]+)", re.MULTILINE)
_VERSION = re.compile(r"v\d+$")


def import_name(module: str) -> str:
    """The name under which a package of Go is used when no other is given."""
    *before, last = module.split("/")
    if _VERSION.match(last) and before:
        last = before[-1]
    return last.partition(".v")[0].removeprefix("go-").removesuffix("-go").replace("-", "_")


def import_folder(importer: str, module: str, text_of: Callable[[str], bytes | None]) -> str | None:
    """The folder of a package of Go; None for what belongs to another module.

    `text_of` gives the text of a file: the nearest `go.mod` says how the module is called. Without
    one, the folder is only known to be an end of the module's path: `…/harbor/lids`.
    """
    folder, is_module = dirname(importer), False
    while True:
        text = text_of(join(folder, "go.mod"))
        found = _MODULE.search(text) if text else None
        if found is not None:
            is_module = True
            name = found.group(1).decode("utf-8", "replace")
            if module == name:
                return folder
            if module.startswith(f"{name}/"):
                return join(folder, module[len(name) + 1 :])
        if not folder:
            return None if is_module or "." not in module.partition("/")[0] else f"…/{module}"
        folder = dirname(folder)
