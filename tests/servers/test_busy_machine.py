"""Do fifty queries get the same bytes on an idle machine and on a busy one, with another `PATH`?"""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from asterism.config.sections import StructureSettings
from asterism.engine.engine import Engine
from asterism.engine.stores import DataDirectories
from asterism.operations.calls import Standpoint
from asterism.operations.dispatch.toolbox import Toolbox
from asterism.operations.limits import written
from tests.servers.conftest import ROOT, SETTINGS

_TIMES = re.compile(r'("(?:elapsed_ms|latency_ms)":) ?[0-9.]+')
# Language servers are looked for in PATH, and a note says which of them would help.
_NO_SERVERS = StructureSettings(cpp="off", go="off", rust="off", java="off")
# Parts of the example for which no type checker is started.
_PARTS = ("db", "ledger", "scripts")

_QUERIES = """\
where is a payment posted to the ledger
how is the balance of an account computed
what happens when an entry does not balance
how is a refund checked
where is the rounding of an amount done
which errors does the ledger have
how are entries stored
what does a journal hold
how is an account opened
where is the currency compared
how are amounts added
what happens with a negative amount
which tables does the database have
where is an index created
how is a transaction identified
who reads the journal
how is money shown as text
what is done with an unknown account
where are fees counted
how is a policy for refunds chosen
when is a refund full
how are entries sorted
where does the script begin
which names are exported
how long is an entry kept
Fix the rounding of negative amounts in refunds
Add a limit to the number of entries of a journal
Allow several currencies in one entry
Remove the check of the balance
Rename the field for the account in the ledger
refund policy
refund
balance
Ledger
"does not balance"
"not found"
full_refund
FullRefund.amount
where is refund used
who calls post
amount
parse amount
regex:fn \\w+\\(
symbol=Ledger
src/refund.rs
schema.sql
thread 'main' panicked at src/journal.rs:96:5: unbalanced entry
error[E0308]: mismatched types
leger balence
exchange rate per day
"""


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A directory with a small repository and its index."""
    for part in _PARTS:
        shutil.copytree(ROOT / "examples" / "harbor" / part, tmp_path / "harbor" / part)
    engine = engine_of(tmp_path, "building")
    engine.index(engine.register(tmp_path / "harbor"))
    engine.close()
    return tmp_path


def engine_of(base: Path, cache: str) -> Engine:
    settings = replace(SETTINGS, structure=_NO_SERVERS)
    return Engine(DataDirectories(base / "data", base / cache), lambda _root: settings)


def replies(base: Path, cache: str) -> list[str]:
    """What is replied to each query, without times; with a cache that knows no earlier query."""
    engine = engine_of(base, cache)
    toolbox = Toolbox(engine, Standpoint(base / "harbor"))
    found = []
    try:
        for number, query in enumerate(_QUERIES.splitlines()):
            tool = "codebase_search" if number % 2 else "search_code"
            reply = written(toolbox.call(tool, {"query": query}))
            found.append(_TIMES.sub(r"\1_", json.dumps(reply, ensure_ascii=False)))
    finally:
        engine.close()
    return found


def test_load_and_path_change_nothing(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    idle = replies(base, "idle")
    assert len({*idle}) == len(idle) == 50
    monkeypatch.setenv("PATH", str(base / "nothing"))
    loop = [sys.executable, "-c", "while True: pass"]
    running = [subprocess.Popen(loop) for _ in range(os.cpu_count() or 1)]
    try:
        busy = replies(base, "busy")
    finally:
        for process in running:
            process.kill()
            process.wait()
    for one, other in zip(idle, busy, strict=True):
        assert one == other
