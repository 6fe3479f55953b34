"""`asterism trust` and `untrust`: edit and show the list of trusted repositories."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from datetime import date

from asterism.analysis.source.checkouts import on_disk
from asterism.cli.options import add_json, add_path
from asterism.cli.parser import CommandParser
from asterism.cli.terminal import write_json
from asterism.config.load import load
from asterism.config.settings import Settings
from asterism.config.trust import (
    SETTING,
    EntryState,
    check_not_from_environment,
    entries,
    is_named,
    trust_file,
    trustable,
)
from asterism.install.plan import FileChange
from asterism.install.toml_edits import with_item, without_item
from asterism.install.write import Reader, write
from asterism.operations.schema import Json
from asterism.types.errors import InputError, UsageError
from asterism.types.files import display_path

_SAYS = {
    EntryState.trusted: "",
    EntryState.missing: "does not exist; remove it, or a directory created there is trusted",
    EntryState.linked: "leads through a link and does not count; trust the directory itself",
    EntryState.relative: "is not an absolute path and does not count",
}


def declare(parser: CommandParser) -> None:
    """Add the arguments."""
    if parser.command == "untrust":
        parser.add_argument("path", metavar="PATH", help="the root of the repository")
    else:
        add_path(parser, "the root of the repository")
        parser.add_argument("--list", action="store_true", help="show the repositories you trust")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """List the trusted repositories, add one, or remove one."""
    # Only the user's own settings, not those of the current directory.
    settings = load(trust_file().parent).settings
    if options.command == "untrust":
        return _untrust(options, settings)
    if options.list == (options.path is not None):
        raise UsageError("Give either a PATH or --list: `asterism trust PATH`.")
    return _list(options, settings) if options.list else _trust(options, settings)


def _list(options: argparse.Namespace, settings: Settings) -> int:
    found = entries(settings)
    if options.json:
        listed = [{"path": one.path, "state": one.state.value} for one in found]
        write_json({"file": str(trust_file()), "repositories": listed})
        return 0
    if not found:
        sys.stdout.write("No repository is trusted. `asterism trust PATH` adds one.\n")
    for one in found:
        more = _SAYS[one.state]
        sys.stdout.write(f"{display_path(one.path)}{f'  ({more})' if more else ''}\n")
    return 0


def _trust(options: argparse.Namespace, settings: Settings) -> int:
    root = trustable(on_disk(options.path), settings)
    is_new = not is_named(root, settings)
    if is_new:
        check_not_from_environment(settings)
        _edit(lambda text: with_item(text, SETTING, root))
    if options.json:
        write_json(_reply(root, trusted=True, changed=is_new))
        return 0
    shown = display_path(root)
    if not is_new:
        sys.stdout.write(f"{shown} is trusted already.\n")
        return 0
    sys.stdout.write(
        f"{shown} is trusted. Language servers that are installed (rust-analyzer, gopls, clangd, "
        "jdtls) start for it, its asterism.toml may decide where its code is sent, and its agents "
        f"may start their tool servers. `asterism untrust {shown}` takes that back.\n"
    )
    return 0


def _untrust(options: argparse.Namespace, settings: Settings) -> int:
    path = os.path.normpath(os.path.join(os.getcwd(), on_disk(options.path)))  # noqa: PTH109, PTH118
    meant = {path, os.path.realpath(path), options.path}
    named = [one for one in entries(settings) if one.path in meant or one.written in meant]
    if named:
        check_not_from_environment(settings)
        _edit(lambda text: _without(text, [one.written for one in named]))
    if options.json:
        write_json(_reply(path, trusted=False, changed=bool(named)))
        return 0
    shown = display_path(path)
    below = [one for one in entries(settings) if one.path.startswith(path + os.sep)]
    said = "is no longer trusted" if named else "was not trusted"
    sys.stdout.write(f"{shown} {said}.\n")
    for one in below:
        sys.stdout.write(f"{display_path(one.path)} is below it and still trusted.\n")
    return 0


def _without(text: str, written: Sequence[str]) -> str:
    for one in written:
        text = without_item(text, SETTING, one)
    return text


def _edit(edited: Callable[[str], str]) -> None:
    """Replace the user's file atomically; the rest of its text stays."""
    place = trust_file()
    found = Reader()(place)
    before = "" if found.content is None else found.content.decode("utf-8")
    try:
        after = edited(before)
    except InputError as error:
        raise InputError(f"{display_path(str(place))} was not changed: {error}.") from None
    change = FileChange(
        path=place,
        real=found.real,
        before=found.content,
        after=after.encode(),
        what="trust.repositories",
        clients=(),
        keeps_copy=False,
        needless=(),
        directories=0,
        # Its addresses may hold a password.
        private=True,
    )
    write([change], date.today())


def _reply(root: str, *, trusted: bool, changed: bool) -> Json:
    return {
        "repository": root,
        "trusted": trusted,
        "changed": changed,
        "file": str(trust_file()),
    }
