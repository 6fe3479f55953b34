"""The values that go into a price calculation and come out of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import Enum, IntEnum
from typing import Any

from .errors import InvalidParcelError
from .money import Money

#: Cubic millimetres that are charged like one gram (a divisor of 5000 cm3 per kg).
VOLUMETRIC_DIVISOR = 5000


class ServiceLevel(str, Enum):
    """How fast a parcel travels; mirrors ``ServiceLevel`` in ``web/src/types.ts``."""

    ECONOMY = "economy"
    STANDARD = "standard"
    EXPRESS = "express"

    @property
    def max_grams(self) -> int:
        """Heaviest billable weight this level accepts."""
        return 20_000 if self is ServiceLevel.EXPRESS else 31_500


class Zone(IntEnum):
    """Distance class of a route. Higher is farther and dearer."""

    DOMESTIC = 0
    NEIGHBOUR = 1
    CONTINENT = 2
    OVERSEAS = 3


@dataclass(frozen=True, kw_only=True)
class Parcel:
    """A parcel as the customer describes it."""

    origin: str
    destination: str
    postcode: str
    grams: int
    dimensions: tuple[int, int, int]
    service: ServiceLevel = ServiceLevel.STANDARD
    declared_value: Money | None = None

    def __post_init__(self) -> None:
        if self.grams <= 0:
            raise InvalidParcelError("the weight has to be positive")
        if any(side <= 0 for side in self.dimensions):
            raise InvalidParcelError("every dimension has to be positive")

    @property
    def volumetric_grams(self) -> int:
        """Weight a parcel of this size is assumed to have."""
        length, width, height = self.dimensions
        return length * width * height // VOLUMETRIC_DIVISOR

    @property
    def billable_grams(self) -> int:
        """The greater of actual and volumetric weight."""
        return max(self.grams, self.volumetric_grams)

    @property
    def longest_side(self) -> int:
        return max(self.dimensions)

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Parcel:
        """Build a parcel from the JSON of a ``POST /v1/quotes`` request."""
        try:
            length, width, height = body["dimensions"]
            return cls(
                origin=body["origin"]["country"],
                destination=body["destination"]["country"],
                postcode=body["destination"]["postcode"],
                grams=int(body["weightGrams"]),
                dimensions=(int(length), int(width), int(height)),
                service=ServiceLevel(body.get("service", "standard")),
            )
        except (KeyError, TypeError, ValueError) as error:
            if isinstance(error, InvalidParcelError):
                raise
            raise InvalidParcelError(f"malformed parcel: {error}") from error


@dataclass(frozen=True, slots=True)
class QuoteLine:
    """One line of a price breakdown."""

    label: str
    amount: Money


def _in_one_hour() -> datetime:
    return datetime.now(UTC) + timedelta(hours=1)


@dataclass(frozen=True)
class Quote:
    """The price of a parcel, with the lines that add up to it."""

    parcel: Parcel
    lines: tuple[QuoteLine, ...]
    expires_at: datetime = field(default_factory=_in_one_hour)

    @property
    def total(self) -> Money:
        return sum((line.amount for line in self.lines[1:]), start=self.lines[0].amount)

    def to_json(self) -> dict[str, Any]:
        return {
            "total": {"minor": self.total.minor, "currency": self.total.currency},
            "lines": [
                {
                    "label": line.label,
                    "amount": {"minor": line.amount.minor, "currency": line.amount.currency},
                }
                for line in self.lines
            ],
            "billableGrams": self.parcel.billable_grams,
            "expiresAt": self.expires_at.isoformat(),
        }
