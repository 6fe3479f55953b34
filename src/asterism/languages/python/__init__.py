"""Python: what sets it apart, as data."""

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

_MEMBERS = (str, bytes, dict, list, set, tuple, int, float)

PYTHON = Facets(
    name="python",
    title="Python",
    order=30,
    visibility="in `__all__` where the module has one, else a module-level name without "
    "leading underscore",
    dialects=(
        Dialect(
            key="python",
            rules="python.rules:PYTHON",
            extensions=(".py", ".pyi", ".pyw"),
            filenames=("SConstruct", "SConscript", "wscript"),
            interpreters=("python", "pypy"),
        ),
    ),
    display=DisplayFacets(path_line="# {}", comments="hash", indented_conditions=True),
    scopes=ScopeFacets(
        builtin_members=frozenset(name for known in _MEMBERS for name in dir(known)),
        open_types="body",
        own_type_words=True,
    ),
    imports=ImportFacets(
        file="python.files:module_file",
        submodule=".{}",
        passes_stars=True,
        passing_files="__init__.",
    ),
    types=TypeFacets(
        declarations="line",
        with_statements=True,
        attribute_set=r"\bself\.(?=\w+\s*(?::[^=\n]*)?=(?!=))",
    ),
    bases=BaseFacets(mark=rb"\(", depth=1, keywords=True),
    calls=CallFacets(decorators=True),
    traces=TraceFacets(
        frames=(
            r"{margin}File \"(?P<path>[^\"\n]+)\", line (?P<line>\d+)(?:, in (?P<name>[\w.<>]+))?",
        )
    ),
)

LANGUAGES = (PYTHON,)
