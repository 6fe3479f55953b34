"""What a service's answer means: content, or which failure."""

import json
import random
import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple

from asterism.models.http.service import ServiceName
from asterism.types.errors import ProviderError, ProviderRefused

FIRST_WAIT_SECONDS = 1.0


class Patience(NamedTuple):
    """How much waiting is worth an answer."""

    attempts: int
    longest_wait: float
    """Seconds between two attempts; a server that asks for more is given up."""


# An index may take its time: the waits add up to a minute, after which limits that are counted
# by the minute let requests through again.
FOR_DOCUMENTS = Patience(attempts=7, longest_wait=60.0)

# Somebody waits for the reply to a question.
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
