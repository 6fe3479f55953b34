"""What flows in a chat: messages, tools, replies, turns with their evidence, conversations."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from asterism.types.agent_settings import Permission
from asterism.types.context import RequestContext


class Role(StrEnum):
    """Who speaks."""

    system = "system"
    user = "user"
    assistant = "assistant"
    tool = "tool"


class ToolSpec(NamedTuple):
    """A tool that a model may call."""

    name: str
    """Unique in a turn, and what the model calls it by."""
    description: str
    schema: Mapping[str, object]
    """JSON Schema of its arguments, an object."""
    permission: Permission = Permission.always
    effects: bool = False
    """Whether it can change something; such a tool always asks, whatever its permission says."""
    server: str = ""
    """The MCP server it belongs to; nothing for the engine's own."""


class ToolCall(NamedTuple):
    """A call that a model asks for."""

    id: str
    name: str
    arguments: str
    """As the model wrote them: JSON if all is well."""


class ToolResult(NamedTuple):
    """What came of a call."""

    call_id: str
    name: str
    text: str
    """What the model reads."""
    is_error: bool = False
    data: Mapping[str, object] | None = None
    """What programs read, citations among them."""
    left_out: int = 0
    """How many characters of the text were taken away because it was too long."""
    milliseconds: int = 0


class Message(NamedTuple):
    """One message of a conversation with a model."""

    role: Role
    text: str
    calls: tuple[ToolCall, ...] = ()
    """What the assistant wants to have called."""
    call_id: str = ""
    """The call that a tool's message answers."""
    is_error: bool = False


class Usage(NamedTuple):
    """Tokens that a model counted; 0 where it does not say."""

    input_tokens: int = 0
    output_tokens: int = 0

    def plus(self, other: "Usage") -> "Usage":
        """Both together."""
        return Usage(
            self.input_tokens + other.input_tokens, self.output_tokens + other.output_tokens
        )


NO_USAGE = Usage()


class Ending(StrEnum):
    """Why a model stopped."""

    answer = "answer"
    calls = "calls"
    length = "length"
    """The limit for its answer was reached."""
    refusal = "refusal"


class ModelReply(NamedTuple):
    """All that a model said to one request."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = NO_USAGE
    model_id: str = ""
    ending: Ending = Ending.answer


class Citation(NamedTuple):
    """A place in the code that an answer rests on."""

    repo: str
    path: str
    """Relative to the repository."""
    first_line: int
    last_line: int
    chunk_id: str = ""
    distance: float | None = None
    """Lower is better; nothing where no vector was compared."""
    name: str = ""
    """The qualified name of the symbol, where it is known."""

    @property
    def place(self) -> str:
        """`path:line`, as editors open it; the last line only where there are several."""
        first, last = self.first_line, self.last_line
        return f"{self.path}:{first}" + (f"-{last}" if last > first else "")


class TriedSearch(NamedTuple):
    """A search that was made for a turn, and what was thought of its hits."""

    query: str
    hits: int
    verdict: str = ""
    """The model's verdict: `enough`, or what is missing; empty without a quality loop."""


