"""Asynchronous client of the fuel index, which drives the fuel surcharge."""

from __future__ import annotations

import asyncio
import json
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from decimal import Decimal
from types import TracebackType
from typing import Any, Protocol, Self

from .caching import cached_for, retrying
from .errors import UpstreamError

#: Used when the index cannot be reached: last year's average.
FALLBACK_RATE = Decimal("0.12")


class Transport(Protocol):
    """Fetches a URL; replaced by a stub in tests."""

    async def get_json(self, url: str) -> Any: ...


class UrllibTransport:
    """Transport on the standard library, run in a worker thread."""

    def __init__(self, timeout: float = 3.0) -> None:
        self.timeout = timeout

    async def get_json(self, url: str) -> Any:
        def fetch() -> Any:
            with urllib.request.urlopen(url, timeout=self.timeout) as response:
                return json.load(response)

        try:
            return await asyncio.to_thread(fetch)
        except (urllib.error.URLError, json.JSONDecodeError, TimeoutError) as error:
            raise UpstreamError(f"{url}: {error}") from error


class FuelIndexClient:
    """Reads the fuel index through the gateway.

    Use it as an async context manager; leaving it stops any running
    :meth:`watch`.
    """

    def __init__(self, base_url: str, transport: Transport | None = None) -> None:
        self.base_url = base_url.rstrip("/")
        self._transport = transport or UrllibTransport()
        self._closed = asyncio.Event()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._closed.set()

    @cached_for(300)
    @retrying(UpstreamError, attempts=3, delay=0.05)
    async def current_rate(self, region: str = "eu") -> Decimal:
        """The share of the base price that is charged for fuel right now."""
        body = await self._transport.get_json(f"{self.base_url}/v1/fuel-index/{region}")
        return Decimal(str(body["rate"])).quantize(Decimal("0.001"))

    async def rate_or_fallback(self, region: str = "eu") -> Decimal:
        """Like :meth:`current_rate`, but never fails for an unreachable index."""
        try:
            return await self.current_rate(region)
        except UpstreamError:
            return FALLBACK_RATE

    async def watch(self, region: str = "eu", every: float = 300) -> AsyncIterator[Decimal]:
        """Yield the rate each time it has changed, until the client is closed."""
        previous: Decimal | None = None
        while not self._closed.is_set():
            rate = await self.rate_or_fallback(region)
            if rate != previous:
                previous = rate
                yield rate
            try:
                await asyncio.wait_for(self._closed.wait(), timeout=every)
            except TimeoutError:
                continue
