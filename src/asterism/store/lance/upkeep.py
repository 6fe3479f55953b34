"""Keeping a Lance table quick and small: indexes, merging of small fragments, old versions.

Rows arrive a file at a time, each time as a fragment that no index covers, and queries pay for it.
So a fragment is in one of three layers: fresh ones are outside the indexes; the delta is covered by
a small second segment of each index, which is cheap to extend; the base is what the indexes were
built from. When the first two have grown to a tenth of the table, everything becomes base anew.
"""

import os
import time
from collections.abc import Iterable, Sequence, Set
from datetime import timedelta
from enum import Enum
from itertools import pairwise, takewhile
from pathlib import Path
from typing import NamedTuple

from asterism.store.lance.process import give_back
from asterism.store.lance.schema import TERM_COLUMNS, Dataset
from asterism.store.resident import data_files
from asterism.store.table_files import manifest_name

KEEP_SECONDS = 3600.0
"""How long a version stays after another took its place: readers may still be using it."""
CROWDED_SECONDS = 60.0
"""How long it stays if old versions take much disk space: longer than any query."""
_CROWDED_SHARE = 0.25
"""What old versions may take before they count as much, of what the newest version takes."""

_MAX_SMALL_FRAGMENTS = 4
"""Fragments of a layer that are put up with; outside the indexes each costs a text query 0.4 ms."""
_FRESH_SHARE, _FEW_ROWS, _MANY_ROWS = 0.05, 100, 250
"""Fresh rows that are: this share of all, within these bounds. Each costs a text query 4 µs."""
_OUTSIDE_SHARE = 0.1
"""What share of the rows may be outside the base; building all indexes takes 2 s per 100,000."""
_SMALL_SHARE, _SMALL_ROWS = 1 / 16, 2_048
"""A fragment with less than this share of all rows, or than this number, is small."""
_DELETED_SHARE = 0.25
"""A fragment of which more is deleted is written anew."""
_PARTITION_ROWS = 4_096
"""Rows in a partition of the vector index, which makes 24 of them at 100,000 rows."""
_VERSIONS_AT_ONCE = 50
"""Old versions go that many at a time, because removing them reads every manifest (0.2 ms)."""
_NEVER = timedelta(days=36_500)
_MANIFEST, _LAST_NAME = ".manifest", 2**64 - 1
"""Lance names a version's manifest by this number less the version, in twenty digits."""

_WORDS = {
    "base_tokenizer": "whitespace",
    "stem": False,
    "remove_stop_words": False,
    "lower_case": False,
    "ascii_folding": False,
    "max_token_length": 128,
    "with_position": False,
}
# At 100,000 rows they halve a look-up by id (20 to 12 ms) and a filtered text query (6.8 to 3.6),
# and take 0.1 s to build.
_SCALARS = {"id": "BTREE", "repo": "BITMAP", "language": "BITMAP", "node_kind": "BITMAP"}
_SCALARS_FROM = 10_000
"""In smaller tables a pass over the rows is as quick."""


class _Layer(Enum):
    fresh = 0
    delta = 1
    base = 2


class _Fragment(NamedTuple):
    id: int
    layer: _Layer
    rows: int
    deleted: int


def maintain(dataset: Dataset, exact_rows: int, thorough: bool = False) -> None:
    """Build what indexes are missing, extend the others, and merge small fragments.

    Up to `exact_rows` every vector is compared, and no index of them is wanted.
    """
    fragments = _fragments(dataset)
    fresh = [part for part in fragments if part.layer is _Layer.fresh]
    delta = [part for part in fragments if part.layer is _Layer.delta]
    rows = _rows(fragments)
    wanted = _wanted(rows, exact_rows)
    if _needs_rebuilding(dataset, fragments, wanted, thorough):
        _rebuild(dataset, fragments, wanted)
    elif _rows(fresh) > min(max(rows * _FRESH_SHARE, _FEW_ROWS), _MANY_ROWS):
        _merge(dataset, fresh, rows)
        dataset.optimize.optimize_indices(num_indices_to_merge=1 if delta else 0)
    elif len(fresh) > _MAX_SMALL_FRAGMENTS:
        _merge(dataset, fresh, rows)
    elif len(delta) > _MAX_SMALL_FRAGMENTS:
        _merge(dataset, delta, rows)


def build_word_indexes(dataset: Dataset) -> None:
    """Index the columns of terms; a new table needs it too, for the way its terms are split."""
    for column in TERM_COLUMNS:
        dataset.create_scalar_index(column, "INVERTED", name=column, **_WORDS)


def replaced_versions(path: Path, keep_seconds: float = KEEP_SECONDS) -> set[int]:
    """Versions whose successor is older than that; the newest has none, so it is never one."""
    moment = time.time() - keep_seconds
    # Oldest first, so that the first young successor ends the search among thousands.
    replaced = takewhile(
        lambda pair: manifest_path(path, pair[1]).stat().st_mtime < moment, pairwise(versions(path))
    )
    return {version for version, _ in replaced}


def versions(path: Path) -> list[int]:
    """Every version that there is, oldest first."""
    with os.scandir(path / "_versions") as entries:
        names = [entry.name for entry in entries if entry.name.endswith(_MANIFEST)]
    return sorted(_LAST_NAME - int(name.removesuffix(_MANIFEST)) for name in names)


