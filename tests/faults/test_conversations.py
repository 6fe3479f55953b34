"""Turns in trouble: their process killed, their disk full, other processes in the same conversation."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from asterism.types.chat import TurnStatus
from tests.faults.privileges import on_small_disk
from tests.faults.workplace import ROOT, Workplace, workplace
from tests.llm.fake_openai import FakeOpenAI
from tests.llm.loopback import Call, Say

PATIENCE = 120


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    made = workplace(tmp_path, 12)
    made.index()
    return made


def asking(place: Workplace, *arguments: str, url: str = "") -> "subprocess.Popen[str]":
    """`asterism ask` in a process of its own."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "src"),
        "HOME": str(place.home),
        "ASTERISM_DATA_DIR": str(place.data),
        "ASTERISM_CACHE_DIR": str(place.home / "cache"),
        "ASTERISM_INDEX_SYNC_SECONDS": "600",
    }
    if url:
        environment |= {
            "ASTERISM_MODEL_PROVIDER": "openai",
            "ASTERISM_MODEL_NAME": "fake-1",
            "ASTERISM_MODEL_URL": url,
        }
    command = [sys.executable, "-m", "asterism.cli", "ask", "what is total?", str(place.root)]
    return subprocess.Popen(
        [*command, "--json", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        text=True,
    )


def test_a_kill_in_the_middle_of_a_turn(place: Workplace) -> None:
    """It counts as interrupted, and asked for once more it goes on where it was."""
    call = Call("search_code", '{"query": "total"}', "call-1")
    said = [Say(calls=(call,)), Say("The sum of all.", hold_after=3), Say("The sum of all.")]
    with FakeOpenAI(said) as fake:
        killed = asking(place, "--request-id", "r-1", url=fake.url)
        assert fake.holding.wait(PATIENCE)
        killed.send_signal(signal.SIGKILL)
        killed.communicate(timeout=PATIENCE)
        assert killed.returncode == -signal.SIGKILL
        records = place.engine().records()
        (conversation,) = records.conversations().page().conversations
        (recorded,) = records.turns().of(conversation.id)
        assert recorded.turn.status is TurnStatus.interrupted
        assert [one.name for one in recorded.turn.rounds[0].results] == ["search_code"]
        fake.release()
        again = asking(place, "--request-id", "r-1", url=fake.url)
        out, err = again.communicate(timeout=PATIENCE)
        assert again.returncode == 0, err
        asked = len(fake.received)
    answered = json.loads(out)
    assert (answered["answer"], answered["number"]) == ("The sum of all.", 1)
    # What the tool had said was not asked for again.
    assert asked == 3
    assert len(answered["rounds"][0]["results"]) == 1
    assert records.turns().get(recorded.turn.id).turn.status is TurnStatus.done
    records.close()


def test_a_new_question_after_a_kill(place: Workplace) -> None:
    with FakeOpenAI([Say("Half of it.", hold_after=2)]) as fake:
        killed = asking(place, url=fake.url)
        assert fake.holding.wait(PATIENCE)
        killed.kill()
        killed.communicate(timeout=PATIENCE)
    out, err = asking(place, "--conversation", "last").communicate(timeout=PATIENCE)
    assert json.loads(out)["number"] == 2, err
    records = place.engine().records()
    (conversation,) = records.conversations().page().conversations
    statuses = [one.turn.status for one in records.turns().of(conversation.id)]
    assert statuses == [TurnStatus.interrupted, TurnStatus.done]
    records.close()


def test_several_processes_in_one_conversation(place: Workplace) -> None:
    out, err = asking(place).communicate(timeout=PATIENCE)
    first = json.loads(out)["conversationId"]
    others = [asking(place, "--conversation", first) for _ in range(3)]
    numbers = [json.loads(one.communicate(timeout=PATIENCE)[0])["number"] for one in others]
    assert sorted(numbers) == [2, 3, 4], err


def test_several_processes_with_one_request(place: Workplace) -> None:
    same = [asking(place, "--request-id", "r-1") for _ in range(3)]
    answers = [json.loads(one.communicate(timeout=PATIENCE)[0]) for one in same]
    assert len({answer["turnId"] for answer in answers}) == 1
    assert sorted(answer["isRepeat"] for answer in answers) == [False, True, True]


def test_a_full_disk(place: Workplace, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    through = on_small_disk(disk, 600)
    module = [sys.executable, "-m", "tests.faults.asking_on_small_disk"]
    done = subprocess.run(
        [*through, *module, str(place.root), str(place.data), str(disk)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}/src:{ROOT}"},
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    roomy, nothing, refused, unsaved, why, again, _, sound = done.stdout.splitlines()
    assert (roomy, nothing, again) == ("done True done", "no notes", "done True done")
    assert refused.startswith("StorageFailed: ")
    assert "the disk is full" in refused
    assert "free disk space" in refused
    # The answer comes in any case; what is kept is that it was being given.
    assert unsaved.startswith("done True ")
    assert "This turn is not saved" in why
    assert sound == "3 conversations, ok, done"
