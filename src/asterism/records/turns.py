"""The turns of conversations: begun once, one at a time, saved on the way, ended by their owner."""

import time
import uuid
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, func, insert, select, update

from asterism.records.conversations import title_of
from asterism.records.database import RecordsDatabase
from asterism.records.failures import Collision
from asterism.records.rows import (
    CONVERSATIONS,
    EVENTS,
    TURNS,
    conversation_row,
    counted_conversation,
    events_of,
    evidence_text,
    folded,
    is_alive,
    json_text,
    storable,
    this_process,
    turn_of,
)
from asterism.types.chat import (
    RESUMABLE,
    Conversation,
    RecordedEvent,
    RecordedTurn,
    Turn,
    TurnStatus,
)
from asterism.types.errors import ConversationArchived, ConversationMissing, TurnRunning, UsageError

LONGEST_REQUEST_ID = 200
_EMPTY = evidence_text(Turn(id="", question=""))
_AGAIN = frozenset({TurnStatus.failed, *RESUMABLE} - {TurnStatus.awaiting_approval})
"""Asked once more under the same request id, such a turn is answered after all."""


class NewTurn(NamedTuple):
    """A question that is to be asked."""

    question: str
    conversation: str = ""
    """The conversation that it belongs to; nothing begins a new one."""
    request_id: str = ""
    repository: str = ""
    agent: str = ""


class Begun(NamedTuple):
    """A turn and its conversation."""

    conversation: Conversation
    recorded: RecordedTurn
    is_ours: bool
    """Whether it is to be answered now, by us; else it was answered before."""
    was: TurnStatus | None = None
    """What became of it before, where it is answered once more."""


class Busy(NamedTuple):
    """An answer has to be waited for: of the same request, or of the question before."""

    turn: str
    is_same: bool


