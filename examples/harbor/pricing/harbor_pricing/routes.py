"""Which countries Harbor ships between, and how far apart they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .errors import NoRouteError
from .models import Zone

#: Matches any country on one side of a route.
ANYWHERE = "*"


@dataclass(frozen=True, slots=True)
class Route:
    """A connection between two countries, usable in both directions."""

    origin: str
    destination: str
    zone: Zone
    transit_days: int
    remote_prefixes: tuple[str, ...] = ()

    def is_remote(self, postcode: str) -> bool:
        """Whether a postcode lies on an island or in another remote area."""
        return postcode.startswith(self.remote_prefixes)


class RouteTable:
    """Finds the route for a pair of countries.

    Exact pairs win over wildcard entries, and a country always reaches itself.
    """

    def __init__(self, routes: Iterable[Route] = ()) -> None:
        self._routes: dict[tuple[str, str], Route] = {}
        for route in routes:
            self.add(route)

    def add(self, route: Route) -> None:
        self._routes[route.origin, route.destination] = route
        self._routes.setdefault((route.destination, route.origin), route)

    def lookup(self, origin: str, destination: str) -> Route:
        """Return the best route, or raise :class:`NoRouteError`."""
        for key in self._candidates(origin.upper(), destination.upper()):
            if route := self._routes.get(key):
                return route
        if origin.upper() == destination.upper():
            return Route(origin.upper(), destination.upper(), Zone.DOMESTIC, transit_days=2)
        raise NoRouteError(origin, destination)

    def __contains__(self, pair: tuple[str, str]) -> bool:
        try:
            self.lookup(*pair)
        except NoRouteError:
            return False
        return True

    def __iter__(self) -> Iterator[Route]:
        return iter(dict.fromkeys(self._routes.values()))

    @staticmethod
    def _candidates(origin: str, destination: str) -> Iterator[tuple[str, str]]:
        yield origin, destination
        if origin != destination:
            yield origin, ANYWHERE
            yield ANYWHERE, destination


def default_routes() -> RouteTable:
    """The routes Harbor sells today."""
    return RouteTable(
        [
            Route("DE", "DE", Zone.DOMESTIC, 1, remote_prefixes=("25849", "27498")),
            Route("DE", "NL", Zone.NEIGHBOUR, 2),
            Route("DE", "FR", Zone.NEIGHBOUR, 2, remote_prefixes=("20",)),
            Route("DE", "ES", Zone.CONTINENT, 4, remote_prefixes=("07", "35", "38")),
            Route("DE", "GB", Zone.CONTINENT, 4),
            Route("DE", "US", Zone.OVERSEAS, 7, remote_prefixes=("967", "995")),
            Route("NL", ANYWHERE, Zone.CONTINENT, 5),
        ]
    )
