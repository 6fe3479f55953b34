"""Language servers that are asked where they are installed, and what each of them needs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from asterism.programs import table
from asterism.programs.program import Program
from asterism.structure.servers import clangd_database
from asterism.structure.servers.loading import Ready


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """One language server."""

    family: str
    """The language it is for, as the settings call it."""
    started: Program
    """Its row of the table of programs."""
    titles: str
    """Its languages, for a person."""
    endings: tuple[str, ...]
    configs: frozenset[str] = frozenset()
    """Names of files that say how the others belong together."""
    is_needed: frozenset[str] = frozenset()
    """Of these files one has to be there, else it would know of nothing."""
    beside: str = ""
    """A file that has to stand beside those, because the server would write it otherwise."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """What it is told in the handshake, and where it asks for its settings."""
    listing: str = ""
    """The option that lists the needed files; without it the server searches for other kinds."""
    section: str = ""
    """The name of its settings."""
    ready: Ready = Ready.asked
    hears_changes: bool = True
    """Whether it reads a file again that it is told of; else it is started anew."""
    keeps: bool = False
    """Whether what it has read is on disk, so that the next start goes on from there."""
    seconds: float = 1.0
    """Until it answers, in an empty repository."""
    seconds_per_file: float = 0.01
    """More for each file of its languages; it only has to tell a moment from minutes."""

    @property
    def program(self) -> str:
        """As it is found on the path."""
        return self.started.name

    def counts(self, path: str) -> bool:
        """Whether a file is in one of its languages."""
        return PurePosixPath(path).suffix.lower() in self.endings

    def reads(self, path: str) -> bool:
        """Whether a file matters to it."""
        return self.counts(path) or path.rpartition("/")[2] in self.configs


def folders_of(server: Server, paths: Iterable[str]) -> list[str]:
    """The folders of a repository that are workspaces of a server; none for the whole of it."""
    found = {
        path.rpartition("/")[0] for path in paths if path.rpartition("/")[2] in server.is_needed
    }
    return sorted(folder for folder in found if not found & _above(folder))


def _above(folder: str) -> set[str]:
    parts = folder.split("/") if folder else []
    return {"/".join(parts[:end]) for end in range(len(parts))}


CLANGD = Server(
    family="cpp",
    started=table.CLANGD,
    titles="C and C++",
    endings=(
        *(".c", ".h", ".cc", ".cpp", ".cxx", ".c++"),
        *(".hpp", ".hh", ".hxx", ".h++", ".ipp", ".tpp", ".inl"),
    ),
    configs=frozenset({clangd_database.FILE, "compile_flags.txt", ".clangd"}),
    ready=Ready.progress,
    hears_changes=False,
    keeps=True,
    # 48 files of C took 2 s, 77 of C++ 16 s, on two cores; from disk both take 0.2 s.
    seconds_per_file=0.1,
)

GOPLS = Server(
    family="go",
    started=table.GOPLS,
    titles="Go",
    endings=(".go",),
    configs=frozenset({"go.mod", "go.sum", "go.work"}),
    is_needed=frozenset({"go.mod", "go.work"}),
    options={"staticcheck": False, "semanticTokens": False},
    section="gopls",
    seconds=3.0,
    seconds_per_file=0.005,
)

RUST_ANALYZER = Server(
    family="rust",
    started=table.RUST_ANALYZER,
    titles="Rust",
    endings=(".rs",),
    configs=frozenset({"Cargo.toml", "Cargo.lock"}),
    is_needed=frozenset({"Cargo.toml"}),
    beside="Cargo.lock",
    # Without the list it reads rust-project.json, which could name a toolchain in the repository.
    listing="linkedProjects",
    # Build scripts and procedural macros are programs of the repository, and builds write into it.
    # A rust-analyzer.toml overrides these options only for saving, formatting and running, and
    # Asterism requests none of them.
    options={
        "checkOnSave": False,
        "cachePriming": {"enable": False},
        "cargo": {
            "autoreload": True,
            "buildScripts": {
                "enable": False,
                "overrideCommand": None,
                "rebuildOnSave": False,
                "useRustcWrapper": False,
            },
            "extraArgs": ["--offline", "--locked"],
            "extraEnv": {},
            "metadataExtraArgs": ["--offline", "--locked"],
            "features": "all",
            "sysroot": "discover",
        },
        "check": {"overrideCommand": None},
        "files": {"watcher": "client"},
        "procMacro": {"enable": False, "attributes": {"enable": False}, "server": None},
        "runnables": {"command": None},
        "rustc": {"source": None},
        "rustfmt": {"overrideCommand": None},
        "workspace": {"discoverConfig": None},
    },
    section="rust-analyzer",
    ready=Ready.quiescent,
    seconds=4.0,
    seconds_per_file=0.01,
)

JDTLS = Server(
    family="java",
    started=table.JDTLS,
    titles="Java",
    endings=(".java",),
    configs=frozenset({"pom.xml", "build.gradle", "build.gradle.kts", ".classpath"}),
    # Gradle would run the repository's own scripts; project files would be written beside them.
    options={
        "settings": {
            "java": {
                "autobuild": {"enabled": False},
                "configuration": {"updateBuildConfiguration": "disabled"},
                "import": {
                    "generatesMetadataFilesAtProjectRoot": False,
                    "gradle": {
                        "enabled": False,
                        "wrapper": {"enabled": False},
                        "annotationProcessing": {"enabled": False},
                    },
                    # m2e runs plugins and annotation processors that a pom.xml names.
                    "maven": {"enabled": False, "offline": {"enabled": True}},
                },
                "maven": {"downloadSources": False, "updateSnapshots": False},
                "eclipse": {"downloadSources": False},
                "jdt": {
                    "ls": {
                        "androidSupport": {"enabled": False},
                        "lombokSupport": {"enabled": False},
                        "protobufSupport": {"enabled": False},
                    }
                },
            }
        },
        "extendedClientCapabilities": {"classFileContentsSupport": True},
        # Bundles are jar files that the server would load.
        "bundles": [],
    },
    ready=Ready.service,
    keeps=True,
    # A virtual machine and a workspace have to come up first.
    seconds=15.0,
    seconds_per_file=0.01,
)

SERVERS: Sequence[Server] = (CLANGD, GOPLS, RUST_ANALYZER, JDTLS)
BY_FAMILY: Mapping[str, Server] = {server.family: server for server in SERVERS}
