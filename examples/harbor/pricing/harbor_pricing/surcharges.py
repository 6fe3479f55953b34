"""Amounts that are added to, or taken off, the base price."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol, runtime_checkable

from .models import Parcel
from .money import Money
from .routes import Route

REMOTE_FEE = Money(1_200)

#: Declared value that is insured without a surcharge.
FREE_COVER = Money(50_000)


@runtime_checkable
class Surcharge(Protocol):
    """Anything that can contribute a line to a quote."""

    @property
    def label(self) -> str:
        """How the line is named on the quote."""
        ...

    def amount(self, parcel: Parcel, route: Route, base: Money) -> Money:
        """The amount to add; zero when the surcharge does not apply."""
        ...


@dataclass(frozen=True)
class FuelSurcharge:
    """A share of the base price that follows the fuel index."""

    rate: Decimal
    label: str = "Fuel"

    def amount(self, parcel: Parcel, route: Route, base: Money) -> Money:
        return base.scale(self.rate)


@dataclass(frozen=True)
class RemoteAreaSurcharge:
    """A fixed amount for islands and mountains."""

    fee: Money = REMOTE_FEE
    label: str = "Remote area"

    def amount(self, parcel: Parcel, route: Route, base: Money) -> Money:
        return self.fee if route.is_remote(parcel.postcode) else Money.zero(base.currency)


@dataclass(frozen=True)
class InsuranceSurcharge:
    """One percent of the declared value above what is covered for free."""

    free_cover: Money = FREE_COVER
    label: str = "Insurance"

    def amount(self, parcel: Parcel, route: Route, base: Money) -> Money:
        value = parcel.declared_value
        if value is None or value <= self.free_cover:
            return Money.zero(base.currency)
        return (value + -self.free_cover).scale(Decimal("0.01"))


AmountRule = Callable[[Parcel, Route, Money], Money]

#: Surcharges defined with the :func:`surcharge` decorator, in order of definition.
RULES: list[Surcharge] = []


@dataclass(frozen=True)
class _RuleSurcharge:
    label: str
    rule: AmountRule

    def amount(self, parcel: Parcel, route: Route, base: Money) -> Money:
        return self.rule(parcel, route, base)


def surcharge(label: str) -> Callable[[AmountRule], AmountRule]:
    """Register a plain function as a surcharge."""

    def register(rule: AmountRule) -> AmountRule:
        RULES.append(_RuleSurcharge(label, rule))
        return rule

    return register


@surcharge("Oversize")
def oversize(parcel: Parcel, route: Route, base: Money) -> Money:
    """Parcels longer than 1.2 m do not fit on the belt and are carried by hand."""
    return Money(1_500 if parcel.longest_side > 1_200 else 0, base.currency)


@surcharge("Volume discount")
def heavy_discount(parcel: Parcel, route: Route, base: Money) -> Money:
    """Five percent off for parcels above 10 kg, whose base price is steep."""
    if parcel.billable_grams <= 10_000:
        return Money.zero(base.currency)
    return -base.scale(Decimal("0.05"))
