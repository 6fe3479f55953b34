"""What users can call: requests, replies, traits and surfaces, each declared once.

To add an MCP tool or a route, write one module here and name it in `registry`. The module has a
frozen request record, whose fields are annotated as `schema` says (help, bounds, default), a frozen
reply record, a function that answers, and an `Operation` that joins them with the traits and the
surfaces. `tools/list`, the instructions of the MCP server, the HTTP route, OpenAPI, the pages
`docs/tools.md` and `docs/http.md` and the options of a command follow from the declaration;
`tests/operations/test_registry.py` shows it with an operation of its own.

A search option is a field of the request in `requests` and a field of the same name in
`engine.search.SearchRequest`; a filter is a key of `types.search` and its test in `search.filters`.
Modules here import the engine in the functions that need it, so that the list of operations is
loaded in no time.
"""
