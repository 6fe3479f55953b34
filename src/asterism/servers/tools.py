"""The tools that models see: names, parameters, descriptions, and what each may do."""

from collections.abc import Mapping, Sequence

from asterism.operations.operation import Operation
from asterism.operations.registry import OPERATIONS
from asterism.operations.schema import Json, Tool, input_schema
from asterism.servers.tools_answers_described import ANSWERING
from asterism.servers.tools_items_described import ITEMS
from asterism.servers.tools_operating import OPERATING


def tools_of(operations: Sequence[Operation]) -> Mapping[str, Tool]:
    """Every tool by its name, in the order in which clients show them."""
    declared = [operation.tool for operation in operations if operation.is_tool]
    return {tool.name: tool for tool in (*declared, *OPERATING, *ANSWERING, *ITEMS)}


TOOLS = tools_of(OPERATIONS)


def listed(tool: Tool) -> Json:
    """The tool as `tools/list` shows it."""
    shown: Json = {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": input_schema(tool),
    }
    if tool.output is not None:
        shown["outputSchema"] = tool.output
    return {
        **shown,
        "annotations": {
            "title": tool.title,
            "readOnlyHint": tool.read_only,
            "destructiveHint": tool.destructive,
            "idempotentHint": tool.idempotent,
            # Everything is on this machine, or asked of models that the user has chosen.
            "openWorldHint": False,
        },
    }
