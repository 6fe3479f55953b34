"""What the HTTP API offers beside the tools for models, described in the same way."""

from asterism.operations.schema import REPOSITORY, Json, Tool, text, whole

_TEXT: Json = {"type": "string"}
_KNOWN: Json = {
    "type": "object",
    "properties": dict.fromkeys(("repository_id", "name", "project_id", "project", "root"), _TEXT),
    "required": ["repository_id", "name", "project_id", "project", "root"],
}

ADD_REPOSITORY = Tool(
    name="add_repository",
    title="Make a repository known",
    description="""\
Make a directory of the server's machine known, so that it can be indexed and searched. Nothing is \
read yet.""",
    parameters={
        "path": text("The directory, an absolute path."),
        "name": text("What it is called; the directory's name unless told otherwise."),
        "project": text("The project it belongs to; one of its own unless told otherwise."),
    },
    required=("path",),
    output=_KNOWN,
    read_only=False,
)

REMOVE_REPOSITORY = Tool(
    name="remove_repository",
    title="Forget a repository",
    description="Remove a repository and its index; the directory itself is not touched.",
    parameters={"repository_id": REPOSITORY["repository_id"]},
    required=("repository_id",),
    output={**_KNOWN, "properties": {**_KNOWN["properties"], "removed": {"type": "boolean"}}},
    read_only=False,
    destructive=True,
)

VECTOR_SEARCH = Tool(
    name="vector_search",
    title="Nearest chunks for a chat",
    description="""\
Give the chunks nearest to a question as a chat's model reads them: those near enough, two of a \
file at most, each and all of bounded length, in the order the store gave them. `score` is the \
distance: 0 is identical, lower is better; `highestMatch` is the lowest distance of a file. How \
near, how many and how long they may be is set in the section `chat` of the settings.""",
    parameters={
        "query": text("What is looked for."),
        "repository": text("Id or name of a repository; else the server's own."),
        **REPOSITORY,
        "limit": whole("Chunks that are looked at.", 1, 50, 10),
    },
    required=("query",),
    output={
        "type": "object",
        "properties": {
            "results": {"type": "array", "items": {"type": "object"}},
            "files": {"type": "array", "items": {"type": "object"}},
            "modelId": {"type": ["string", "null"]},
        },
        "required": ["results", "files", "modelId"],
    },
)
