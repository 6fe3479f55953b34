"""The tools that find code, as models read them."""

from asterism.operations.schema import (
    FILTERS_TEXT,
    MAX_TOKENS,
    REPOSITORY,
    Json,
    Tool,
    choice,
    choices,
    mapping,
    share,
    switch,
    text,
    texts,
    whole,
)

MODES = ("hybrid", "semantic", "exact", "definition", "similar")
ROLES = ("definition", "export", "import", "usage")
STAGES = ("discover", "refine")

_ACCOUNT: Json = {
    "total_count": {"type": "integer"},
    "returned_count": {"type": "integer"},
    "truncated": {"type": "boolean"},
    "truncation_info": {"type": "object"},
    "dropped": {"type": "object"},
    # Written out in two: some clients read a single type only.
    "cursor": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    "index_state": {"type": "object"},
    "notes": {"type": "array", "items": {"type": "string"}},
}


def replies(rows: str, **fields: Json) -> Json:
    """The shape of a reply that is a list with its account."""
    properties = {rows: {"type": "array", "items": {"type": "object"}}, **fields, **_ACCOUNT}
    return {"type": "object", "properties": properties, "required": [rows, *_ACCOUNT]}


CODEBASE_SEARCH = Tool(
    name="codebase_search",
    title="Search the codebase",
    description="""\
Find the code for a task and see how it connects. Start here to understand or change code.

Use it for: "where is X handled?", "how does Y work?", what to read before an edit, one known \
symbol with all it needs (`symbol = Class.method`, also `symbol = path > Class > method`).
Do not use it for: every occurrence of something (search_code with exhaustive=true), exact text \
or regex (search_code with mode="exact"), a list of uses (symbol_lookup).

Gives text: first a graph (signatures, callers, callees, types; ★ marks results, ◆ what several \
results use), then one part per file with each result whole and only what it uses. Only likely \
answers are given; notes say what was left out.

Example: {"query": "validate the session token of a request", "path": ["src/auth/"]}""",
    parameters={
        "query": text("A sentence or keywords about what the code does, or `symbol = NAME`."),
        "path": texts("Only here: files, folders or globs, such as src/auth/ or **/*.ts."),
        "languages": texts("Only these languages, such as typescript or python."),
        "max_tokens": whole("Budget of the reply in tokens.", 50, 25_000, 8_000),
        "min_score": share("Give only results that score so much; 0.5 unless told otherwise."),
        "limit": whole("Results at most.", 1, 50, 10),
        "filters": mapping(FILTERS_TEXT),
        **REPOSITORY,
    },
    required=("query",),
)

SEARCH_CODE = Tool(
    name="search_code",
    title="List matching code",
    description="""\
List code that matches, as rows with path, lines, score and content. For lists, audits and \
refactorings.

Use it for: all matches (exhaustive=true; go on with the reply's cursor until it is null), exact \
words, "phrases" or regex:PATTERN (mode="exact"), definitions by name (mode="definition"), code \
like a piece of code (mode="similar" with code_snippet), anything with filters.
Do not use it for: understanding how code works together (codebase_search reads better and is \
shorter), the uses of one known name (symbol_lookup is exact and faster).

Modes: hybrid (default: meaning and words), semantic (meaning alone), exact, definition, \
similar. Narrow step by step: stage="discover" first, then filters taken from its rows with \
stage="refine".

Example: {"query": "regex:print\\\\(", "mode": "exact", "exhaustive": true, "filters": \
{"path_prefix": "src/", "languages": ["python"]}}""",
    parameters={
        "query": text("Words, names, code, regex:PATTERN or `symbol = NAME`."),
        "mode": choice("How to search.", MODES, "hybrid"),
        "code_snippet": text("With mode similar: the code to compare with."),
        "limit": whole("Rows at most: 1 to 50, or 1 to 100 a page when exhaustive.", 1, 100, 10),
        "exhaustive": switch("Every match, in stable order, page by page."),
        "min_score": share("Leave out what scores less."),
        "filters": mapping(FILTERS_TEXT),
        "stage": choice("Look around widely, or strictly.", STAGES),
        "context_lines": whole("Lines of the file above and below each row.", 0, 10, 0),
        "cursor": text("From the last page of the same exhaustive search."),
        "file_type": texts("Only files with this extension, such as .ts."),
        "directory": texts("Only below this folder."),
        "explain": switch("Say why each row is where it is."),
        "bm25_weight": share("Deprecated: what words count beside meaning in hybrid search."),
        **REPOSITORY,
        **MAX_TOKENS,
    },
    required=("query",),
    output=replies(
        "results",
        query={"type": "string"},
        mode={"type": "string"},
        filters_applied={"type": "object"},
        total_matches={"type": "integer"},
        elapsed_ms={"type": "number"},
        latency_ms={"type": "integer"},
        project_id={"type": "string"},
        database_name={"type": "string"},
    ),
)

SYMBOL_LOOKUP = Tool(
    name="symbol_lookup",
    title="Look up a symbol",
    description="""\
Find where a name is defined, exported, imported and used. Exact and complete, straight from the \
syntax trees; no ranking.

Use it for: "where is X defined?" (role ["definition"]), "what imports X?" (role ["import"]), \
"who uses X?" (role ["usage"]), before renaming or removing something.
Do not use it for: names you are not sure of (codebase_search finds by meaning; an unknown name \
here only gives did_you_mean), callers resolved by types (codebase_search with `symbol = X` \
shows them).

Names are case-sensitive: x, A.x, A::x, `A > x` or `path > A > x`. Definitions come first, then \
exports, imports, usages; `counts` has the exact number of each.

Example: {"name": "PaymentClient", "role": ["import", "usage"], "filters": {"path_prefix": \
"src/"}}""",
    parameters={
        "name": text("The symbol's name, qualified or not."),
        "kind": texts("Only these kinds: class, function, method, interface, type, variable …"),
        "role": choices("Only these roles; all four unless told otherwise.", ROLES),
        "filters": mapping(
            "Only places that pass: path, path_prefix, path_contains, path_not_contains, "
            "path_glob, extension, type, is_exported."
        ),
        "include_context": switch("Give the code around each place too; takes more tokens."),
        "limit": whole("Places at most.", 1, 500, 50),
        "cursor": text("From the last page of the same lookup."),
        **REPOSITORY,
        **MAX_TOKENS,
    },
    required=("name",),
    output=replies(
        "symbols",
        name={"type": "string"},
        counts={"type": "object"},
        did_you_mean={"type": "array", "items": {"type": "string"}},
        filters_applied={"type": "object"},
        project_id={"type": "string"},
        database_name={"type": "string"},
    ),
)

SEARCHING = (CODEBASE_SEARCH, SEARCH_CODE, SYMBOL_LOOKUP)
