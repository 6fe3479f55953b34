"""Which directories may be added over HTTP: below the roots of the user, and none with keys."""

import os
from dataclasses import dataclass
from pathlib import Path

from asterism.types.errors import PathOutside
from asterism.types.files import display_path

NEVER = tuple(
    map(
        Path,
        # Of Linux, then of macOS, where some of the former are links, then of Windows.
        (
            *("/boot", "/dev", "/etc", "/proc", "/sys"),
            *("/System", "/private/etc", "/private/var/db"),
            *("C:/Windows",),
        ),
    )
)
"""Directories of the system that no setting can allow."""
UNLESS_NAMED = tuple(
    map(
        Path,
        (
            *(
                *("/bin", "/lib", "/lib32", "/lib64", "/libx32", "/root", "/run", "/sbin"),
                *("/usr", "/var"),
            ),
            *("/Applications", "/Library", "/private/var"),
            *("C:/Program Files", "C:/Program Files (x86)", "C:/ProgramData"),
        ),
    )
)
"""Directories of the system in which the user may set a root."""
SECRETS = frozenset(
    {".aws", ".azure", ".config", ".docker", ".gcloud", ".gnupg", ".kube", ".password-store"}
    | {".ssh", ".netrc", ".mozilla", ".terraform.d", "keyrings", "keychains"}
)
"""Names of directories that hold keys."""
OF_HOME = frozenset({"library", "appdata"})
"""Directories of a home where programs keep their data, on macOS and Windows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Addable:
    """The rules of one server. Without a root nothing may be added."""

    roots: tuple[Path, ...] = ()
    own: tuple[Path, ...] = ()
    """Directories of the server itself."""
    home: Path | None = None

    def place(self, typed: str) -> Path:
        """The directory that is meant, with links resolved.

        Every refusal has the same words: whether something exists out there is not told.
        """
        real = Path(os.path.realpath(typed))
        if not self.allows(real):
            raise PathOutside(
                f"{display_path(typed)} may not be added over HTTP: it has to be below a directory "
                "of server.roots, and none with keys, of the system or of the server itself. Its "
                "user adds it with `asterism index PATH`."
            )
        return real

    def allows(self, place: Path) -> bool:
        """Whether a directory may be added; its links have to be resolved before."""
        roots = [root for one in self.roots if _is_in(place, root := _real(one))]
        home = None if self.home is None else _real(self.home)
        return (
            bool(roots)
            and place != Path(place.anchor)
            and (home is None or not _is_in(home, place))
            and not any(_is_in(place, one) or _is_in(one, place) for one in map(_real, self.own))
            and not any(_is_in(place, one) for one in NEVER)
            and not any(_is_foreign(place, one, roots) for one in UNLESS_NAMED)
            and any(_is_plain(place, root, home) and _is_owned(place, root) for root in roots)
        )


def _is_plain(place: Path, root: Path, home: Path | None) -> bool:
    """Whether no directory from the root on is hidden, and none at all is one of keys."""
    below = [part.casefold() for part in place.relative_to(root).parts]
    is_of_home = root == home and bool(below) and below[0] in OF_HOME
    names = {part.casefold() for part in place.parts}
    return not (is_of_home or names & SECRETS or any(part.startswith((".", "$")) for part in below))


def _is_foreign(place: Path, system: Path, roots: list[Path]) -> bool:
    """Whether a place is the system's and the user has named no root in there."""
    return _is_in(place, system) and not any(_is_in(root, system) for root in roots)


def _is_owned(place: Path, root: Path) -> bool:
    """Whether a directory is ours, the system's, or of the user to whom its root belongs.

    Another user could put anything into a directory of his own, and take it out again.
    """
    if os.name != "posix":
        return True
    try:
        owners = {os.geteuid(), 0, root.stat().st_uid}
        return place.stat().st_uid in owners
    except OSError:
        # A missing directory has no owner; opening it reports that it is missing.
        return not os.path.lexists(place)


def _is_in(place: Path, directory: Path) -> bool:
    return place == directory or directory in place.parents


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))
