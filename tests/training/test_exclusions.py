"""Does nothing of a repository that is held back ever become a row or an example?"""

import json
from pathlib import Path

import pytest

from tests.training.source_trees import FILES, GO, PYTHON, clone, run, tarball, write_tree
from training.examples.mine import rows_of_source
from training.examples.prepare import load
from training.sources import exclusions
from training.sources.exclusions import Exclusions, named_like_excluded

# The same function among other code: other names around it, other layout, no comment.
COPIED_GO = """package elsewhere

import "errors"

type Other struct { jobs []string }

// PutJob puts a job at the end of all the others.
func (o *Other) PutJob(job string) {
	if job == "" {
		panic("a job without a name cannot be put anywhere")
	}
	o.jobs = append(o.jobs, job)
}

// TakeJob removes the oldest job from the queue and returns it.
func (q *Queue) TakeJob() (string, error) {
		if len(q.jobs) == 0 { return "", errors.New("there is no job left in the queue") }
		first := q.jobs[0]

		q.jobs = q.jobs[1:]
		return first, nil
}
"""


@pytest.fixture(scope="module")
def hashes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a repository with everything but the Ruby file."""
    folder = tmp_path_factory.mktemp("held")
    files = {name: text for name, text in FILES.items() if not name.endswith(".rb")}
    out = folder / "excluded.bin"
    assert exclusions.main([str(clone(folder / "held-back", files)), "--out", str(out)]) == 0
    return out


def test_hashes_come_back(hashes: Path) -> None:
    found = Exclusions.load(hashes)
    assert len(found.files) == 4
    assert len(found.symbols) > 6
    assert found.has_file(PYTHON.encode())
    assert not found.has_file(PYTHON.encode() + b"\n")


def test_a_copied_file(tmp_path: Path, hashes: Path) -> None:
    """Wherever it lies and whatever it is called."""
    root = write_tree(
        tmp_path, {"other/renamed.py": PYTHON, "lib/sales.rb": FILES["lib/sales_report.rb"]}
    )
    rows = rows_of_source(root, "copier", Exclusions.load(hashes))
    assert {row.path for row in rows} == {"lib/sales.rb"}


def test_a_copied_symbol(tmp_path: Path, hashes: Path) -> None:
    """In a file that was never seen, laid out anew."""
    root = write_tree(tmp_path, {"else/where.go": COPIED_GO})
    rows = rows_of_source(root, "copier", Exclusions.load(hashes))
    assert "PutJob" in {row.name for row in rows}
    assert "TakeJob" not in {row.name for row in rows}
    nothing = Exclusions(frozenset(), frozenset())
    assert "TakeJob" in {row.name for row in rows_of_source(root, "copier", nothing)}


@pytest.mark.parametrize(
    ("path", "held_back"),
    [
        ("site-packages/flask/app.py", True),
        ("vendor2/requests/api.py", True),
        ("Newtonsoft.Json/Linq/JToken.cs", True),
        ("jackson-databind/src/A.java", True),
        ("src/flask.py", True),
        ("lib/ClicK/core.py", True),
        ("src/flasks/app.py", False),
        ("src/clicker.py", False),
        ("requests_log/app.py", False),
        ("ui/format.ts", False),
    ],
)
def test_names(tmp_path: Path, path: str, held_back: bool) -> None:
    assert named_like_excluded(path) is held_back
    suffix = path.rsplit(".", 1)[-1]
    content = {"py": PYTHON, "ts": FILES["web/cart.ts"]}.get(suffix, FILES["web/cart.ts"])
    root = write_tree(tmp_path, {path: content})
    rows = rows_of_source(root, "copier", Exclusions(frozenset(), frozenset()))
    if held_back:
        assert rows == []
    else:
        assert rows


def test_end_to_end(tmp_path: Path, hashes: Path) -> None:
    """Nothing is in the examples, even of rows that were mined before anything was held back."""
    mixed = {
        "src/renamed.py": PYTHON,
        "a/b.go": COPIED_GO,
        "lib/r.rb": FILES["lib/sales_report.rb"],
    }
    source = tarball(tmp_path / "mixed-1.0.tar.gz", mixed)
    none = tmp_path / "none.bin"
    none.write_bytes((0).to_bytes(8, "little"))
    assert (
        run("examples.mine", source, "--out", tmp_path / "rows", "--exclude", none).returncode == 0
    )
    mined = (tmp_path / "rows" / "mixed.jsonl").read_text("utf-8")
    assert "renew_session" in mined
    assert "TakeJob" in mined
    done = run(
        "examples.prepare", tmp_path / "rows", "--out", tmp_path / "examples", "--exclude", hashes,
        "--processes", 1,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    counts = json.loads((tmp_path / "examples" / "counts.json").read_text("utf-8"))
    assert counts["kept out"] >= 4
    made = load(tmp_path / "examples")
    everything = "\n".join((*made.queries, *made.texts, *made.names))
    assert "monthly" in everything.lower()
    assert "PutJob" in everything
    for held_back in ("renew_session", "expired_sessions", "TakeJob", GO.splitlines()[11].strip()):
        assert held_back not in everything
