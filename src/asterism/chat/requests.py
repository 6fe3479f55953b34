"""What a model is sent: rules, context, conversation, found code, question, and what came since."""

from collections.abc import Iterator, Sequence

from asterism.chat.options import TurnOptions
from asterism.chat.ports import Prepared
from asterism.chat.prompts import grounding_message, result_message, rules
from asterism.chat.window import MARGIN, Assembled, estimate
from asterism.models.llm.protocol import LanguageModel
from asterism.types.chat import Message, Role, ToolSpec, Turn


def assembled(turn: Turn, prepared: Prepared, history: Sequence[Message], mark: str) -> Assembled:
    """The request for the turn's next reply."""
    return Assembled(
        system=(rules(mark), *(one for one in prepared.messages if one.role is Role.system)),
        history=tuple(history),
        grounding=(grounding_message(turn.grounding, mark),) if turn.grounding else (),
        question=Message(Role.user, turn.question),
        items=tuple(one for one in prepared.messages if one.role is not Role.system),
        steps=tuple(_steps(turn, mark)),
    )


def budget_of(model: LanguageModel, options: TurnOptions, tools: Sequence[ToolSpec]) -> int:
    """The tokens that messages may have; 0 where the model's window is not known."""
    if not model.window:
        return 0
    described = sum(estimate(f"{tool.name}{tool.description}{tool.schema}") for tool in tools)
    room = int(model.window * MARGIN) - output_of(model, options) - described
    return max(1, room)


def output_of(model: LanguageModel, options: TurnOptions) -> int:
    """The tokens that the answer may have: of a small window no more than half.

    Else nothing could be asked of a model whose whole window is the usual length of an answer.
    """
    if not model.window:
        return options.max_output_tokens
    return max(1, min(options.max_output_tokens, model.window // 2))


def _steps(turn: Turn, mark: str) -> Iterator[Message]:
    for one in turn.rounds:
        yield Message(Role.assistant, one.text, one.calls)
        yield from (result_message(result, mark) for result in one.results)
