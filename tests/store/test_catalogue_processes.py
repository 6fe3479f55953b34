"""Do several processes get along with one catalogue, and does none lose what is committed?"""

import signal
import subprocess
import sys
from pathlib import Path

from asterism.store.catalogue.catalogue import Catalogue
from asterism.types.index import SymbolQuery
from tests.store.catalogue_samples import (
    chunk_id,
    commit,
    new_catalogue,
    update,
    usage,
)

PROJECT = Path(__file__).resolve().parents[2]

# Each batch replaces two files, whose versions and rows must always agree with the batch's number.
WRITER = """
import sys
from pathlib import Path
from asterism.store.catalogue.catalogue import Catalogue
from tests.store.catalogue_samples import commit, update, usage

catalogue = Catalogue.open(Path(sys.argv[1]), writable=True)
for n in range(1, int(sys.argv[2])):
    names = [usage(path, f"only_{n}", 1) for path in ("a.py", "b.py")]
    commit(
        catalogue,
        update("a.py", names[0], version=n, chunks=n % 5),
        update("b.py", names[1], version=n, chunks=n % 5),
        version=n,
    )
    print(n, flush=True)
print("ready", flush=True)
sys.stdin.read()
"""

# Stops inside a transaction, after the rows are written and before they are committed.
HALFWAY = """
import sys
from pathlib import Path
from asterism.store.catalogue.catalogue import Catalogue
from tests.store.catalogue_samples import commit, update, usage

catalogue = Catalogue.open(Path(sys.argv[1]), writable=True)
with catalogue._database.transaction():
    first = catalogue.next_file_version(5)
    commit(catalogue, update("a.py", usage("a.py", "lost", 1), version=77), version=77)
    print("ready", flush=True)
    sys.stdin.read()
"""


def _start(script: str, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=PROJECT,
    )


def _kill(process: "subprocess.Popen[str]") -> None:
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL


def _agrees(catalogue: Catalogue) -> int:
    """The version that everything in the catalogue belongs to."""
    with catalogue.snapshot():
        version = catalogue.chunks_version()
        assert {state.version for state in catalogue.files("shop").values()} == {version}
        for path in ("a.py", "b.py"):
            ids = [key for key, _ in catalogue.chunk_keys("shop", path)]
            assert ids == [chunk_id(n) for n in range(version % 5)]
        assert catalogue.find_symbols(SymbolQuery(f"only_{version}")).total == 2
    return version


def _first(directory: Path) -> None:
    with new_catalogue(directory) as catalogue:
        rows = [
            update(path, usage(path, "only_0", 1), version=0, chunks=0) for path in ("a.py", "b.py")
        ]
        commit(catalogue, *rows, version=0)


def test_a_reader_sees_whole_batches_while_another_process_commits(tmp_path: Path) -> None:
    _first(tmp_path)
    process = _start(WRITER, str(tmp_path), "200")
    seen: set[int] = set()
    with Catalogue.open(tmp_path) as reader:
        while process.poll() is None and max(seen, default=0) < 199:
            seen.add(_agrees(reader))
    process.communicate("")
    assert process.returncode == 0
    assert max(seen) == 199


def test_killed_between_transactions(tmp_path: Path) -> None:
    _first(tmp_path)
    process = _start(WRITER, str(tmp_path), "5")
    assert process.stdout is not None
    said = [process.stdout.readline().strip() for _ in range(5)]
    assert said[-1] == "ready"
    _kill(process)
    with Catalogue.open(tmp_path) as reader:
        assert _agrees(reader) == 4
    with Catalogue.open(tmp_path, writable=True) as writer:
        assert _agrees(writer) == 4
        commit(writer, update("c.py"), version=5)
    with Catalogue.open(tmp_path) as reader:
        assert reader.chunks_version() == 5


def test_killed_while_committing(tmp_path: Path) -> None:
    _first(tmp_path)
    process = _start(WRITER, str(tmp_path), "100000")
    assert process.stdout is not None
    said = [int(process.stdout.readline()) for _ in range(20)][-1]
    _kill(process)
    with Catalogue.open(tmp_path, writable=True) as writer:
        assert _agrees(writer) >= said


def test_killed_inside_a_transaction(tmp_path: Path) -> None:
    _first(tmp_path)
    with Catalogue.open(tmp_path, writable=True) as catalogue:
        before = catalogue.next_file_version(1)
    process = _start(HALFWAY, str(tmp_path))
    assert process.stdout is not None
    assert process.stdout.readline().strip() == "ready"
    with Catalogue.open(tmp_path) as reader:
        assert _agrees(reader) == 0
    _kill(process)
    with Catalogue.open(tmp_path, writable=True) as writer:
        assert _agrees(writer) == 0
        assert writer.find_symbols(SymbolQuery("lost")).total == 0
        assert writer.next_file_version(1) == before + 1


def test_reserved_versions_survive_a_kill(tmp_path: Path) -> None:
    _first(tmp_path)
    script = (
        "import sys; from pathlib import Path; "
        "from asterism.store.catalogue.catalogue import Catalogue; "
        "catalogue = Catalogue.open(Path(sys.argv[1]), writable=True); "
        "print(catalogue.next_file_version(10), flush=True); sys.stdin.read()"
    )
    process = _start(script, str(tmp_path))
    assert process.stdout is not None
    first = int(process.stdout.readline())
    _kill(process)
    with Catalogue.open(tmp_path, writable=True) as catalogue:
        assert catalogue.next_file_version(1) == first + 10


def test_looking_into_a_catalogue_loads_no_heavy_library() -> None:
    script = (
        "import sys; import asterism.store.catalogue.catalogue, asterism.types.index; "
        "heavy = {'numpy', 'lance', 'pyarrow', 'pandas', 'rich', 'tree_sitter'}; "
        "print(sorted(heavy & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
