"""Connections found by scopes, imports and names, for languages that no compiler answers for."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from asterism.analysis.resolve.candidates import GUESS, Declaration, Meaning
from asterism.analysis.resolve.resolver import Resolver
from asterism.analysis.resolve.scopes import FileScope
from asterism.structure.facts import Facts
from asterism.structure.positions import Target
from asterism.structure.repository import IndexedRepository, Moment
from asterism.structure.uses import Uses, find_uses
from asterism.types.outline import Reference
from asterism.types.structure import Connections, Edge, Fact, Known


@dataclass(frozen=True, slots=True)
class ByNameOptions:
    """How much is read for one symbol."""

    max_files: int = 300
    """Files that are read for one name; a name that more mention says little about any of them."""
    max_value: int = 120
    """Characters of a constant's value; a longer one says little in a list."""


DEFAULTS = ByNameOptions()


class ByName:
    """Answers for one repository at one state of its index; files are read as they are now."""

    def __init__(self, repository: IndexedRepository, options: ByNameOptions = DEFAULTS) -> None:
        self._repository = repository
        self._options = options

    def connections(self, target: Target) -> Connections | None:
        """Everything that is known of a symbol; None where its file has it no more."""
        return self.all_connections([target])[0]

    def all_connections(self, targets: Sequence[Target]) -> list[Connections | None]:
        """The same of several, for which each file is looked at once."""
        question = Question(self._repository, self._options)
        return [question.connections(target) for target in targets]

    def question(self) -> "Question":
        """For several questions at one moment, as a tree of calls asks them."""
        return Question(self._repository, self._options)


class Question:
    """One moment of a repository; what was found once is not looked for again."""

    def __init__(self, repository: IndexedRepository, options: ByNameOptions) -> None:
        self._facts = Facts(_ByNames(repository, options), options.max_value)

    def connections(self, target: Target) -> Connections | None:
        """Everything that is known of a symbol; None where its file has it no more."""
        return self._facts.connections(target)


class _ByNames:
    """What names mean by scopes and imports, at one moment."""

    known = Known.by_name

    def __init__(self, repository: IndexedRepository, options: ByNameOptions) -> None:
        self._moment = Moment(repository)
        self._resolver = Resolver(self._moment)
        self._options = options

    def scope(self, path: str) -> FileScope | None:
        """A file as it is now."""
        return self._moment.scope(path)

    def resolve(self, scope: FileScope, reference: Reference) -> Meaning | None:
        """What a name means where it stands."""
        return self._resolver.resolve(scope, reference)

    def bases(self, declaration: Declaration) -> list[tuple[Meaning | None, Reference, bool]]:
        """What a type extends and implements."""
        return self._resolver.bases(declaration)

    def uses(self, declaration: Declaration) -> Uses:
        """Who uses a symbol."""
        return find_uses(self._moment, self._resolver, declaration, self._options.max_files)


def completed(found: Connections, named: Connections, missing: Collection[Fact]) -> Connections:
    """The server's answer, with sure edges by name for the facts that it misses some of."""
    if Fact.calls in missing:
        found = replace(found, calls=_joined(found.calls, named.calls))
    if Fact.subtypes in missing:
        found = replace(found, subtypes=_joined(found.subtypes, named.subtypes))
    if Fact.callers in missing:
        callers = _joined(found.callers, named.callers)
        users = _joined(found.users, named.users)
        found = replace(found, callers=callers, users=users)
    if Fact.references in missing and named.references:
        files = {*(found.references or ()), *named.references}
        found = replace(found, references=tuple(sorted(files)))
    return found


def _joined(resolved: tuple[Edge, ...], named: tuple[Edge, ...]) -> tuple[Edge, ...]:
    """Both; of one name in one line the server's word is the one that counts."""
    places = {(edge.target.path, edge.target.name) for edge in resolved}
    said = {(_last(edge), line) for edge in resolved for line in edge.lines}
    more = [
        edge
        for edge in named
        if edge.confidence > GUESS
        and (edge.target.path, edge.target.name) not in places
        and not any((_last(edge), line) in said for line in edge.lines)
    ]
    return (*resolved, *more)


def _last(edge: Edge) -> str:
    return edge.target.name.rpartition(".")[2]
