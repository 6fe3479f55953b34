"""Preloaded by the fork server of the readers: removes its socket if its parent was killed."""

import atexit
from contextlib import suppress
from multiprocessing import forkserver
from pathlib import Path
from typing import Any


def remove_socket() -> None:
    """Remove the socket and its directory; a parent that ends in peace has done so before."""
    # Only the server itself knows where it listens, and no public name tells.
    server: Any = vars(forkserver)["_forkserver"]
    address = server._forkserver_address
    if isinstance(address, str) and address.startswith("/"):
        with suppress(OSError):
            Path(address).unlink()
        with suppress(OSError):
            # Where the parent has put more into it, it stays.
            Path(address).parent.rmdir()


# Workers leave without it: the server ends last.
atexit.register(remove_socket)
