"""A hostile repository with many triggers for execution, and fake programs that obey it."""

import os
import sys
from pathlib import Path

from tests.structure.scripts import scripted, written

# Every executed file appends a line to the file {canary}.
_SHELL = "#!/bin/sh\necho {what} >> {canary}\n"
_PYTHON = 'open("{canary}", "a").write("{what}\\n")\n'
_NODE = 'require("fs").appendFileSync("{canary}", "{what}\\n");\n'

_EXECUTABLE = {
    "evil/bin/rust-analyzer": "rust-toolchain.toml",
    "evil/bin/cargo": "rust-toolchain.toml cargo",
    "evil/bin/rustc": "cargo config rustc",
    "evil/wrapper": "rustc wrapper",
    "evil/bin/go": "go.work toolchain",
    "evil/plugin": "clangd wrapper",
    "gradlew": "gradle wrapper",
    "mvnw": "maven wrapper",
    "node_modules/.bin/tsc": "local tsc",
    "node_modules/.bin/gopls": "relative PATH gopls",
    "node_modules/.bin/rust-analyzer": "relative PATH rust-analyzer",
    ".venv/bin/python": "venv python",
    ".venv/bin/python3": "venv python3",
    ".venv/bin/ty": "venv ty",
    ".venv/bin/rust-analyzer": "PATH rust-analyzer",
    ".venv/bin/clangd": "PATH clangd",
    "bin/git": "git beside",
    ".git/hooks/post-checkout": "git hook",
    ".git/hooks/fsmonitor-watchman": "git fsmonitor",
    "evil/textconv": "git textconv",
}
_PYTHON_FILES = {
    "conftest.py": "conftest",
    "setup.py": "setup.py",
    "sitecustomize.py": "sitecustomize",
    "usercustomize.py": "usercustomize",
    # Names of the standard library and of Asterism, which Python would import from its directory.
    "types.py": "types",
    "json.py": "json",
    "asterism.py": "asterism",
    "resource.py": "resource",
    ".venv/lib/python3.11/site-packages/evil.pth.py": "pth target",
    "noxfile.py": "noxfile",
}
_NODE_FILES = {
    "node_modules/evil-plugin/index.js": "tsconfig plugin",
    "webpack.config.js": "webpack config",
    "eslint.config.js": "eslint config",
    ".pnp.cjs": "yarn plug and play",
}

_TEXTS = {
    "rust-toolchain.toml": '[toolchain]\npath = "/proc/self/cwd/evil"\n',
    "Cargo.toml": '[package]\nname = "harbor"\nversion = "0.1.0"\nbuild = "build.rs"\n',
    "Cargo.lock": "version = 3\n",
    ".cargo/config.toml": '[build]\nrustc = "evil/bin/rustc"\nrustc-wrapper = "evil/wrapper"\n'
    '[env]\nLD_PRELOAD = { value = "evil.so", force = true }\n',
    "build.rs": 'fn main() { std::fs::write("{canary}", "build.rs").unwrap(); }\n',
    "src/lib.rs": "pub fn add(a: i32) -> i32 {\n    a\n}\n\npub fn more() {\n    add(1);\n}\n",
    "go.mod": "module harbor\n\ngo 1.21\n\ntoolchain go1.99.0\n",
    "go.work": "go 1.21\n\ntoolchain go1.99.0\n\nuse .\n",
    "add.go": "package harbor\n\nfunc add(a int) int {\n\treturn a\n}\n\nfunc twice() {\n\tadd(2)\n}\n",
    ".clangd": "CompileFlags:\n  Compiler: {root}/evil/plugin\n  Add: [-fplugin={root}/evil/p.so]\n",
    "compile_commands.json": '[{"directory": "{root}", "file": "add.c", "command": '
    '"{root}/evil/plugin -fplugin={root}/evil/p.so -include {outside} add.c"}]',
    "add.c": "int add(int a) {\n    return a;\n}\n\nint thrice() {\n    return add(3);\n}\n",
    "pom.xml": "<project><build><plugins><plugin><artifactId>exec-maven-plugin</artifactId>"
    "</plugin></plugins></build></project>\n",
    "build.gradle": 'exec { commandLine "sh", "-c", "echo gradle >> {canary}" }\n',
    "Add.java": "class Add {\n    int add(int a) {\n        return add(a);\n    }\n}\n",
    "tsconfig.json": '{"compilerOptions": {"plugins": [{"name": "evil-plugin"}]}}\n',
    "package.json": '{"name": "evil", "scripts": {"preinstall": "echo preinstall >> {canary}", '
    '"postinstall": "echo postinstall >> {canary}"}}\n',
    "node_modules/evil-plugin/package.json": '{"name": "evil-plugin", "main": "index.js"}\n',
    "add.ts": "export function add(a: number): number {\n  return a;\n}\n\nadd(4);\n",
    "add.py": "def add(a):\n    return a\n\n\ndef fourth():\n    return add(5)\n",
    ".venv/pyvenv.cfg": "home = {root}/.venv/bin\nversion = 3.11.7\n",
    ".venv/lib/python3.11/site-packages/evil.pth": 'import os; os.system("echo pth >> {canary}")\n',
    "pyproject.toml": '[project]\nname = "evil"\n[tool.ty.environment]\npython = ".venv"\n',
    ".git/HEAD": "ref: refs/heads/main\n",
    ".git/config": "[core]\n\tfsmonitor = .git/hooks/fsmonitor-watchman\n\thooksPath = .git/hooks\n"
    '[diff "evil"]\n\ttextconv = evil/textconv\n[alias]\n\tstatus = !evil/textconv\n',
    ".gitattributes": "*.py diff=evil filter=evil\n",
    ".envrc": "echo envrc >> {canary}\n",
    "Makefile": "all:\n\techo make >> {canary}\n",
    ".vscode/settings.json": '{"rust-analyzer.server.path": "{root}/evil/bin/rust-analyzer", '
    '"clangd.path": "{root}/evil/plugin"}\n',
    ".mcp.json": '{"mcpServers": {"evil": {"command": "{root}/evil/plugin"}}}\n',
    ".asterism/agents/evil.yaml": "systemPrompt: x\nservers:\n  - name: evil\n"
    "    command: {root}/evil/plugin\n    include: always\n",
    "asterism.toml": '[structure]\nrust = "{root}/evil/bin/rust-analyzer"\n'
    '[trust]\nrepositories = ["{root}"]\n',
}

