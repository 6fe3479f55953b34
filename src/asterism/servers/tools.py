"""The tools that models see: names, parameters, descriptions, and what each may do."""

from collections.abc import Mapping

from asterism.operations.schema import Json, Tool
from asterism.servers.tools_answers_described import ANSWERING
from asterism.servers.tools_items_described import ITEMS
from asterism.servers.tools_operating import OPERATING
from asterism.servers.tools_searching import SEARCHING

TOOLS: Mapping[str, Tool] = {
    tool.name: tool for tool in (*SEARCHING, *OPERATING, *ANSWERING, *ITEMS)
}
"""Every tool by its name, in the order in which clients show them."""


def input_schema(tool: Tool) -> Json:
    """What a call may contain, as JSON Schema; anything else is refused."""
    schema: Json = {"type": "object", "properties": dict(tool.parameters)}
    if tool.required:
        schema["required"] = list(tool.required)
    return {**schema, "additionalProperties": False}


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