class Turns:
    """The turns of one user's database, as one process takes part in them."""

    def __init__(self, database: RecordsDatabase, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock
        self._owner = this_process()

    def begin(self, wanted: NewTurn) -> Begun | Busy:
        """Take the turn, unless it was taken before or another one has to end first."""
        _check(wanted)
        try:
            return self._begin(wanted)
        except Collision:
            # Another process began the same request at the same moment, so now it is there.
            return self._begin(wanted)

    def take_up(self, id_: str) -> Begun | Busy:
        """Go on with a turn that waits for approval, or whose process died."""
        with self._database.writing() as connection:
            _open_conversation(connection, _turn_row(connection, id_, update=False).conversation)
            row = _turn_row(connection, id_)
            recorded = turn_of(row, self._clock())
            if recorded.turn.status not in RESUMABLE:
                return self._told(connection, row)
            busy = self._running(connection, row.conversation, id_)
            if busy is not None:
                return busy
            return self._own(connection, row, {})._replace(was=recorded.turn.status)

    def save(self, turn: Turn) -> None:
        """Keep what a turn has come to; only its owner may."""
        self._write(turn, {})

    def finish(self, turn: Turn) -> None:
        """Keep how a turn ended, or that it waits for approval."""
        now = self._clock()
        waits = turn.status is TurnStatus.awaiting_approval
        with self._database.writing() as connection:
            # The conversation is locked first, as everywhere, which prevents deadlocks.
            used = update(CONVERSATIONS).where(CONVERSATIONS.c.id == turn.conversation_id)
            connection.execute(used.values(updated=now))
            self._update(connection, turn, {"ended": None if waits else now})

    def record(self, id_: str, kind: str, data: Mapping[str, object]) -> None:
        """Note something that happened."""
        with self._database.writing() as connection:
            last = select(func.max(EVENTS.c.number)).where(EVENTS.c.turn == id_)
            number = (connection.scalar(last) or 0) + 1
            entry = {"turn": id_, "number": number, "kind": kind, "at": self._clock()}
            connection.execute(insert(EVENTS).values(**entry, data=json_text(data)))

    def beat(self, id_: str) -> None:
        """Say that the turn is still being answered."""
        with self._database.writing() as connection:
            connection.execute(self._ours(id_).values(beat=self._clock()))

    def is_stopped(self, id_: str) -> bool:
        """Whether the turn was asked to stop, or was removed."""
        with self._database.reading() as connection:
            row = connection.execute(
                select(TURNS.c.stop, TURNS.c.owner).where(TURNS.c.id == id_)
            ).one_or_none()
        return row is None or bool(row.stop) or row.owner != self._owner

    def stop(self, id_: str) -> bool:
        """Ask the process that answers a turn to stop; False if none does."""
        with self._database.writing() as connection:
            row = _turn_row(connection, id_)
            running = turn_of(row, self._clock()).turn.status is TurnStatus.running
            if running:
                connection.execute(update(TURNS).where(TURNS.c.id == id_).values(stop=1))
        return running

    def get(self, id_: str) -> RecordedTurn:
        """The turn of that id."""
        with self._database.reading() as connection:
            return turn_of(_turn_row(connection, id_, update=False), self._clock())

    def of(self, conversation: str) -> list[RecordedTurn]:
        """The turns of a conversation, in their order."""
        with self._database.reading() as connection:
            conversation_row(connection, conversation)
            query = select(TURNS).where(TURNS.c.conversation == conversation)
            now = self._clock()
            rows = connection.execute(query.order_by(TURNS.c.number))
            return [turn_of(row, now) for row in rows]

    def events(self, id_: str) -> list[RecordedEvent]:
        """What happened in a turn."""
        with self._database.reading() as connection:
            return events_of(connection, id_)

    # Steps of a beginning

    def _begin(self, wanted: NewTurn) -> Begun | Busy:
        with self._database.writing() as connection:
            known = self._repeated(connection, wanted)
            conversation = wanted.conversation or (known.conversation if known else "")
            if conversation:
                _open_conversation(connection, conversation)
            if known is not None:
                return self._again(connection, _turn_row(connection, known.id))
            if not conversation:
                conversation = self._new_conversation(connection, wanted)
            busy = self._running(connection, conversation)
            return self._insert(connection, conversation, wanted) if busy is None else busy

    def _repeated(self, connection: Connection, wanted: NewTurn) -> Row[Any] | None:
        """The turn that was begun under the same request id."""
        if not wanted.request_id:
            return None
        query = select(TURNS).where(TURNS.c.request_id == storable(wanted.request_id))
        row = connection.execute(query).one_or_none()
        if row is None:
            return None
        elsewhere = wanted.conversation and row.conversation != wanted.conversation
        if elsewhere or row.question != storable(wanted.question) or row.agent != wanted.agent:
            raise UsageError(
                f"The request id {wanted.request_id!r} was used for another question; give each "
                "question an id of its own."
            )
        return row

    def _again(self, connection: Connection, row: Row[Any]) -> Begun | Busy:
        status = turn_of(row, self._clock()).turn.status
        if status is TurnStatus.running:
            return Busy(row.id, True)
        if status not in _AGAIN:
            return self._told(connection, row)
        busy = self._running(connection, row.conversation, row.id)
        if busy is not None:
            return busy
        # What was interrupted goes on where it was; what failed begins anew.
        failed = status is TurnStatus.failed
        anew = {"answer": "", "error_code": "", "error": "", "evidence": _EMPTY}
        return self._own(connection, row, anew if failed else {})._replace(was=status)

    def _told(self, connection: Connection, row: Row[Any]) -> Begun:
        conversation = counted_conversation(connection, row.conversation)
        return Begun(conversation, turn_of(row, self._clock()), False)

    def _own(self, connection: Connection, row: Row[Any], values: Mapping[str, object]) -> Begun:
        """Continue a turn that no process is running."""
        now = self._clock()
        change = update(TURNS).where(TURNS.c.id == row.id)
        connection.execute(
            change.values(
                **values,
                status=TurnStatus.running.value,
                owner=self._owner,
                beat=now,
                stop=0,
                ended=None,
            )
        )
        return self._begun(connection, row.id)

    def _running(self, connection: Connection, conversation: str, beside: str = "") -> Busy | None:
        """The turn that has to end first; those that never will are marked as what they are."""
        unfinished = (TurnStatus.running.value, TurnStatus.awaiting_approval.value)
        query = select(TURNS).where(
            TURNS.c.conversation == conversation,
            TURNS.c.status.in_(unfinished),
            TURNS.c.id != beside,
        )
        now = self._clock()
        for row in connection.execute(query.with_for_update()).all():
            ended = update(TURNS).where(TURNS.c.id == row.id)
            if row.status == TurnStatus.awaiting_approval.value:
                # A new question ends the turn that waits for approval: its calls are not run.
                stopped = TurnStatus.stopped.value
                connection.execute(ended.values(status=stopped, ended=now))
            elif is_alive(row.owner, row.beat, now):
                return Busy(row.id, False)
            else:
                gone = TurnStatus.interrupted.value
                connection.execute(ended.values(status=gone, ended=row.beat))
        return None

    def _new_conversation(self, connection: Connection, wanted: NewTurn) -> str:
        now, id_ = self._clock(), uuid.uuid4().hex
        connection.execute(
            insert(CONVERSATIONS).values(
                id=id_,
                title=storable(title_of(wanted.question)),
                repository=storable(wanted.repository),
                agent=storable(wanted.agent),
                session="",
                created=now,
                updated=now,
            )
        )
        return id_

    def _insert(self, connection: Connection, conversation: str, wanted: NewTurn) -> Begun:
        now, id_ = self._clock(), uuid.uuid4().hex
        last = select(func.max(TURNS.c.number)).where(TURNS.c.conversation == conversation)
        connection.execute(
            insert(TURNS).values(
                id=id_,
                conversation=conversation,
                number=(connection.scalar(last) or 0) + 1,
                request_id=storable(wanted.request_id) or None,
                question=storable(wanted.question),
                answer="",
                searched=folded(wanted.question),
                status=TurnStatus.running.value,
                agent=storable(wanted.agent),
                provider="",
                model="",
                error_code="",
                error="",
                evidence=_EMPTY,
                started=now,
                owner=self._owner,
                beat=now,
                stop=0,
            )
        )
        used = update(CONVERSATIONS).where(CONVERSATIONS.c.id == conversation)
        connection.execute(used.values(updated=now))
        return self._begun(connection, id_)

    def _begun(self, connection: Connection, id_: str) -> Begun:
        row = _turn_row(connection, id_)
        conversation = counted_conversation(connection, row.conversation)
        return Begun(conversation, turn_of(row, self._clock()), True)

    # Steps of a change

    def _write(self, turn: Turn, more: Mapping[str, object]) -> None:
        with self._database.writing() as connection:
            self._update(connection, turn, more)

    def _update(self, connection: Connection, turn: Turn, more: Mapping[str, object]) -> None:
        error = turn.error
        change = self._ours(turn.id).values(
            answer=storable(turn.answer),
            searched=folded(turn.question, turn.answer),
            status=turn.status.value,
            provider=storable(turn.provider),
            model=storable(turn.model_id),
            error_code=error.code if error else "",
            error=storable(error.message) if error else "",
            evidence=evidence_text(turn),
            beat=self._clock(),
            **more,
        )
        if connection.execute(change).rowcount == 0:
            raise TurnRunning(
                "The turn is no longer ours: it was removed, or another process took it up after "
                "this one had been silent for too long."
            )

    def _ours(self, id_: str) -> Any:
        return update(TURNS).where(
            TURNS.c.id == id_,
            TURNS.c.owner == self._owner,
            TURNS.c.status == TurnStatus.running.value,
        )


def _check(wanted: NewTurn) -> None:
    if not wanted.question.strip():
        raise UsageError("The question is empty; ask something.")
    if len(wanted.request_id) > LONGEST_REQUEST_ID:
        raise UsageError(f"The request id is longer than {LONGEST_REQUEST_ID} characters.")


def _open_conversation(connection: Connection, id_: str) -> None:
    """Lock a conversation that takes questions."""
    row = conversation_row(connection, id_, update=True)
    if row.archived is not None:
        raise ConversationArchived(
            f"The conversation {id_!r} is archived; restore it to go on, or begin a new one."
        )


def _turn_row(connection: Connection, id_: str, update: bool = True) -> Row[Any]:
    query = select(TURNS).where(TURNS.c.id == id_)
    row = connection.execute(query.with_for_update() if update else query).one_or_none()
    if row is None:
        raise ConversationMissing(f"There is no turn {id_[:80]!r}; its conversation may be gone.")
    return row
