"""An answer in words, as programs get it, and how a program asks for one."""

from dataclasses import dataclass
from typing import NamedTuple

from asterism.api.arguments import text, whole
from asterism.engine.chat.requests import Answered, AskRequest
from asterism.types.chat import TurnStatus
from asterism.types.errors import AsterismError


class Cited(NamedTuple):
    """A place in the code that an answer rests on."""

    path: str
    start_line: int
    end_line: int
    name: str
    repo: str
    distance: float | None
    """Lower is better; nothing where no vector was compared."""
    exists: bool
    """Whether the file has these lines now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What was answered, by whom, and on which grounds."""

    text: str
    citations: tuple[Cited, ...]
    model: str
    """`extractive` where no model answered."""
    provider: str
    agent: str
    conversation: str
    """Its id; give it with the next question to go on."""
    turn: str
    status: str
    """`done`; `stopped`; or `awaiting_approval`, where a tool may only be called with consent."""
    notes: tuple[str, ...]
    input_tokens: int
    output_tokens: int

    def __bool__(self) -> bool:
        """Whether something was said."""
        return bool(self.text.strip())

    def __str__(self) -> str:
        """What was said."""
        return self.text


def ask_request(
    question: object,
    conversation: object,
    agent: object,
    model: object,
    request_id: object,
    retries: object,
) -> AskRequest:
    """What a program asks, checked."""
    return AskRequest(
        question=text("question", question),
        conversation=text("conversation", conversation),
        agent=text("agent", agent),
        model=text("model", model),
        request_id=text("request_id", request_id),
        retries=None if retries is None else whole("retries", retries),
    )


def answer_of(answered: Answered) -> Answer:
    """The record; a turn that failed is an error."""
    turn = answered.turn
    if turn.status is TurnStatus.failed and turn.error is not None:
        raise AsterismError(turn.error.message)
    return Answer(
        text=turn.answer,
        citations=tuple(
            Cited(
                found.citation.path,
                found.citation.first_line,
                found.citation.last_line,
                found.citation.name,
                found.citation.repo,
                found.citation.distance,
                found.exists,
            )
            for found in answered.citations
        ),
        model=turn.model_id,
        provider=turn.provider,
        agent=turn.agent_name,
        conversation=turn.conversation_id,
        turn=turn.id,
        status=turn.status.value,
        notes=turn.notes,
        input_tokens=turn.usage.input_tokens,
        output_tokens=turn.usage.output_tokens,
    )
