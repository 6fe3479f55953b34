"""The operations with a route, and the names of tools in messages over HTTP."""

from collections.abc import Iterable, Mapping

from asterism.operations.operation import Operation, Route
from asterism.operations.registry import OPERATIONS


def routed(operations: Iterable[Operation]) -> tuple[tuple[Route, Operation], ...]:
    """Each operation that has a route, with it."""
    return tuple((one.route, one) for one in operations if one.route is not None)


ROUTES_OF_TOOLS: Mapping[str, str] = {
    operation.name: f"{route.method} {route.path}"
    for route, operation in routed(OPERATIONS)
    # A name that is an ordinary word, as `ask` is, may be just that word.
    if "_" in operation.name
}
"""The route that replaces the name of a tool in a message."""
