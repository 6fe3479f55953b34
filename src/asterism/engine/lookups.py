"""Where a name stands in a repository: found places by role, exact counts, and other spellings."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from asterism.engine.snapshot import Freshness, QuerySnapshot
from asterism.store.registry import Registered
from asterism.types.catalogue import FoundSymbol, SymbolQuery
from asterism.types.symbol import Role


@dataclass(frozen=True, slots=True)
class Lookup:
    """The places of a name, definitions first."""

    registered: Registered
    name: str
    symbols: tuple[FoundSymbol, ...]
    """As many as were asked for."""
    counts: Mapping[Role, int]
    state: Freshness
    version: int
    """Of the index; a later page of the same version continues this one."""
    """How many there are of each role that occurs, whatever was asked for."""
    did_you_mean: tuple[str, ...] = ()
    """Names of definitions that look like this one; only where nothing was found."""

    @property
    def total(self) -> int:
        """How many places there are."""
        return sum(self.counts.values())


def look_up(snapshot: QuerySnapshot, query: SymbolQuery) -> Lookup:
    """Find a name in one repository; an error says what to do where that was never indexed."""
    registered, catalogue = snapshot.registered, snapshot.catalogue
    snapshot.check_known()
    found: list[FoundSymbol] = []
    counts: dict[Role, int] = {}
    for role in query.roles or tuple(Role):
        page = catalogue.find_symbols(
            replace(
                query,
                roles=(role,),
                by_end=role is Role.DEFINITION,
                repos=(registered.repository.name,),
                limit=max(0, query.limit - len(found)),
            )
        )
        found += page.rows
        if page.total:
            counts[role] = page.total
    return Lookup(
        registered=registered,
        name=query.name,
        symbols=tuple(found),
        counts=counts,
        state=snapshot.freshness,
        version=snapshot.version,
        did_you_mean=() if counts else tuple(catalogue.similar_names(query.name)),
    )
