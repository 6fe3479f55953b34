"""The package that a file outside of a repository belongs to, by where it lies."""

import re
from urllib.parse import unquote

from asterism.languages.registry import facets_of


def module_of(uri: str, language: str) -> str | None:
    """The package or the header of a file, as far as its address tells."""
    place = unquote(uri)
    facets = facets_of(language)
    for pattern in facets.outside_packages:
        if found := re.search(pattern, place):
            return found.group(1)
    return place.rpartition("/")[2] or None if facets.outside_headers else None
