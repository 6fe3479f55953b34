"""Requests to a service; the only place that knows httpx."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from asterism.models.http.answers import Answer
from asterism.models.http.retries import PassingFailure

# A server that is there accepts a connection much sooner, whatever it needs for an answer.
CONNECT_SECONDS = 10.0


class Connection(NamedTuple):
    """A service to send requests to; connections are used again."""

    post: Callable[[Mapping[str, object]], Answer]
    close: Callable[[], None]


def connect(url: str, key: str, timeout_seconds: float, connections: int) -> Connection:
    """Nothing is sent yet; `key` may be empty."""
    import httpx

    client = httpx.Client(
        headers={"Authorization": f"Bearer {key}"} if key else {},
        timeout=httpx.Timeout(timeout_seconds, connect=min(timeout_seconds, CONNECT_SECONDS)),
        limits=httpx.Limits(max_connections=connections, max_keepalive_connections=connections),
    )

    def post(body: Mapping[str, object]) -> Answer:
        # Causes are left out: a foreign error holds the request, and the request the key.
        try:
            response = client.post(url, json=body)
        except httpx.TimeoutException:
            raise PassingFailure("it did not answer in time") from None
        except httpx.ConnectError:
            raise PassingFailure("nothing answers at this address") from None
        except httpx.HTTPError:
            raise PassingFailure("the connection broke") from None
        headers = {name.lower(): value for name, value in response.headers.items()}
        return Answer(response.status_code, headers, response.content)

    return Connection(post, client.close)
