"""Sends requests to a model service: addresses, batches, retries, and what a failure means."""

import json
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from threading import Event, Lock
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

from asterism.telemetry.notices import masked_for
from asterism.telemetry.operations import record_retry
from asterism.types.errors import (
    Cancelled,
    ProviderDown,
    ProviderError,
    ProviderRefused,
    SettingError,
)

# The providers' figure for English; code has more tokens for its length, so that limits in
# tokens are kept with a margin.
CHARACTERS_PER_TOKEN = 4


class BatchLimits(NamedTuple):
    """The most that fits into a request."""

    texts: int
    tokens: int


def batches(texts: Sequence[str], limits: BatchLimits) -> Iterator[list[int]]:
    """Positions of texts that go together, in order; blank texts are left out.

    A text that is over the limit alone goes alone: only the provider knows how long it really is.
    """
    batch: list[int] = []
    room = limits.tokens
    for position, text in enumerate(texts):
        if not text.strip():
            continue
        tokens = len(text) // CHARACTERS_PER_TOKEN + 1
        if batch and (len(batch) >= limits.texts or tokens > room):
            yield batch
            batch, room = [], limits.tokens
        batch.append(position)
        room -= tokens
    if batch:
        yield batch


class Errand(NamedTuple):
    """What a service is asked for, as messages and settings call it."""

    wanted: str
    """What it should give: `vectors`."""
    section: str
    """Of the settings: `embedding`."""
    suspects: str
    """The settings to look at when a request is not accepted, in words."""


class ServiceName(NamedTuple):
    """How messages name a service and what the user can set."""

    name: str
    url: str
    """Without user, password and query."""
    key_variables: str
    """Where the key can come from, in words."""
    has_key: bool
    errand: Errand

    def __str__(self) -> str:
        """As messages call it: `Voyage at https://…`."""
        return f"{self.name} at {self.url}"


@dataclass(frozen=True, slots=True)
class Service:
    """Where a model is served, and how much may be asked of it at once."""

    name: str
    url: str
    """Up to and without what is asked for: `/embeddings`, `/rerank`."""
    key_variables: str
    """Where the key can come from, in words."""
    errand: Errand
    limits: BatchLimits
    timeout_seconds: float
    concurrency: int
    key: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        """Refuse what could not even be sent."""
        address = urlsplit(self.url)
        if address.scheme not in ("http", "https") or not address.hostname:
            raise SettingError(
                f"{self.errand.section}.url has to begin with http:// or https:// and a host, like "
                "http://localhost:1234/v1."
            )
        if not (self.key.isascii() and self.key.isprintable() and " " not in self.key):
            raise ProviderRefused(
                f"The key holds characters that no key has; set {self.key_variables} to the key "
                "alone."
            )

    @property
    def shown(self) -> ServiceName:
        """How messages name it."""
        address = urlsplit(self.url)
        place = address.netloc.rpartition("@")[2]
        url = f"{address.scheme}://{place}{address.path}"
        return ServiceName(self.name, url, self.key_variables, bool(self.key), self.errand)


FIRST_WAIT_SECONDS = 1.0


class Patience(NamedTuple):
    """How much waiting is worth an answer."""

    attempts: int
    longest_wait: float
    """Seconds between two attempts; a server that asks for more is given up."""


# An index may take its time: the waits add up to a minute, after which limits that are counted
# by the minute let requests through again.
FOR_DOCUMENTS = Patience(attempts=7, longest_wait=60.0)

# A user waits for the reply to a query.
FOR_QUERIES = Patience(attempts=2, longest_wait=2.0)


