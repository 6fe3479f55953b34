"""Ways to run a command with less than the superuser's powers, or on a disk of its own."""

import os
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

_POWERS = "-dac_override,-dac_read_search"


def permissions_count() -> list[str]:
    """What to start a command through, so that it heeds permissions; else the test is skipped."""
    if os.geteuid() != 0:
        return []
    through = ["setpriv", f"--bounding-set={_POWERS}", f"--inh-caps={_POWERS}"]
    if not _works((*through, "true")):
        pytest.skip("the superuser may read and write everything, and cannot be held back here")
    return through


def on_small_disk(directory: Path, kilobytes: int) -> list[str]:
    """What to start a command through, so that a directory is a disk of that size.

    What the command leaves there is moved to the real directory afterwards.
    """
    script = (
        'place=$1; size=$2; shift 2; mount -t tmpfs -o size="${size}k" tmpfs "$place" || exit 99;'
        ' "$@"; code=$?; mkdir "$place.left"; mount -o remount,size=64m "$place";'
        ' cp -a "$place/." "$place.left"; exit $code'
    )
    return _mounted(script, str(directory), str(kilobytes))


def on_read_only_disk(directory: Path, standing_in: Path | None = None) -> list[str]:
    """What to start a command through, so that nothing in a directory can be written.

    The command runs in that directory, or in another one.
    """
    script = (
        'place=$1; inside=$2; shift 2; mount --bind "$place" "$place" || exit 99;'
        ' mount -o remount,bind,ro "$place" || exit 99; cd "$inside"; exec "$@"'
    )
    return _mounted(script, str(directory), str(standing_in or directory))


def on_full_disk(directory: Path) -> list[str]:
    """A prefix that runs a command with a directory on a full disk."""
    script = (
        'place=$1; shift; mkdir "$place.kept" && mount --bind "$place" "$place.kept" || exit 99;'
        ' mount -t tmpfs -o size=32m tmpfs "$place" && cp -a "$place.kept/." "$place" || exit 99;'
        ' cat /dev/zero > "$place/filling" 2> /dev/null; "$@"; code=$?;'
        ' umount "$place.kept"; rmdir "$place.kept"; exit $code'
    )
    return _mounted(script, str(directory))


def _mounted(script: str, *arguments: str) -> list[str]:
    private = ("unshare", "--map-root-user", "--mount")
    if not _works((*private, "sh", "-c", "mount -t tmpfs tmpfs /tmp")):
        pytest.skip("no file system can be mounted here")
    return [*private, "sh", "-c", script, "sh", *arguments]


@cache
def _works(command: Sequence[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False
