"""The operations on the list of repositories: list_repositories, add and remove."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from asterism.operations.addable import Addable
from asterism.operations.calls import Call
from asterism.operations.json import EntryCounts, KnownRepository, known
from asterism.operations.limits import CallReply, plain_account, reply_of
from asterism.operations.operation import Operation, Route
from asterism.operations.requests import AddRepository
from asterism.operations.schema import NOT_A_FLAG, Json, MaxTokens, text
from asterism.types.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class ListRepositories:
    """The list of repositories."""

    max_tokens: MaxTokens = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveRepository:
    """A repository that is to be removed."""

    repository_id: Annotated[
        str, text("Id or name of a repository, from list_repositories."), NOT_A_FLAG
    ]


@dataclass(frozen=True, kw_only=True)
class RepositoryRow(KnownRepository):
    """A repository in a list, with the size of its index."""

    state: str
    files: int
    chunks: int
    note: str | None


@dataclass(frozen=True, kw_only=True)
class _Repositories:
    repositories: tuple[RepositoryRow, ...]


@dataclass(frozen=True, kw_only=True)
class RepositoriesFound(EntryCounts, _Repositories):
    """Every repository that can be searched."""


@dataclass(frozen=True, kw_only=True)
class RepositoryRemoved(KnownRepository):
    """A repository that was removed with its index."""

    removed: bool


def list_repositories(call: Call, _asked: ListRepositories) -> CallReply:
    """Every repository that can be searched."""
    from asterism.engine.status import list_repositories as listed

    rows = tuple(
        RepositoryRow(
            **known(entry.registered),
            state=entry.state.value,
            files=entry.files,
            chunks=entry.chunks,
            note=entry.note or None,
        )
        for entry in listed(call.engine.registry)
    )
    account = plain_account(len(rows), len(rows), call.limit)
    return reply_of(RepositoriesFound(repositories=rows, **account), "repositories", _list_text)


def _list_text(found: Json) -> str:
    lines = [
        f"{row['repository_id']}  {row['state']}  {row['files']:,} files  {row['root']}"
        for row in found["repositories"]
    ]
    left_out = found["total_count"] - found["returned_count"]
    more = [f"{left_out:,} more had no place; raise max_tokens."] if left_out else []
    return "\n".join([*lines, *more]) or "No repository is indexed yet; call index_codebase."


def add_repository(call: Call, asked: AddRepository) -> CallReply:
    """Register a directory, if the user's settings allow it."""
    if not Path(asked.path).is_absolute():
        raise UsageError("path has to be absolute: the directory on the server's machine.")
    addable = call.here.addable or Addable()
    registered = call.engine.register(addable.place(asked.path), asked.name, asked.project)
    return reply_of(KnownRepository(**known(registered)))


def remove_repository(call: Call, _asked: RemoveRepository) -> CallReply:
    """Remove a repository, after the work on it was stopped."""
    registered = call.repository()
    call.host.forget(registered)
    call.engine.remove(registered)
    return reply_of(RepositoryRemoved(**known(registered), removed=True))


OPERATIONS = (
    Operation(
        name="list_repositories",
        title="List repositories",
        description="""\
List the repositories that can be searched: id, project, root, size, and whether each is indexed.

Use it for: the repository_id of another repository, or when a tool asks which one is meant.
Do not use it for: searching the repository the server was started in; it needs no id.

Example: {}""",
        request=ListRepositories,
        reply=RepositoriesFound,
        run=list_repositories,
        is_tool=True,
        route=Route("GET", "/api/repositories"),
    ),
    Operation(
        name="add_repository",
        title="Make a repository known",
        description="""\
Make a directory of the server's machine known, so that it can be indexed and searched. Nothing is \
read yet.""",
        request=AddRepository,
        reply=KnownRepository,
        run=add_repository,
        read_only=False,
        route=Route("POST", "/api/repositories"),
    ),
    Operation(
        name="remove_repository",
        title="Forget a repository",
        description="Remove a repository and its index; the directory itself is not touched.",
        request=RemoveRepository,
        reply=RepositoryRemoved,
        run=remove_repository,
        read_only=False,
        destructive=True,
        route=Route("DELETE", "/api/repositories/{repository_id}"),
    ),
)
