"""The languages that there are, found by listing the folders of this package."""

import pkgutil
from functools import cache
from importlib import import_module
from typing import Any

from asterism import languages as package
from asterism.languages.facets import Facets

_UNKNOWN = Facets(name="", title="", order=0, dialects=(), visibility="")


@cache
def languages() -> tuple[Facets, ...]:
    """Every language, in the order of lists."""
    found: list[Facets] = []
    for folder in pkgutil.iter_modules(package.__path__):
        if folder.ispkg:
            home = import_module(f"{package.__name__}.{folder.name}")
            found.extend(home.LANGUAGES)
    return tuple(sorted(found, key=lambda facets: (facets.order, facets.name)))


@cache
def facets_of(language: str) -> Facets:
    """What is particular to a language; an unknown one is like most."""
    return next((facets for facets in languages() if facets.name == language), _UNKNOWN)


@cache
def code_of(place: str) -> Any:
    """What facets name as `folder.module:name`."""
    module, _, name = place.partition(":")
    return getattr(import_module(f"{package.__name__}.{module}"), name)
