"""What is said of an index in each of its states, and what to do next; all messages come from here.

`docs/index.md` has the same states as a table.
"""

import errno
import os

from asterism.types.files import display_path
from asterism.types.index import Job

UP_TO_DATE = "The index is up to date."

_ENDED = {"failed": "failed", "cancelled": "was stopped"}
# A path that leads to no plain file says that something else has taken the file away. Every other
# refusal of the system says nothing about what the file holds.
_NOT_A_FILE = {errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP}
_DENIED = {errno.EACCES, errno.EPERM}
_TOO_MANY = {errno.EMFILE, errno.ENFILE}


def not_indexed(root: str) -> str:
    """A repository that was never indexed."""
    shown = display_path(root)
    return f"{shown} is not indexed yet; run `asterism index {shown}`."


def being_built(root: str, job: Job) -> str:
    """A first build that a process is working on."""
    return (
        f"The first build of the index of {display_path(root)} is under way "
        f"({job.files_done:,} of {job.files_total:,} files); ask again when it is done. "
        "`asterism status` shows how far it is."
    )


def build_stopped(root: str, job: Job) -> str:
    """A first build that was killed, stopped, or failed."""
    shown = display_path(root)
    ended = _ENDED.get(job.state, "was interrupted")
    why = f" ({job.sentence.rstrip('.')})" if job.state == "failed" else ""
    return (
        f"The first build of the index of {shown} {ended} after {job.files_done:,} of "
        f"{job.files_total:,} files{why}; run `asterism index {shown}` to go on."
    )


def run_stopped(behind: int) -> str:
    """A later run that did not write everything it had read."""
    counted = f": {counted_behind(behind)}" if behind else ""
    return f"The last run did not finish{counted}; run `asterism index` to go on."


def files_behind(new: int, changed: int, removed: int) -> str:
    """Files that differ from what the index has of them."""
    words = ((new, "new"), (changed, "changed"), (removed, "removed"))
    parts = ", ".join(f"{count:,} {word}" for count, word in words if count)
    return f"{counted_behind(new + changed + removed)} ({parts}); run `asterism index`."


def counted_behind(files: int) -> str:
    """`3 files are behind`."""
    return f"{files:,} file is behind" if files == 1 else f"{files:,} files are behind"


def damaged(directory: object, what: str, force: bool = False) -> str:
    """An index that is not what was written.

    `asterism index` builds it again where opening the index finds the damage too. With `force` the
    damage was found by reading what opening does not read.
    """
    command = "asterism index --force" if force else "asterism index"
    return f"The index in {directory} is damaged ({what}); run `{command}` to build it again."


def without_advice(sentence: str) -> str:
    """What is wrong, where what to do is said elsewhere or was done already."""
    return sentence.partition("; ")[0].rstrip(".")


def is_refusal(error: OSError) -> bool:
    """Whether the system refused to read a file, which says nothing about what it holds."""
    return error.errno is not None and error.errno not in _NOT_A_FILE


def unreadable(directory: object, number: int | None, file: str = "") -> str:
    """An index that the system does not let this process read; building it again is no remedy."""
    where = f"{file}: " if file else ""
    return f"The index in {directory} cannot be read ({where}{refusal(number)}"


def refusal(number: int | None) -> str:
    """Why the system refused, and what to do: the end of a sentence, from inside its brackets."""
    if number in _DENIED:
        return "permission denied); fix the permissions, or run as the user who built it."
    why = os.strerror(number).lower() if number is not None else "unknown error"
    if number in _TOO_MANY:
        return f"{why}); raise the limit, then run the command again."
    return f"{why}); check the disk, then run the command again."
