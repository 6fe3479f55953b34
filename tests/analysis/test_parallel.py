"""Work in several processes, none of which runs what lies around where they are started."""

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import os
from asterism.analysis.parallel import in_parallel
if __name__ == "__main__":
    print(list(in_parallel(sum, range(100), 2)), "PYTHONSAFEPATH" in os.environ)
"""
TRAP = "open('sprung', 'w').close()\nraise SystemExit('the repository was run')\n"


def test_modules_of_the_current_directory_are_not_run(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    here = tmp_path / "repository"
    here.mkdir()
    for name in ("types", "warnings", "signal", "socket", "threading", "multiprocessing"):
        (here / f"{name}.py").write_text(TRAP)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=here,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split("\n")[0] == f"{[sum(range(32)), 1520, 2544, 390]} False", done.stderr
    assert not (here / "sprung").exists()
