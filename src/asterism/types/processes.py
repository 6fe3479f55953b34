"""Whether a process still runs, asked by number."""

import os


def process_exists(pid: int) -> bool:
    """Whether there is a process of that number, whichever user it belongs to."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        # It exists, and belongs to another user.
        return True
    return True
