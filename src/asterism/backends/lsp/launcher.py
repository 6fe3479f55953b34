"""The program between us and a server: it ties the server's life to ours, then becomes the server.

Run as a script, by its path, without the site module: `launcher.py PARENT NAME=VALUE… -- COMMAND…`.
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
    split = arguments.index("--")
    parent, *variables = arguments[:split]
    command = arguments[split + 1 :]
    if sys.platform == "linux":
        # The kernel kills this process when its parent ends, however it ends; exec keeps that.
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != int(parent):
            return CANNOT_START
    for variable in variables:
        name, _, value = variable.partition("=")
        os.putenv(name, value)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")
        return CANNOT_START


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
