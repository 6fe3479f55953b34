"""A question as callers ask it, and what they get."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from asterism.engine.chat.citing import Checked
from asterism.types.chat import Turn
from asterism.types.conversation import Conversation

WAIT_SECONDS = 300.0
"""How long a question waits for the one before it; a model takes minutes at worst."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskRequest:
    """A question, and who is to answer it."""

    question: str
    conversation: str = ""
    """Go on with this one; nothing begins a new one."""
    agent: str = ""
    """Nothing means the conversation's, or none."""
    model: str = ""
    """A name, `PROVIDER/NAME` or `extractive`; nothing means what the settings say."""
    provider: str = ""
    request_id: str = ""
    """Repeated, the request is not answered twice."""
    retries: int | None = None
    """How often the model may judge the hits and search again; None means the settings'."""
    wait_seconds: float = WAIT_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class GoOnRequest:
    """A turn that waits for approval, or was interrupted, is to go on."""

    turn: str
    approvals: Mapping[str, bool]
    """Somebody's word on calls, by their ids."""
    model: str = ""
    provider: str = ""
    wait_seconds: float = WAIT_SECONDS


class Answered(NamedTuple):
    """A turn that ended, or waits."""

    conversation: Conversation
    turn: Turn
    number: int
    citations: tuple[Checked, ...]
    """The places it rests on, each looked for just now."""
    is_repeat: bool = False
    """It was answered before, under the same request id."""
