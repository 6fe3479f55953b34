"""What a turn needs of others: context, tools, code search, and somebody who keeps it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from asterism.types.chat import Message, ToolResult, ToolSpec, Turn
from asterism.types.context import RequestContext
from asterism.types.search import Hit


class Prepared(NamedTuple):
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

    async def build(self, question: str) -> Prepared:
        """A fresh context for a question."""
        ...

    async def rebuild(self, context: RequestContext | None) -> Prepared:
        """The same context once more, for a turn that goes on."""
        ...

    async def widen(self, prepared: Prepared, results: Sequence[ToolResult]) -> Prepared:
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
        self._prepared = Prepared(messages=tuple(messages), tools=tuple(tools))

    async def build(self, question: str) -> Prepared:
        """The same for every question."""
        return self._prepared

    async def rebuild(self, context: RequestContext | None) -> Prepared:
        """The same."""
        return self._prepared

    async def widen(self, prepared: Prepared, results: Sequence[ToolResult]) -> Prepared:
        """As it is."""
        return prepared
