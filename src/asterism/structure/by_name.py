"""Connections found by scopes, imports and names, for languages that no compiler answers for."""

from collections.abc import Sequence
from dataclasses import dataclass

from asterism.analysis.resolve.candidates import Declaration, Meaning
from asterism.analysis.resolve.resolver import Resolver
from asterism.analysis.resolve.scopes import FileScope
from asterism.structure.facts import Facts
from asterism.structure.positions import Target
from asterism.structure.repository import IndexedRepository, Moment
from asterism.structure.uses import Uses, find_uses
from asterism.types.outline import Reference
from asterism.types.structure import Connections, Known


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