class Round(NamedTuple):
    """One reply of the model, and the results of the calls it asked for."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    results: tuple[ToolResult, ...] = ()

    @property
    def pending(self) -> tuple[ToolCall, ...]:
        """The calls that have no result yet."""
        answered = {result.call_id for result in self.results}
        return tuple(call for call in self.calls if call.id not in answered)


class TurnStatus(StrEnum):
    """The state of a turn."""

    running = "running"
    awaiting_approval = "awaiting_approval"
    """The calls of its last round without a result wait for approval."""
    done = "done"
    stopped = "stopped"
    """The user stopped it; what was said until then is the answer."""
    failed = "failed"
    interrupted = "interrupted"
    """Its process ended in the middle; it can be resumed."""


RESUMABLE = frozenset({TurnStatus.awaiting_approval, TurnStatus.interrupted})
"""The states from which a turn goes on where it was."""


class TurnError(NamedTuple):
    """Why a turn failed."""

    code: str
    """Stable, for programs: `model_down`."""
    message: str
    """One sentence that says what to do next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A question, its answer, and everything that was used on the way."""

    id: str
    question: str
    conversation_id: str = ""
    request_id: str = ""
    """What the caller named the request, so that repeating it does not run it twice."""
    agent_name: str = ""
    status: TurnStatus = TurnStatus.running
    answer: str = ""
    provider: str = ""
    model_id: str = ""
    context: RequestContext | None = None
    """What the model was given; an approval or a resumption goes on with the same."""
    grounding: tuple[ToolResult, ...] = ()
    """What was searched for the question before the model was asked."""
    rounds: tuple[Round, ...] = ()
    citations: tuple[Citation, ...] = ()
    searches: tuple[TriedSearch, ...] = ()
    usage: Usage = NO_USAGE
    notes: tuple[str, ...] = ()
    """What the reader should know: what was trimmed, what could not be saved."""
    error: TurnError | None = None

    @property
    def pending(self) -> tuple[ToolCall, ...]:
        """The calls of the last round that have no result yet."""
        return self.rounds[-1].pending if self.rounds else ()


class ContextReady(NamedTuple):
    """The request's context is built."""

    context: RequestContext


class Token(NamedTuple):
    """A piece of the answer, as the model says it."""

    text: str


class ToolStarted(NamedTuple):
    """A tool is called."""

    call: ToolCall


class ToolEnded(NamedTuple):
    """A tool answered, or failed."""

    call: ToolCall
    result: ToolResult


class ApprovalWanted(NamedTuple):
    """The turn waits for these calls to be approved or refused."""

    calls: tuple[ToolCall, ...]


class CitationsFound(NamedTuple):
    """The places that the answer rests on, without duplicates."""

    citations: tuple[Citation, ...]


class Noted(NamedTuple):
    """Something the reader should know."""

    text: str


class Discarded(NamedTuple):
    """What was streamed in this round was said before a tool call, or before a new attempt.

    It is not part of the answer.
    """

    text: str


class TurnDone(NamedTuple):
    """The turn ended, or waits; its status says which."""

    turn: Turn


class TurnFailed(NamedTuple):
    """The turn ended without an answer, or in the middle of one."""

    turn: Turn
    error: TurnError


TurnEvent: TypeAlias = (
    ContextReady
    | Token
    | Discarded
    | ToolStarted
    | ToolEnded
    | ApprovalWanted
    | CitationsFound
    | Noted
    | TurnDone
    | TurnFailed
)
"""The last event of a turn is `TurnDone` or `TurnFailed`."""


class Conversation(NamedTuple):
    """Questions that belong together."""

    id: str
    title: str
    repository: str
    """The name of the repository that is asked about."""
    agent: str
    """The agent that is asked; nothing where none was named."""
    session: str
    """What the agent includes here; nothing where no agent was asked."""
    created: float
    updated: float
    archived: float | None = None
    turns: int = 0


class RecordedEvent(NamedTuple):
    """Something that happened in a turn."""

    number: int
    kind: str
    at: float
    data: Mapping[str, object]


class RecordedTurn(NamedTuple):
    """A turn at its place in its conversation."""

    number: int
    """From 1 on."""
    turn: Turn
    started: float
    ended: float | None = None


class Shelf(StrEnum):
    """Which conversations are meant."""

    open = "open"
    archived = "archived"
    all = "all"


class ConversationPage(NamedTuple):
    """Some conversations of a longer list, the one used last first."""

    conversations: tuple[Conversation, ...]
    total: int
    cursor: str | None = None
    """Leads to the next page; nothing at the end."""


class ConversationMatch(NamedTuple):
    """A turn in which something was said."""

    conversation: Conversation
    number: int
    where: str
    """`question` or `answer`."""
    excerpt: str


class MatchPage(NamedTuple):
    """Some of the turns in which something was said, the latest first."""

    matches: tuple[ConversationMatch, ...]
    total: int
    cursor: str | None = None
