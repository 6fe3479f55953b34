"""The tools that answer in words: codebase_question, list_agents, run_agent_instruction."""

from concurrent.futures import TimeoutError as NotYet
from dataclasses import replace

from asterism.engine.chat.requests import Answered, AskRequest
from asterism.engine.chat.service import Asking
from asterism.operations.calls import Call
from asterism.operations.json import compact
from asterism.operations.limits import Part, Reply, measured, plain_account
from asterism.operations.schema import Json
from asterism.operations.search import META
from asterism.store.registry import Registered
from asterism.types.chat import Turn, TurnStatus
from asterism.types.errors import Cancelled, IndexMissing, RepositoryUnclear

LOOK_SECONDS = 0.2
"""How often is looked whether the client still wants the answer."""
APPROVAL_NEEDED = "approval_needed"
"""The code of an answer that waits for the user's word."""


def codebase_question(call: Call, asking: Asking) -> Reply:
    """The answer to a question, and nothing else."""
    given = call.arguments
    request = AskRequest(
        question=given["question"],
        conversation=given.get("conversationId", ""),
        model=given.get("model", ""),
        provider=given.get("provider", ""),
        request_id=call.caller.request_id,
    )
    return _reply(call, _answered(call, asking, request))


def run_agent_instruction(call: Call, asking: Asking) -> Reply:
    """An agent's answer, and nothing else."""
    given = call.arguments
    asking.check_agent(given["agentName"], call.repository())
    request = AskRequest(
        question=given["instruction"],
        conversation=given.get("conversationId", ""),
        agent=given["agentName"],
        request_id=call.caller.request_id,
    )
    return _reply(call, _answered(call, asking, request))


def list_agents(call: Call, asking: Asking) -> Reply:
    """The agents that can be given instructions."""
    agents = [
        {"name": agent.name, "description": agent.description}
        for agent in asking.agents(_own(call))
    ]
    structured: Json = {
        "agents": agents,
        **plain_account(len(agents), len(agents), call.limit),
        "cursor": None,
        "index_state": {},
        "notes": [],
    }
    return Reply(
        parts=(Part(_agents_text(structured)),),
        structured=structured,
        rows="agents",
        render=_agents_text,
    )


def _own(call: Call) -> Registered | None:
    """The server's repository, whose agents count too if it is trusted; None if there is none."""
    try:
        return call.repository()
    except (IndexMissing, RepositoryUnclear):
        return None


def _agents_text(structured: Json) -> str:
    if not structured["agents"]:
        return "No agents are set up; codebase_question answers without one."
    lines = [f"{agent['name']}: {agent['description']}" for agent in structured["agents"]]
    return "\n".join(lines)


def _answered(call: Call, asking: Asking, request: AskRequest) -> Answered:
    """The answer; a client that leaves meanwhile stops it."""
    registered: Registered = call.repository()
    asked = asking.ask(registered, request, lent=call.caller.lent)
    while True:
        try:
            return asked.result(LOOK_SECONDS)
        except NotYet:
            if call.caller.gone():
                asked.stop()
                raise Cancelled("The request was cancelled.") from None


def _reply(call: Call, answered: Answered) -> Reply:
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
    reply = Reply(parts=(Part(compact(answer_json(turn, text))),), meta={META: machine})
    while (excess := measured(reply) - call.limit) > 0 and room:
        # Of what is written with escapes, less than the excess has to go.
        room = max(0, room - max(100, excess // 2))
        gone = len(turn.answer) - room
        text = f"{turn.answer[:room]}\n[{gone:,} characters left out; ask for less.]"
        reply = replace(reply, parts=(Part(compact(answer_json(turn, text))),))
    return reply


def answer_json(turn: Turn, text: str) -> Json:
    """The answer as tools give it: exactly one segment, empty if nothing was said."""
    agent = {"agentName": turn.agent_name} if turn.agent_name else {}
    return {
        **agent,
        "conversationId": turn.conversation_id,
        "modelId": turn.model_id,
        "segments": [{"type": "answer", "text": text}],
    }


def _failed(message: str, code: str, machine: Json) -> Reply:
    meta = {META: {"code": code, **machine}}
    return Reply(parts=(Part(f"{message} [{code}]"),), meta=meta, error=code)


TOOLS_THAT_ANSWER = {
    "codebase_question": codebase_question,
    "list_agents": list_agents,
    "run_agent_instruction": run_agent_instruction,
}
