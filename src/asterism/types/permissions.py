"""Whether a tool may be called."""

from enum import StrEnum


class Permission(StrEnum):
    """Always, never, or after a person has said yes."""

    always = "always"
    never = "never"
    ask = "ask"
