"""What work costs: wall time, CPU time and memory of this process and those it waited for."""

import sys
import time
from typing import NamedTuple

# Linux counts the peak in kibibytes, macOS in bytes.
_PEAK_UNIT = 1 if sys.platform == "darwin" else 1024


class Clock(NamedTuple):
    """A moment, in wall and CPU seconds."""

    wall: float
    cpu: float

    def until(self, later: "Clock") -> "Clock":
        """What passed between two moments."""
        return Clock(later.wall - self.wall, later.cpu - self.cpu)


def now() -> Clock:
    """This moment."""
    return Clock(time.perf_counter(), time.process_time() + _children_cpu())


def peak_bytes() -> int:
    """The most memory that this process held so far, or a process that it started."""
    if sys.platform == "win32":
        return 0
    import resource

    sides = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return max(resource.getrusage(side).ru_maxrss for side in sides) * _PEAK_UNIT


def _children_cpu() -> float:
    if sys.platform == "win32":
        return 0.0
    import resource

    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
