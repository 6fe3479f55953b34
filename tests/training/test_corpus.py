"""Do shards hold files of every source once, and none that is to be kept out?"""

import tarfile
from pathlib import Path

from tests.training.source_trees import FILES, PYTHON, clone, run, tarball, wheel, write_tree
from training.sources.archives import source_files


def test_shards(tmp_path: Path) -> None:
    damaged = wheel(tmp_path / "damaged-1.0.whl")
    damaged.write_bytes(damaged.read_bytes()[:100])
    (tmp_path / "hollow" / ".git").mkdir(parents=True)
    sources = [
        tarball(tmp_path / "packed-1.0.tar.gz"),
        write_tree(tmp_path / "other", {"b.py": PYTHON + "\n", "flask/app.py": PYTHON + "\n\n"}),
        clone(tmp_path / "same"),
        tmp_path / "hollow",
        damaged,
    ]
    done = run("sources.corpus", *sources, "--out", tmp_path / "out", "--processes", 1)
    assert done.returncode == 0, done.stderr
    assert "damaged: " in done.stderr
    assert "hollow: " in done.stderr
    names = []
    for shard in sorted((tmp_path / "out").iterdir()):
        with tarfile.open(shard) as members:
            names += members.getnames()
    assert sum(name.endswith("src/sessions.py") for name in names) == 1
    assert "other/b.py" in names
    assert not any("flask" in name for name in names)
    assert len(names) == len(FILES) + 1


def test_shards_can_be_mined(tmp_path: Path) -> None:
    """The first folder of a path is its source; what is read from a shard has lost it."""
    done = run("sources.corpus", write_tree(tmp_path / "shop"), "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    found = [file for shard in (tmp_path / "out").iterdir() for file in source_files(shard)]
    assert {file.path for file in found} == FILES.keys()
