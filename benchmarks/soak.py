"""A long run while files change: python -m benchmarks.soak REPOSITORY [--calls 20000].

Clients ask over the API and over MCP while an editor writes, changes and deletes files. Each of its
functions has a name of its own, so that every reply can be held against the files: a function that
stood in its file during the whole call is found there, on its lines, with its text; one that was
gone before the call began is not.
"""

import argparse
import random
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import httpx
from mcp import Client

from benchmarks.serving import Served, percentile, questions, serving

FILES = 40
"""Files that the editor works on."""
PAUSE_SECONDS = 0.3
"""Pause between two edits, as of a developer who saves often."""


class Version(NamedTuple):
    """A function as it stood in its file for a while."""

    name: str
    file: str
    line: int
    text: str


class Editor:
    """Changes files, and knows what stood where at which time."""

    def __init__(self, root: Path) -> None:
        self.folder = root / "soak"
        self.folder.mkdir()
        self.edits = 0
        self.standing: dict[str, Version] = {}
        self.changed: dict[str, float] = {}
        """When each function last came or went."""
        self.gone: list[str] = []
        self._chance = random.Random(7)

    def edit(self) -> None:
        """One edit: a file gets a new function, or loses all and goes."""
        file = self.folder / f"part_{self._chance.randrange(FILES)}.py"
        shown = f"soak/{file.name}"
        now = time.monotonic()
        for name in [name for name, one in self.standing.items() if one.file == shown]:
            del self.standing[name]
            self.changed[name] = now
            self.gone.append(name)
        self.edits += 1
        if self._chance.random() < 0.2:
            file.unlink(missing_ok=True)
            return
        name = f"soak_marker_{self.edits}"
        above = "MOVES = 'what follows'\n\n\n" * self._chance.randrange(5)
        text = f"def {name}(value):\n    return value + {self.edits}"
        beside = file.with_suffix(".new")
        beside.write_text(f"{above}{text}\n", encoding="utf-8")
        beside.replace(file)
        # From here on it stands; until now a reply may or may not have seen it.
        self.standing[name] = Version(name, shown, above.count("\n") + 1, text)
        self.changed[name] = time.monotonic()


class Soak:
    """The run: calls, times, and replies that the files do not bear out."""

    def __init__(self, served: Served, editor: Editor, asked: list[str], calls: int) -> None:
        self.served = served
        self.editor = editor
        self.asked = asked
        self.left = calls
        self.times: list[float] = []
        self.memory: list[float] = []
        self.checked = 0
        self.wrong: list[str] = []
        self.said_behind = 0

    async def client(self, number: int) -> None:
        """One client; every fourth call is held against the files."""
        chance = random.Random(number)
        async with (
            httpx.AsyncClient(base_url=self.served.address, timeout=600) as api,
            Client(f"{self.served.address}/mcp") as mcp,
        ):
            while self.left > 0:
                self.left -= 1
                ask = self._by_api(api) if chance.random() < 0.5 else self._by_mcp(mcp)
                await self._one(ask, chance)

    async def _one(self, ask: Any, chance: random.Random) -> None:
        name, stands = None, True
        if chance.random() < 0.25 and self.editor.standing:
            stands = chance.random() < 0.7 or not self.editor.gone
            name = chance.choice(list(self.editor.standing) if stands else self.editor.gone)
        began, version = time.monotonic(), self.editor.standing.get(name or "")
        found = await ask(name or chance.choice(self.asked), name is not None)
        self.times.append(time.monotonic() - began)
        if found is None:
            self.wrong.append(f"no answer for {name}")
        elif name is not None and self.editor.changed[name] < began:
            self._check(name, version, found)

    def _check(self, name: str, version: Version | None, found: dict[str, Any]) -> None:
        if found["index_state"]["behind"] or found["index_state"]["message"]:
            self.said_behind += 1
            return
        self.checked += 1
        places = [(hit["file_path"], hit["start_line"], hit["content"]) for hit in found["results"]]
        expected = [] if version is None else [(version.file, version.line, version.text)]
        if [place for place in places if name + "(" in place[2]] != expected:
            self.wrong.append(f"{name}: {places[:2]} instead of {expected}")

    def _by_api(self, client: httpx.AsyncClient) -> Any:
        async def ask(text: str, exactly: bool) -> dict[str, Any] | None:
            body = {"query": text, "mode": "exact" if exactly else "hybrid"}
            reply = await client.post("/api/search", json=body)
            found: dict[str, Any] | None = reply.json() if reply.status_code == 200 else None
            return found

        return ask

    def _by_mcp(self, client: Client) -> Any:
        async def ask(text: str, exactly: bool) -> dict[str, Any] | None:
            body = {"query": text, "mode": "exact" if exactly else "hybrid"}
            reply = await client.call_tool("search_code", body)
            found: dict[str, Any] | None = None if reply.is_error else reply.structured_content
            return found

        return ask

    async def editing(self) -> None:
        """Edits until the calls are used up."""
        while self.left > 0:
            self.editor.edit()
            await anyio.sleep(PAUSE_SECONDS)

    async def watching(self, calls: int) -> None:
        """The server's memory at each tenth of the way."""
        for tenth in range(1, 11):
            while len(self.times) < calls * tenth // 10:
                await anyio.sleep(0.05)
            self.memory.append(self.served.megabytes())


async def run(soak: Soak, clients: int, calls: int) -> None:
    """Everything at once."""
    async with anyio.create_task_group() as group:
        group.start_soon(soak.editing)
        group.start_soon(soak.watching, calls)
        for number in range(clients):
            group.start_soon(soak.client, number)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Ask for long while files change.")
    parser.add_argument("repository", type=Path)
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--clients", type=int, default=8)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(shutil.copytree(options.repository, Path(folder, "repository")))
        asked = questions(root, 500)
        with serving(root, Path(folder)) as served:
            soak = Soak(served, Editor(root), asked, options.calls)
            began = time.monotonic()
            anyio.run(run, soak, options.clients, options.calls)
            seconds = time.monotonic() - began
    print(f"{len(soak.times):,} calls in {seconds:.0f} s beside {soak.editor.edits:,} edits")
    print(
        f"{soak.checked:,} replies held against the files, {len(soak.wrong)} wrong; "
        f"{soak.said_behind} said that the index was behind"
    )
    p50, p99 = percentile(soak.times, 0.5), percentile(soak.times, 0.99)
    print(f"p50 {p50:.0f} ms, p99 {p99:.0f} ms")
    print(f"memory: {', '.join(f'{each:.0f}' for each in soak.memory)} MB")
    for line in soak.wrong[:10]:
        print(line)


if __name__ == "__main__":
    main()
