"""The coding agents that can be set up: where each keeps what, as of its documentation."""

import enum
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from asterism.types.errors import UsageError


class ClientPlaces(NamedTuple):
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


class ClientLaunch(NamedTuple):
    """How a client starts our server."""

    command: str
    arguments: tuple[str, ...]

    @property
    def words(self) -> list[str]:
        """The whole command line."""
        return [self.command, *self.arguments]


def launch(command: str, *arguments: str) -> ClientLaunch:
    """How to start the server, where its path can be written into a file at all."""
    try:
        command.encode()
    except UnicodeEncodeError:
        raise UsageError(
            "The path of this program is not UTF-8, so it cannot be written into a file; "
            "give --program."
        ) from None
    return ClientLaunch(command, arguments)


Fields = Mapping[str, object]


class Format(enum.Enum):
    """How a configuration file is written."""

    json = "json"
    toml = "toml"


def _plain(launch: ClientLaunch) -> Fields:
    return {"command": launch.command, "args": list(launch.arguments)}


def _typed(launch: ClientLaunch) -> Fields:
    return {"type": "stdio", **_plain(launch)}


def _one_list(launch: ClientLaunch) -> Fields:
    return {"type": "local", "command": launch.words}


class Setup(NamedTuple):
    """What a client reads in one scope; paths are `base:below`, and several are alternatives."""

    config: tuple[str, ...]
    # Where the model reads advice: the client's AGENTS.md.
    guide: str | None = None
    skill: str | None = None


class Client(NamedTuple):
    """A coding agent."""

    name: str
    title: str
    # It is on this machine if one of these exists.
    signs: tuple[str, ...]
    user: Setup | None
    project: Setup | None
    # The path of keys to its servers; None if each server is a file of its own.
    path: tuple[str, ...] | None
    format: Format = Format.json
    fields: Callable[[ClientLaunch], Fields] = _plain


SERVER = "asterism"
# Read by several clients, so that one file serves them all.
_SKILL = "home:.agents/skills/asterism/SKILL.md"
_PROJECT_SKILL = "project:.agents/skills/asterism/SKILL.md"
_PROJECT_GUIDE = "project:AGENTS.md"

CLIENTS = (
    Client(
        "claude-code",
        "Claude Code",
        ("claude:", "claude_top:.claude.json"),
        Setup(("claude_top:.claude.json",), "claude:CLAUDE.md", "claude:skills/asterism/SKILL.md"),
        Setup(
            ("project:.mcp.json",), "project:CLAUDE.md", "project:.claude/skills/asterism/SKILL.md"
        ),
        ("mcpServers", SERVER),
        fields=_typed,
    ),
    Client(
        "cursor",
        "Cursor",
        ("home:.cursor",),
        Setup(("home:.cursor/mcp.json",), skill=_SKILL),
        Setup(("project:.cursor/mcp.json",), _PROJECT_GUIDE, _PROJECT_SKILL),
        ("mcpServers", SERVER),
    ),
    Client(
        "vscode",
        "VS Code",
        ("applications:Code",),
        Setup(("applications:Code/User/mcp.json",), skill=_SKILL),
        Setup(("project:.vscode/mcp.json",), _PROJECT_GUIDE, _PROJECT_SKILL),
        ("servers", SERVER),
        fields=_typed,
    ),
    Client(
        "codex",
        "Codex",
        ("codex:",),
        Setup(("codex:config.toml",), "codex:AGENTS.md", _SKILL),
        Setup(("project:.codex/config.toml",), _PROJECT_GUIDE, _PROJECT_SKILL),
        ("mcp_servers", SERVER),
        Format.toml,
    ),
    Client(
        "gemini",
        "Gemini CLI",
        ("home:.gemini",),
        Setup(("home:.gemini/settings.json",), "home:.gemini/GEMINI.md", _SKILL),
        Setup(("project:.gemini/settings.json",), "project:GEMINI.md", _PROJECT_SKILL),
        ("mcpServers", SERVER),
    ),
    Client(
        "opencode",
        "OpenCode",
        ("config:opencode",),
        Setup(
            ("config:opencode/opencode.json", "config:opencode/opencode.jsonc"),
            "config:opencode/AGENTS.md",
            _SKILL,
        ),
        Setup(("project:opencode.json", "project:opencode.jsonc"), _PROJECT_GUIDE, _PROJECT_SKILL),
        ("mcp", SERVER),
        fields=_one_list,
    ),
    Client(
        "zed",
        "Zed",
        ("config:zed", "applications:Zed"),
        # On Windows its settings are among those of desktop programs.
        Setup(("config:zed/settings.json", "applications:Zed/settings.json")),
        Setup(("project:.zed/settings.json",), _PROJECT_GUIDE),
        ("context_servers", SERVER),
    ),
    Client(
        "windsurf",
        "Windsurf",
        ("home:.codeium/windsurf",),
        Setup(("home:.codeium/windsurf/mcp_config.json",), skill=_SKILL),
        None,
        ("mcpServers", SERVER),
    ),
    Client(
        "cline",
        "Cline",
        ("home:.cline",),
        Setup(("home:.cline/data/settings/cline_mcp_settings.json",)),
        None,
        ("mcpServers", SERVER),
    ),
    Client(
        "cline-vscode",
        "Cline in VS Code",
        ("applications:Code/User/globalStorage/saoudrizwan.claude-dev",),
        Setup(
            (
                "applications:Code/User/globalStorage/saoudrizwan.claude-dev/settings/"
                "cline_mcp_settings.json",
            )
        ),
        None,
        ("mcpServers", SERVER),
    ),
    Client(
        "continue",
        "Continue",
        ("home:.continue",),
        Setup(("home:.continue/mcpServers/asterism.yaml",)),
        Setup(("project:.continue/mcpServers/asterism.yaml",)),
        None,
    ),
    Client(
        "amp",
        "Amp",
        ("home:.config/amp",),
        Setup(
            ("home:.config/amp/settings.json", "home:.config/amp/settings.jsonc"),
            "home:.config/amp/AGENTS.md",
        ),
        Setup(
            ("project:.amp/settings.json", "project:.amp/settings.jsonc"),
            _PROJECT_GUIDE,
            _PROJECT_SKILL,
        ),
        ("amp.mcpServers", SERVER),
    ),
)

NAMES = tuple(client.name for client in CLIENTS)
