"""What a program passed, checked: a wrong type is an error that says what to give instead."""

from enum import StrEnum
from typing import TypeVar

from asterism.types.errors import UsageError
from asterism.types.request_limits import FIELDS, check_text
from asterism.types.search import Stage

Choice = TypeVar("Choice", bound=StrEnum)


def text(name: str, value: object) -> str:
    """A text."""
    if not isinstance(value, str):
        raise UsageError(f"{name} is {value!r:.80}; give a text.")
    return check_text(name, value) if name in FIELDS else value


def texts(value: object) -> list[str]:
    """Texts, given as one or as several."""
    given = [value] if isinstance(value, str) else value
    if not isinstance(given, list | tuple | set | frozenset):
        raise UsageError(f"{value!r:.80} is no text and no list of texts; give one of these.")
    return [text("an entry of a list", each) for each in given]


def whole(name: str, value: object) -> int:
    """A whole number."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise UsageError(f"{name} is {value!r:.80}; give a whole number.")
    return value


def number(name: str, value: object) -> float:
    """A number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UsageError(f"{name} is {value!r:.80}; give a number.")
    return float(value)


def choice(name: str, choices: type[Choice], value: object) -> Choice:
    """One of several words."""
    try:
        return choices(text(name, value))
    except ValueError as error:
        words = ", ".join(str(choice.value) for choice in choices)
        raise UsageError(f"There is no {name} {value!r:.80}; there are {words}.") from error


def stage_of(value: object) -> Stage | None:
    """A stage, where one is given."""
    return None if value is None else choice("stage", Stage, value)
