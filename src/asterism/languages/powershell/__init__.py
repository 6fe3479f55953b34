"""PowerShell: what sets it apart, as data."""

from posixpath import dirname, join, normpath

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

POWERSHELL = Facets(
    name="powershell",
    title="PowerShell",
    order=154,
    visibility="neither `script:`, `private:`, `local:` nor `hidden`, and not inside a function",
    aliases=("pwsh",),
    dialects=(
        Dialect(
            key="powershell",
            rules="powershell.rules:POWERSHELL",
            extensions=(".ps1", ".psm1", ".psd1"),
            interpreters=("pwsh", "powershell"),
        ),
    ),
    display=DisplayFacets(path_line="# {}", comments="hash"),
    scopes=ScopeFacets(reach=frozenset({"loose"}), named_constructors=True),
    imports=ImportFacets(file="powershell:module_file", passes_stars=True),
    types=TypeFacets(attribute_set=r"\$this\.(?=\w+\s*=(?!=))"),
    bases=BaseFacets(mark=rb":(?!:)"),
    calls=CallFacets(bare=True),
    traces=TraceFacets(
        frames=(
            r"{margin}at (?P<name>[\w:-]+)(?:<\w+>)?, {path}: line (?P<line>\d+)",
            r"{margin}[Aa]t {path}:(?P<line>\d+) char:\d+",
        )
    ),
)

LANGUAGES = (POWERSHELL,)


def module_file(importer: str, module: str, files: FileSet) -> str | None:
    """The script of a path, or the file that is called like a module."""
    path = module.replace("\\", "/").removeprefix("$PSScriptRoot/")
    beside = normpath(join(dirname(importer), path))
    for ending in ("", ".psm1", ".ps1"):
        if beside + ending in files:
            return beside + ending
    found = files.ending(f"{path.rpartition('/')[2]}.psm1")
    return found[0] if len(found) == 1 else None
