"""What a turn needs from other packages: context, tools, code search, and storage."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from asterism.disclosure.places import MaskingReport
from asterism.types import errors
from asterism.types.chat import Message, ToolResult, ToolSpec, Turn, TurnError
from asterism.types.context import RequestContext
from asterism.types.search import Hit


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnOptions:
    """Every number of a turn."""

    max_turns: int = 20
    """How often the model is asked for one answer; at the last time it may call no more tools."""
    max_output_tokens: int = 4096
    temperature: float | None = None
    top_p: float | None = None
    retries: int = 0
    """How often the model may judge the hits and search again before it answers; 0 is off."""
    tool_chars: int = 40_000
    """Characters of a tool's result that the model is given; about 10,000 tokens."""
    data_chars: int = 200_000
    """Serialised characters of a result's rows that are kept under the turn: five searches'."""
    tool_seconds: float = 120.0
    """How long a tool may take before the model is told that it did not answer."""
    calls_at_once: int = 16
    """Calls of one reply that are carried out; a model that wants more is told to ask again."""
    repeats: int = 2
    """How often the same call may be asked for in vain before no more calls are taken."""
    broken_replies: int = 1
    """How often an answer that broke off is asked for anew."""
    masking_report: MaskingReport = MaskingReport.counts
    """What a note says of tokens that were masked in what the model was sent."""


CODES: dict[type[errors.AsterismError], str] = {
    errors.AsterismError: "failed",
    errors.UsageError: "invalid_argument",
    errors.SettingError: "invalid_setting",
    errors.StoreError: "index_unusable",
    errors.IndexMissing: "index_missing",
    errors.IndexCorrupt: "index_corrupt",
    errors.IndexTooNew: "index_too_new",
    errors.IndexOutdated: "index_outdated",
    errors.IndexMismatch: "index_mismatch",
    errors.IndexBusy: "index_busy",
    errors.StorageFailed: "storage_failed",
    errors.ProviderError: "provider_failed",
    errors.ProviderDown: "provider_down",
    errors.ProviderRefused: "provider_refused",
    errors.TextTooLong: "text_too_long",
    errors.BadReply: "model_bad_answer",
    errors.ReplyCut: "model_reply_cut",
    errors.ProviderMissing: "model_missing",
}
"""Named as the tools of the servers name them; kinds that are not here have the code above them."""

INTERNAL = TurnError(
    "internal_error",
    "Something went wrong inside Asterism; the log has the details. Ask again; `asterism doctor` "
    "checks the installation.",
)
"""A defect of Asterism."""


def error_of(error: errors.AsterismError) -> TurnError:
    """A failure as a turn reports it."""
    code = next(CODES[kind] for kind in type(error).__mro__ if kind in CODES)
    return TurnError(code, str(error))


class PreparedRequest(NamedTuple):
    """A request's context, ready to be sent."""

    context: RequestContext | None = None
    """What the messages were built from; it is stored with the turn."""
    messages: tuple[Message, ...] = ()
    """System messages, which come first, and rules and references, right before the question."""
    tools: tuple[ToolSpec, ...] = ()
    """What the model may call."""
    grounding: tuple[ToolResult, ...] = ()
    """Code that belongs to the context already; it is cited like a tool's result."""
    notes: tuple[str, ...] = ()
    """What did not fit or did not go as it should, in sentences."""


class Contexts(Protocol):
    """Builds the context of a request."""

    async def build(self, question: str) -> PreparedRequest:
        """A fresh context for a question."""
        ...

    async def rebuild(self, context: RequestContext | None) -> PreparedRequest:
        """The same context once more, for a turn that goes on."""
        ...

    async def widen(
        self, prepared: PreparedRequest, results: Sequence[ToolResult]
    ) -> PreparedRequest:
        """The context with what tool results bring; the same where they bring nothing."""
        ...


class ToolOutput(NamedTuple):
    """What a tool gave back."""

    text: str
    """For the model."""
    data: Mapping[str, object] | None = None
    """For programs: rows that citations come from."""
    is_error: bool = False


class Tools(Protocol):
    """Calls tools: the engine's own, and those of an agent's MCP servers."""

    async def call(self, tool: ToolSpec, arguments: Mapping[str, object]) -> ToolOutput:
        """What the tool says; what goes wrong is an AsterismError, and the model is told."""
        ...


class Searched(NamedTuple):
    """What a search of the code found for a chat."""

    hits: tuple[Hit, ...]
    """Those that are given, best first."""
    text: str
    """As a model reads them."""
    data: Mapping[str, object]
    """The rows, as `payload(…, lines=True)` of `vector_search` writes them."""
    notes: tuple[str, ...] = ()


class CodeSearch(Protocol):
    """Finds code for a question."""

    async def find(self, query: str) -> Searched:
        """The best hits."""
        ...


class Recorder(Protocol):
    """Keeps a turn, so that nothing is lost when the process ends."""

    async def save(self, turn: Turn) -> None:
        """Replace what is known of the turn; it goes on where that fails with an AsterismError."""
        ...


class Unrecorded:
    """Keeps nothing; for questions that belong to no conversation."""

    async def save(self, turn: Turn) -> None:
        """Do nothing."""


class PlainContexts:
    """Contexts for a chat without an agent: some messages, some tools, always the same."""

    def __init__(self, tools: Sequence[ToolSpec] = (), messages: Sequence[Message] = ()) -> None:
        """What every request is given."""
        self._prepared = PreparedRequest(messages=tuple(messages), tools=tuple(tools))

    async def build(self, question: str) -> PreparedRequest:
        """The same for every question."""
        return self._prepared

    async def rebuild(self, context: RequestContext | None) -> PreparedRequest:
        """The same."""
        return self._prepared

    async def widen(
        self, prepared: PreparedRequest, results: Sequence[ToolResult]
    ) -> PreparedRequest:
        """As it is."""
        return prepared
