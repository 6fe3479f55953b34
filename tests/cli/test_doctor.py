"""`asterism doctor` on installations that are whole, and on such that are not."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT, Run
from tests.faults.privileges import permissions_count


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("XDG_CONFIG_HOME", "VOYAGE_API_KEY", "ASTERISM_LOG_FILE"):
        monkeypatch.delenv(variable, raising=False)


def test_all_is_well(indexed: Path, run: Run) -> None:
    done = run("doctor")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0].startswith("ok       Python            3.")
    assert any(line.startswith("ok       shop ") for line in lines)
    assert not any(line.startswith("problem") for line in lines)


def test_for_programs(indexed: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASTERISM_EMBEDDING_PROVIDER", "voyage")
    done = run("doctor", "--json")
    assert done.code == 1
    said = json.loads(done.out)
    assert said["healthy"] is False
    assert sum(said["counts"].values()) == len(said["findings"])
    (broken,) = [one for one in said["findings"] if one["verdict"] == "problem"]
    assert broken == {
        "check": "Embeddings",
        "verdict": "problem",
        "message": "voyage/voyage-code-3, 1024 dimensions at api.voyageai.com: there is no key",
        "advice": "Set VOYAGE_API_KEY or ASTERISM_EMBEDDING_API_KEY.",
    }


def test_advice_stands_below(indexed: Path, places: Path, run: Run) -> None:
    (catalogue,) = (places / "data").rglob("catalogue.sqlite")
    catalogue.write_bytes(b"nonsense" * 1000)
    done = run("doctor")
    assert done.code == 1
    lines = done.out.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("problem  shop "))
    assert lines[at + 1].strip() == f"→ Run `asterism index {indexed}`."
    assert lines[-1].startswith("1 problem")


def doctor(
    where: Path, source: str = str(ROOT / "src"), through: tuple[str, ...] = ()
) -> tuple[int, str]:
    """Run it in a process of its own."""
    done = subprocess.run(
        [*through, sys.executable, "-m", "asterism.cli", "doctor"],
        cwd=where,
        env={**os.environ, "PYTHONPATH": source},
        capture_output=True,
        check=False,
        text=True,
    )
    # onnxruntime writes the traceback of a broken numpy itself.
    assert done.stderr == "" or "numpy" in done.stderr
    return done.returncode, done.stdout


def test_a_data_directory_that_may_not_be_read(indexed: Path, places: Path) -> None:
    through = tuple(permissions_count())
    data = places / "data"
    data.chmod(0)
    try:
        code, out = doctor(indexed, through=through)
    finally:
        data.chmod(0o700)
    assert code == 1
    assert "problem  Data directory" in out
    assert "problem  Repositories" in out
    assert "ok       Cache directory" in out
    assert "ok       Model files" in out


def test_a_place_that_was_removed(indexed: Path, tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    through = ("sh", "-c", 'rmdir ../gone && exec "$@"', "sh")
    code, out = doctor(tmp_path / "gone", through=through)
    assert code == 0
    assert "ok       shop" in out


@pytest.mark.parametrize(
    ("library", "broken"),
    [
        ("tree_sitter", {"Parser"}),
        ("lance", {"Store"}),
        ("tokenizers", {"Built-in model"}),
        ("numpy", {"Store", "Built-in model"}),
        ("pathspec", {"Parser"}),
    ],
)
def test_a_library_that_is_broken(
    indexed: Path, tmp_path: Path, library: str, broken: set[str]
) -> None:
    package = tmp_path / "broken" / library
    package.mkdir(parents=True)
    (package / "__init__.py").write_text('raise ImportError("not for this processor")\n')
    code, out = doctor(indexed, f"{package.parent}{os.pathsep}{ROOT / 'src'}")
    assert code == 1
    found = {line[9:27].strip() for line in out.splitlines() if line.startswith("problem  ")}
    assert broken <= found
    assert "not for this processor" in out
    assert "ok       git" in out


def test_a_crash_is_told(indexed: Path, tmp_path: Path) -> None:
    package = tmp_path / "broken" / "tree_sitter"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("import os\nos.abort()\n")
    source = f"{package.parent}{os.pathsep}{ROOT / 'src'}"
    script = (
        "from asterism.engine.doctor.machine import part_findings\nprint(*part_findings('parser'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": source},
        capture_output=True,
        check=True,
        text=True,
    )
    assert "crashed (signal 6)" in done.stdout


def test_a_package_without_its_model(indexed: Path, tmp_path: Path) -> None:
    source = tmp_path / "installed"
    shutil.copytree(ROOT / "src" / "asterism", source / "asterism", copy_function=os.symlink)
    (model,) = source.rglob("embeddings.int8.npy")
    model.unlink()
    code, out = doctor(indexed, str(source))
    assert code == 1
    assert "problem  Model files       embeddings.int8.npy is missing" in out
    assert "problem  Built-in model    does not work: The model in " in out
    assert "cannot be used: embeddings.int8.npy is missing" in out
    assert "ok       Store" in out
    assert "ok       shop" in out
