"""A turn in a test: a server that plays the model, tools, a search, and a recorder."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from asterism.chat.ports import Contexts, PlainContexts, Searched, ToolOutput, TurnOptions
from asterism.chat.run import RunningTurn, resume, start
from asterism.chat.turn import Parts
from asterism.chat.vector_search import VectorOptions, chosen, payload
from asterism.models.llm.protocol import LanguageModel
from asterism.models.llm.provider import MaskedModel
from asterism.types.agent_settings import Permission
from asterism.types.chat import Message, Token, ToolSpec, Turn, TurnEvent
from asterism.types.errors import StorageFailed
from asterism.types.search import Hit
from tests.llm.asking import OPENAI, Vendor, model_of
from tests.llm.loopback import FakeServer, Script

FIND = ToolSpec(
    "find", "Finds code.", {"type": "object", "properties": {"q": {}}, "required": ["q"]}
)
ASKING = FIND._replace(name="ask_first", permission=Permission.ask)
WRITE = ToolSpec("write", "Writes a file.", {"type": "object"}, effects=True)
FORBIDDEN = FIND._replace(name="forbidden", permission=Permission.never)

Run = Callable[[ToolSpec, Mapping[str, object]], ToolOutput | Awaitable[ToolOutput]]


class Toolbox:
    """Runs what the test says, and notes what was called."""

    def __init__(self, run: Run | None = None) -> None:
        """`run` says what a call gives; without it every call finds something."""
        self.calls: list[tuple[str, dict[str, object]]] = []
        self._run = run or (lambda tool, arguments: ToolOutput(f"{tool.name} found it"))

    async def call(self, tool: ToolSpec, arguments: Mapping[str, object]) -> ToolOutput:
        """As the test says."""
        self.calls.append((tool.name, dict(arguments)))
        output = self._run(tool, arguments)
        return output if isinstance(output, ToolOutput) else await output


class Notebook:
    """Keeps every state of a turn; a full one keeps nothing more."""

    def __init__(self, is_full: bool = False) -> None:
        """Empty."""
        self.turns: list[Turn] = []
        self.is_full = is_full

    async def save(self, turn: Turn) -> None:
        """Keep one more state."""
        if self.is_full:
            raise StorageFailed("The disk is full; free some space.")
        self.turns.append(turn)


class Shelf:
    """Finds the hits that the test has for a query."""

    def __init__(self, *hits: Hit, by_query: Mapping[str, Sequence[Hit]] | None = None) -> None:
        """`by_query` has hits for some queries."""
        self.queries: list[str] = []
        self._hits, self._by_query = hits, by_query or {}

    async def find(self, query: str) -> Searched:
        """As a real search gives it, by the rules of vector search inside a chat."""
        self.queries.append(query)
        hits = self._by_query.get(query, self._hits)
        selection = chosen(hits, VectorOptions())
        data = payload(selection, {"shop": "/code/shop"}, "m", lines=True)
        kept = tuple(one.hit for one in selection.kept)
        return Searched(kept, "\n\n".join(one.text for one in selection.kept), data)


@dataclass
class Scene:
    """Everything around one turn."""

    script: Script = ()
    tools: Sequence[ToolSpec] = (FIND,)
    toolbox: Toolbox = field(default_factory=Toolbox)
    notebook: Notebook = field(default_factory=Notebook)
    shelf: Shelf | None = None
    history: Sequence[Message] = ()
    options: TurnOptions = field(default_factory=TurnOptions)
    contexts: Contexts | None = None
    vendor: Vendor = OPENAI
    model_options: Mapping[str, Any] = field(default_factory=dict)
    events: list[TurnEvent] = field(default_factory=list)
    server: FakeServer | None = None

    def ask(self, question: str = "Where is it?") -> Turn:
        """Ask a new question and read its events to the end."""
        return self._play(lambda parts: start(new_turn(question), parts, self.options))

    def go_on(self, turn: Turn, **approvals: bool) -> Turn:
        """Go on with a turn that waits."""
        return self._play(lambda parts: resume(turn, parts, self.options, approvals))

    def parts(self, model: LanguageModel | None) -> Parts:
        """Who does what."""
        contexts = self.contexts or PlainContexts(self.tools)
        return Parts(model, contexts, self.toolbox, self.shelf, self.notebook, tuple(self.history))

    def sent(self, number: int = -1) -> Any:
        """The body of a request that the model got."""
        assert self.server is not None
        return self.server.received[number].body

    def text(self) -> str:
        """What was streamed."""
        return "".join(event.text for event in self.events if isinstance(event, Token))

    def kinds(self) -> str:
        """The kinds of events, each run of tokens as one."""
        kinds: list[str] = []
        for event in self.events:
            name = type(event).__name__
            if not (name == "Token" and kinds and kinds[-1] == "Token"):
                kinds.append(name)
        return " ".join(kinds)

    def _play(self, begin: Callable[[Parts], RunningTurn]) -> Turn:
        async def run(model: LanguageModel | None) -> Turn:
            running = begin(self.parts(model))
            self.events = [event async for event in running]
            turn = await running.wait()
            if model is not None:
                await model.close()
            return turn

        if not self.script:
            return asyncio.run(run(None))
        with self.vendor.fake(self.script) as server:
            self.server = server
            model = model_of(self.vendor, server.url, **self.model_options)
            return asyncio.run(run(MaskedModel(model)))


def new_turn(question: str = "Where is it?") -> Turn:
    """A turn that has not begun."""
    return Turn(id="t1", question=question, conversation_id="c1", request_id="r1")
