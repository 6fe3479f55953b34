"""Tools as `tools/list` shows them."""

from asterism.operations.operation import Operation
from asterism.operations.schema import Json, input_schema


def listed(operation: Operation) -> Json:
    """One tool of the list."""
    shown: Json = {
        "name": operation.name,
        "title": operation.title,
        "description": operation.description,
        "inputSchema": input_schema(operation.parameters, operation.required),
    }
    if operation.shows_reply:
        shown["outputSchema"] = operation.reply_schema
    return {
        **shown,
        "annotations": {
            "title": operation.title,
            "readOnlyHint": operation.read_only,
            "destructiveHint": operation.destructive,
            "idempotentHint": operation.idempotent,
            # Everything is on this machine, or asked of models that the user has chosen.
            "openWorldHint": False,
        },
    }
