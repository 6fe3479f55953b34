"""The latest answers by what was asked, as many as are worth keeping."""

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

_Answer = TypeVar("_Answer")


class Recent(Generic[_Answer]):
    """Keeps a number of answers; the one that was not asked for the longest time goes first."""

    def __init__(self, kept: int) -> None:
        """Keep so many."""
        self._kept = kept
        self._lock = Lock()
        self._answers: dict[Hashable, _Answer] = {}

    def get(self, asked: Hashable, find: Callable[[], _Answer]) -> _Answer:
        """The answer, found now if it is not kept."""
        with self._lock:
            if asked in self._answers:
                # What comes last in a dictionary was put there last.
                answer = self._answers[asked] = self._answers.pop(asked)
                return answer
        # Two threads may find the same; whoever asks for something else need not wait for them.
        answer = find()
        with self._lock:
            self._answers[asked] = answer
            while len(self._answers) > self._kept:
                del self._answers[next(iter(self._answers))]
        return answer

    def __len__(self) -> int:
        """How many are kept."""
        return len(self._answers)
