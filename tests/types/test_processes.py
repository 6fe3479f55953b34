"""Which process numbers are in use."""

import os
import subprocess
import sys

from asterism.types.processes import process_exists


def test_this_process_exists() -> None:
    assert process_exists(os.getpid())
    # Larger than any system lets a process number be.
    assert not process_exists(2**22 + 1)


def test_a_process_exists_until_it_is_waited_for() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert process_exists(child.pid)
    child.communicate(b"\n")
    assert not process_exists(child.pid)
