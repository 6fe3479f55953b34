"""Launcher script: ties the process to its parent, applies the fences, then executes the program.

Run as a script, by its path, without the site module: `launcher.py NAME=VALUE… -- COMMAND…`. The
options hold no secrets, because every user of a machine can read arguments. A fence that the
kernel does not support is skipped; `docs/security.md` describes what is lost then. The module
imports little, because it delays every start of a server.
"""

import ctypes
import os
import signal
import struct
import sys

# The exit status of a shell for a command that cannot be started.
CANNOT_START = 127

_PR_SET_PDEATHSIG = 1
_PR_SET_SECCOMP = 22
_PR_SET_NO_NEW_PRIVS = 38
_SECCOMP_MODE_FILTER = 2

# By architecture: its AUDIT_ARCH number, and the system calls socket and io_uring_setup.
_SYSCALLS = {"x86_64": (0xC000003E, 41, 425), "aarch64": (0xC00000B7, 198, 425)}
_ALLOW, _REFUSE_EACCES = 0x7FFF0000, 0x00050000 | 13
_X32 = 0x40000000

_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
_EXECUTE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 2, 1 << 3
_READ = _READ_FILE | _READ_DIR
_ON_FILES = _EXECUTE | _READ_FILE | 1 << 1 | 1 << 14 | 1 << 15
# Rights that each version of Landlock added: REFER, TRUNCATE, IOCTL_DEV.
_FIRST_RIGHTS = (1 << 13) - 1
_LATER_RIGHTS = ((2, 1 << 13), (3, 1 << 14), (5, 1 << 15))


def main(arguments: list[str]) -> int:
    """Execute the command in this process; return only if that fails."""
    split = arguments.index("--")
    command = arguments[split + 1 :]
    options: dict[str, list[str]] = {}
    for word in arguments[:split]:
        name, _, value = word.partition("=")
        options.setdefault(name, []).append(value)
    # Before the fences, because afterwards this process cannot import modules.
    if sys.platform != "win32":
        _limit(options)
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        if "parent" in options:
            # The kernel kills this process when its parent ends; the setting survives exec.
            libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            if os.getppid() != int(options["parent"][0]):
                return CANNOT_START
        if "confined" in options:
            # Setuid programs such as sudo give it no more rights.
            libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        if "fenced" in options:
            _fence_files(libc, options)
        if "offline" in options:
            _fence_network(libc)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")
        return CANNOT_START


def landlock_version(libc: ctypes.CDLL) -> int:
    """The kernel's Landlock version; below 1 if it has no Landlock."""
    return int(libc.syscall(_LANDLOCK_CREATE, None, ctypes.c_size_t(0), 1))


def knows_machine() -> bool:
    """Whether the seccomp filter supports this architecture."""
    return os.uname().machine in _SYSCALLS


def _limit(options: dict[str, list[str]]) -> None:
    import resource

    wanted = {
        "RLIMIT_CORE": 0 if "confined" in options else None,
        "RLIMIT_DATA": _number(options, "data_bytes"),
        "RLIMIT_CPU": _number(options, "cpu_seconds"),
        "RLIMIT_NPROC": _allowed_processes(_number(options, "processes")),
    }
    for name, value in wanted.items():
        kind = getattr(resource, name, None)
        if kind is None or value is None:
            continue
        # Limits can only be lowered, and some systems lack some of them.
        try:
            _, hard = resource.getrlimit(kind)
            value = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(kind, (value, value))
        except (OSError, ValueError):
            continue


def _number(options: dict[str, list[str]], name: str) -> int | None:
    return int(options[name][0]) if name in options else None


def _allowed_processes(more: int | None) -> int | None:
    """The limit: all present threads of the user, because the kernel counts them, plus `more`."""
    if more is None or sys.platform != "linux":
        return None
    user, count = os.getuid(), 0
    for name in os.listdir("/proc"):  # noqa: PTH208 - pathlib would cost more than the rest
        if not name.isdigit():
            continue
        # A process that has ended since counts as 0.
        try:
            if os.stat(f"/proc/{name}").st_uid == user:  # noqa: PTH116
                with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:  # noqa: PTH123
                    count += int(file.read().rpartition(")")[2].split()[17])
        except (OSError, ValueError, IndexError):
            continue
    return count + more


def _fence_network(libc: ctypes.CDLL) -> None:
    """Refuse `socket`; `socketpair`, which cannot leave the process, stays allowed."""
    known = _SYSCALLS.get(os.uname().machine)
    if known is None:
        return
    machine, *refused = known
    rules = [
        (0x20, 0, 0, 4),  # Load the architecture: call numbers differ between them.
        (0x15, 1, 0, machine),
        (0x06, 0, 0, _REFUSE_EACCES),
        (0x20, 0, 0, 0),  # Load the number of the system call.
        (0x35, 0, 1, _X32),
        (0x06, 0, 0, _REFUSE_EACCES),
    ]
    for number in refused:
        rules += [(0x15, 0, 1, number), (0x06, 0, 0, _REFUSE_EACCES)]
    rules.append((0x06, 0, 0, _ALLOW))
    code = b"".join(struct.pack("=HBBI", *rule) for rule in rules)
    buffer = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("@HP", len(rules), ctypes.addressof(buffer))
    libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.c_char_p(program), 0, 0)


def _fence_files(libc: ctypes.CDLL, options: dict[str, list[str]]) -> None:
    """Restrict this process and its children to the files named in the options."""
    version = landlock_version(libc)
    if version < 1:
        return
    rights = _FIRST_RIGHTS
    for since, right in _LATER_RIGHTS:
        rights |= right if version >= since else 0
    attribute = struct.pack("=Q", rights)
    rules = libc.syscall(_LANDLOCK_CREATE, ctypes.c_char_p(attribute), ctypes.c_size_t(8), 0)
    if rules < 0:
        return
    for path in options.get("runs", ()):
        _allow(libc, rules, path, (_READ | _EXECUTE) & rights)
    for path in options.get("reads", ()):
        _allow(libc, rules, path, _READ & rights)
    for path in options.get("writes", ()):
        _allow(libc, rules, path, rights & ~_EXECUTE)
    _allow(libc, rules, "/dev/null", (_READ_FILE | 1 << 1) & rights)
    for device in ("/dev/urandom", "/dev/random", "/dev/zero"):
        _allow(libc, rules, device, _READ_FILE & rights)
    libc.syscall(_LANDLOCK_RESTRICT, rules, 0)
    os.close(rules)


def _allow(libc: ctypes.CDLL, rules: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, getattr(os, "O_PATH", 0) | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not os.path.isdir(path):  # noqa: PTH112
            rights &= _ON_FILES
        rule = struct.pack("=Qi", rights, place)
        libc.syscall(_LANDLOCK_ADD, rules, 1, ctypes.c_char_p(rule), 0)
    finally:
        os.close(place)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
