"""Decorators shared by the clients of this package."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")

AsyncMethod = Callable[Concatenate[S, P], Coroutine[Any, Any, R]]


def cached_for(
    seconds: float, clock: Callable[[], float] = time.monotonic
) -> Callable[[AsyncMethod[S, P, R]], AsyncMethod[S, P, R]]:
    """Keep the last result of an async method for a while, per instance and arguments."""

    def decorate(method: AsyncMethod[S, P, R]) -> AsyncMethod[S, P, R]:
        attribute = f"_cached_{method.__name__}"

        @wraps(method)
        async def wrapper(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
            cache: dict[object, tuple[float, R]] = self.__dict__.setdefault(attribute, {})
            key = (args, tuple(sorted(kwargs.items())))
            hit = cache.get(key)
            if hit is not None and clock() - hit[0] < seconds:
                return hit[1]
            value = await method(self, *args, **kwargs)
            cache[key] = (clock(), value)
            return value

        return wrapper

    return decorate


def retrying(
    *exceptions: type[BaseException], attempts: int = 3, delay: float = 0.2
) -> Callable[[Callable[P, Awaitable[R]]], Callable[P, Coroutine[Any, Any, R]]]:
    """Call an async function again when it raises one of the exceptions."""

    def decorate(function: Callable[P, Awaitable[R]]) -> Callable[P, Coroutine[Any, Any, R]]:
        @wraps(function)
        async def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
            for attempt in range(1, attempts):
                try:
                    return await function(*args, **kwargs)
                except exceptions:
                    await asyncio.sleep(delay * attempt)
            return await function(*args, **kwargs)

        return wrapper

    return decorate
