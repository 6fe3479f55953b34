"""Every error Asterism raises on purpose, and what the user can do about it.

AsterismError           anything a user should read as one clear sentence
├── UsageError          the request itself is wrong: unknown option value, bad combination
│   └── SettingError    a setting that does not exist, or a value it does not allow
└── InputError          a path that cannot be used
    ├── PathMissing     nothing is there
    ├── WrongPathKind   a directory where a file is wanted, or the reverse
    ├── PathUnreadable  no permission, or the read failed
    └── NotText         a binary file, or a language that does not exist
"""


class AsterismError(Exception):
    """Something the user can act on; the message says what happened and what to do next."""


class UsageError(AsterismError):
    """The request itself is wrong."""


class SettingError(UsageError):
    """A setting that does not exist, or a value it does not allow."""


class InputError(AsterismError):
    """A path that cannot be used."""


class PathMissing(InputError):
    """Nothing exists at the path."""


class WrongPathKind(InputError):
    """A directory where a file is wanted, or the reverse."""


class PathUnreadable(InputError):
    """The operating system refused to open or read the path."""


class NotText(InputError):
    """The file is binary, so it has no outline."""
