"""SQL: what sets it apart, as data."""

from asterism.languages.facets import (
    CallFacets,
    Dialect,
    DisplayFacets,
    Facets,
    ScopeFacets,
    TraceFacets,
)

SQL = Facets(
    name="sql",
    title="SQL",
    order=105,
    visibility="always: a database has one space of names",
    dialects=(
        Dialect(
            key="sql",
            reader="sql.reader:read",
            extensions=(".sql", ".ddl", ".pgsql", ".plsql", ".pks", ".pkb", ".tsql"),
        ),
    ),
    display=DisplayFacets(path_line="-- {}", comments="dashes"),
    # A database has one space of names, whichever files make it.
    scopes=ScopeFacets(reach=frozenset({"global"})),
    calls=CallFacets(of_types=False),
    traces=TraceFacets(
        frames=(
            r"{margin}psql:{path}:(?P<line>\d+): (?:ERROR|FATAL|WARNING|NOTICE)",
            r"{margin}(?:CONTEXT:\s+)?PL/pgSQL function (?:\w+\.)?(?P<name>\w+)\(",
        )
    ),
)

LANGUAGES = (SQL,)
