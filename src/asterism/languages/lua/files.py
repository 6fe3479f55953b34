"""Which file a module of Lua means."""

from asterism.languages.file_set import FileSet, Roots


def module_file(importer: str, module: str, files: FileSet, _roots: Roots) -> str | None:
    """The file that a module means."""
    steps = module.replace(".", "/")
    for ending in (f"{steps}.lua", f"{steps}/init.lua"):
        found = files.ending(ending)
        if found:
            # The folder that is searched for modules is `lua`, or the root.
            best = [path for path in found if path in (ending, f"lua/{ending}")] or found
            return best[0] if len(best) == 1 else None
    return None