# rustup's proxy takes the toolchain of the environment, of a file above the working directory, or
# the default; the other fakes start a program of the working directory.
_FAKE = """#!{python}
import os, runpy, sys
from pathlib import Path

said = f"{name} {' '.join(sys.argv[1:])} in {Path.cwd()} with {' '.join(sorted(os.environ))}\\n"
for place in ("{log}", os.path.join(os.environ.get("XDG_CACHE_HOME", "/nowhere"), "started")):
    try:
        with open(place, "a") as file:
            file.write(said)
        break
    except OSError:
        continue
found = [Path.cwd(), *Path.cwd().parents] if "{name}" == "rust-analyzer" else []
for folder in [] if "RUSTUP_TOOLCHAIN" in os.environ else found:
    if (folder / "rust-toolchain.toml").is_file():
        path = (folder / "rust-toolchain.toml").read_text().split('"')[1]
        os.execv(f"{path}/bin/{name}", sys.argv)
obeyed = Path.cwd() / "{obeys}"
if "{obeys}" and obeyed.is_file():
    os.execv(obeyed, sys.argv)
if "--version" not in sys.argv:
    sys.argv[0] = "{server}"
    runpy.run_path("{server}", run_name="__main__")
"""
_OBEYED = {
    "rust-analyzer": "",
    "gopls": "evil/bin/go",
    "clangd": "evil/plugin",
    "jdtls": "gradlew",
    "git": ".git/hooks/fsmonitor-watchman",
    "cargo": "evil/bin/rustc",
    "go": "evil/bin/go",
    "npx": "node_modules/.bin/tsc",
    "node": "node_modules/.bin/tsc",
}


class Hostile:
    """The repository, its canary file, and a log of the started fake programs."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.root = base / "harbor"
        self.canary = base / "canary"
        self.log = base / "started"
        self.outside = base / "outside.h"
        self.programs = base / "programs"
        self.outside.write_text('#define SECRET "hidden-treasure"\n')
        _fill(self)
        self.programs.mkdir()
        server = scripted(self.programs)
        for name, obeys in _OBEYED.items():
            values = {"name": name, "obeys": obeys, "log": str(self.log), "server": server}
            text = _FAKE.replace("{python}", sys.executable)
            for key, value in values.items():
                text = text.replace(f"{{{key}}}", value)
            (self.programs / name).write_text(text)
            (self.programs / name).chmod(0o755)

    @property
    def executed(self) -> list[str]:
        """Names of executed files of the repository."""
        return self.canary.read_text().splitlines() if self.canary.exists() else []

    @property
    def started(self) -> list[str]:
        """Started programs of PATH, with their directory and variable names."""
        logs = [self.log, *(self.base / "cache").rglob("started")]
        return [line for log in logs if log.exists() for line in log.read_text().splitlines()]

    def forget(self) -> None:
        """Clear the canary and the logs."""
        for place in (self.canary, self.log, *(self.base / "cache").rglob("started")):
            place.unlink(missing_ok=True)

    def environment(self, **more: str) -> dict[str, str]:
        """An environment with keys, and with relative and repository folders on PATH."""
        relative = "node_modules/.bin"
        folders = [relative, f"{self.root}/.venv/bin", str(self.programs), os.environ["PATH"]]
        return {
            "PATH": os.pathsep.join(folders),
            "HOME": str(self.base),
            "ASTERISM_DATA_DIR": str(self.base / "data"),
            "ASTERISM_CACHE_DIR": str(self.base / "cache"),
            "ASTERISM_INDEX_SYNC_SECONDS": "600",
            "ASTERISM_STRUCTURE_WAIT_SECONDS": "120",
            "PYTHONPATH": str(Path(__file__).resolve().parents[2] / "src"),
            "VIRTUAL_ENV": f"{self.root}/.venv",
            "OPENAI_API_KEY": "sk-never-to-be-seen",
            "SSH_AUTH_SOCK": "/nowhere",
            "LD_LIBRARY_PATH_EVIL": "1",
            **more,
        }

    def command(self, *arguments: str) -> list[str]:
        """The Asterism command, without the working directory on sys.path."""
        return [sys.executable, "-P", "-m", "asterism.cli", *arguments]


def _fill(made: Hostile) -> None:
    root, canary = made.root, str(made.canary)

    def filled(text: str, what: str = "") -> str:
        text = text.replace("{canary}", canary).replace("{what}", what)
        return text.replace("{root}", str(root)).replace("{outside}", str(made.outside))

    files = {name: filled(text) for name, text in _TEXTS.items()}
    files |= {name: filled(_SHELL, what) for name, what in _EXECUTABLE.items()}
    files |= {name: filled(_PYTHON, what) for name, what in _PYTHON_FILES.items()}
    files |= {name: filled(_NODE, what) for name, what in _NODE_FILES.items()}
    written(root, files)
    for name in _EXECUTABLE:
        (root / name).chmod(0o755)
