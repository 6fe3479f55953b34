"""Price calculation for Harbor parcels.

The one entry point most callers need is :class:`QuoteEngine`::

    from harbor_pricing import QuoteEngine

    quote = QuoteEngine.default().quote(parcel)
    print(quote.total)
"""

from .engine import QuoteEngine
from .errors import NoRouteError, ParcelTooHeavyError, PricingError
from .models import Parcel, Quote, QuoteLine, ServiceLevel, Zone
from .money import Money
from .routes import Route, RouteTable

__all__ = [
    "Money",
    "NoRouteError",
    "Parcel",
    "ParcelTooHeavyError",
    "PricingError",
    "Quote",
    "QuoteEngine",
    "QuoteLine",
    "Route",
    "RouteTable",
    "ServiceLevel",
    "Zone",
]

__version__ = "0.8.0"
