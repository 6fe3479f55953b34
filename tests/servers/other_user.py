"""What another user of the machine could do, where the tests run as root."""

import os
import traceback
from collections.abc import Callable

OTHER_UID = 54_321
"""A user that no machine has."""

IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


def as_other_user(do: Callable[[], bytes]) -> bytes:
    """What a function gives in a process of that user; it uses what is loaded already."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(reading)
            os.setgroups([])
            os.setgid(OTHER_UID)
            os.setuid(OTHER_UID)
            os.write(writing, do())
            status = 0
        except BaseException:  # noqa: BLE001 - the child must never go on with the parent's tests
            traceback.print_exc()
        finally:
            os._exit(status)
    os.close(writing)
    with open(reading, "rb") as file:  # noqa: PTH123 - by its descriptor
        told = file.read()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    return told
