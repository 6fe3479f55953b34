"""Damaged files of agents: read whole, and edited by command.

A case is the file's bytes.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random

from asterism.context.agents.edit import (
    add_item,
    enable,
    enable_item,
    remove_item,
    set_key,
    set_setting,
)
from asterism.context.agents.files import AgentFolder
from asterism.types.context import Agent, Rule
from asterism.types.errors import AsterismError
from tests.context.agents.test_edit import AGENT
from tests.fuzz.mutations import crossed, damaged
from tests.fuzz.target import Check, Target, one_by_one

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ("src/asterism/context/builtin/reader.yaml", "examples/agents/harbor.yaml")

PIECES = (
    *(
        b"&a ",
        b"*a",
        b"<<: *a\n",
        b"!!python/object:os.system ",
        b"!!binary ",
        b"!x ",
        b"? ",
        b"---\n",
    ),
    *(
        b"...\n",
        b"%YAML 9.9\n",
        b"[" * 30,
        b"{" * 30,
        b"- " * 30,
        b"|\n",
        b">-\n",
        b"\t",
        b"'",
        b'"',
    ),
    *(
        b"rules:\n",
        b"- name: x\n",
        b"settings: {}\n",
        b"1e999",
        b".nan",
        b"0o7",
        b"0x" + b"f" * 500,
    ),
    *(
        b"9" * 5_000,
        b"2020-01-01",
        b"yes",
        b"null",
        b"~",
        b"servers: [{}]\n",
        b"toolRules: {a.b: c.d}\n",
    ),
    *(b"enabled: maybe\n", b"name: \x1b[31m\n", b"url: http://[\n", b"args: [--token, $X]\n"),
)
"""What makes YAML hard: anchors, types, documents, words that look like numbers."""

EDITS: tuple[Callable[[str], str], ...] = (
    lambda text: enable(text, False),
    lambda text: set_key(text, "description", "Other: words # here"),
    lambda text: set_setting(text, "contextTopN", 3),
    lambda text: add_item(text, Rule(name="New", text="One\n\ntwo")),
    lambda text: enable_item(text, "rule", "Errors", False),
    lambda text: remove_item(text, "rule", "Errors"),
    lambda text: remove_item(text, "server", "files"),
)


@cache
def _material() -> list[bytes]:
    return [AGENT.encode(), *((ROOT / name).read_bytes() for name in SAMPLES)]


def _case(random: Random) -> bytes:
    data = random.choice(_material())
    if random.random() < 0.2:
        data = crossed(data, random.choice(_material()), random)
    for _ in range(random.randrange(3)):
        at = random.randrange(len(data) + 1)
        data = data[:at] + random.choice(PIECES) + data[at:]
    return damaged(data, random)


@contextmanager
def _opened(place: Path) -> Iterator[Check]:
    path = place / "sample.yaml"
    folder = AgentFolder(place)

    def check(data: bytes) -> list[str]:
        path.write_bytes(data)
        found = folder.look("sample")
        complaints = []
        lines = data.count(b"\n") + data.count(b"\r") + 2
        if (found.agent is None) == (not found.problems):
            complaints.append("neither an agent nor a problem")
        complaints.extend(
            f"problem {problem} is nowhere"
            for problem in found.problems
            if not 1 <= problem.line <= lines or not problem.message.strip()
        )
        if found.agent is not None:
            complaints.extend(_edited(folder, path, data, found.agent))
        return complaints

    yield check


def _edited(folder: AgentFolder, path: Path, data: bytes, agent: Agent) -> Iterator[str]:
    """Each edit by itself: done, so that the file reads, or refused, so that it stays."""
    for number, edit in enumerate(EDITS):
        before = path.read_bytes()
        try:
            after = folder.edit("sample", edit)
        except AsterismError:
            if path.read_bytes() != before:
                yield f"edit {number} was refused and changed the file"
            continue
        if folder.load("sample") != after:
            yield f"edit {number} is not what the file says"
        # A text that ends with the file gets its line end by any edit.
        if (
            number == 0
            and data.endswith(b"\n")
            and (after.enabled or replace(agent, enabled=False) != after)
        ):
            yield "switching off changes something else"
        path.write_bytes(data)


TARGET = Target(
    name="agents",
    about="damaged files of agents, read and edited",
    cases=one_by_one(_case),
    opened=_opened,
)
