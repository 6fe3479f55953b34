"""Conversations: listed, searched, put away, brought back, removed."""

import time
from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Row, and_, delete, func, or_, select, update

from asterism.records.database import RecordsDatabase
from asterism.records.rows import (
    CONVERSATIONS,
    COUNTED,
    TURNS,
    conversation_of,
    conversation_row,
    counted_conversation,
    folded,
    is_alive,
)
from asterism.types.chat import (
    Conversation,
    ConversationMatch,
    ConversationPage,
    MatchPage,
    Shelf,
    TurnStatus,
)
from asterism.types.errors import ConversationMissing, TurnRunning, UsageError

MOST_A_PAGE = 200
_EXCERPT = 160
"""Characters of a text that are shown around a match."""


class Conversations:
    """The conversations of one user's database."""

    def __init__(self, database: RecordsDatabase, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def get(self, id_: str) -> Conversation:
        """The conversation of that id."""
        with self._database.reading() as connection:
            return counted_conversation(connection, id_)

    def find(self, start: str, repository: str | None = None) -> Conversation:
        """The one conversation whose id begins so; for `last` the one used last.

        With a repository that is the one used last about it.
        """
        if start == "last":
            page = self.page(repository=repository, limit=1)
            if not page.conversations:
                about = "" if repository is None else f" about {repository}"
                raise ConversationMissing(
                    f"There is no conversation{about} yet; `asterism ask` begins one."
                )
            return page.conversations[0]
        begins = CONVERSATIONS.c.id.startswith(start, autoescape=True)
        with self._database.reading() as connection:
            ids = connection.scalars(select(CONVERSATIONS.c.id).where(begins).limit(2)).all()
        if len(ids) > 1 and start not in ids:
            raise UsageError(f"Several conversations begin with {start!r}; give more of the id.")
        return self.get(start if start in ids or not ids else ids[0])

    def page(
        self,
        shelf: Shelf = Shelf.open,
        repository: str | None = None,
        limit: int = 20,
        cursor: str | None = None,
    ) -> ConversationPage:
        """Conversations, the one used last first."""
        _check_limit(limit)
        here = [*_on(shelf), *_of(repository)]
        last = [] if cursor is None else [_before(cursor, CONVERSATIONS.c.updated)]
        order = CONVERSATIONS.c.updated.desc(), CONVERSATIONS.c.id.desc()
        query = select(CONVERSATIONS, COUNTED).where(*here, *last).order_by(*order)
        with self._database.reading() as connection:
            rows = connection.execute(query.limit(limit + 1)).all()
            total = connection.scalar(select(func.count(CONVERSATIONS.c.id)).where(*here)) or 0
        kept = tuple(conversation_of(row) for row in rows[:limit])
        more = _cursor(kept[-1].updated, kept[-1].id) if len(rows) > limit else None
        return ConversationPage(kept, total, more)

    def search(
        self,
        words: str,
        shelf: Shelf = Shelf.all,
        repository: str | None = None,
        limit: int = 20,
        cursor: str | None = None,
    ) -> MatchPage:
        """Turns whose question or answer contains all words, the latest first."""
        _check_limit(limit)
        wanted = folded(words).split()
        if not wanted:
            raise UsageError("Say what to look for, in a word or more.")
        said = [TURNS.c.searched.contains(word, autoescape=True) for word in wanted]
        here = [*said, *_on(shelf), *_of(repository)]
        last = [] if cursor is None else [_before(cursor, TURNS.c.started, TURNS.c.id)]
        both = TURNS.join(CONVERSATIONS, TURNS.c.conversation == CONVERSATIONS.c.id)
        turn = TURNS.c.id.label("turn"), TURNS.c.number, TURNS.c.started
        texts = TURNS.c.question, TURNS.c.answer
        order = TURNS.c.started.desc(), TURNS.c.id.desc()
        query = select(CONVERSATIONS, COUNTED, *turn, *texts).select_from(both)
        counting = select(func.count(TURNS.c.id)).select_from(both).where(*here)
        with self._database.reading() as connection:
            rows = connection.execute(
                query.where(*here, *last).order_by(*order).limit(limit + 1)
            ).all()
            total = connection.scalar(counting) or 0
        more = _cursor(rows[limit - 1].started, rows[limit - 1].turn) if len(rows) > limit else None
        return MatchPage(tuple(_match(row, wanted) for row in rows[:limit]), total, more)

    def archive(self, id_: str) -> Conversation:
        """Put a conversation away; one that is away stays so."""
        return self._set(id_, lambda row: {"archived": row.archived or self._clock()})

    def restore(self, id_: str) -> Conversation:
        """Bring a conversation back."""
        return self._set(id_, lambda _row: {"archived": None})

    def rename(self, id_: str, title: str) -> Conversation:
        """Call a conversation otherwise."""
        return self._set(id_, lambda _row: {"title": title_of(title)})

    def place(self, id_: str, agent: str, session: str) -> Conversation:
        """Note which agent is asked from now on, and with what included."""
        return self._set(id_, lambda _row: {"agent": agent, "session": session})

    def delete(self, id_: str) -> None:
        """Remove a conversation and everything recorded under it."""
        with self._database.writing() as connection:
            conversation_row(connection, id_, update=True)
            now = self._clock()
            running = select(TURNS.c.owner, TURNS.c.beat).where(
                TURNS.c.conversation == id_, TURNS.c.status == TurnStatus.running.value
            )
            if any(is_alive(row.owner, row.beat, now) for row in connection.execute(running)):
                raise TurnRunning(
                    "A question of this conversation is being answered; stop it first, then delete."
                )
            connection.execute(delete(CONVERSATIONS).where(CONVERSATIONS.c.id == id_))

    def _set(self, id_: str, values: Callable[[Row[Any]], dict[str, object]]) -> Conversation:
        with self._database.writing() as connection:
            row = conversation_row(connection, id_, update=True)
            change = update(CONVERSATIONS).where(CONVERSATIONS.c.id == id_).values(values(row))
            connection.execute(change)
            return counted_conversation(connection, id_)


def title_of(question: str) -> str:
    """A question as a title: its first line, not too long."""
    lines = folded_lines(question)
    first = lines[0] if lines else "Untitled"
    return first if len(first) <= 80 else f"{first[:79].rstrip()}…"


def folded_lines(text: str) -> list[str]:
    """The lines that say something, with single spaces."""
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def _check_limit(limit: int) -> None:
    if not 1 <= limit <= MOST_A_PAGE:
        raise UsageError(f"limit is {limit}; give a number from 1 to {MOST_A_PAGE}.")


def _on(shelf: Shelf) -> list[ColumnElement[bool]]:
    if shelf is Shelf.all:
        return []
    archived = CONVERSATIONS.c.archived
    return [archived.is_(None) if shelf is Shelf.open else archived.is_not(None)]


def _of(repository: str | None) -> list[ColumnElement[bool]]:
    return [] if repository is None else [CONVERSATIONS.c.repository == repository]


def _cursor(moment: float, id_: str) -> str:
    return f"{moment!r}~{id_}"


def _before(
    cursor: str, moments: ColumnElement[float], ids: ColumnElement[str] = CONVERSATIONS.c.id
) -> ColumnElement[bool]:
    """What comes after the last entry of a page, in descending order."""
    moment, separator, id_ = cursor.partition("~")
    try:
        last = float(moment)
    except ValueError:
        separator = ""
    if not separator:
        raise UsageError("The cursor is not valid; take it from the page before, unchanged.")
    return or_(moments < last, and_(moments == last, ids < id_))


def _match(row: Row[Any], wanted: Sequence[str]) -> ConversationMatch:
    texts = {"question": row.question, "answer": row.answer}
    where = next(
        (name for name, text in texts.items() if all(word in text.casefold() for word in wanted)),
        next(name for name, text in texts.items() if any(w in text.casefold() for w in wanted)),
    )
    return ConversationMatch(
        conversation_of(row), row.number, where, _excerpt(texts[where], wanted)
    )


def _excerpt(text: str, wanted: Sequence[str]) -> str:
    """The text around the first word that is in it."""
    line = " ".join(text.split())
    places = [place for word in wanted if (place := line.casefold().find(word)) >= 0]
    start = max(0, min(places, default=0) - _EXCERPT // 2)
    end = start + _EXCERPT
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"