def outdated_versions(dataset: Dataset, path: Path, keep_seconds: float) -> tuple[set[int], bool]:
    """Versions that may be dropped, and whether the disk space that they take is large."""
    taken = sum(
        (Path(folder) / name).stat().st_size for folder, _, names in os.walk(path) for name in names
    )
    crowded = taken > (1 + _CROWDED_SHARE) * _needed_bytes(dataset)
    seconds = min(keep_seconds, CROWDED_SECONDS) if crowded else keep_seconds
    return replaced_versions(path, seconds), crowded


def _needed_bytes(dataset: Dataset) -> int:
    """What the newest version takes, a few small files aside."""
    rows = sum(file.size for files in data_files(dataset).values() for file in files)
    return rows + sum(
        segment.size_bytes or 0
        for index in dataset.describe_indices()
        for segment in index.segments
    )


def manifest_path(path: Path, version: int) -> Path:
    """Where a version is described."""
    return path / "_versions" / manifest_name(version)


def remove_versions(dataset: Dataset, old: Set[int], at_once: bool = False) -> None:
    """Remove old versions when they have gathered, and files that killed writers left behind.

    Only the one process that may write calls this: files that no version names are taken for
    leftovers, whatever their age.
    """
    if len(old) >= _VERSIONS_AT_ONCE or (at_once and old):
        dataset.cleanup_old_versions(versions=sorted(old), delete_unverified=True)
    elif at_once:
        dataset.cleanup_old_versions(older_than=_NEVER, delete_unverified=True)


def _needs_rebuilding(
    dataset: Dataset, fragments: Sequence[_Fragment], wanted: Set[str], thorough: bool
) -> bool:
    rows = _rows(fragments)
    outside = _rows(part for part in fragments if part.layer is not _Layer.base)
    gone = sum(part.deleted for part in fragments)
    if not rows:
        return False
    return (
        not wanted <= _present(dataset)
        or outside > max(rows * _OUTSIDE_SHARE, _MANY_ROWS)
        or gone > max(rows * _DELETED_SHARE, _MANY_ROWS)
        or (thorough and outside + gone > 0)
    )


def _rebuild(dataset: Dataset, fragments: Sequence[_Fragment], wanted: Set[str]) -> None:
    """Merge across layers and build every index anew, which is no slower than merging them.

    Readers do not see the versions without indexes: they read the one that was committed.
    """
    rows = _rows(fragments)
    for name in _present(dataset):
        dataset.drop_index(name)
    if len(fragments) > _MAX_SMALL_FRAGMENTS or any(part.deleted for part in fragments):
        # A first build of a few batches has nothing to merge that would be worth its writing.
        _merge(dataset, fragments, rows)
    # Each step needs memory of its own; none should find that of the one before still taken.
    give_back()
    build_word_indexes(dataset)
    give_back()
    for column, kind in _SCALARS.items():
        if column in wanted:
            dataset.create_scalar_index(column, kind, name=column)
    if "vector" in wanted:
        dataset.create_index(
            "vector",
            "IVF_SQ",
            name="vector",
            metric="cosine",
            num_partitions=max(1, rows // _PARTITION_ROWS),
        )


def _merge(dataset: Dataset, fragments: Iterable[_Fragment], rows: int) -> None:
    """Merge those of the fragments that are small or much deleted; all others stay."""
    small = max(_SMALL_ROWS, int(rows * _SMALL_SHARE))
    chosen = {
        part.id
        for part in fragments
        if part.rows < small or part.deleted > _DELETED_SHARE * (part.rows + part.deleted)
    }
    everything = {fragment.fragment_id for fragment in dataset.get_fragments()}
    if chosen:
        dataset.optimize.compact_files(
            target_rows_per_fragment=small,
            materialize_deletions_threshold=_DELETED_SHARE,
            excluded_fragment_ids=sorted(everything - chosen),
            # Small steps: merging 300,000 rows takes 190 MB this way, and 260 with what Lance does.
            num_threads=1,
            batch_size=1024,
        )


def _wanted(rows: int, exact_rows: int) -> set[str]:
    """The columns that are to have an index."""
    wanted = {*TERM_COLUMNS}
    if rows > _SCALARS_FROM:
        wanted |= _SCALARS.keys()
    if rows > exact_rows:
        wanted.add("vector")
    return wanted


def _present(dataset: Dataset) -> set[str]:
    return {index.name for index in dataset.describe_indices()}


def _rows(fragments: Iterable[_Fragment]) -> int:
    return sum(part.rows for part in fragments)


def _fragments(dataset: Dataset) -> list[_Fragment]:
    """The table's fragments with what covers them, known from the manifest alone."""
    segments = [
        [set(segment.fragment_ids) for segment in index.segments]
        for index in dataset.describe_indices()
    ]
    covered = set.intersection(*(set().union(*parts) for parts in segments)) if segments else set()
    # All indexes are built and extended together, so any of them tells base from delta.
    base = max(segments[0], key=len, default=set()) if segments else set()
    found = []
    for fragment in dataset.get_fragments():
        number, facts = fragment.fragment_id, fragment.metadata
        layer = _Layer.delta if number in covered else _Layer.fresh
        if number in covered and number in base:
            layer = _Layer.base
        deleted = facts.physical_rows - facts.num_rows
        found.append(_Fragment(number, layer, facts.num_rows, deleted))
    return found
