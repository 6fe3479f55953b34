"""Where a name stands in a repository: found places by role, exact counts, and other spellings."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from asterism.backends.store.catalogue import Catalogue
from asterism.backends.store.registry import Registered
from asterism.domain.catalogue import FoundSymbol, SymbolQuery
from asterism.domain.errors import IndexMissing
from asterism.domain.index_states import not_indexed
from asterism.domain.request_limits import check_text
from asterism.domain.symbol import Role


@dataclass(frozen=True, slots=True)
class Lookup:
    """The places of a name, definitions first."""

    registered: Registered
    name: str
    symbols: tuple[FoundSymbol, ...]
    """As many as were asked for."""
    counts: Mapping[Role, int]
    """How many there are of each role that occurs, whatever was asked for."""
    did_you_mean: tuple[str, ...] = ()
    """Names of definitions that look like this one; only where nothing was found."""

    @property
    def total(self) -> int:
        """How many places there are."""
        return sum(self.counts.values())


def look_up(registered: Registered, query: SymbolQuery) -> Lookup:
    """Find a name in one repository; an error says what to do where that was never indexed."""
    check_text("name", query.name)
    repository = registered.repository
    with Catalogue.open(registered.project.directory) as catalogue:
        if repository.name not in {known.name for known in catalogue.repositories()}:
            raise IndexMissing(not_indexed(repository.root))
        found: list[FoundSymbol] = []
        counts: dict[Role, int] = {}
        for role in query.roles or tuple(Role):
            page = catalogue.find_symbols(
                replace(
                    query,
                    roles=(role,),
                    by_end=role is Role.DEFINITION,
                    repos=(repository.name,),
                    limit=max(0, query.limit - len(found)),
                )
            )
            found += page.rows
            if page.total:
                counts[role] = page.total
        similar = () if counts else tuple(catalogue.similar_names(query.name))
    return Lookup(registered, query.name, tuple(found), counts, similar)
