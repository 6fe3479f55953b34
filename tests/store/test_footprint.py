"""Lance is told to be modest before it is loaded, unless the user has said otherwise."""

import os
import subprocess
import sys

import pytest

SCRIPT = """
import os, sys
from asterism.store.lance.process import give_back, stay_small
stay_small()
stay_small()
give_back()
assert "lance" not in sys.modules
print(os.environ["LANCE_IO_THREADS"], os.environ["LANCE_DEFAULT_FRAGMENT_READAHEAD"])
"""


@pytest.mark.parametrize(("own", "expected"), [({}, "2 1"), ({"LANCE_IO_THREADS": "7"}, "7 1")])
def test_what_the_user_has_set_counts(own: dict[str, str], expected: str) -> None:
    # In a process of its own: the environment of this one belongs to every test.
    clean = {name: value for name, value in os.environ.items() if not name.startswith("LANCE_")}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=clean | own, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == expected.split()
