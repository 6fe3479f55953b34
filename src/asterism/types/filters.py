"""Which chunks a query may find: conditions that the store applies, not the caller."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Every condition that is given must hold; an empty filter lets everything pass."""

    repos: tuple[str, ...] = ()
    """Any of these repositories."""
    paths: tuple[str, ...] = ()
    """Any of these: a file, a directory (all below it), or a glob."""
    path_prefixes: tuple[str, ...] = ()
    """The path begins with one of these."""
    path_contains: tuple[str, ...] = ()
    """The path contains all of these."""
    path_not_contains: tuple[str, ...] = ()
    """The path contains none of these."""
    path_globs: tuple[str, ...] = ()
    """The whole path matches one of these: `*` within a folder, `**` across, `?`, `[…]`."""
    kinds: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    """With the dot: `.ts`."""
    languages: tuple[str, ...] = ()
    is_exported: bool | None = None
    decorator_contains: str | None = None
    """A part of any decorator's name."""
    has_docstring: bool | None = None


NO_FILTER = Filter()
