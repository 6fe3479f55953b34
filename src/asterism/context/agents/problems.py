"""What is wrong with an agent's file: each problem with its line and key, all at once."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import NamedTuple

from asterism.types.errors import InputError

MOST_SHOWN = 50
"""Problems that a message lists; a file with more is of another kind altogether."""


class Problem(NamedTuple):
    """One problem: where, and what would be right."""

    line: int
    """From 1."""
    key: str
    """The way to it, such as `rules[2].include`; empty for the file as a whole."""
    message: str

    def __str__(self) -> str:
        """As one line of a message."""
        place = f"line {self.line}, {self.key}" if self.key else f"line {self.line}"
        return f"{place}: {self.message}"


class AgentInvalid(InputError):
    """An agent's file with problems; nothing of it is used."""

    def __init__(self, file: str, problems: Sequence[Problem]) -> None:
        self.file = file
        self.problems = tuple(sorted(problems))
        shown = [f"  {problem}" for problem in self.problems[:MOST_SHOWN]]
        if len(self.problems) > MOST_SHOWN:
            shown.append(f"  and {len(self.problems) - MOST_SHOWN} more")
        count = "a problem" if len(self.problems) == 1 else f"{len(self.problems)} problems"
        super().__init__("\n".join([f"{file} has {count}:", *shown]))


def allowed_names(names: Sequence[str], written: str) -> str:
    """The names that are allowed, the one that was probably meant first."""
    near = get_close_matches(written, names, n=1)
    return f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}"
