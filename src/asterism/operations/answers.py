"""The operations that answer in words: codebase_question, list_agents, run_agent_instruction.

Their fields are named as those of stored turns are.
"""

from __future__ import annotations

from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, TypeAlias

from asterism.operations.calls import Call
from asterism.operations.chat_requests import PROVIDERS
from asterism.operations.json import Accounted, compact, to_json
from asterism.operations.limits import CallReply, TextPart, measured, plain_account, reply_of
from asterism.operations.operation import Operation, Route
from asterism.operations.schema import Json, ProjectId, RepositoryId, choice, text
from asterism.operations.search import META
from asterism.types.chat import Turn, TurnStatus
from asterism.types.errors import Cancelled

if TYPE_CHECKING:
    # They bring the engine, which a list of operations does not need.
    from asterism.engine.chat.requests import Answered, AskRequest

LOOK_SECONDS = 0.2
"""How often is checked whether the client still waits for the answer."""
APPROVAL_NEEDED = "approval_needed"
"""The code of an answer that waits for the user's approval."""

_ConversationId: TypeAlias = Annotated[
    str | None,
    text(
        "Go on with this conversation: the conversationId of an earlier reply. Without it a new "
        "one begins."
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class CodebaseQuestion:
    """A question about the code."""

    question: Annotated[str, text("The question, in a sentence or more.")]
    conversationId: _ConversationId = None
    model: Annotated[str | None, text("The model's name; else the one the user has set.")] = None
    provider: Annotated[
        str | None, choice("Who answers; else whom the user has set.", PROVIDERS)
    ] = None
    repository_id: RepositoryId = None
    project_id: ProjectId = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListAgents:
    """The list of agents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunAgentInstruction:
    """An instruction for an agent."""

    agentName: Annotated[str, text("The agent's name, from list_agents.")]
    instruction: Annotated[str, text("What it is to do.")]
    conversationId: _ConversationId = None
    repository_id: RepositoryId = None
    project_id: ProjectId = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSegment:
    """A part of an answer."""

    type: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerFound:
    """An answer in words: exactly one segment, empty if the model said nothing."""

    agentName: str = ""
    conversationId: str
    modelId: str
    segments: tuple[AnswerSegment, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRow:
    """An agent in a list."""

    name: str
    description: str


@dataclass(frozen=True, kw_only=True)
class _Agents:
    agents: tuple[AgentRow, ...]


@dataclass(frozen=True, kw_only=True)
class AgentsFound(Accounted, _Agents):
    """The agents that can be given instructions."""


def codebase_question(call: Call, asked: CodebaseQuestion) -> CallReply:
    """The answer to a question, and nothing else."""
    from asterism.engine.chat.requests import AskRequest

    request = AskRequest(
        question=asked.question,
        conversation=asked.conversationId or "",
        model=asked.model or "",
        provider=asked.provider or "",
        request_id=call.caller.request_id,
    )
    return _reply(call, _answered(call, request))


def run_agent_instruction(call: Call, asked: RunAgentInstruction) -> CallReply:
    """An agent's answer, and nothing else."""
    from asterism.engine.chat.requests import AskRequest

    call.host.asking().check_agent(asked.agentName, call.repository())
    request = AskRequest(
        question=asked.instruction,
        conversation=asked.conversationId or "",
        agent=asked.agentName,
        request_id=call.caller.request_id,
    )
    return _reply(call, _answered(call, request))


def list_agents(call: Call, _asked: ListAgents) -> CallReply:
    """The agents that can be given instructions, those of the server's repository included."""
    agents = tuple(
        AgentRow(name=agent.name, description=agent.description)
        for agent in call.host.asking().agents(call.repository_if_any())
    )
    found = AgentsFound(
        agents=agents,
        **plain_account(len(agents), len(agents), call.limit),
        cursor=None,
        index_state={},
        notes=(),
    )
    return reply_of(found, "agents", _agents_text)


def _agents_text(found: Json) -> str:
    if not found["agents"]:
        return "No agents are set up; codebase_question answers without one."
    return "\n".join(f"{agent['name']}: {agent['description']}" for agent in found["agents"])


def _answered(call: Call, request: AskRequest) -> Answered:
    """The answer; it is stopped if the client leaves meanwhile."""
    asked = call.host.asking().ask(call.repository(), request, lent=call.caller.lent)
    while True:
        try:
            return asked.result(LOOK_SECONDS)
        except NotYet:
            if call.caller.gone():
                asked.stop()
                raise Cancelled("The request was cancelled.") from None


def _reply(call: Call, answered: Answered) -> CallReply:
    turn = answered.turn
    machine: Json = {
        "conversationId": turn.conversation_id,
        "turnId": turn.id,
        "provider": turn.provider,
        "status": turn.status.value,
        "isRepeat": answered.is_repeat,
    }
    if turn.status is TurnStatus.failed and turn.error is not None:
        return _failed(turn.error.message, turn.error.code, machine)
    if turn.status is TurnStatus.awaiting_approval:
        names = ", ".join(sorted({entry.name for entry in turn.pending}))
        sentence = (
            f"The answer waits: {names} may only be called if the user agrees. The user does so in "
            f"`asterism chat --conversation {turn.conversation_id[:8]}`."
        )
        return _failed(sentence, APPROVAL_NEEDED, machine)
    text, room = turn.answer, len(turn.answer)
    reply = CallReply(parts=(_answer(turn, text),), meta={META: machine})
    while (excess := measured(reply) - call.limit) > 0 and room:
        # JSON escapes make the text longer, so less than the excess has to go.
        room = max(0, room - max(100, excess // 2))
        gone = len(turn.answer) - room
        text = f"{turn.answer[:room]}\n[{gone:,} characters left out; ask for less.]"
        reply = replace(reply, parts=(_answer(turn, text),))
    return reply


def _answer(turn: Turn, text: str) -> TextPart:
    found = AnswerFound(
        agentName=turn.agent_name,
        conversationId=turn.conversation_id,
        modelId=turn.model_id,
        segments=(AnswerSegment(type="answer", text=text),),
    )
    return TextPart(compact(to_json(found)))


def _failed(message: str, code: str, machine: Json) -> CallReply:
    meta = {META: {"code": code, **machine}}
    return CallReply(parts=(TextPart(f"{message} [{code}]"),), meta=meta, error=code)


OPERATIONS = (
    Operation(
        name="codebase_question",
        title="Answer a question about the code",
        description="""\
Answer a question about the codebase in words, from the code itself.

Use it for: "how does X work here?", "why is Y done this way?", when an explanation is enough and \
you do not need to read the code yourself. Ask follow-up questions with the conversationId of the \
reply.
Do not use it for: code that you are going to edit (codebase_search gives it whole), lists of \
matches (search_code), where a name is used (symbol_lookup).

Gives JSON: {"conversationId", "modelId", "segments": [{"type": "answer", "text"}]}, exactly one \
segment. Without a configured model the answer is put together from the best hits, and modelId is \
"extractive".

Example: {"question": "How are failed payments retried?"}""",
        request=CodebaseQuestion,
        reply=AnswerFound,
        run=codebase_question,
        uses_model=True,
        is_tool=True,
        instruction="""\
codebase_question: an explanation in words, when you need no code; list_agents and \
run_agent_instruction: the user's own agents; search_items, list_items, edit_item: their rules, \
references and tools.""",
    ),
    Operation(
        name="list_agents",
        title="List agents",
        description="""\
List the agents that the user has set up, with what each is for.

Use it for: choosing an agent for run_agent_instruction.
Do not use it for: anything else; most questions need no agent (codebase_question).

Example: {}""",
        request=ListAgents,
        reply=AgentsFound,
        run=list_agents,
        is_tool=True,
        route=Route("GET", "/api/agents"),
    ),
    Operation(
        name="run_agent_instruction",
        title="Have an agent do something",
        description="""\
Give an agent of the user's an instruction, and get its answer. An agent has rules, references and \
tools of its own for its task.

Use it for: a task that one of list_agents is made for.
Do not use it for: plain questions about the code (codebase_question), an agent whose name you do \
not know (list_agents first).

Gives JSON: {"agentName", "conversationId", "modelId", "segments": [{"type": "answer", "text"}]}, \
exactly one segment.

Example: {"agentName": "reviewer", "instruction": "Review the error handling in src/payments."}""",
        request=RunAgentInstruction,
        reply=AnswerFound,
        run=run_agent_instruction,
        read_only=False,
        idempotent=False,
        uses_model=True,
        is_tool=True,
    ),
)
