"""How long a program is expected to take for reading a repository, by size and by earlier times."""

import json
from contextlib import suppress
from pathlib import Path


class LoadTimes:
    """What is remembered of one program and one repository."""

    def __init__(self, place: Path) -> None:
        """`place` is a file of ours."""
        self._place = place

    def expected(self, estimate: float) -> float:
        """Seconds until it can answer; an estimate where nobody has tried yet."""
        with suppress(OSError, ValueError, TypeError, KeyError):
            return float(json.loads(self._place.read_text(encoding="utf-8"))["seconds"])
        return estimate

    def note(self, seconds: float) -> None:
        """Remember how long the next load will take."""
        # What cannot be remembered is estimated the next time as well.
        with suppress(OSError):
            self._place.parent.mkdir(parents=True, exist_ok=True)
            self._place.write_text(json.dumps({"seconds": round(seconds, 1)}), encoding="utf-8")
