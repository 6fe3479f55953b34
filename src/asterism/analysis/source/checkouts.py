"""Git checkouts and their settings, and the files that paths shown in replies mean."""

import os
import re
from collections.abc import Iterator
from typing import NamedTuple

from asterism.types.errors import PathOutside
from asterism.types.files import display_path, wire_path

# Paths are plain strings: the walk meets thousands, and pathlib would double its time.
# ruff: noqa: PTH112, PTH113, PTH118, PTH120, PTH123


_MAX_INCLUDE_DEPTH = 5
"""How deep configuration files may include each other; git stops at 10, and real ones nest less."""


class Checkout(NamedTuple):
    """A work tree: the main one, a linked one (`git worktree`), or a submodule."""

    root: str
    common_dir: str
    """The repository itself, shared by all its work trees; as a real path, so it identifies it."""
    linked: bool
    """Whether `git worktree add` made it."""


class CheckoutSettings(NamedTuple):
    """What a repository's own configuration says about ignoring."""

    excludes_file: str | None
    ignore_case: bool


def checkout_at(directory: str) -> Checkout | None:
    """Return the checkout whose top is this very directory, if there is one."""
    git_dir = os.path.join(directory, ".git")
    if os.path.isfile(git_dir):
        pointer = _first_line(git_dir)
        if pointer is None or not pointer.startswith("gitdir:"):
            return None
        git_dir = os.path.join(directory, pointer.removeprefix("gitdir:").strip())
    if not os.path.isfile(os.path.join(git_dir, "HEAD")):
        return None
    shared = _first_line(os.path.join(git_dir, "commondir"))
    common = os.path.realpath(os.path.join(git_dir, shared) if shared else git_dir)
    return Checkout(directory, common, linked=shared is not None)


def enclosing_checkout(directory: str) -> Checkout | None:
    """Return the checkout that an absolute directory belongs to."""
    while True:
        if found := checkout_at(directory):
            return found
        parent = os.path.dirname(directory)
        if parent == directory:
            return None
        directory = parent


def is_bare_repository(directory: str) -> bool:
    """Tell whether the directory is a repository without a work tree, such as `name.git`."""
    return os.path.isfile(os.path.join(directory, "HEAD")) and os.path.isdir(
        os.path.join(directory, "objects")
    )


def checkout_settings(checkout: Checkout, home: str | None) -> CheckoutSettings:
    """Read what the repository's own configuration says about ignoring."""
    values = dict(_settings(os.path.join(checkout.common_dir, "config"), home))
    excludes = values.get("core.excludesfile")
    return CheckoutSettings(
        excludes_file=_expand(excludes, checkout.root, home) if excludes else None,
        ignore_case=values.get("core.ignorecase", "").lower() in ("true", "yes", "on", "1"),
    )


def global_excludes(
    home: str, xdg_config_home: str | None = None, system_config: str = "/etc/gitconfig"
) -> str | None:
    """Return the user's global excludes file as git finds it, or None.

    `core.excludesFile` counts from the system's configuration, `$XDG_CONFIG_HOME/git/config` and
    `~/.gitconfig`, the later one winning; without it `$XDG_CONFIG_HOME/git/ignore` is used.
    """
    xdg = xdg_config_home or os.path.join(home, ".config")
    chosen = os.path.join(xdg, "git", "ignore")
    for config in (
        system_config,
        os.path.join(xdg, "git", "config"),
        os.path.join(home, ".gitconfig"),
    ):
        for key, value in _settings(config, home):
            if key == "core.excludesfile":
                chosen = _expand(value, home, home)
    return chosen if os.path.isfile(chosen) else None


_SECTION = re.compile(r'\[\s*([\w.-]+)\s*(?:"((?:[^"\\]|\\.)*)")?\s*\]')
_SETTING = re.compile(r"\s*([A-Za-z][\w-]*)\s*(?:=\s*(.*))?$", re.DOTALL)
_VALUE_PART = re.compile(r'\\(.)|"|([#;])|([^\\"#;]+)', re.DOTALL)


def _settings(path: str, home: str | None, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield a git configuration file's settings in order, unconditional includes in their place."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            text = file.read().replace("\\\n", "")
    except OSError:
        return
    section = ""
    for line in text.splitlines():
        if header := _SECTION.match(line.strip()):
            name, subsection = header.groups()
            section = name.lower() + ("." + subsection if subsection is not None else "")
            line = line.strip()[header.end() :]
        if not (setting := _SETTING.match(line)):
            continue
        key = f"{section}.{setting.group(1).lower()}"
        value = _value(setting.group(2)) if setting.group(2) is not None else "true"
        if key == "include.path" and depth < _MAX_INCLUDE_DEPTH:
            included = _expand(value, os.path.dirname(path), home)
            yield from _settings(included, home, depth + 1)
        else:
            yield key, value


def _value(text: str) -> str:
    """Undo quotes, escapes and a trailing comment."""
    out: list[str] = []
    quoted = False
    for part in _VALUE_PART.finditer(text.strip()):
        escaped, comment, plain = part.groups()
        if escaped is not None:
            out.append({"n": "\n", "t": "\t"}.get(escaped, escaped))
        elif comment is not None and not quoted:
            # Blanks before a comment belong to it.
            return "".join(out).rstrip()
        elif part.group() == '"':
            quoted = not quoted
        else:
            out.append(plain if plain is not None else part.group())
    return "".join(out)


def _expand(path: str, base: str, home: str | None) -> str:
    if home is not None and (path == "~" or path.startswith("~/")):
        return home + path[1:]
    return os.path.join(base, path)


def _first_line(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.readline(8192).rstrip("\n")
    except OSError:
        return None


def check_inside(path: str, root: str) -> None:
    """Refuse a path whose real place is not below the real place of the root."""
    real, top = os.path.realpath(path), os.path.realpath(root)
    if real != top and not real.startswith(top.rstrip(os.sep) + os.sep):
        raise PathOutside(
            f"{display_path(path)} leads out of {display_path(root)} through a link, to "
            f"{display_path(real)}; give that path itself if you mean it."
        )


def on_disk(typed: str) -> str:
    r"""The path as the disk has it: `a\u202eb.py` is that file, or else the one that is shown so.

    What exists as it is typed is itself. A path that means no file, or several, comes back as is.
    """
    # A NUL is in no path; what is wrong with it is said where the path is opened.
    if "\\" not in typed or "\0" in typed or os.path.lexists(typed):
        return typed
    place = ""
    for step in typed.split("/"):
        found = place + step
        if "\\" in step and not os.path.lexists(found):
            name = _name_shown_as(step, place or os.curdir)
            if name is None:
                return typed
            found = place + name
        place = f"{found}/"
    return place[:-1]


def _name_shown_as(shown: str, directory: str) -> str | None:
    try:
        names = os.listdir(directory)  # noqa: PTH208 - names may be no text
    except (OSError, ValueError):
        return None
    found = [name for name in names if shown in (display_path(name), wire_path(name))]
    return found[0] if len(found) == 1 else None
