"""What came of the runs of each kind, as a table."""

from collections.abc import Iterable
from dataclasses import dataclass, field

ROW = "| {} | {:,} | {} | {} | {} | {} | {} | {} | {} |"


@dataclass
class Result:
    """The runs of one kind."""

    kind: str
    runs: int = 0
    lost: int = 0
    """Committed rows that were gone, or rows without a file."""
    wrong: int = 0
    """Answers, or indexes after the repair, that differ from those of a fresh index."""
    not_mended: int = 0
    """Indexes that the next `asterism index`, or the command in the message, did not repair."""
    orphans: int = 0
    """Processes that were still there long after the one that started them."""
    tracebacks: int = 0
    late: int = 0
    """Commands that took longer than two minutes."""
    disk: float = 0.0
    """The largest index after the next sync and `asterism clean`, as a multiple of a fresh one."""
    covered: str = ""
    """Which share of the kinds of damage the runs covered."""
    complaints: list[str] = field(default_factory=list)

    def complain(self, run: str, what: str) -> None:
        """Note something that should not be, with what makes it happen again."""
        self.complaints.append(f"{self.kind}, {run}: {what}")

    @property
    def is_clean(self) -> bool:
        """Whether nothing is wrong."""
        return not self.complaints


def table(results: Iterable[Result]) -> str:
    """The results as Markdown."""
    lines = [
        "| kind | runs | lost | wrong | not repaired | orphans | tracebacks | late | disk |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    lines += [
        ROW.format(
            one.kind,
            one.runs,
            one.lost,
            one.wrong,
            one.not_mended,
            one.orphans,
            one.tracebacks,
            one.late,
            f"{one.disk:.2f}" if one.disk else "",
        )
        for one in results
    ]
    return "\n".join(lines)
