"""Checks the list of repositories and the index of each."""

from collections.abc import Callable, Iterator
from pathlib import Path

from asterism.config.settings import Settings
from asterism.engine.doctor.findings import Finding, Verdict, ok, problem, warning
from asterism.engine.status import Status, status_of
from asterism.store.catalogue.schema import SCHEMA_VERSION
from asterism.store.registry import Registered, Registry, State
from asterism.store.registry_file import is_whole
from asterism.types.errors import AsterismError
from asterism.types.files import display_path
from asterism.types.index import Staleness
from asterism.types.index_states import without_advice

CHECK = "Repositories"

_AGAIN = "Run `asterism index {root}`."


def index_findings(data: Path, settings: Callable[[Path], Settings]) -> Iterator[Finding]:
    """The list of repositories, then each of them; a broken one does not stop the check."""
    if not is_whole(data):
        yield problem(
            CHECK,
            "the list of repositories is damaged or missing",
            "The next command that needs it makes it again from the projects' directories.",
        )
        return
    registry = Registry(data)
    known = registry.repositories()
    yield ok(CHECK, f"{len(known):,} known; indexes are of schema {SCHEMA_VERSION}")
    damaged: set[str] = set()
    for registered in known:
        name = registered.repository.name
        try:
            found = _repository(registry, registered, settings)
            if found.verdict is Verdict.problem:
                # Repositories of one project share an index, whose damage is said once.
                if registered.project.id in damaged:
                    continue
                damaged.add(registered.project.id)
            yield found
        except AsterismError as error:
            yield problem(name, str(error))
        except OSError as error:
            yield problem(
                name, f"its index cannot be read ({error.strerror})", "Fix the permissions."
            )
    yield from _orphans(data, {entry.project.id for entry in known})


def _repository(
    registry: Registry, registered: Registered, settings: Callable[[Path], Settings]
) -> Finding:
    root = Path(registered.repository.root)
    if registry.state(registered) is State.moved:
        moved = display_path(str(registry.new_root(registered)))
        name = registered.repository.name
        return warning(name, f"moved to {moved}", _AGAIN.format(root=moved))
    return _judged(status_of(registered, settings(root)))


def _judged(status: Status) -> Finding:
    name, said = status.registered.repository.name, status.judgement.message
    root = display_path(status.registered.repository.root)
    what = without_advice(said)
    match status.judgement.staleness:
        case Staleness.equal | Staleness.content if not status.unfinished:
            # The next query brings in the files that are behind.
            return ok(name, f"{said} {_size(status)}")
        case Staleness.corrupt:
            return problem(name, what, _AGAIN.format(root=root))
        case Staleness.unreadable:
            return problem(name, said)
        case _ if not Path(status.registered.repository.root).is_dir():
            # The message of a directory that is gone says what to do.
            return warning(name, said)
        case _:
            return warning(name, what, _AGAIN.format(root=root))


def _size(status: Status) -> str:
    known = status.statistics
    if known is None:
        return ""
    size = (known.database_bytes + status.chunks_bytes) / 1e6
    second = f" {status.upgrade.sentence}." if status.upgrade is not None else ""
    return f"{known.files:,} files, {known.chunks:,} chunks, {size:,.1f} MB.{second}"


def _orphans(data: Path, projects: set[str]) -> Iterator[Finding]:
    folder = data / "projects"
    found = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
    left = sorted({*found} - projects)
    if left:
        advice = "Run `asterism clean` to remove them."
        yield warning(CHECK, f"{len(left):,} indexes belong to no repository any more", advice)
