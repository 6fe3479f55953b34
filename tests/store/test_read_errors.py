"""A disk that fails at any one read: an AsterismError that names the disk."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.campaign.layer import Arming, is_possible
from tests.faults.workplace import ROOT, workplace

# Opens what every command opens, in a fork for each read that it makes; prints what came of it.
_OPENING = """
import os, sys
from pathlib import Path
from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.registry import Registry
from asterism.types.errors import AsterismError
from tests.faults.campaign.layer import Arming, Fault, arm, disarm
data, project, writable = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3] == "writing"

def attempt(at):
    arm(Arming(data, at, Fault.broken, reads=True))
    try:
        Registry(data).repositories()
        Catalogue.open(project, writable=writable).close()
        return "opened"
    except AsterismError as error:
        # Some of what SQLite reads shows as damage where it cannot be read.
        return "damaged" if "damaged" in str(error) else "said"
    except BaseException as error:
        return repr(error)

# Beyond the last read nothing fails any more.
at, failed = 1, 1
while failed:
    if os.fork() == 0:
        said = attempt(at)
        _, failed, _ = disarm()
        print(said, flush=True)
        os._exit(failed)
    failed = os.waitstatus_to_exitcode(os.wait()[1])
    at += 1
"""


@pytest.mark.parametrize("way", ["reading", "writing"])
def test_a_read_that_fails(tmp_path: Path, way: str) -> None:
    if not is_possible():
        pytest.skip("the fault layer needs Linux and a C compiler")
    place = workplace(tmp_path)
    place.index()
    project = place.directory
    # Its stamp is another one, so that all of it is read.
    os.utime(project / "catalogue.sqlite")
    done = subprocess.run(
        [sys.executable, "-c", _OPENING, str(place.data), str(project), way],
        cwd=ROOT,
        env={
            **os.environ,
            **Arming(place.data).variables,
            "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stdout.splitlines()
    assert done.returncode == 0, done.stderr
    assert said[-1] == "opened"
    assert "said" in said
    assert set(said) <= {"opened", "said", "damaged"}
