"""Whether a chunk passes a filter, in plain Python; the meaning that the SQL of Lance has too."""

from collections.abc import Callable

from asterism.store.path_globs import is_wild, matcher
from asterism.store.rows import comparable
from asterism.types.chunk import Chunk
from asterism.types.deadlines import check_deadline
from asterism.types.files import display_path
from asterism.types.filters import Filter

DECORATOR_SEPARATOR = "\x1f"
"""Between the names of decorators where they are searched as one text."""


def predicate(where: Filter) -> Callable[[Chunk], bool]:
    """Return the test that a stored chunk has to pass."""
    where = comparable(where)

    def passes(chunk: Chunk) -> bool:
        check_deadline()
        return (
            _one_of(chunk.repo, where.repos)
            and _one_of(chunk.node_kind, where.kinds)
            and _one_of(chunk.extension, where.extensions)
            and _one_of(chunk.language, where.languages)
            and where.is_exported in (None, chunk.is_exported)
            and where.has_docstring in (None, chunk.docstring is not None)
            and _decorated(chunk, where.decorator_contains)
            and _path_passes(chunk.relative_path, where)
        )

    return passes


def path_test(where: Filter) -> Callable[[str], bool]:
    """Return the test that a path has to pass; what a filter says of chunks does not count."""
    where = comparable(where)

    def passes(path: str) -> bool:
        check_deadline()
        return _path_passes(display_path(path), where)

    return passes


def place(path: str) -> str:
    """A file or directory as the user wrote it, without what says nothing: `./src/` is `src`."""
    while path.startswith("./"):
        path = path[2:]
    path = path.rstrip("/")
    return "" if path == "." else path


def _path_passes(path: str, where: Filter) -> bool:
    return (
        (not where.paths or any(_is_at(path, place(given)) for given in where.paths))
        and (not where.path_prefixes or path.startswith(where.path_prefixes))
        and all(part in path for part in where.path_contains)
        and not any(part in path for part in where.path_not_contains)
        and (not where.path_globs or any(matcher(glob)(path) for glob in where.path_globs))
    )


def _is_at(path: str, given: str) -> bool:
    # Brackets occur in real names (`app/[id]/page.tsx`), so a glob may also mean itself.
    return (
        given in ("", path)
        or path.startswith(f"{given}/")
        or (is_wild(given) and matcher(given)(path))
    )


def _one_of(value: str, allowed: tuple[str, ...]) -> bool:
    return not allowed or value in allowed


def _decorated(chunk: Chunk, part: str | None) -> bool:
    return part is None or (
        bool(chunk.decorator_names) and part in DECORATOR_SEPARATOR.join(chunk.decorator_names)
    )
