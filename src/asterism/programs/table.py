"""Every program that Asterism starts; `docs/security.md` shows this table."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Consent(StrEnum):
    """The condition under which a program may start."""

    always = "always"
    """It executes nothing from a repository."""
    trusted = "trusted repositories"
    """A repository can make it execute code, so it starts for trusted repositories only."""
    command = "the user's command"
    """The user names the program, in an agent's file or on the command line."""


class Files(StrEnum):
    """The files that a program may open, enforced by Landlock where available."""

    all = "all"
    """Every file that the user may open."""
    named = "named"
    """The repository and the directories named in `reads`; it writes to `writes` only."""


LANGUAGE = ("LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""Variables that every program needs to print text and load libraries."""
SEARCHED = frozenset({"PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"})
"""Lists of folders. Relative folders and folders of the repository are removed from them."""
WINDOWS = ("SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "USERPROFILE", "PATHEXT")
"""Programs do not start on Windows without these."""
PLACES = ("HOME", "PATH", "TMPDIR", *LANGUAGE, *WINDOWS)
USER = ("APPDATA", "LOCALAPPDATA", "LOGNAME", "SHELL", "TERM", "USER", *PLACES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits that the kernel enforces; 0 sets no limit."""

    memory_times: float = 0.0
    """Data that a process may map, as a multiple of the memory setting. The memory guard samples
    resident memory; this limit covers growth between two samples. Runtimes map more memory than
    they use, hence the multiple."""
    cpu_seconds: int = 0
    """CPU time of one process. A server that reaches it is started again."""
    processes: int = 0
    """Processes and threads in addition to those that the user has at the start. The kernel counts
    all processes of the user, so the number leaves a margin for builds at the same time."""
    network: bool = True
    """False: no sockets (seccomp)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One row of the table in `docs/security.md`."""

    name: str
    purpose: str
    consent: Consent
    arguments: tuple[str, ...] = ()
    """`{name}` is replaced by a value of the launch."""
    probe: tuple[str, ...] = ()
    """Arguments with which an installed program exits with status 0."""
    inherits: tuple[str, ...] = LANGUAGE
    """Allow-list of variables from the user's environment."""
    variables: Mapping[str, str] | None = None
    """Variables that are set; they override inherited ones. One without a value is left out."""
    directory: str = ""
    """The working directory, as a placeholder; empty means `/`."""
    limits: Limits = Limits()
    files: Files = Files.all
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    tied: bool = True
    """Whether the kernel kills it when the thread that started it ends."""


_CHECKER = Limits(memory_times=4.0, cpu_seconds=3_600, processes=2_000, network=False)
_SERVER = Limits(memory_times=4.0, cpu_seconds=14_400, processes=2_000, network=False)

TYPESCRIPT = Program(
    name="tsc",
    purpose="Connects TypeScript and JavaScript: the compiler that comes with Asterism, which has "
    "no plugins and reads configurations that Asterism writes",
    consent=Consent.always,
    # It asks Asterism before it reads a file; files outside of the repository are refused.
    arguments=("--api", "--async", "--callbacks=readFile", "--cwd", "{root}"),
    probe=("--version",),
    inherits=(*LANGUAGE, *WINDOWS),
    variables={"GOMEMLIMIT": "{memory_mib}MiB"},
    limits=_CHECKER,
    files=Files.named,
    reads=("{root}", "{cache}"),
)

TY = Program(
    name="ty",
    purpose="Connects Python: the type checker that is installed with Asterism",
    consent=Consent.always,
    arguments=("server",),
    probe=("--version",),
    inherits=(*LANGUAGE, *WINDOWS),
    # It unpacks the stubs of the standard library there and finds no user settings.
    variables={"HOME": "{cache}", "XDG_CACHE_HOME": "{cache}", "XDG_CONFIG_HOME": "{cache}"},
    limits=_CHECKER,
    files=Files.named,
    reads=("{root}", "{environment}", "{cache}"),
    writes=("{cache}",),
)

CLANGD = Program(
    name="clangd",
    purpose="Connects C and C++",
    consent=Consent.trusted,
    arguments=(
        "--compile-commands-dir={cache}",
        # A repository's .clangd could add flags that load plugins.
        "--enable-config=0",
        "--background-index",
        "--background-index-priority=normal",
        # A killed server would leave temporary files behind.
        "--pch-storage=memory",
        "--header-insertion=never",
        "--limit-references=0",
        "--log=error",
    ),
    inherits=PLACES,
    variables={"XDG_CACHE_HOME": "{cache}"},
    limits=_SERVER,
    files=Files.named,
    reads=("{root}", "{cache}"),
    writes=("{cache}",),
)

GOPLS = Program(
    name="gopls",
    purpose="Connects Go",
    consent=Consent.trusted,
    inherits=(*PLACES, "GOROOT", "GOPATH", "GOCACHE", "GOMODCACHE"),
    variables={
        # No downloads: modules that are not on this machine stay unknown.
        "GOPROXY": "off",
        "GOSUMDB": "off",
        "GOVCS": "*:off",
        # Otherwise the `toolchain` line of go.mod or go.work starts another Go.
        "GOTOOLCHAIN": "local",
        # Go's default: vendored modules if present, else -mod=readonly, which writes no go.mod.
        "GOFLAGS": "",
        "GOENV": "off",
        "GOPACKAGESDRIVER": "off",
        # cgo runs the C compiler and pkg-config with flags of the repository.
        "CGO_ENABLED": "0",
    },
    limits=_SERVER,
)

RUST_ANALYZER = Program(
    name="rust-analyzer",
    purpose="Connects Rust",
    consent=Consent.trusted,
    probe=("--version",),
    inherits=(*PLACES, "CARGO_HOME", "RUSTUP_HOME"),
    variables={
        # rustup would take the toolchain that rust-toolchain.toml names, which may be a folder of
        # the repository.
        "RUSTUP_TOOLCHAIN": "{toolchain}",
        "RUSTUP_AUTO_INSTALL": "0",
        "CARGO_NET_OFFLINE": "true",
        "RUSTC": "rustc",
        "CARGO_BUILD_RUSTC": "rustc",
        "RUSTC_WRAPPER": "",
        "RUSTC_WORKSPACE_WRAPPER": "",
        "CARGO_BUILD_RUSTC_WRAPPER": "",
        "CARGO_BUILD_RUSTC_WORKSPACE_WRAPPER": "",
        "RUSTDOC": "rustdoc",
        "RUSTFLAGS": "",
    },
    limits=_SERVER,
)

JDTLS = Program(
    name="jdtls",
    purpose="Connects Java",
    consent=Consent.trusted,
    arguments=("-data", "{cache}"),
    inherits=(*PLACES, "JAVA_HOME"),
    limits=_SERVER,
)

PATTERN_MATCHER = Program(
    name="pattern matcher",
    purpose="Matches `regex:` queries, so that a slow pattern can be ended",
    consent=Consent.always,
    arguments=("-I", "-S", "-W", "ignore", "{script}"),
    inherits=(*LANGUAGE, *WINDOWS),
    tied=False,
)

PARSE_TRIAL = Program(
    name="parse trial",
    purpose="Parses a text before Asterism does, so that a parse that takes too long can be ended",
    consent=Consent.always,
    arguments=("-I", "-S", "-W", "ignore", "{script}"),
    inherits=(*LANGUAGE, *WINDOWS),
    tied=False,
)

DOCTOR_PROBE = Program(
    name="doctor probe",
    purpose="Tries a part of Asterism for `asterism doctor`, so that a crash is only that part's",
    consent=Consent.always,
    # -P: the working directory is not on sys.path.
    arguments=("-P", "-m", "asterism.engine.doctor.probe", "{part}"),
    inherits=(*USER, "PYTHONPATH"),
    tied=False,
)

TOOL_SERVER = Program(
    name="MCP tool server",
    purpose="A tool server of an agent that the user has written or of a trusted repository",
    consent=Consent.command,
    inherits=USER,
    directory="{directory}",
)

COMPARED_TOOL = Program(
    name="compared tool",
    purpose="Another search tool that `asterism eval --command` measures, and the command of "
    "`--checkout`",
    consent=Consent.command,
    inherits=("*",),
    directory="{directory}",
    tied=False,
)

READER = Program(
    name="reader processes",
    purpose="Read files in parallel; Python's own pool starts them from Asterism's code",
    consent=Consent.always,
    arguments=("-c", "…"),
    inherits=("*",),
    # Nothing is imported from the current directory.
    variables={
        "PYTHONSAFEPATH": "1",
        # Python's resource tracker removes the semaphores of a killed process, and warns of each.
        "PYTHONWARNINGS": "ignore::UserWarning:multiprocessing.resource_tracker",
    },
    directory="{directory}",
    tied=False,
)

SERVERS = (TYPESCRIPT, TY, CLANGD, GOPLS, RUST_ANALYZER, JDTLS)
PROGRAMS = (
    *SERVERS,
    *(TOOL_SERVER, PATTERN_MATCHER, PARSE_TRIAL, READER, DOCTOR_PROBE, COMPARED_TOOL),
)


SYSTEM_FILES = (
    *("/usr", "/lib", "/lib64", "/lib32", "/bin", "/opt", "/nix/store"),
    "/etc/ld.so.cache",
)
"""System programs and libraries, which every fenced program may read and run."""
