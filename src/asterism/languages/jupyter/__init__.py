"""Jupyter notebooks: cells of code and prose in a file of JSON, as data."""

from asterism.languages.facets import Dialect, Facets, ImportFacets, TraceFacets
from asterism.languages.python import PYTHON

JUPYTER = Facets(
    name="jupyter",
    title="Jupyter",
    order=33,
    visibility="in cells that nbdev exports (`#| export`)",
    aliases=("notebook", "ipynb"),
    dialects=(
        Dialect(
            key="jupyter",
            parts="jupyter.cells:parts",
            extensions=(".ipynb",),
            shared=(".ipynb",),
            claims="jupyter.cells:is_notebook",
            view="jupyter.view:view",
        ),
    ),
    display=PYTHON.display._replace(indented_conditions=False, answers_as="python"),
    # Its code calls the repository's modules of Python.
    scopes=PYTHON.scopes._replace(family="python"),
    imports=ImportFacets(file="python:module_file", submodule=".{}", passes_stars=True),
    types=PYTHON.types,
    bases=PYTHON.bases,
    calls=PYTHON.calls,
    traces=TraceFacets(
        frames=(
            r"{margin}(?:Input |Cell )In ?\[\d+\], line \d+, in (?P<name>[\w.<>]+)\(",
            r"{margin}File {path}:(?P<line>\d+), in (?P<name>[\w.<>]+)\(",
        )
    ),
)

LANGUAGES = (JUPYTER,)
