"""Exact amounts of money in minor units."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from functools import total_ordering
from typing import overload

from .errors import CurrencyMismatchError


@total_ordering
@dataclass(frozen=True, slots=True)
class Money:
    """An amount in the minor unit of its currency, for example cents.

    The ledger (``ledger/src/money.rs``) uses the same representation, so that
    no amount is ever converted on the way from a quote to a booking.
    """

    minor: int
    currency: str = "EUR"

    @classmethod
    def zero(cls, currency: str = "EUR") -> Money:
        return cls(0, currency)

    def scale(self, factor: Decimal) -> Money:
        """Multiply by a factor, rounding half to even."""
        scaled = (Decimal(self.minor) * factor).quantize(Decimal(1), rounding=ROUND_HALF_EVEN)
        return Money(int(scaled), self.currency)

    def __add__(self, other: Money) -> Money:
        self._require_same_currency(other)
        return Money(self.minor + other.minor, self.currency)

    def __neg__(self) -> Money:
        return Money(-self.minor, self.currency)

    def __lt__(self, other: Money) -> bool:
        self._require_same_currency(other)
        return self.minor < other.minor

    def __bool__(self) -> bool:
        return self.minor != 0

    def __str__(self) -> str:
        sign = "-" if self.minor < 0 else ""
        units, cents = divmod(abs(self.minor), 100)
        return f"{sign}{units}.{cents:02d} {self.currency}"

    def _require_same_currency(self, other: Money) -> None:
        if self.currency != other.currency:
            raise CurrencyMismatchError(f"{self.currency} is not {other.currency}")


@overload
def parse_money(text: None) -> None: ...
@overload
def parse_money(text: str) -> Money: ...
def parse_money(text: str | None) -> Money | None:
    """Parse ``"12.50 EUR"``; the currency may be left out and ``None`` passes through."""
    if text is None:
        return None
    number, _, currency = text.strip().partition(" ")
    return Money(int(Decimal(number) * 100), currency or "EUR")
