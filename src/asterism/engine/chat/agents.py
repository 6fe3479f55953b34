"""What an agent brings to a turn: its context, its tools, its settings."""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, cast, get_args

from asterism.chat.ports import (
    Contexts,
    PlainContexts,
    PreparedRequest,
    ToolOutput,
    Tools,
    TurnOptions,
)
from asterism.config.options import llm_options
from asterism.config.settings import Settings
from asterism.context.budget import fit_budget
from asterism.context.messages import build_messages, request_tools
from asterism.engine.agents import Agents, contents_of
from asterism.engine.chat.sources import CodeSource
from asterism.engine.chat.tools import OWN_TOOLS, EngineTools
from asterism.engine.engine import Engine
from asterism.engine.sessions import CHARS_PER_TOKEN, TOKENS, SessionRequest, Sessions
from asterism.models.llm.options import LlmOptions, Provider
from asterism.store.registry import Registered
from asterism.types.agent_settings import AgentSettings, settings_of
from asterism.types.chat import Conversation, ToolResult, ToolSpec, Turn
from asterism.types.context import Agent, ItemKey, RequestContext, ToolKey
from asterism.types.errors import AgentMissing, PathMissing, ProviderMissing, UsageError

PROVIDERS: tuple[str, ...] = get_args(Provider)


def options_for(settings: Settings, model: str = "", provider: str = "") -> LlmOptions:
    """The model that is meant: a name, `PROVIDER/NAME`, a provider by itself, or the settings'.

    A name by itself is one of the provider that the settings name; where they name none, of a
    server that speaks OpenAI's protocol.
    """
    who, name = provider.strip(), model.strip()
    first, slash, rest = name.partition("/")
    if not who and first in PROVIDERS and (slash or first in ("extractive", "sampling")):
        who, name = first, rest
    if who and who not in PROVIDERS:
        raise UsageError(f"There is no provider {who[:40]!r}; there are {', '.join(PROVIDERS)}.")
    if not who and name and settings.model.provider == "extractive":
        who = "openai"
    found = llm_options(settings, cast("Provider", who) if who else None, name)
    if found.provider in ("openai", "anthropic") and not found.model:
        raise ProviderMissing(
            f"No model of {found.provider} is named; set model.name, or name one with the question."
        )
    return found


class AgentParts(NamedTuple):
    """The parts of a turn that depend on who is asked."""

    contexts: Contexts
    tools: Tools
    options: TurnOptions
    ended: Callable[[Turn], Awaitable[None]]
    """Told of the turn when it is over."""


