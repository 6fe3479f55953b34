"""Fields of a section that know how their setting is described."""

from dataclasses import field
from typing import Any

from asterism.config.setting import Kind, Value, Voice


def described(kind: Kind, default: Value, purpose: str, *, voice: Voice, **more: Any) -> Any:
    """A field that knows how its setting is described; `more` is as in `Setting`.

    `voice` has no default: each new setting has to declare what a repository may do with it.
    """
    metadata = {"kind": kind, "purpose": purpose, "voice": voice, **more}
    return field(default=default, metadata=metadata)


def whole(default: int, purpose: str, *, voice: Voice, **more: Any) -> Any:
    """The same for a whole number."""
    return described(Kind.whole, default, purpose, voice=voice, **more)
