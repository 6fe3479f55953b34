"""What the HTTP API offers beside the tools for models, described in the same way."""

from asterism.operations.schema import (
    FILTERS_TEXT,
    MAX_TOKENS,
    REPOSITORY,
    Json,
    Tool,
    choice,
    mapping,
    share,
    switch,
    text,
    whole,
)
from asterism.servers.tools_searching import replies

LAST_LINE = 100_000_000
"""No file that is read has so many lines."""
MOST_LINES = 5_000
"""Lines of a file in one reply."""
RELATIONS = ("callers", "callees", "references")

_FILE = text("The file, from the repository's root.")
_TEXT: Json = {"type": "string"}
_COUNT: Json = {"type": "integer"}
_KNOWN: Json = {
    "type": "object",
    "properties": dict.fromkeys(("repository_id", "name", "project_id", "project", "root"), _TEXT),
    "required": ["repository_id", "name", "project_id", "project", "root"],
}

SIMILAR = Tool(
    name="similar_code",
    title="Find similar code",
    description="""\
List code like the code at a place: the symbol around a line, some lines, or a whole file. To \
compare with a piece of code that is in no file, search with mode `similar` and `code_snippet`.""",
    parameters={
        "path": _FILE,
        "line": whole("The line, or the first of several; else the whole file.", 1, LAST_LINE),
        "last_line": whole("The last of several lines.", 1, LAST_LINE),
        "limit": whole("Rows at most.", 1, 50, 10),
        "min_score": share("Leave out what scores less."),
        "filters": mapping(FILTERS_TEXT),
        "context_lines": whole("Lines of the file above and below each row.", 0, 10, 0),
        "explain": switch("Say why each row is where it is."),
        **REPOSITORY,
        **MAX_TOKENS,
    },
    required=("path",),
    output=replies("results", query=_TEXT, mode=_TEXT, total_matches=_COUNT),
)

SYMBOL_RELATIONS = Tool(
    name="symbol_relations",
    title="Follow the calls of a symbol",
    description="""\
Show who calls a symbol, what it calls, or which files refer to it, as deep as asked. Compilers \
answer where there is one, else names and imports; each edge says how it is known.""",
    parameters={
        "name": text("The symbol: x, A.x, A::x, `A > x` or `path > A > x`."),
        "relation": choice("What is asked about it.", RELATIONS, "callers"),
        "depth": whole("How many calls a way has at most.", 1, 10, 1),
        "path": text("Only definitions in this file, or below this folder."),
        **REPOSITORY,
        **MAX_TOKENS,
    },
    required=("name",),
    output=replies("definitions", name=_TEXT, relation=_TEXT, depth=_COUNT, total=_COUNT),
)

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

FILE_OUTLINE = Tool(
    name="file_outline",
    title="Outline of a file",
    description="Show the symbols of a file as it is now, in its order; `depth` says how deep.",
    parameters={"path": _FILE, **REPOSITORY, **MAX_TOKENS},
    required=("path",),
    output=replies(
        "symbols", path=_TEXT, language={"type": ["string", "null"]}, problems_count=_COUNT
    ),
)

FILE_LINES = Tool(
    name="file_lines",
    title="Lines of a file",
    description="""\
Show lines of a file as it is now. Only files that are, or would be, indexed are shown.""",
    parameters={
        "path": _FILE,
        "first": whole("The first line.", 1, LAST_LINE, 1),
        "last": whole(f"The last line; {MOST_LINES:,} lines at most.", 1, LAST_LINE),
        **REPOSITORY,
        **MAX_TOKENS,
    },
    required=("path",),
    output=replies(
        "lines",
        lines={"type": "array", "items": {"type": "string"}},
        path=_TEXT,
        first=_COUNT,
        total_lines=_COUNT,
    ),
)

SKIPPED_FILES = Tool(
    name="skipped_files",
    title="Files that are left out",
    description="""\
List the files and folders of a repository that its index leaves out, each with the reason.""",
    parameters={
        "reason": text("Only these, such as gitignored, binary, too_large or secret."),
        **REPOSITORY,
        **MAX_TOKENS,
    },
    output=replies("skipped", counts={"type": "object"}),
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
