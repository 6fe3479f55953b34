"""Everything that can go wrong while pricing a parcel."""

from __future__ import annotations


class PricingError(Exception):
    """Base class of all errors raised by this package."""

    #: Sent to clients in the ``error`` field of a response.
    code = "pricing_failed"

    #: HTTP status the gateway answers with.
    status = 500


class InvalidParcelError(PricingError, ValueError):
    """The parcel itself cannot be shipped, whatever the route."""

    code = "invalid_parcel"
    status = 422


class ParcelTooHeavyError(InvalidParcelError):
    """The billable weight is above the limit of the service level."""

    code = "too_heavy"

    def __init__(self, grams: int, limit: int) -> None:
        super().__init__(f"{grams} g is above the limit of {limit} g")
        self.grams = grams
        self.limit = limit


class NoRouteError(PricingError, LookupError):
    """Harbor does not ship between the two countries."""

    code = "no_route"
    status = 404

    def __init__(self, origin: str, destination: str) -> None:
        super().__init__(f"no route from {origin} to {destination}")
        self.origin = origin
        self.destination = destination


class CurrencyMismatchError(PricingError, TypeError):
    """Two amounts of different currencies met in one calculation."""

    code = "currency_mismatch"


class UpstreamError(PricingError):
    """A service that pricing depends on did not give a usable answer."""

    code = "upstream_unavailable"
    status = 503
