"""Makes a query set about code that no model was trained on.

    python -m training.evaluation.unseen CLONES --out FOLDER

CLONES holds a clone of each repository in `unseen.toml`, as `owner+name`, `owner/name` or `name`.
The parts listed there are written to FOLDER/repos, and questions to FOLDER/queries.jsonl: what they
can answer by themselves, and the subjects of their commits as change requests. Both are what
`training.evaluation.evaluate` wants.
"""

import argparse
import io
import random
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from asterism.config.load import load
from asterism.config.settings import Settings
from asterism.engine.engine import Engine
from asterism.engine.stores import DataDirectories
from asterism.evaluation.datasets import LabelledPlace, Query, write_dataset
from asterism.evaluation.self_supervised import SetOptions, make_queries
from asterism.types.errors import PathMissing
from asterism.types.files import display_path
from training.examples.mine import rows_of_source
from training.inputs import present
from training.sources.archives import git_directory
from training.sources.exclusions import Exclusions
from training.sources.history import change_requests, log_of

CHANGE = "change"
"""The category of questions that are the subjects of commits."""

LISTED = Path(__file__).with_name("unseen.toml")
# Tests say in words what the code does, and fill half of some repositories.
LEFT_OUT = (":(exclude,glob)**/*_test.go", ":(exclude,glob)**/*.test.ts")


class Unseen(NamedTuple):
    """A repository that is not trained on."""

    name: str
    slug: str
    revision: str
    parts: tuple[str, ...]


def listed(path: Path = LISTED) -> list[Unseen]:
    """What the list says."""
    with path.open("rb") as file:
        entries = tomllib.load(file)
    return [
        Unseen(name, entry["slug"], entry["revision"], tuple(entry["parts"]))
        for name, entry in entries.items()
    ]


def check_out(one: Unseen, clones: Path, out: Path) -> None:
    """Write the parts of a repository, as they were at the revision."""
    git = git_directory(_clone(one, clones))
    done = subprocess.run(
        ["git", "--git-dir", str(git), "archive", one.revision, "--", *one.parts, *LEFT_OUT],
        capture_output=True,
        check=False,
    )
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise PathMissing(f"{one.slug} cannot be read at {one.revision}: {said}")
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(out, filter="data")


def _clone(one: Unseen, clones: Path) -> Path:
    names = (one.slug.replace("/", "+"), one.slug, one.slug.rpartition("/")[2])
    for name in names:
        for folder in (clones / name / "repo", clones / name, clones / f"{name}.git"):
            if (folder / "HEAD").is_file() or (folder / ".git").is_dir():
                return folder
    raise PathMissing(f"No clone of {one.slug} is in {display_path(str(clones))}; clone it there.")


def questions(root: Path, size: int, seed: int) -> list[Query]:
    """What a checkout can answer by itself."""

    def settings(place: str) -> Settings:
        return load(Path(place)).settings

    with tempfile.TemporaryDirectory(prefix="asterism-unseen-") as scratch:
        engine = Engine(DataDirectories(Path(scratch, "data"), Path(scratch, "cache")), settings)
        try:
            registered = engine.register(root)
            engine.index(registered)
            return make_queries(registered, SetOptions(size, seed))
        finally:
            engine.close()


def requested(one: Unseen, clones: Path, root: Path, size: int, seed: int) -> list[Query]:
    """Subjects of commits as queries, each with the file that still has the lines of its commit."""
    rows = rows_of_source(root, one.name, Exclusions(frozenset(), frozenset()))
    found = list(
        {
            change.query: change for change in change_requests(log_of(_clone(one, clones)), rows)
        }.values()
    )
    random.Random(seed).shuffle(found)
    return [
        Query(
            f"{one.name}-{CHANGE}-{number:02}",
            change.query,
            one.name,
            (LabelledPlace(change.path),),
            next(row.language for row in rows if row.path == change.path),
            CHANGE,
        )
        for number, change in enumerate(found[:size], 1)
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Check out and ask; a repository that is not there is named, and the others go on."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clones", type=present)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--list", type=present, default=LISTED)
    parser.add_argument("--size", type=int, default=25, help="questions of each kind")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    found: list[Query] = []
    missing = 0
    for one in listed(options.list):
        root = options.out / "repos" / one.name
        try:
            if not root.is_dir():
                check_out(one, options.clones, root)
        except PathMissing as error:
            sys.stderr.write(f"{error}\n")
            missing += 1
            continue
        asked = questions(root, options.size, options.seed)
        asked += requested(one, options.clones, root, options.size, options.seed)
        found += asked
        sys.stderr.write(f"{one.name}: {len(asked)} questions\n")
    write_dataset(options.out / "queries.jsonl", found)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