class AskedAgents:
    """The user's agents, as turns need them."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def list(self, registered: Registered | None) -> tuple[Agent, ...]:
        """Those that can be asked, by name."""
        found = self._engine.agents().places(registered).list()
        agents = (placed.file.agent for placed in found)
        return tuple(agent for agent in agents if agent is not None and agent.enabled)

    def check(self, name: str, registered: Registered | None) -> None:
        """Complain of an agent that does not exist or cannot be used."""
        try:
            self._engine.agents().places(registered).load(name)
        except PathMissing as error:
            raise AgentMissing(str(error)) from error

    async def parts(
        self, conversation: Conversation, turn: Turn, ground: CodeSource, options: TurnOptions
    ) -> AgentParts:
        """What the turn's agent brings; without one, the engine's own tools."""
        if not turn.agent_name:
            return AgentParts(PlainContexts(OWN_TOOLS), EngineTools(ground), options, _nothing)
        sessions = Sessions(self._engine.agents(), ground.registered)
        session = await ground.threads.search(self._session, sessions, conversation, turn)
        asked = AgentContexts(self._engine.agents(), sessions, ground, (session, turn.question))
        settings = await ground.threads.search(asked.settings)
        return AgentParts(asked, EngineTools(ground, asked), _with(options, settings), asked.ended)

    def _session(self, sessions: Sessions, conversation: Conversation, turn: Turn) -> str:
        """The session of a conversation with its agent, created with the first turn."""
        if conversation.session and conversation.agent == turn.agent_name:
            return conversation.session
        session = sessions.new(turn.agent_name, conversation.title)
        conversations = self._engine.records().conversations()
        conversations.place(conversation.id, turn.agent_name, session.id)
        return session.id


class AgentContexts:
    """The context of one turn, built from what its session holds and what fits the question."""

    def __init__(
        self, agents: Agents, sessions: Sessions, ground: CodeSource, asked: tuple[str, str]
    ) -> None:
        """`asked` is the session's id and the question."""
        self._agents = agents
        self._sessions = sessions
        self._ground = ground
        self._session, self._question = asked
        self._request: SessionRequest | None = None
        self._context: RequestContext | None = None
        self._kept = ""
        self._names: dict[str, ToolKey] = {}

    def settings(self) -> AgentSettings:
        """What agent and session say together."""
        session = self._sessions.get(self._session)
        return settings_of(session.inherited, session.settings)

    async def build(self, question: str) -> PreparedRequest:
        """A fresh context, recorded by name."""
        return await self._ground.threads.search(self._build, question)

    async def rebuild(self, context: RequestContext | None) -> PreparedRequest:
        """The same context once more."""
        if context is None:
            return await self.build(self._question)
        return await self._ground.threads.search(self._rebuild, context)

    async def widen(
        self, prepared: PreparedRequest, results: Sequence[ToolResult]
    ) -> PreparedRequest:
        """The context with what results of the agent's tools bring."""
        theirs = [
            result for result in results if result.name in self._names and not result.is_error
        ]
        if not theirs:
            return prepared
        return await self._ground.threads.search(self._widen, prepared, theirs)

    async def call(self, tool: ToolSpec, arguments: Mapping[str, object]) -> ToolOutput:
        """Call a tool of one of the agent's servers."""
        return await self._ground.threads.search(self._call, tool, arguments)

    async def ended(self, turn: Turn) -> None:
        """Note which items the answer speaks of, and which tools were called."""
        if self._kept and turn.answer:
            called: Counter[ItemKey] = Counter(
                self._names[call.name]
                for one in turn.rounds
                for call in one.calls
                if call.name in self._names
            )
            await self._ground.threads.keep(
                self._sessions.note_answer, self._kept, turn.answer, called
            )

    def _build(self, question: str) -> PreparedRequest:
        request = self._sessions.request(question, self._session)
        built = request.built
        fitted = fit_budget(built, (), TOKENS, _tokens)
        notes = (*self._agents.places(self._ground.registered).notes(), *request.notes)
        context = replace(fitted.context, notes=(*notes, *fitted.context.notes))
        self._request = request
        self._kept = self._sessions.keep(request, context, question)
        return self._prepared(context)

    def _rebuild(self, context: RequestContext) -> PreparedRequest:
        self._request = self._sessions.request(self._question, self._session)
        return self._prepared(context)

    def _widen(self, prepared: PreparedRequest, results: Sequence[ToolResult]) -> PreparedRequest:
        request, context = self._request, self._context
        if request is None or context is None:
            return prepared
        for result in results:
            context = self._agents.extend(
                request.ready,
                context,
                self._question,
                request.session,
                (self._names[result.name], result.text),
                self._ground.registered,
            )
        return prepared if context == self._context else self._prepared(context)

    def _prepared(self, context: RequestContext) -> PreparedRequest:
        request = self._request
        assert request is not None
        contents = contents_of(request.ready)
        overrides = request.session.settings if request.session is not None else {}
        agent = request.ready.agent
        tools = request_tools(context, contents, lambda key: agent.tool_permission(key, overrides))
        self._names = {name: key for name, (key, _) in tools.items()}
        self._context = context
        messages = build_messages(context, contents, (), self._question)
        return PreparedRequest(
            context=context,
            # The last one is the question itself.
            messages=messages[:-1],
            tools=(*OWN_TOOLS, *(spec for _, spec in tools.values())),
            notes=context.notes,
        )

    def _call(self, tool: ToolSpec, arguments: Mapping[str, object]) -> ToolOutput:
        request = self._request
        if request is None or tool.name not in self._names:
            raise UsageError(f"There is no tool {tool.name} in this chat.")
        result = self._agents.call(request.ready.agent, self._names[tool.name], arguments)
        return ToolOutput(result.text, result.data, result.is_error)


async def _nothing(_turn: Turn) -> None:
    """Records nothing."""


def _with(options: TurnOptions, settings: AgentSettings) -> TurnOptions:
    return replace(
        options,
        max_turns=settings.max_chat_turns,
        max_output_tokens=settings.max_output_tokens,
        temperature=settings.temperature,
        top_p=settings.top_p,
    )


def _tokens(text: str) -> int:
    return -(-len(text) // CHARS_PER_TOKEN)
