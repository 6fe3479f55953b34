"""Route lookups, and the fuel index client against a stub transport."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import Any

import pytest

from harbor_pricing import NoRouteError, Route, RouteTable, Zone
from harbor_pricing.client import FALLBACK_RATE, FuelIndexClient
from harbor_pricing.errors import UpstreamError
from harbor_pricing.routes import default_routes


class TestRouteTable:
    def test_lookup_works_in_both_directions(self) -> None:
        table = default_routes()
        assert table.lookup("FR", "DE") is table.lookup("de", "fr")

    def test_exact_pairs_win_over_wildcards(self) -> None:
        table = default_routes()
        assert table.lookup("NL", "DE").zone is Zone.NEIGHBOUR
        assert table.lookup("NL", "PT").zone is Zone.CONTINENT

    def test_a_country_reaches_itself(self) -> None:
        assert RouteTable().lookup("FR", "FR").zone is Zone.DOMESTIC

    def test_unknown_pairs_raise(self) -> None:
        with pytest.raises(NoRouteError):
            RouteTable().lookup("FR", "JP")
        assert ("FR", "JP") not in RouteTable()

    def test_iteration_names_each_route_once(self) -> None:
        route = Route("DE", "AT", Zone.NEIGHBOUR, 2)
        assert list(RouteTable([route])) == [route]


class StubTransport:
    """Answers with the given values in turn; exceptions are raised."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.calls = 0

    async def get_json(self, url: str) -> Any:
        self.calls += 1
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def test_rate_is_retried_and_then_cached() -> None:
    transport = StubTransport(UpstreamError("down"), {"rate": 0.131})

    async def scenario() -> list[Decimal]:
        client = FuelIndexClient("http://gateway.invalid/", transport)
        return [await client.current_rate(), await client.current_rate()]

    assert asyncio.run(scenario()) == [Decimal("0.131")] * 2
    assert transport.calls == 2


def test_fallback_when_the_index_stays_down() -> None:
    transport = StubTransport(*[UpstreamError("down")] * 3)
    client = FuelIndexClient("http://gateway.invalid", transport)
    assert asyncio.run(client.rate_or_fallback()) == FALLBACK_RATE


def test_watch_ends_when_the_client_closes() -> None:
    async def scenario() -> list[Decimal]:
        seen = []
        async with FuelIndexClient(
            "http://gateway.invalid", StubTransport({"rate": 0.2})
        ) as client:
            async for rate in client.watch(every=0.01):
                seen.append(rate)
                await client.__aexit__(None, None, None)
        return seen

    assert asyncio.run(scenario()) == [Decimal("0.200")]
