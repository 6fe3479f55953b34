"""The list of all operations that are declared, in the order in which clients show them."""

from asterism.operations import files, relations, search, symbols

OPERATIONS = (
    *search.OPERATIONS,
    *symbols.OPERATIONS,
    *relations.OPERATIONS,
    *files.OPERATIONS,
)
