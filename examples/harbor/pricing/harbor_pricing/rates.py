"""Base prices by service level, zone and weight."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from .errors import ParcelTooHeavyError
from .models import ServiceLevel, Zone
from .money import Money

#: What a service level costs relative to ``STANDARD``.
SERVICE_FACTORS: Mapping[ServiceLevel, Decimal] = {
    ServiceLevel.ECONOMY: Decimal("0.8"),
    ServiceLevel.STANDARD: Decimal(1),
    ServiceLevel.EXPRESS: Decimal("1.75"),
}


@dataclass(frozen=True)
class WeightBand:
    """All parcels up to a weight cost the same within a zone."""

    up_to_grams: int
    cents_by_zone: tuple[int, int, int, int]


class RateCard:
    """A price list: weight bands in ascending order, one column per zone."""

    def __init__(self, bands: Sequence[WeightBand], currency: str = "EUR") -> None:
        self._bands = sorted(bands, key=lambda band: band.up_to_grams)
        self._limits = [band.up_to_grams for band in self._bands]
        self.currency = currency

    def base_price(self, service: ServiceLevel, zone: Zone, grams: int) -> Money:
        """Price before surcharges and discounts."""
        limit = min(service.max_grams, self._limits[-1])
        if grams > limit:
            raise ParcelTooHeavyError(grams, limit)
        band = self._bands[bisect_left(self._limits, grams)]
        list_price = Money(band.cents_by_zone[zone], self.currency)
        return list_price.scale(SERVICE_FACTORS[service])


STANDARD_RATES = RateCard(
    [
        WeightBand(1_000, (449, 899, 1_299, 2_499)),
        WeightBand(2_000, (549, 1_099, 1_599, 3_299)),
        WeightBand(5_000, (699, 1_499, 1_999, 4_999)),
        WeightBand(10_000, (999, 1_999, 2_799, 7_499)),
        WeightBand(31_500, (1_699, 3_299, 4_499, 12_999)),
    ]
)
