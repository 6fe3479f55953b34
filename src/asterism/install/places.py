"""Where the files of clients are: bases that differ from user to user, and paths below them."""

from pathlib import Path
from typing import NamedTuple

from asterism.types.errors import UsageError


class Places(NamedTuple):
    """The directories that paths of clients begin at."""

    home: Path
    # Where command-line programs keep their settings: `~/.config`.
    config: Path
    # Where desktop programs keep theirs; on Linux the same.
    applications: Path
    # Claude Code's and Codex's own directories, which their users can move.
    claude: Path
    # Where `.claude.json` is: beside Claude Code's directory, or inside a moved one.
    claude_top: Path
    codex: Path
    project: Path

    def at(self, written: str) -> Path:
        """The path of `base:below`."""
        base, _, below = written.partition(":")
        found: Path = getattr(self, base)
        return found / below


class Launch(NamedTuple):
    """How a client starts our server."""

    command: str
    arguments: tuple[str, ...]

    @property
    def words(self) -> list[str]:
        """The whole command line."""
        return [self.command, *self.arguments]


def launch(command: str, *arguments: str) -> Launch:
    """How to start the server, where its path can be written into a file at all."""
    try:
        command.encode()
    except UnicodeEncodeError:
        raise UsageError(
            "The path of this program is not UTF-8, so it cannot be written into a file; "
            "give --program."
        ) from None
    return Launch(command, arguments)
