"""Puts routes, rates and surcharges together into a price."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal

from .errors import PricingError
from .models import Parcel, Quote, QuoteLine, ServiceLevel
from .money import Money
from .rates import STANDARD_RATES, RateCard
from .routes import Route, RouteTable, default_routes
from .surcharges import RULES, FuelSurcharge, InsuranceSurcharge, RemoteAreaSurcharge, Surcharge

#: No parcel is carried for less, whatever the discounts say.
MINIMUM_PRICE = Money(299)


class QuoteEngine:
    """Computes the price of parcels.

    The price is the base price of the rate card for the route's zone and the
    billable weight, plus every surcharge that applies, but never less than
    :data:`MINIMUM_PRICE`.
    """

    def __init__(
        self,
        routes: RouteTable,
        rates: RateCard,
        surcharges: Sequence[Surcharge] = (),
    ) -> None:
        self.routes = routes
        self.rates = rates
        self.surcharges = tuple(surcharges)

    @classmethod
    def default(cls, fuel_rate: Decimal = Decimal("0.12")) -> QuoteEngine:
        """An engine with today's routes, rates and rules."""
        fixed = (FuelSurcharge(fuel_rate), RemoteAreaSurcharge(), InsuranceSurcharge())
        return cls(default_routes(), STANDARD_RATES, (*fixed, *RULES))

    def quote(self, parcel: Parcel) -> Quote:
        """Compute the price of one parcel, line by line."""
        route = self.routes.lookup(parcel.origin, parcel.destination)
        base = self.rates.base_price(parcel.service, route.zone, parcel.billable_grams)
        lines = [QuoteLine("Base price", base), *self._surcharge_lines(parcel, route, base)]

        quote = Quote(parcel, tuple(lines))
        if quote.total < MINIMUM_PRICE:
            top_up = QuoteLine("Minimum price", MINIMUM_PRICE + -quote.total)
            return replace(quote, lines=(*quote.lines, top_up))
        return quote

    def quote_many(self, parcels: Iterable[Parcel]) -> Iterator[Quote | PricingError]:
        """Price a batch; a parcel that cannot be priced yields its error instead."""
        for parcel in parcels:
            try:
                yield self.quote(parcel)
            except PricingError as error:
                yield error

    def cheapest_service(self, parcel: Parcel, max_days: int) -> Quote | None:
        """The cheapest level that arrives in time, or ``None`` if none does."""
        route = self.routes.lookup(parcel.origin, parcel.destination)

        def arrives_in_time(level: ServiceLevel) -> bool:
            return transit_days(route, level) <= max_days

        candidates = [
            self.quote(replace(parcel, service=level))
            for level in filter(arrives_in_time, ServiceLevel)
        ]
        return min(candidates, key=lambda quote: quote.total, default=None)

    def _surcharge_lines(
        self, parcel: Parcel, route: Route, base: Money
    ) -> Iterator[QuoteLine]:
        for surcharge in self.surcharges:
            if amount := surcharge.amount(parcel, route, base):
                yield QuoteLine(surcharge.label, amount)


def transit_days(route: Route, level: ServiceLevel) -> int:
    """Days on the road: express halves them, economy adds two."""
    match level:
        case ServiceLevel.EXPRESS:
            return max(1, route.transit_days // 2)
        case ServiceLevel.ECONOMY:
            return route.transit_days + 2
        case _:
            return route.transit_days
