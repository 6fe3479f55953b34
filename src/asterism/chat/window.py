"""What is left out of a request when it is more than the model can read, and who is told."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from asterism.types.chat import Message, Role

CHARS_PER_TOKEN = 4
"""Where no tokenizer is known; code has more tokens for its length, which the margin covers."""
MARGIN = 0.9
"""The share of the window that is used, for counts are estimates."""
PER_MESSAGE = 8
"""Tokens around each message."""
LEAST = 400
"""Characters of a result that are kept at least: what it begins with says what it was."""

Count = Callable[[str], int]


class Assembled(NamedTuple):
    """A request in its parts."""

    system: tuple[Message, ...]
    history: tuple[Message, ...]
    """Of earlier turns."""
    grounding: tuple[Message, ...]
    """Code that was found before the model was asked."""
    question: Message
    items: tuple[Message, ...] = ()
    """Rules and references, right before the question; they have a budget of their own."""
    steps: tuple[Message, ...] = ()
    """What the model and its tools have said since."""

    @property
    def messages(self) -> tuple[Message, ...]:
        """All of it in order."""
        before = (*self.system, *self.history, *self.grounding, *self.items)
        return (*before, self.question, *self.steps)


class Trimmed(NamedTuple):
    """A request that fits, and what went, in sentences."""

    request: Assembled
    notes: tuple[str, ...] = ()
    fits: bool = True


def estimate(text: str) -> int:
    """Tokens of a text by its length."""
    return -(-len(text) // CHARS_PER_TOKEN)


def fitted(request: Assembled, budget: int, count: Count = estimate) -> Trimmed:
    """The request within a budget of tokens; 0 means that nobody knows one.

    Earlier turns go first, the oldest before the others; then the code that was found and the
    results of tools are shortened, the oldest first. The rules and the question stay as they are.
    """
    over = size_of(request, count) - budget
    if budget <= 0 or over <= 0:
        return Trimmed(request)
    notes: list[str] = []
    history = _recent(request.history, over, count)
    if gone := len(request.history) - len(history):
        request = request._replace(history=history)
        notes.append(f"The {gone} oldest messages of the conversation were left out: no room.")
    over = size_of(request, count) - budget
    material = (*request.grounding, *request.steps)
    shorter = _shorter(material, over, count)
    if cut := sum(one is not other for one, other in zip(material, shorter, strict=True)):
        split = len(request.grounding)
        request = request._replace(grounding=shorter[:split], steps=shorter[split:])
        notes.append(f"Results of searches and tools were shortened ({cut}): no room for them.")
    return Trimmed(request, tuple(notes), size_of(request, count) <= budget)


def size_of(request: Assembled, count: Count = estimate) -> int:
    """The tokens of a request."""
    return sum(_size(message, count) for message in request.messages)


def _recent(history: tuple[Message, ...], over: int, count: Count) -> tuple[Message, ...]:
    """Without the oldest, as many as are over."""
    gone = 0
    while gone < len(history) and over > 0:
        over -= _size(history[gone], count)
        gone += 1
    # A conversation begins with a question: an answer without its own goes too.
    while gone < len(history) and gone and history[gone].role is not Role.user:
        gone += 1
    return history[gone:]


def _shorter(messages: Sequence[Message], over: int, count: Count) -> tuple[Message, ...]:
    """Long results shortened, the oldest first, until enough is gone."""
    result = list(messages)
    for place, message in enumerate(result):
        if over <= 0:
            break
        if message.role is Role.assistant or len(message.text) <= LEAST * 2:
            continue
        keep = max(LEAST, len(message.text) - over * CHARS_PER_TOKEN - LEAST)
        result[place] = message._replace(text=shortened(message.text, keep))
        over -= _size(message, count) - _size(result[place], count)
    return tuple(result)


def shortened(text: str, most: int) -> str:
    """The beginning and the end of a text, with a mark that says how much is left out."""
    if len(text) <= most:
        return text
    tail = min(most // 4, 2_000)
    head = most - tail
    left_out = len(text) - head - tail
    return f"{text[:head]}\n[{left_out:,} characters left out]\n{text[len(text) - tail :]}"


def _size(message: Message, count: Count) -> int:
    calls = sum(count(call.name) + count(call.arguments) for call in message.calls)
    return count(message.text) + calls + PER_MESSAGE
