"""Fields of a section that know how their setting is described."""

from dataclasses import field
from typing import Any

from asterism.config.setting import Kind, Value


def described(kind: Kind, default: Value, purpose: str, **more: Any) -> Any:
    """A field that knows how its setting is described; `more` is as in `Setting`."""
    return field(default=default, metadata={"kind": kind, "purpose": purpose, **more})


def whole(default: int, purpose: str, minimum: int, maximum: int | None = None, **more: Any) -> Any:
    """The same for a whole number."""
    return described(Kind.whole, default, purpose, minimum=minimum, maximum=maximum, **more)
