"""A model that a vendor's own library talks to: requests, streams, and what failures mean."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from typing import Any, ClassVar, Literal

from asterism.models.http.service import CONNECT_SECONDS, BatchLimits, PassingFailure, Service
from asterism.models.llm.options import DEFAULT_URLS, LlmOptions, key_variables, window_of
from asterism.models.llm.protocol import ModelRequest
from asterism.models.llm.stream import (
    ERRAND,
    Persistence,
    Pieces,
    StreamedReply,
    loaded,
    persistently,
    status_failure,
)
from asterism.types.errors import SettingError


class VendorModel:
    """What the libraries of both vendors, which are built alike, have in common.

    A subclass knows the vendor's requests, events and headers.
    """

    provider: ClassVar[Literal["openai", "anthropic"]]
    """The provider's name in settings, and that of its library."""
    service_name: ClassVar[str]
    """What messages call it."""
    client_class: ClassVar[str]
    error_class: ClassVar[str]
    """The base of all that the library raises."""
    examples: ClassVar[str]
    """What `model.name` may be set to."""
    calls_tools = True

    def __init__(
        self, options: LlmOptions, sleep: Callable[[float], Awaitable[object]] | None = None
    ) -> None:
        """Nothing is sent or loaded yet; `sleep` waits between two attempts."""
        if not options.model:
            raise SettingError(f"model.name is not set; set it to {self.examples}.")
        self.model_id = options.model
        self.window = window_of(options)
        self._service = Service(
            name=self.service_name,
            url=options.url or DEFAULT_URLS[self.provider],
            key_variables=key_variables(options),
            errand=ERRAND,
            limits=BatchLimits(1, 0),
            timeout_seconds=options.timeout_seconds,
            concurrency=1,
            key=options.api_key.strip(),
        )
        how = Persistence(options.attempts, options.total_seconds)
        self._how = how if sleep is None else how._replace(sleep=sleep)
        self._opened_client: Any = None

    def reply(self, request: ModelRequest) -> Pieces:
        """Stream an answer."""
        return persistently(lambda: self._attempt(request), self._service.shown, self._how)

    async def close(self) -> None:
        """Let go of the connections; a later request opens new ones."""
        client, self._opened_client = self._opened_client, None
        if client is not None:
            await client.close()

    async def _attempt(self, request: ModelRequest) -> Pieces:
        library, stream = await loaded(self.provider, self._library), None
        import httpx2

        # Causes are left out: a foreign error holds the request, and the request the key.
        try:
            stream = await self._opened(request)
            reading = StreamedReply(self.model_id)
            async for event in stream:
                for piece in self._pieces(event, reading):
                    yield piece
            kind = str(stream.response.headers.get("content-type", ""))
            yield reading.reply(kind, self._service.shown)
        except (library.APITimeoutError, httpx2.TimeoutException):
            # The library maps what happens before a stream, and leaves the stream to its reader.
            raise PassingFailure("it did not answer in time") from None
        except library.APIConnectionError as error:
            # The library wraps a connection that broke and one that never was alike.
            reached = "Connect" not in type(error.__cause__).__name__
            said = "the connection broke" if reached else "nothing answers at this address"
            raise PassingFailure(said) from None
        except library.APIStatusError as error:
            status, headers = self._status(error), dict(error.response.headers)
            body = error.body or error.message
            raise status_failure(status, headers, body, self._service.shown) from None
        except library.APIError as error:
            # An error that the server sent inside the stream.
            body = error.body or error.message
            raise status_failure(500, {}, body, self._service.shown) from None
        except httpx2.HTTPError:
            raise PassingFailure("the connection broke") from None
        except ValueError:
            raise PassingFailure("its answer could not be read") from None
        finally:
            if stream is not None:
                with suppress(getattr(library, self.error_class)):
                    await stream.close()

    def _library(self) -> Any:
        """The vendor's library, imported."""
        raise NotImplementedError

    def _client(self) -> Any:
        """The library's client, which neither tries again itself nor takes a key from elsewhere."""
        if self._opened_client is None:
            service, library = self._service, self._library()
            timeout = library.Timeout(
                service.timeout_seconds, connect=min(service.timeout_seconds, CONNECT_SECONDS)
            )
            self._opened_client = getattr(library, self.client_class)(
                api_key=service.key or "none",
                base_url=service.url,
                timeout=timeout,
                max_retries=0,
                default_headers=self._key_headers(),
            )
        return self._opened_client

    def _key_headers(self) -> dict[str, str] | None:
        """Headers with the key that the library does not send by itself."""
        return None

    async def _opened(self, request: ModelRequest) -> Any:
        """The stream of events that answers a request."""
        raise NotImplementedError

    def _pieces(self, event: Any, reading: StreamedReply) -> Iterator[str]:
        """What an event adds to the text."""
        raise NotImplementedError

    def _status(self, error: Any) -> int:
        """The status of a refusal."""
        return int(error.status_code)
