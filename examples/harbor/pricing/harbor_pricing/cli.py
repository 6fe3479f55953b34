"""Command line: price a parcel, or list the routes Harbor sells."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from decimal import Decimal

from .client import FuelIndexClient
from .engine import QuoteEngine, transit_days
from .errors import PricingError
from .models import Parcel, ServiceLevel
from .money import parse_money
from .routes import default_routes


def parse_dimensions(text: str) -> tuple[int, int, int]:
    """Parse ``300x200x100`` (millimetres)."""
    parts = [int(part) for part in text.lower().split("x")]
    if len(parts) != 3:
        raise argparse.ArgumentTypeError("expected LENGTHxWIDTHxHEIGHT")
    return parts[0], parts[1], parts[2]


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="harbor-price", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)

    quote = commands.add_parser("quote", help="price one parcel")
    quote.add_argument("origin")
    quote.add_argument("destination")
    quote.add_argument("--postcode", default="")
    quote.add_argument("--grams", type=int, required=True)
    quote.add_argument("--size", type=parse_dimensions, default=(300, 200, 100))
    quote.add_argument("--service", type=ServiceLevel, default=ServiceLevel.STANDARD)
    quote.add_argument("--value", metavar="AMOUNT", help='declared value, e.g. "900 EUR"')
    quote.add_argument(
        "--fuel-index", metavar="URL", help="gateway to read the fuel index from"
    )
    quote.add_argument("--json", action="store_true")
    quote.set_defaults(run=run_quote)

    route = commands.add_parser("route", help="show how a parcel would travel")
    route.add_argument("origin")
    route.add_argument("destination")
    route.set_defaults(run=run_route)
    return parser


def run_quote(args: argparse.Namespace) -> None:
    """Print the price breakdown of one parcel."""
    parcel = Parcel(
        origin=args.origin,
        destination=args.destination,
        postcode=args.postcode,
        grams=args.grams,
        dimensions=args.size,
        service=args.service,
        declared_value=parse_money(args.value),
    )
    engine = QuoteEngine.default()
    if args.fuel_index:
        engine = QuoteEngine.default(asyncio.run(_fuel_rate(args.fuel_index)))
    quote = engine.quote(parcel)
    if args.json:
        print(json.dumps(quote.to_json(), indent=2))
        return
    for line in quote.lines:
        print(f"{line.label:<16}{line.amount!s:>14}")
    print(f"{'Total':<16}{quote.total!s:>14}")


def run_route(args: argparse.Namespace) -> None:
    """Print zone and transit times between two countries."""
    route = default_routes().lookup(args.origin, args.destination)
    print(f"{args.origin} -> {args.destination}: {route.zone.name.lower()}")
    for level in ServiceLevel:
        print(f"  {level.value:<10}{transit_days(route, level)} days")


async def _fuel_rate(base_url: str) -> Decimal:
    async with FuelIndexClient(base_url) as client:
        return await client.rate_or_fallback()


def main(argv: Sequence[str] | None = None) -> int:
    args = build_parser().parse_args(argv)
    try:
        args.run(args)
    except PricingError as error:
        print(f"harbor-price: {error} ({error.code})", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
