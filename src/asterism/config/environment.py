"""The one module that reads the environment."""

import os
import shutil
import sys
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from asterism.analysis.source.checkouts import global_excludes
from asterism.config.layers import SECRETS, USER_FILE, Layer
from asterism.config.setting import Setting
from asterism.config.settings import all_settings
from asterism.models.embed import options as embed
from asterism.models.llm import options as llm
from asterism.models.rerank import options as rerank
from asterism.types.errors import SettingError


def environment_layer(settings: Iterable[Setting] | None = None) -> Layer:
    """The settings given as `ASTERISM_…` variables, or under an older name."""
    values: dict[str, object] = {}
    variables: dict[str, str] = {}
    for setting in all_settings() if settings is None else settings:
        for variable in (setting.variable, setting.older_variable):
            if variable and os.environ.get(variable):
                values[setting.key] = os.environ[variable]
                variables[setting.key] = variable
                break
    return Layer("the environment", values, strict=False, variables=variables)


def unknown_variables() -> list[str]:
    """A sentence for each `ASTERISM_…` variable that nothing reads: it may be misspelt."""
    known = {setting.variable for setting in all_settings()}
    known |= {DATA.variable, CACHE.variable, *SECRETS.values()}
    found = sorted(name for name in os.environ if name.startswith("ASTERISM_"))
    warnings = []
    for name in found:
        if name not in known:
            close = get_close_matches(name, known, 1, 0.75)
            hint = f"did you mean {close[0]}?" if close else "no setting has that name."
            warnings.append(f"the environment: {name} is ignored; {hint}")
    return warnings


def active_environment() -> str | None:
    """The virtual environment that the user works in."""
    return os.environ.get("VIRTUAL_ENV") or os.environ.get("CONDA_PREFIX") or None


def embedding_key(provider: embed.Provider, url: str = "") -> str:
    """The key for an embedding provider at an address; empty if the environment has no key."""
    if provider not in embed.KEY_VARIABLES:
        return ""
    vendor = _Vendor(embed.KEY_VARIABLES[provider], embed.DEFAULT_URLS[provider])
    return _key(SECRETS["embedding.api_key"], vendor, url)


def rerank_key(provider: rerank.Provider, url: str = "") -> str:
    """The key for a reranker at an address; empty if the environment has no key."""
    if provider not in rerank.KEY_VARIABLES:
        return ""
    vendor = _Vendor(rerank.KEY_VARIABLES[provider], rerank.DEFAULT_URLS[provider])
    return _key(SECRETS["rerank.api_key"], vendor, url)


def server_token() -> str:
    """What a request to the HTTP server has to bring; nothing if the environment has none."""
    return os.environ.get(SECRETS["server.token"], "")


def records_password() -> str:
    """The password of the database of conversations; empty if the environment has none."""
    return os.environ.get(SECRETS["records.password"], "")


def model_key(provider: llm.Provider, url: str = "") -> str:
    """The key for a language model at an address; empty if the environment has no key."""
    if provider not in llm.KEY_VARIABLES:
        return ""
    vendor = _Vendor(llm.KEY_VARIABLES[provider], llm.DEFAULT_URLS[provider])
    return _key(SECRETS["model.api_key"], vendor, url)


def agent_variable(name: str) -> str | None:
    """The value of a variable that an agent's file names for one of its servers."""
    return os.environ.get(name) or None


def handed_on() -> dict[str, str]:
    """What tool servers find in their environment, beside what is meant for them; no secrets."""
    from asterism.programs.start import inherited
    from asterism.programs.table import TOOL_SERVER

    return inherited(TOOL_SERVER)


def secret_values() -> list[str]:
    """Every key that the environment holds, so that none is ever logged."""
    names = set(SECRETS.values())
    for vendors in (embed.KEY_VARIABLES, rerank.KEY_VARIABLES, llm.KEY_VARIABLES):
        names |= set(vendors.values())
    return [value for name in sorted(names) if (value := os.environ.get(name))]


class _Vendor(NamedTuple):
    """A vendor's own variable and address."""

    variable: str
    url: str


