"""Earlier turns of a conversation, as the model reads them."""

from collections.abc import Iterable

from asterism.types.chat import Message, Role, Turn, TurnStatus

_TOLD = frozenset({TurnStatus.done, TurnStatus.stopped})


def history_of(turns: Iterable[Turn]) -> tuple[Message, ...]:
    """Questions and answers, without the tools in between; turns without an answer are left out."""
    messages: list[Message] = []
    for turn in turns:
        if turn.status in _TOLD and turn.answer.strip():
            messages.append(Message(Role.user, turn.question))
            messages.append(Message(Role.assistant, turn.answer))
    return tuple(messages)
