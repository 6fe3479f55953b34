"""Resolves the repository of a call, and paths inside it."""

import os
from pathlib import Path

from asterism.analysis.source.checkouts import enclosing_checkout, on_disk
from asterism.engine.engine import Engine
from asterism.operations.calls import Standpoint
from asterism.operations.schema import Json
from asterism.store.registry import Registered, check_root
from asterism.types.errors import IndexMissing, PathMissing, PathOutside, RepositoryUnclear
from asterism.types.files import display_path

HIDDEN = "…"
"""Replaces a path of the machine that a reply must not name."""
_OUTSIDE = ("/", "~", "..")
_LISTED = 20
"""Repositories that an error names; list_repositories shows the rest."""
_LONGEST_NAME, _LONGEST_PATH = 255, 4096
"""Bytes of a file's name and of a whole path, as systems have them."""


def repository_for(engine: Engine, here: Standpoint, arguments: Json) -> Registered:
    """The repository of a call: by id, project or path, else where the server was started."""
    named = _named(engine, arguments)
    if named is not None:
        return named
    path = arguments.get("file_path", arguments.get("path"))
    first = path[0] if isinstance(path, list) and path else path
    if isinstance(first, str) and Path(first).is_absolute():
        return _around(engine, Path(first))
    own = own_repository(engine, here)
    if isinstance(first, str):
        # What leads out of a repository does not mean it.
        inside(own, first)
    return own


def own_repository(engine: Engine, here: Standpoint) -> Registered:
    """The repository that the server was started in, else the only one there is."""
    if here.directory is not None:
        found = engine.registry.find(here.directory)
        if found is not None:
            return found
    known = engine.registry.repositories()
    is_checkout = here.directory is not None and enclosing_checkout(str(here.directory)) is not None
    if len(known) == 1 and not is_checkout:
        return known[0]
    if is_checkout or not known:
        raise IndexMissing("The repository that the server was started in is not indexed yet.")
    raise RepositoryUnclear(
        f"It is not clear which repository is meant. There are {_listed(known)}."
    )


def _named(engine: Engine, arguments: Json) -> Registered | None:
    """The repository that ids name, if any does."""
    # Chats call it by the shorter name.
    repository = arguments.get("repository_id", arguments.get("repository"))
    project = arguments.get("project_id")
    if repository is None and project is None:
        return None
    known = engine.registry.repositories(project)
    if not known:
        everything = engine.registry.repositories()
        raise RepositoryUnclear(
            f"There is no project {display_path(str(project))}. There are {_listed(everything)}."
            if project is not None
            else "No repository is indexed yet."
        )
    if repository is None:
        if len(known) == 1:
            return known[0]
        raise RepositoryUnclear(
            f"The project {display_path(str(project))} has several repositories: {_listed(known)}."
        )
    for exact in (
        [entry for entry in known if entry.repository.id == repository],
        [entry for entry in known if entry.repository.name == repository],
    ):
        if len(exact) == 1:
            return exact[0]
        if exact:
            raise RepositoryUnclear(
                f"Several repositories are called {display_path(repository)}: {_listed(exact)}."
            )
    raise RepositoryUnclear(
        f"There is no repository {display_path(repository)}. There are {_listed(known)}."
    )


def _around(engine: Engine, path: Path) -> Registered:
    # Whether something exists out there is not told: the answer is the same.
    found = engine.registry.find(Path(on_disk(str(path))))
    if found is None:
        raise PathOutside(
            f"{display_path(str(path))} is in no repository that is known. Give a path inside one; "
            "the user makes others known with `asterism index PATH`."
        )
    return found


def inside(registered: Registered, typed: str) -> Path:
    """The place in a repository that a path means; it does not have to exist."""
    _check_length(typed)
    check_root(registered)
    root = registered.repository.root
    plain = os.path.normpath(Path(root, typed))
    if _is_below(plain, root):
        plain = on_disk(plain)
    for place in (plain, os.path.realpath(plain)):
        if not _is_below(place, root):
            raise PathOutside(
                f"{display_path(typed)} leads out of {registered.repository.name}; give a path "
                "inside it, from its root."
            )
    return Path(plain)


def _check_length(typed: str) -> None:
    """Refuse paths longer than any system allows, before the file system is called."""
    longest = max(len(os.fsencode(part)) for part in typed.split("/"))
    if longest > _LONGEST_NAME or len(os.fsencode(typed)) > _LONGEST_PATH:
        raise PathMissing(f"{display_path(typed[:80])}… is too long for a path; check it.")


def to_index(engine: Engine, here: Standpoint, arguments: Json) -> Registered:
    """The repository to index: a known one, or the one that the server was started in."""
    typed = arguments.get("path")
    named = _named(engine, arguments)
    if named is not None:
        return named
    if here.directory is None:
        return repository_for(engine, here, {"path": typed})
    own = here.directory if here.is_root else engine.root_for(here.directory)
    target = own
    if typed is not None:
        target = Path(os.path.realpath(on_disk(str(Path(here.directory, typed)))))
    known = engine.registry.find(target)
    if known is not None:
        return known
    if not _is_below(str(target), os.path.realpath(own)):
        raise PathOutside(
            f"{display_path(str(typed))} is in no repository that is known, nor where the server "
            "was started. The user indexes it once with `asterism index PATH`."
        )
    if target in here.too_wide:
        raise PathOutside(
            "The server was started in a home directory or at the root of the disk, which is not "
            "indexed as a whole; give the path of a repository in `path`."
        )
    if here.addable is not None:
        here.addable.place(str(target))
    return engine.register(target)


def _is_below(place: str, root: str) -> bool:
    return place == root or place.startswith(root.rstrip(os.sep) + os.sep)


def _listed(known: list[Registered]) -> str:
    if not known:
        return "none"
    shown = [
        f"{entry.repository.id} ({display_path(entry.repository.name)})"
        for entry in known[:_LISTED]
    ]
    more = f" and {len(known) - _LISTED:,} more" if len(known) > _LISTED else ""
    return ", ".join(shown) + more


def shown_detail(detail: str | None, root: str) -> str | None:
    """Why a file is left out; a place outside of the repository is shortened to its last name.

    A detail begins with the place of a rule, and the rule behind it, or with a link's target.
    """
    if detail is None or not detail.startswith(_OUTSIDE) or detail.startswith(f"{root}/"):
        return detail
    place, colon, rule = detail.partition(": ")
    return f"{HIDDEN}/{place.rpartition('/')[2]}{colon}{rule}"
