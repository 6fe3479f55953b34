"""The program between us and a tool server: it ties the server's life to ours, then becomes it.

Run as a script, by its path, without the site module: `launcher.py PARENT COMMAND…`. Secrets are in
the environment it is given, never among its arguments, which every user of a machine can read.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1

# What a shell says of a command that cannot be started.
CANNOT_START = 127


def main(arguments: list[str]) -> int:
    """Become the command; return only where that fails."""
    parent, *command = arguments
    if sys.platform == "linux":
        # The kernel kills this process when its parent ends, however it ends; exec keeps that.
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != int(parent):
            return CANNOT_START
    try:
        os.execvp(command[0], command)
    except OSError:
        return CANNOT_START


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
