"""The package that a file outside of a repository belongs to, by where it lies."""

import re
from collections.abc import Mapping
from urllib.parse import unquote

# What stands in brackets is the package; the first pattern that fits says so.
_PATTERNS: Mapping[str, tuple[re.Pattern[str], ...]] = {
    "go": (
        re.compile(r"/pkg/mod/(.+?)@"),
        re.compile(r"/vendor/([^/]+\.[^/]+/[^/]+/[^/]+)/"),
        re.compile(r"/go[^/]*/src/(.+)/[^/]+\.go$"),
    ),
    "rust": (
        re.compile(r"/registry/src/[^/]+/(.+?)-\d"),
        re.compile(r"/git/checkouts/([^/]+)-[0-9a-f]+/"),
        re.compile(r"/library/(core|alloc|std|proc_macro|test)/"),
    ),
    "java": (re.compile(r"^jdt://contents/[^/]+/([\w.]+)/"),),
}


def module_of(uri: str, language: str) -> str | None:
    """The package or the header of a file, as far as its address tells."""
    place = unquote(uri)
    for pattern in _PATTERNS.get(language, ()):
        if found := pattern.search(place):
            return found.group(1)
    # Of C and C++ it is the header that a reader looks for.
    return place.rpartition("/")[2] or None if language in ("c", "cpp") else None
