"""What a failed request to a language model means, in our words."""

import json
from collections.abc import Mapping

from asterism.models.http.answers import (
    BATCH_TOO_LARGE,
    PASSING,
    TEXT_TOO_LONG,
    PassingFailure,
    asked_wait,
)
from asterism.models.http.service import Errand, ServiceName
from asterism.types.errors import ProviderDown, ProviderRefused, ReplyCut, TextTooLong

ERRAND = Errand("answer", "model", "model.name and model.url")
"""What a language model is asked for, as messages and settings call it."""

MAY_BE_TOO_LONG = {400, 413, 422, 500}

# Anthropic and others, beside what embedding servers say.
_TOO_LONG = ("prompt is too long", "context_length", "too many input tokens", "exceed_context_size")


def status_failure(
    status: int, headers: Mapping[str, str], body: object, service: ServiceName
) -> Exception:
    """What a status other than 200 means; no body is passed on, for it may quote the request."""
    text = _text(body)
    if status in MAY_BE_TOO_LONG and _says_too_long(text):
        return too_long(service)
    if status in PASSING:
        reason = "it refuses more requests for now" if status == 429 else "it failed"
        lower = {name.lower(): value for name, value in headers.items()}
        return PassingFailure(f"{reason} (status {status})", asked_wait(lower))
    return refusal(status, service)


def too_long(service: ServiceName) -> TextTooLong:
    """The messages are over the model's window."""
    return TextTooLong(
        f"The conversation is longer than {service} can read; ask anew in a new conversation, or "
        "set model.window to what the model can read, so that less is sent."
    )


def refusal(status: int, service: ServiceName) -> ProviderRefused:
    """What to look at when a request is not accepted."""
    if status in (401, 403):
        key = "does not accept the key; check" if service.has_key else "wants a key; set"
        advice = f"{key} {service.key_variables}"
    elif status == 404:
        advice = "does not know the address or the model; check model.url and model.name"
    elif 300 <= status < 400:
        advice = "sends us to another address; check model.url"
    else:
        advice = f"does not accept the request; check {service.errand.suspects}"
    return ProviderRefused(f"{service} {advice} (status {status}).")


def web_page(service: ServiceName) -> ProviderRefused:
    """Something else than a model answers at the address."""
    return ProviderRefused(
        f"{service} answered with something else than a model's answer; check model.url; that of "
        "OpenAI's protocol mostly ends in /v1."
    )


def down(service: ServiceName, failure: PassingFailure, attempts: int) -> ProviderDown:
    """The last of several attempts failed."""
    asked = "" if failure.wait is None else f", and asked to wait for {failure.wait:.0f} seconds"
    tried = "once" if attempts == 1 else f"{attempts} times"
    return ProviderDown(
        f"{service} gave no answer: {failure}{asked} (tried {tried}). Check that it runs and that "
        "model.url is right, try again later, or answer without a model: set model.provider to "
        "extractive."
    )


def cut(service: ServiceName, reason: str) -> ReplyCut:
    """The answer had begun, and there is no more of it."""
    return ReplyCut(f"{service} broke off in the middle of its answer: {reason}. Ask again.")


def _says_too_long(text: str) -> bool:
    lower = text.lower()
    known = any(words in lower for words in _TOO_LONG)
    return known or bool(TEXT_TOO_LONG.search(text) or BATCH_TOO_LARGE.search(text))


def _text(body: object) -> str:
    if isinstance(body, str):
        return body[:10_000]
    return json.dumps(body, default=str)[:10_000]
