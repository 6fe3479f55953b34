"""Filters as conditions in the SQL that Lance understands."""

from collections.abc import Iterable, Sequence

from asterism.store.filtering import DECORATOR_SEPARATOR, place
from asterism.store.path_globs import is_wild, translate
from asterism.store.rows import comparable
from asterism.types.filters import Filter


def condition(where: Filter) -> str | None:
    """Return the SQL of a filter, or None where everything passes."""
    where = comparable(where)
    parts = [
        *_one_of("repo", where.repos),
        *_one_of("node_kind", where.kinds),
        *_one_of("extension", where.extensions),
        *_one_of("language", where.languages),
        *_is_true("is_exported", where.is_exported),
        *_is_true("(docstring IS NOT NULL)", where.has_docstring),
        *_any(_at(place(path)) for path in where.paths),
        *_any(f"starts_with(relative_path, {quoted(text)})" for text in where.path_prefixes),
        *(f"contains(relative_path, {quoted(text)})" for text in where.path_contains),
        *(f"NOT contains(relative_path, {quoted(text)})" for text in where.path_not_contains),
        *_any(_matches(glob) for glob in where.path_globs),
        *_decorated(where.decorator_contains),
    ]
    return " AND ".join(parts) or None


def among(column: str, values: Iterable[str]) -> str:
    """The condition that a column has one of these values."""
    return f"{column} IN ({', '.join(quoted(value) for value in values)})"


def quoted(text: str) -> str:
    """A text as SQL; only the quote itself has a meaning inside quotes."""
    return "'" + text.replace("'", "''") + "'"


def _one_of(column: str, values: Sequence[str]) -> list[str]:
    return [among(column, values)] if values else []


def _is_true(expression: str, wanted: bool | None) -> list[str]:
    if wanted is None:
        return []
    return [expression if wanted else f"NOT {expression}"]


def _any(conditions: Iterable[str]) -> list[str]:
    either = " OR ".join(conditions)
    return [f"({either})"] if either else []


def _at(path: str) -> str:
    """A file, all of a directory, or a glob; a glob may also be somebody's real name."""
    if not path:
        return "true"
    here = f"relative_path = {quoted(path)} OR starts_with(relative_path, {quoted(path + '/')})"
    return f"({here} OR {_matches(path)})" if is_wild(path) else f"({here})"


def _matches(pattern: str) -> str:
    """The whole path matches; the prefix is cheap to compare and spares most rows the rest."""
    glob = translate(pattern)
    if not is_wild(pattern):
        return f"relative_path = {quoted(pattern)}"
    anchored = rf"\A{glob.regex}\z"
    whole = f"regexp_like(relative_path, {quoted(anchored)})"
    if not glob.prefix:
        return whole
    return f"(starts_with(relative_path, {quoted(glob.prefix)}) AND {whole})"


def _decorated(part: str | None) -> list[str]:
    if part is None:
        return []
    names = f"array_to_string(decorator_names, {quoted(DECORATOR_SEPARATOR)})"
    return [f"(array_length(decorator_names) > 0 AND contains({names}, {quoted(part)}))"]
