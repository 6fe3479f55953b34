"""Turns on SQLite and PostgreSQL: begun once, one at a time, taken up again, kept whole."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import fields, replace
from pathlib import Path

import pytest
from sqlalchemy import update

from asterism.records.conversations import Conversations
from asterism.records.database import RecordsDatabase, open_database
from asterism.records.options import RecordsOptions
from asterism.records.rows import LEASE_SECONDS, TURNS, is_alive, this_process
from asterism.records.turns import Begun, Busy, NewTurn, Turns
from asterism.types.chat import (
    Citation,
    Round,
    ToolCall,
    ToolResult,
    TriedSearch,
    Turn,
    TurnError,
    TurnStatus,
    Usage,
)
from asterism.types.context import (
    ItemDetail,
    LeftOut,
    LeftOutReason,
    ReferenceKey,
    RequestContext,
    RequestItem,
    RequestMode,
    RuleKey,
    ToolKey,
)
from asterism.types.errors import ConversationMissing, TurnRunning, UsageError

CONTEXT = RequestContext(
    agent="reviewer",
    prompt_hash="abc",
    items=(
        RequestItem(key=RuleKey("tone"), mode=RequestMode.always, content_hash="1"),
        RequestItem(
            key=ReferenceKey("api"),
            mode=RequestMode.agent,
            content_hash="2",
            score=0.81,
            detail=ItemDetail.excerpt,
            pieces=(0, 2),
            why="chosen",
        ),
        RequestItem(
            key=ToolKey("files", "read"), mode=RequestMode.expansion, content_hash="3", score=0.76
        ),
    ),
    left_out=(
        LeftOut(RuleKey("other"), LeftOutReason.budget),
        LeftOut("src/a.py:1-9", LeftOutReason.budget, 0.4, "too long"),
    ),
    notes=("a server is missing",),
    considered=9,
)


def begun(found: Begun | Busy) -> Begun:
    assert isinstance(found, Begun)
    return found


def whole(turn: Turn) -> Turn:
    """A turn with something in every field."""
    call = ToolCall("c1", "search_code", '{"query": "lamps"}')
    result = ToolResult("c1", "search_code", "hits", False, {"results": [{"path": "a"}]}, 7, 12)
    return replace(
        turn,
        status=TurnStatus.failed,
        answer="Half an answer",
        provider="openai",
        model_id="gpt",
        context=CONTEXT,
        grounding=(ToolResult("search-1", "search", "found", data={"results": []}),),
        rounds=(Round("Let me look.", (call,), (result,)), Round("Half an answer")),
        citations=(Citation("harbor", "lamps.py", 3, 9, "chunk", 0.7, "Lamp.light"),),
        searches=(TriedSearch("lamps", 4, "enough"),),
        usage=Usage(10, 20),
        notes=("trimmed",),
        error=TurnError("provider_down", "It is down."),
    )


@pytest.fixture
def turns(database: RecordsDatabase) -> Turns:
    return Turns(database)


def test_everything_of_a_turn_is_kept(turns: Turns) -> None:
    wanted = NewTurn("how are lamps lit", "", "r-1", "harbor", "reviewer")
    first = begun(turns.begin(wanted))
    turn = whole(first.recorded.turn)
    # A field that is empty here might be forgotten there.
    assert [field.name for field in fields(turn) if not getattr(turn, field.name)] == []
    turns.finish(turn)
    (kept,) = turns.of(first.conversation.id)
    assert kept.turn == turn
    assert kept.number == 1
    assert kept.ended is not None
    assert kept.turn.request_id == "r-1"
    assert kept.turn.agent_name == "reviewer"


def test_what_databases_refuse_is_kept_as_far_as_it_goes(turns: Turns) -> None:
    first = begun(turns.begin(NewTurn("a\0b \ud800 c", repository="q\udc00")))
    result = ToolResult("c", "t", "zero \0 half \ud800")
    said = replace(first.recorded.turn, answer="x\0y", rounds=(Round("", (), (result,)),))
    turns.finish(replace(said, status=TurnStatus.done))
    (kept,) = turns.of(first.conversation.id)
    assert (kept.turn.question, kept.turn.answer) == ("a\ufffdb ? c", "x\ufffdy")
    assert kept.turn.rounds[0].results[0].text == "zero \0 half \ud800"


def test_events_in_their_order(turns: Turns) -> None:
    id_ = begun(turns.begin(NewTurn("q"))).recorded.turn.id
    for number in range(3):
        turns.record(id_, "tool_started", {"number": number})
    events = turns.events(id_)
    assert [(event.number, event.kind, event.data) for event in events] == [
        (number + 1, "tool_started", {"number": number}) for number in range(3)
    ]


def test_a_repeated_request_is_not_asked_twice(turns: Turns) -> None:
    wanted = NewTurn("how are lamps lit", request_id="r-1")
    first = begun(turns.begin(wanted))
    assert turns.begin(wanted) == Busy(first.recorded.turn.id, True)
    turns.finish(replace(first.recorded.turn, status=TurnStatus.done, answer="By hand."))
    again = begun(turns.begin(wanted))
    assert (again.is_ours, again.recorded.turn.answer) == (False, "By hand.")
    assert again.conversation.id == first.conversation.id
    same = begun(turns.begin(wanted._replace(conversation=first.conversation.id)))
    assert not same.is_ours
    assert len(turns.of(first.conversation.id)) == 1


@pytest.mark.parametrize("change", [{"question": "other"}, {"agent": "reviewer"}])
def test_a_request_id_for_another_question(turns: Turns, change: dict[str, str]) -> None:
    wanted = NewTurn("how are lamps lit", request_id="r-1")
    turns.begin(wanted)
    with pytest.raises(UsageError, match="another question"):
        turns.begin(wanted._replace(**change))


def test_a_request_id_in_another_conversation(turns: Turns) -> None:
    turns.begin(NewTurn("q", request_id="r-1"))
    other = begun(turns.begin(NewTurn("p"))).conversation.id
    with pytest.raises(UsageError, match="another question"):
        turns.begin(NewTurn("q", other, "r-1"))


@pytest.mark.parametrize("status", [TurnStatus.stopped, TurnStatus.awaiting_approval])
def test_what_was_stopped_or_waits_is_told_as_it_is(turns: Turns, status: TurnStatus) -> None:
    wanted = NewTurn("q", request_id="r-1")
    first = begun(turns.begin(wanted))
    turns.finish(replace(first.recorded.turn, status=status))
    again = begun(turns.begin(wanted))
    assert (again.is_ours, again.recorded.turn.status) == (False, status)


def test_what_failed_is_answered_after_all(turns: Turns) -> None:
    wanted = NewTurn("q", request_id="r-1")
    first = begun(turns.begin(wanted))
    error = TurnError("provider_down", "down")
    turns.finish(replace(first.recorded.turn, status=TurnStatus.failed, error=error))
    again = begun(turns.begin(wanted))
    assert again.is_ours
    assert again.recorded.turn == first.recorded.turn


def test_one_turn_at_a_time(turns: Turns) -> None:
    first = begun(turns.begin(NewTurn("q")))
    busy = turns.begin(NewTurn("p", first.conversation.id))
    assert busy == Busy(first.recorded.turn.id, False)
    assert begun(turns.begin(NewTurn("in another conversation"))).is_ours
    turns.finish(replace(first.recorded.turn, status=TurnStatus.done))
    assert begun(turns.begin(NewTurn("p", first.conversation.id))).recorded.number == 2


def abandon(database: RecordsDatabase, turn: str, owner: str) -> None:
    with database.writing() as connection:
        connection.execute(update(TURNS).where(TURNS.c.id == turn).values(owner=owner))


GONE = this_process().rsplit(" ", 2)[0] + " 4194999 1"


def test_a_turn_whose_process_died(turns: Turns, database: RecordsDatabase) -> None:
    wanted = NewTurn("q", request_id="r-1")
    first = begun(turns.begin(wanted))
    abandon(database, first.recorded.turn.id, GONE)
    (seen,) = turns.of(first.conversation.id)
    assert seen.turn.status is TurnStatus.interrupted
    assert turns.get(first.recorded.turn.id).turn.status is TurnStatus.interrupted
    second = begun(turns.begin(NewTurn("p", first.conversation.id)))
    turns.finish(replace(second.recorded.turn, status=TurnStatus.done))
    assert [entry.turn.status for entry in turns.of(first.conversation.id)] == [
        TurnStatus.interrupted,
        TurnStatus.done,
    ]
    again = begun(turns.begin(wanted))
    assert (again.is_ours, again.recorded.number) == (True, 1)


def test_taking_up_an_interrupted_turn_keeps_what_it_had(
    turns: Turns, database: RecordsDatabase
) -> None:
    first = begun(turns.begin(NewTurn("q")))
    so_far = replace(whole(first.recorded.turn), status=TurnStatus.running, error=None)
    turns.save(so_far)
    assert turns.take_up(so_far.id) == Begun(first.conversation, turns.get(so_far.id), False)
    abandon(database, so_far.id, GONE)
    taken = begun(turns.take_up(so_far.id))
    assert (taken.is_ours, taken.recorded.turn) == (True, so_far)
    turns.finish(replace(so_far, status=TurnStatus.done))
    assert not begun(turns.take_up(so_far.id)).is_ours


def test_an_approval_is_taken_up_once(turns: Turns) -> None:
    first = begun(turns.begin(NewTurn("q")))
    waiting = replace(first.recorded.turn, status=TurnStatus.awaiting_approval)
    turns.finish(waiting)
    assert turns.of(first.conversation.id)[0].ended is None
    assert begun(turns.take_up(waiting.id)).is_ours
    assert not begun(turns.take_up(waiting.id)).is_ours


def test_a_new_question_instead_of_an_approval(turns: Turns) -> None:
    first = begun(turns.begin(NewTurn("q")))
    turns.finish(replace(first.recorded.turn, status=TurnStatus.awaiting_approval))
    begun(turns.begin(NewTurn("p", first.conversation.id)))
    assert turns.get(first.recorded.turn.id).turn.status is TurnStatus.stopped


def test_a_process_that_lost_the_turn_writes_nothing(
    turns: Turns, database: RecordsDatabase
) -> None:
    first = begun(turns.begin(NewTurn("q")))
    abandon(database, first.recorded.turn.id, GONE)
    assert turns.is_stopped(first.recorded.turn.id)
    lost = replace(first.recorded.turn, status=TurnStatus.done, answer="late")
    for write in (turns.save, turns.finish):
        with pytest.raises(TurnRunning, match="no longer ours"):
            write(lost)
    assert turns.get(lost.id).turn.answer == ""


def test_stopping(turns: Turns) -> None:
    first = begun(turns.begin(NewTurn("q")))
    id_ = first.recorded.turn.id
    assert not turns.is_stopped(id_)
    assert turns.stop(id_)
    assert turns.is_stopped(id_)
    turns.finish(replace(first.recorded.turn, status=TurnStatus.stopped))
    assert not turns.stop(id_)
    with pytest.raises(ConversationMissing, match="no turn"):
        turns.stop("nothing")


@pytest.mark.parametrize(
    ("wanted", "message"),
    [(NewTurn(" \n"), "empty"), (NewTurn("q", request_id="x" * 201), "200 characters")],
)
def test_invalid_questions(turns: Turns, wanted: NewTurn, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        turns.begin(wanted)


def test_a_removed_conversation_stops_its_turn(turns: Turns, database: RecordsDatabase) -> None:
    first = begun(turns.begin(NewTurn("q")))
    abandon(database, first.recorded.turn.id, GONE)
    Conversations(database).delete(first.conversation.id)
    assert turns.is_stopped(first.recorded.turn.id)


@pytest.mark.parametrize(
    ("owner", "age", "alive"),
    [
        (this_process(), 0, True),
        (this_process(), LEASE_SECONDS + 1, False),
        (GONE, 0, False),
        # A reused pid belongs to another process.
        (this_process().rsplit(" ", 1)[0] + " 1", 0, not Path("/proc/self/stat").exists()),
        ("another-machine 1 1", 0, True),
        ("another-machine 1 1", LEASE_SECONDS + 1, False),
    ],
    # The names of tests may not depend on the process that runs them.
    ids=[
        "ours",
        "ours, silent",
        "gone",
        "another of that number",
        "elsewhere",
        "elsewhere, silent",
    ],
)
def test_who_is_alive(owner: str, age: float, alive: bool) -> None:
    assert is_alive(owner, 10_000.0, 10_000.0 + age) is alive


def at_once(options: RecordsOptions, wanted: NewTurn) -> list[Begun | Busy]:
    """What several connections get that begin at the same moment."""
    ready = threading.Barrier(6)

    def begin() -> Begun | Busy:
        with closing(open_database(options)) as database:
            turns = Turns(database)
            ready.wait(60)
            return turns.begin(wanted)

    with ThreadPoolExecutor(6) as pool:
        return [future.result(60) for future in [pool.submit(begin) for _ in range(6)]]


def test_one_request_from_everywhere_at_once(options: RecordsOptions) -> None:
    found = at_once(options, NewTurn("q", request_id="r-1"))
    ours = [one for one in found if isinstance(one, Begun)]
    assert len(ours) == 1
    same = Busy(ours[0].recorded.turn.id, True)
    assert [one for one in found if isinstance(one, Busy)] == [same] * 5


def test_one_conversation_from_everywhere_at_once(options: RecordsOptions) -> None:
    with closing(open_database(options)) as database:
        turns = Turns(database)
        first = begun(turns.begin(NewTurn("q")))
        turns.finish(replace(first.recorded.turn, status=TurnStatus.done))
        found = at_once(options, NewTurn("p", first.conversation.id))
        (ours,) = (one for one in found if isinstance(one, Begun))
        same = Busy(ours.recorded.turn.id, False)
        assert [one for one in found if isinstance(one, Busy)] == [same] * 5
        assert len(turns.of(first.conversation.id)) == 2
