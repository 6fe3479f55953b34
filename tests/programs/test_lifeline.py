"""Do programs end with the process that started them, with all that they started themselves?"""

import subprocess
import sys

from tests.faults.kinship import Kin, described
from tests.faults.workplace import wait_until

# A program that hears nothing of its input's end, and one of its own beside it.
_CHILD = (
    "import signal, subprocess, sys, time\n"
    "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
    "time.sleep(600)\n"
)
# Starts that program, in a thread that ends or not, and waits to be killed.
_PARENT = """
import sys, threading, time
from asterism.programs.start import DEVNULL, Launch, start
from asterism.programs.table import COMPARED_TOOL
launch = Launch(
    program=COMPARED_TOOL,
    command=(sys.executable, "-c", sys.argv[1]),
    arguments=(),
    values={"directory": "/"},
)
kept = []
def begin():
    kept.append(start(launch, stdin=DEVNULL, start_new_session=True))
thread = threading.Thread(target=begin)
thread.start()
thread.join()
print("started", flush=True)
time.sleep(600)
"""


def test_a_killed_process_takes_everything_along() -> None:
    kin = Kin()
    with subprocess.Popen(
        [sys.executable, "-c", _PARENT, _CHILD], stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"started\n"
        # The thread that started it has ended, and it goes on.
        wait_until(lambda: len(kin.look(parent.pid)) == 2, "both programs")
        parent.kill()
    wait_until(lambda: not kin.left(), f"the end of {described(kin.left())}")
