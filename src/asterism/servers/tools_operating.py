"""The tools that make indexes and look at them, as models read them."""

from asterism.operations.schema import (
    MAX_TOKENS,
    REPOSITORY,
    Json,
    Tool,
    switch,
    text,
    whole,
)

_PATH: Json = {"path": text("Anything in the repository that is meant; else the server's own.")}
_PLACE: Json = {**_PATH, **REPOSITORY}

INDEX_CODEBASE = Tool(
    name="index_codebase",
    title="Index a repository",
    description="""\
Make the index of a repository, or bring it up to date, with progress.

Use it for: the first time a repository is searched, or when another tool's error asks for it \
([index_missing], [index_outdated], [index_mismatch]; force=true after [index_corrupt]).
Do not use it for: files you just edited (each search brings the index up to date by itself).

wait=false starts it in the background: index_status shows how far it is, cancel_indexing stops \
it, and what was done is kept. Only repositories that are known already, or that the server was \
started in, can be indexed; the user adds others with `asterism index PATH`.

Example: {"wait": true}""",
    parameters={
        "path": text("The repository, or a folder in it; else the one the server was started in."),
        **REPOSITORY,
        "force": switch("Read and embed every file anew."),
        "wait": switch("Answer when it is done; false answers at once.", default=True),
    },
    read_only=False,
)

INDEX_STATUS = Tool(
    name="index_status",
    title="State of the index",
    description="""\
Show whether the index is there, fresh and complete: files behind, counts, languages, what was \
left out, the model, a running job.

Use it for: an answer that misses code you know of, progress of index_codebase with wait=false.
Do not use it for: a check before each search (searches say themselves when the index is behind).

Example: {}""",
    parameters=_PLACE,
)

WATCH_STATUS = Tool(
    name="watch_status",
    title="State of the watcher",
    description="""\
Show whether a watcher keeps the index fresh, and what it saw last.

Use it for: finding out why an index is or is not kept fresh between searches.
Do not use it for: the index itself (index_status). A search is fresh without a watcher too.

Example: {}""",
    parameters=_PLACE,
)

CANCEL_INDEXING = Tool(
    name="cancel_indexing",
    title="Stop indexing",
    description="""\
Stop the indexing of a repository, whoever started it. What was done is kept, and the next run \
goes on there.

Use it for: a run that takes too long or that was started by mistake.
Do not use it for: a call of index_codebase that you wait for yourself (cancel that request).

Example: {}""",
    parameters=_PLACE,
    read_only=False,
)

INDEX_DEBUG = Tool(
    name="index_debug",
    title="Look inside the index",
    description="""\
Show what the index holds of one file and why not the rest, or why a query ranks as it does.

Use it for: a file that search never finds (is it ignored, too large, a secret, behind?), its \
chunks and the text a model reads of them (include_text), the signals behind the rank of each \
result (query).
Do not use it for: reading code (codebase_search) or the state of the whole index (index_status).

Example: {"path": "src/auth/token.ts"} or {"query": "refresh the token"}""",
    parameters={
        "path": text("The file, from the repository's root."),
        "query": text("A question whose ranking is to be explained."),
        "include_text": switch("With path: the text that a model reads of each chunk."),
        "limit": whole("With query: results to explain.", 1, 50, 10),
        **REPOSITORY,
        **MAX_TOKENS,
    },
)

LIST_REPOSITORIES = Tool(
    name="list_repositories",
    title="List repositories",
    description="""\
List the repositories that can be searched: id, project, root, size, and whether each is indexed.

Use it for: the repository_id of another repository, or when a tool asks which one is meant.
Do not use it for: searching the repository the server was started in; it needs no id.

Example: {}""",
    parameters=MAX_TOKENS,
)

OPERATING = (
    INDEX_CODEBASE,
    INDEX_STATUS,
    WATCH_STATUS,
    CANCEL_INDEXING,
    INDEX_DEBUG,
    LIST_REPOSITORIES,
)
