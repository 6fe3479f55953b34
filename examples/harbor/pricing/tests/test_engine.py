"""Prices, line by line."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from harbor_pricing import (
    Money,
    NoRouteError,
    Parcel,
    ParcelTooHeavyError,
    QuoteEngine,
    ServiceLevel,
)
from harbor_pricing.cli import main


@pytest.fixture
def engine() -> QuoteEngine:
    return QuoteEngine.default(fuel_rate=Decimal("0.10"))


@pytest.fixture
def parcel() -> Parcel:
    return Parcel(
        origin="DE",
        destination="FR",
        postcode="75001",
        grams=1_800,
        dimensions=(300, 200, 100),
    )


def labels(engine: QuoteEngine, parcel: Parcel) -> list[str]:
    return [line.label for line in engine.quote(parcel).lines]


def test_base_price_and_fuel(engine: QuoteEngine, parcel: Parcel) -> None:
    quote = engine.quote(parcel)
    assert [line.amount.minor for line in quote.lines] == [1_099, 110]
    assert quote.total == Money(1_209)


def test_volumetric_weight_counts(engine: QuoteEngine, parcel: Parcel) -> None:
    bulky = replace(parcel, grams=500, dimensions=(400, 400, 300))
    assert bulky.billable_grams == 9_600
    assert engine.quote(bulky).total > engine.quote(parcel).total


@pytest.mark.parametrize(
    ("change", "label"),
    [
        ({"postcode": "20090"}, "Remote area"),
        ({"dimensions": (1_300, 100, 50)}, "Oversize"),
        ({"declared_value": Money(80_000)}, "Insurance"),
        ({"grams": 12_000}, "Volume discount"),
    ],
)
def test_surcharges(engine: QuoteEngine, parcel: Parcel, change: dict, label: str) -> None:
    assert label not in labels(engine, parcel)
    assert label in labels(engine, replace(parcel, **change))


def test_express_has_a_lower_weight_limit(engine: QuoteEngine, parcel: Parcel) -> None:
    with pytest.raises(ParcelTooHeavyError) as caught:
        engine.quote(replace(parcel, grams=25_000, service=ServiceLevel.EXPRESS))
    assert caught.value.limit == 20_000


def test_batch_keeps_going_after_an_error(engine: QuoteEngine, parcel: Parcel) -> None:
    first, second = engine.quote_many([replace(parcel, destination="BR"), parcel])
    assert isinstance(first, NoRouteError)
    assert not isinstance(second, Exception)


def test_cheapest_service_meets_the_deadline(engine: QuoteEngine, parcel: Parcel) -> None:
    relaxed = engine.cheapest_service(parcel, max_days=5)
    urgent = engine.cheapest_service(parcel, max_days=1)
    assert relaxed is not None and relaxed.parcel.service is ServiceLevel.ECONOMY
    assert urgent is not None and urgent.parcel.service is ServiceLevel.EXPRESS
    assert engine.cheapest_service(parcel, max_days=0) is None


def test_cli_reports_errors(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["quote", "DE", "FR", "--grams", "900"]) == 0
    assert "Base price" in capsys.readouterr().out
    assert main(["route", "DE", "BR"]) == 1
    assert "no_route" in capsys.readouterr().err
