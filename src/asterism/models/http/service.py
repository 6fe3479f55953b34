"""Where somebody else's model is served, and what messages may say of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import urlsplit

from asterism.types.errors import ProviderRefused, SettingError

# What all providers say of English; code has more tokens for its length, so that limits in
# tokens are kept with room to spare.
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
        """What messages may say of it."""
        address = urlsplit(self.url)
        place = address.netloc.rpartition("@")[2]
        url = f"{address.scheme}://{place}{address.path}"
        return ServiceName(self.name, url, self.key_variables, bool(self.key), self.errand)