class PassingFailure(Exception):
    """An attempt failed in a way that another may not."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        """The reason for the final message; the seconds that the server asked for, if it did."""
        super().__init__(reason)
        self.wait = wait


def wait_before(attempt: int, longest: float) -> float:
    """Seconds before an attempt (the second is 1): doubling, and spread so that clients part."""
    full = min(FIRST_WAIT_SECONDS * 2.0 ** (attempt - 1), longest)
    return full * random.uniform(0.5, 1.0)


def asked_wait(headers: Mapping[str, str]) -> float | None:
    """The seconds a `Retry-After` asks for; a date is read against the server's own clock."""
    value = headers.get("retry-after", "").strip()
    if value.replace(".", "", 1).isdecimal():
        return float(value)
    try:
        then = parsedate_to_datetime(value)
        now = parsedate_to_datetime(headers.get("date", ""))
        return max(0.0, (then - now).total_seconds())
    except (ValueError, TypeError):
        return None


PASSING = {408, 429, 500, 502, 503, 504, 529}

# Servers say this with different statuses; llama.cpp even with 500, which would be sent again.
MAY_BE_TOO_LONG = {400, 413, 422, 500}

# The request as a whole is too large (Voyage, OpenAI, Mistral, text-embeddings-inference).
BATCH_TOO_LARGE = re.compile(
    r"per (?:submitted )?batch|per request|max_tokens_per_request|tokens in batch"
    r"|allowed batch size",
    re.IGNORECASE,
)

# A text is too long: OpenAI and vLLM, OpenAI for one text of several, Voyage, Ollama, LM Studio
# and llama.cpp, text-embeddings-inference.
TEXT_TOO_LONG = re.compile(
    r"context_length_exceeded|maximum context length|maximum input length"
    r"|context window|too many tokens|input length exceeds|exceeds? the (?:available )?context"
    r"|context (?:length|size)|input is too (?:large|long)|must have less than \d+ tokens",
    re.IGNORECASE,
)

# Which text of the request it was, where the server says so.
TEXT_POSITION = re.compile(r"input\[(\d+)\]|at index (\d+)")


class HttpAnswer(NamedTuple):
    """Status, headers (in lower case) and body of a response."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class BatchTooLarge(Exception):
    """The texts have to be sent in smaller portions."""


class TooLong(Exception):
    """A text is over the model's context; `position` in the request where the server said it."""

    def __init__(self, position: int | None) -> None:
        """The position in the request, from 0."""
        super().__init__(position)
        self.position = position


def content_of(answer: HttpAnswer, service: ServiceName) -> Any:
    """What the answer says in JSON; a failure is raised as what it means."""
    if answer.status != 200:
        raise failure(answer, service)
    if answer.body.lstrip()[:1] == b"<":
        raise ProviderRefused(
            f"{service} answered with a web page instead of {service.errand.wanted}; check "
            f"{service.errand.section}.url."
        )
    try:
        return json.loads(answer.body)
    except ValueError as error:
        # The connection broke in the middle, or a proxy cut the answer.
        raise PassingFailure("its answer was cut off") from error


def failure(answer: HttpAnswer, service: ServiceName) -> Exception:
    """What a status other than 200 means; no body is passed on, for it may quote the request."""
    text = answer.body[:10_000].decode("utf-8", "replace")
    if answer.status in MAY_BE_TOO_LONG:
        if BATCH_TOO_LARGE.search(text):
            return BatchTooLarge()
        if TEXT_TOO_LONG.search(text):
            found = TEXT_POSITION.search(text)
            return TooLong(int(found[1] or found[2]) if found else None)
    if answer.status in PASSING:
        reason = "it refuses more requests for now" if answer.status == 429 else "it failed"
        return PassingFailure(f"{reason} (status {answer.status})", asked_wait(answer.headers))
    return _refusal(answer.status, service)


def _refusal(status: int, service: ServiceName) -> ProviderError:
    section = service.errand.section
    if status in (401, 403):
        key = "does not accept the key; check" if service.has_key else "wants a key; set"
        advice = f"{key} {service.key_variables}"
    elif status == 404:
        advice = f"does not know the address or the model; check {section}.url and {section}.model"
    elif 300 <= status < 400:
        advice = f"sends us to another address; check {section}.url"
    else:
        advice = f"does not accept the request; check {service.errand.suspects}"
    return ProviderRefused(f"{service} {advice} (status {status}).")


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