def _key(own_variable: str, vendor: _Vendor, url: str) -> str:
    """A vendor's own variable is meant for the vendor: it is not sent to another server."""
    if own := os.environ.get(own_variable):
        return own
    # Scheme and host: without encryption the vendor's name is no proof of being the vendor.
    if url and urlsplit(url.lower())[:2] != urlsplit(vendor.url)[:2]:
        return ""
    return os.environ.get(vendor.variable, "")


def home() -> str | None:
    """The user's home directory."""
    return os.environ.get("HOME") or None


def user_file() -> Path | None:
    """Where the user's own settings are, whether or not the file exists."""
    base = os.environ.get("XDG_CONFIG_HOME") or (f"{home()}/.config" if home() else None)
    return Path(base, USER_FILE) if base else None


class UserDirectory(NamedTuple):
    """A directory of Asterism, and its place on each system."""

    variable: str
    xdg_variable: str
    below_home: str
    on_macos: str
    on_windows: str


DATA = UserDirectory(
    *("ASTERISM_DATA_DIR", "XDG_DATA_HOME", ".local/share", "Library/Application Support"),
    "asterism/data",
)
CACHE = UserDirectory(
    "ASTERISM_CACHE_DIR", "XDG_CACHE_HOME", ".cache", "Library/Caches", "asterism/cache"
)


def data_directory(platform: str = sys.platform) -> Path:
    """Where indexes are kept, whether or not it exists."""
    return _directory(DATA, platform)


def cache_directory(platform: str = sys.platform) -> Path:
    """Where things are kept that can be computed again, whether or not it exists."""
    return _directory(CACHE, platform)


def _directory(place: UserDirectory, platform: str) -> Path:
    if own := os.environ.get(place.variable):
        return _absolute(own, place.variable)
    if platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        if not local:
            raise _homeless("LOCALAPPDATA", place)
        return _absolute(local, "LOCALAPPDATA") / place.on_windows
    if xdg := os.environ.get(place.xdg_variable):
        return _absolute(xdg, place.xdg_variable) / "asterism"
    user = home()
    if user is None:
        raise _homeless("HOME", place)
    below = place.on_macos if platform == "darwin" else place.below_home
    return _absolute(user, "HOME") / below / "asterism"


def _absolute(text: str, variable: str) -> Path:
    path = Path(text)
    if not path.is_absolute():
        raise SettingError(
            f"the environment: {variable} = {text!r} is not allowed; give an absolute path."
        )
    return path


def _homeless(variable: str, place: UserDirectory) -> SettingError:
    return SettingError(
        f"There is no place for Asterism's files, because {variable} is not set; set it, or "
        f"{place.variable} to a directory."
    )


class UserDirectories(NamedTuple):
    """Where programs keep what is a user's own."""

    home: Path
    # Of command-line programs, and of those with windows.
    config: Path
    applications: Path
    # Where the user has moved the directories of Claude Code and Codex to.
    claude: Path | None
    codex: Path | None


def user_directories(platform: str = sys.platform) -> UserDirectories:
    """Where other programs look for their settings, whether or not that exists."""
    variable = "USERPROFILE" if platform == "win32" else "HOME"
    user = os.environ.get(variable)
    if not user:
        raise SettingError(f"Your home directory is not known, because {variable} is not set.")
    at = _absolute(user, variable)
    config = _moved("XDG_CONFIG_HOME") or at / ".config"
    applications = config
    if platform == "darwin":
        applications = at / "Library" / "Application Support"
    elif platform == "win32":
        applications = _moved("APPDATA") or at / "AppData" / "Roaming"
    return UserDirectories(
        at, config, applications, _moved("CLAUDE_CONFIG_DIR"), _moved("CODEX_HOME")
    )


def _moved(variable: str) -> Path | None:
    own = os.environ.get(variable)
    return _absolute(own, variable) if own else None


def git_excludes() -> str | None:
    """The user's global excludes file, as git would find it."""
    here = home()
    return None if here is None else global_excludes(here, os.environ.get("XDG_CONFIG_HOME"))


def program(name: str, root: str | None = None) -> str | None:
    """Where a program is that the user could start by its name, in no folder of a repository."""
    from asterism.programs.start import search_path

    return shutil.which(name, path=search_path(os.environ.get("PATH", os.defpath), root))


def cores() -> int:
    """How many processes can run at once here."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
