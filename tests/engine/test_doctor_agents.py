"""Does the doctor see broken agents, and what their servers lack, without starting anything?"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from asterism.config.settings import Settings
from asterism.engine.doctor.checks import agent_findings

SERVER = "servers:\n  - name: s\n    command: {command}\n{more}"
PYTHON = json.dumps(sys.executable)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, ["ok reader can be used"]),
        ({"a.yaml": "rules: []"}, ["ok a, reader can be used"]),
        ({"a.yaml": "rulez: []"}, ["problem a is not used: line 1, rulez", "ok reader"]),
        ({"a.yaml": "x: 1\ny: 2\n"}, ["problem a is not used: line 1, x", "ok reader"]),
        ({"a.yaml": SERVER.format(command=PYTHON, more="")}, ["ok a, reader can be used"]),
        (
            {"a.yaml": SERVER.format(command="no-such-program", more="")},
            ["warning a: there is no program no-such-program", "ok a, reader"],
        ),
        (
            {"a.yaml": SERVER.format(command="no-such-program", more="    enabled: false\n")},
            ["ok a, reader can be used"],
        ),
        (
            {"a.yaml": "enabled: false\n" + SERVER.format(command="no-such-program", more="")},
            ["ok a, reader can be used"],
        ),
        (
            {
                "a.yaml": SERVER.format(
                    command=PYTHON, more="    environment: {A: env:NOT_SET_ANYWHERE}\n"
                )
            },
            ["warning a: The server s needs the variable NOT_SET_ANYWHERE", "ok a, reader"],
        ),
        (
            {"a.yaml": "rules: []", "a.yml": "rules: []", "my own.yaml": "rules: []"},
            ["warning a.yml is not used", "warning my own.yaml is not used", "ok a, reader"],
        ),
    ],
)
def test_agents(tmp_path: Path, files: Mapping[str, str], expected: list[str]) -> None:
    folder = tmp_path / "agents"
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    found = [*agent_findings(tmp_path, Settings(), tmp_path)]
    told = [f"{one.verdict} {one.message.replace(f'{folder}/', '')}" for one in found]
    assert len(told) == len(expected)
    assert all(line.startswith(start) for line, start in zip(told, expected, strict=True)), told
    assert all(one.advice or one.verdict == "ok" or "set it" in one.message for one in found)
