"""A service that is asked with patience: the same request again after a failure that may pass."""

from collections.abc import Callable, Mapping
from threading import Event, Lock
from typing import NamedTuple, TypeVar

from asterism.models.http.answers import HttpAnswer, PassingFailure, Patience, wait_before
from asterism.models.http.service import Service, ServiceName
from asterism.telemetry.notices import masked_for
from asterism.telemetry.operations import record_retry
from asterism.types.errors import Cancelled, ProviderDown

# A server that is there accepts a connection much sooner, whatever it needs for an answer.
CONNECT_SECONDS = 10.0


class HttpConnection(NamedTuple):
    """A service to send requests to; connections are used again."""

    post: Callable[[Mapping[str, object]], HttpAnswer]
    close: Callable[[], None]


def connect(url: str, key: str, timeout_seconds: float, connections: int) -> HttpConnection:
    """Nothing is sent yet; `key` may be empty."""
    import httpx

    client = httpx.Client(
        headers={"Authorization": f"Bearer {key}"} if key else {},
        timeout=httpx.Timeout(timeout_seconds, connect=min(timeout_seconds, CONNECT_SECONDS)),
        limits=httpx.Limits(max_connections=connections, max_keepalive_connections=connections),
    )

    def post(body: Mapping[str, object]) -> HttpAnswer:
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
        return HttpAnswer(response.status_code, headers, response.content)

    return HttpConnection(post, client.close)


_Result = TypeVar("_Result")


class RetryingClient:
    """One address of a service; threads may share it."""

    def __init__(
        self, service: Service, route: str, sleep: Callable[[float], object] | None = None
    ) -> None:
        """Nothing is sent yet; `route` is what follows the service's address."""
        self._service = service
        self._shown = service.shown
        self._route = route
        self._sleep = sleep
        self._lock = Lock()
        self._connection: HttpConnection | None = None

    def ask(
        self,
        body: Mapping[str, object],
        read: Callable[[HttpAnswer], _Result],
        patience: Patience,
        stop: Event,
    ) -> _Result:
        """What `read` makes of the answer, as soon as one of several attempts succeeds.

        Tokens in the body's texts are masked.
        """
        sleep = self._sleep or stop.wait
        # Here, where every text passes on its way to a service: no caller can forget it.
        body = masked_for(self._shown.errand.section, body)
        attempt = 0
        while not stop.is_set():
            attempt += 1
            try:
                return read(self._connected().post(body))
            except PassingFailure as failure:
                asked, longest = failure.wait, patience.longest_wait
                if attempt == patience.attempts or (asked or 0) > longest:
                    raise _down(self._shown, failure, attempt) from None
                pause = wait_before(attempt, longest) if asked is None else asked
                record_retry(self._shown.errand.section, self._shown.name, str(failure))
            sleep(pause)
        raise Cancelled("The request was stopped.")

    def close(self) -> None:
        """Let go of the connections; a later request opens new ones."""
        with self._lock:
            connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _connected(self) -> HttpConnection:
        service = self._service
        with self._lock:
            if self._connection is None:
                address = f"{service.url.rstrip('/')}/{self._route}"
                self._connection = connect(
                    address, service.key, service.timeout_seconds, service.concurrency
                )
            return self._connection


def _down(service: ServiceName, failure: PassingFailure, attempts: int) -> ProviderDown:
    asked = "" if failure.wait is None else f", and asked to wait for {failure.wait:.0f} seconds"
    tried = "once" if attempts == 1 else f"{attempts} times"
    return ProviderDown(
        f"{service} gave no {service.errand.wanted}: {failure}{asked} (tried {tried}). Check that "
        f"it runs and that {service.errand.section}.url is right, or try again later."
    )
