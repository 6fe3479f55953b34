"""The list of all operations that are declared, in the order in which clients show them."""

from collections.abc import Iterable, Mapping

from asterism.operations import (
    answers,
    conversations,
    files,
    indexes,
    inspection,
    items,
    relations,
    repository_list,
    search,
    symbols,
    turns,
    vector_search,
)
from asterism.operations.operation import Operation

OPERATIONS: tuple[Operation, ...] = (
    *search.OPERATIONS,
    *symbols.OPERATIONS,
    *relations.OPERATIONS,
    *files.OPERATIONS,
    *indexes.OPERATIONS,
    *inspection.OPERATIONS,
    *repository_list.OPERATIONS,
    *vector_search.OPERATIONS,
    *answers.OPERATIONS,
    *items.OPERATIONS,
    *turns.OPERATIONS,
    *conversations.OPERATIONS,
)


def tools_of(operations: Iterable[Operation]) -> Mapping[str, Operation]:
    """The operations that MCP clients see, by name."""
    return {operation.name: operation for operation in operations if operation.is_tool}


TOOLS = tools_of(OPERATIONS)
