"""Sessions, the contexts of their requests, and what was of use, in the user's database."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, select, update

from asterism.records.database import RecordsDatabase
from asterism.records.rows import ITEM_USES, REQUESTS, SESSION_ITEMS, SESSIONS
from asterism.types.context import (
    ItemKey,
    ReferenceKey,
    RequestMode,
    RuleKey,
    SessionItem,
    SessionMode,
    ToolKey,
)
from asterism.types.errors import UsageError
from asterism.types.sessions import ItemUse, Session, SessionSummary, StoredRequest

SHORTEST_ID = 4
"""Letters of an id that are enough where only one session begins with them."""


class SessionStore:
    """Sessions by their ids; every change is one transaction."""

    def __init__(self, database: RecordsDatabase) -> None:
        """The database stays the caller's to close."""
        self._database = database

    def save(self, session: Session) -> None:
        """Keep a session as it is now, new or not."""
        values = {
            "agent": session.agent,
            "title": session.title,
            "created": session.created,
            "updated": session.updated,
            "settings": json.dumps(
                {"inherited": dict(session.inherited), "own": dict(session.settings)}
            ),
        }
        with self._database.writing() as connection:
            changed = connection.execute(
                update(SESSIONS).where(SESSIONS.c.id == session.id).values(values)
            )
            if not changed.rowcount:
                connection.execute(insert(SESSIONS).values(id=session.id, **values))
            connection.execute(delete(SESSION_ITEMS).where(SESSION_ITEMS.c.session == session.id))
            rows = list(_item_rows(session))
            if rows:
                connection.execute(insert(SESSION_ITEMS), rows)

    def get(self, id_: str) -> Session:
        """The session with an id, or with the beginning of one that no other has."""
        with self._database.reading() as connection:
            row = self._row(connection, id_)
            held = connection.execute(
                select(SESSION_ITEMS)
                .where(SESSION_ITEMS.c.session == row.id)
                # Items that were added at one moment keep their order.
                .order_by(SESSION_ITEMS.c.added)
            ).all()
        keys = [(_key(item), item) for item in held]
        settings = json.loads(row.settings)
        return Session(
            id=row.id,
            agent=row.agent,
            title=row.title,
            created=row.created,
            updated=row.updated,
            inherited=settings["inherited"],
            settings=settings["own"],
            items=tuple(SessionItem(key, _session_mode(item.mode)) for key, item in keys),
            contents={key: item.content for key, item in keys},
        )

    def sessions(self, agent: str | None = None, limit: int = 50) -> tuple[SessionSummary, ...]:
        """Sessions, the one used last first."""
        held = (
            select(func.count())
            .select_from(SESSION_ITEMS)
            .where(SESSION_ITEMS.c.session == SESSIONS.c.id)
            .scalar_subquery()
        )
        query = select(SESSIONS, held.label("held")).order_by(
            SESSIONS.c.updated.desc(), SESSIONS.c.id
        )
        if agent is not None:
            query = query.where(SESSIONS.c.agent == agent)
        with self._database.reading() as connection:
            rows = connection.execute(query.limit(limit)).all()
        return tuple(
            SessionSummary(row.id, row.agent, row.title, row.created, row.updated, row.held)
            for row in rows
        )

    def delete(self, id_: str) -> str:
        """Forget a session with all its requests; its whole id."""
        with self._database.writing() as connection:
            whole = str(self._row(connection, id_).id)
            for table in (ITEM_USES, REQUESTS):
                connection.execute(delete(table).where(table.c.session == whole))
            connection.execute(delete(SESSIONS).where(SESSIONS.c.id == whole))
        return whole

    def add_request(self, request: StoredRequest, uses: Sequence[ItemUse]) -> None:
        """Keep what a request was given, replacing what was kept of the same request."""
        with self._database.writing() as connection:
            connection.execute(delete(REQUESTS).where(REQUESTS.c.id == request.id))
            connection.execute(delete(ITEM_USES).where(ITEM_USES.c.request == request.id))
            connection.execute(insert(REQUESTS).values(request._asdict()))
            if uses:
                connection.execute(insert(ITEM_USES), [_use_row(use) for use in uses])

    def request(self, id_: str) -> StoredRequest:
        """What a request was given."""
        with self._database.reading() as connection:
            rows = connection.execute(
                select(REQUESTS).where(REQUESTS.c.id.startswith(id_, autoescape=True)).limit(2)
            ).all()
        if len(rows) != 1 or len(id_) < SHORTEST_ID:
            raise UsageError(
                f"No single request is called {id_}; `asterism session show SESSION` lists them."
            )
        return _request(rows[0])

    def requests(self, session: str, limit: int = 50) -> tuple[StoredRequest, ...]:
        """The requests of a session, the last one first."""
        query = select(REQUESTS).where(REQUESTS.c.session == session)
        query = query.order_by(REQUESTS.c.at.desc(), REQUESTS.c.id)
        with self._database.reading() as connection:
            return tuple(map(_request, connection.execute(query.limit(limit)).all()))

    def contexts(self) -> Iterator[str]:
        """What every request of every session was given, as JSON."""
        with self._database.reading() as connection:
            for row in connection.execute(select(REQUESTS.c.context)):
                yield str(row.context)

    def mark(self, request: str, key: ItemKey, *, cited: bool = False, calls: int = 0) -> None:
        """An item of a request was of use."""
        type_, server, name = _columns(key)
        changes: dict[str, Any] = {"called": ITEM_USES.c.called + calls}
        if cited:
            changes["cited"] = 1
        with self._database.writing() as connection:
            connection.execute(
                update(ITEM_USES)
                .where(
                    ITEM_USES.c.request == request,
                    ITEM_USES.c.type == type_,
                    ITEM_USES.c.server == server,
                    ITEM_USES.c.name == name,
                )
                .values(changes)
            )

    def uses(self, agent: str | None = None, session: str | None = None) -> Iterator[ItemUse]:
        """Every use that was recorded, the oldest first."""
        query = select(ITEM_USES).order_by(
            ITEM_USES.c.at, ITEM_USES.c.request, ITEM_USES.c.type, ITEM_USES.c.name
        )
        if agent is not None:
            query = query.where(ITEM_USES.c.agent == agent)
        if session is not None:
            query = query.where(ITEM_USES.c.session == session)
        with self._database.reading() as connection:
            for row in connection.execute(query):
                yield _use(row)

    def _row(self, connection: Connection, id_: str) -> Row[tuple[object, ...]]:
        found = connection.execute(select(SESSIONS).where(SESSIONS.c.id == id_)).all()
        if not found and len(id_) >= SHORTEST_ID:
            begins = SESSIONS.c.id.startswith(id_, autoescape=True)
            found = connection.execute(select(SESSIONS).where(begins).limit(2)).all()
        if len(found) > 1:
            raise UsageError(f"Several sessions begin with {id_}; give more of the id.")
        if not found:
            raise UsageError(f"There is no session {id_}; `asterism session list` shows them.")
        return found[0]


def _item_rows(session: Session) -> Iterator[dict[str, object]]:
    for number, item in enumerate(session.items):
        type_, server, name = _columns(item.key)
        yield {
            "session": session.id,
            "type": type_,
            "server": server,
            "name": name,
            "mode": str(item.mode),
            "content": session.contents.get(item.key, ""),
            "added": float(number),
        }


def _columns(key: ItemKey) -> tuple[str, str, str]:
    return str(key.kind), key.server if isinstance(key, ToolKey) else "", key.name


def _key(row: Row[tuple[object, ...]]) -> ItemKey:
    match row.type:
        case "rule":
            return RuleKey(row.name)
        case "reference":
            return ReferenceKey(row.name)
    return ToolKey(row.server, row.name)


def _session_mode(text: str) -> SessionMode:
    return RequestMode.always if text == RequestMode.always else RequestMode.manual


def _request(row: Row[tuple[object, ...]]) -> StoredRequest:
    return StoredRequest(row.id, row.session, row.agent, row.message, row.context, row.at)


def _use_row(use: ItemUse) -> dict[str, object]:
    type_, server, name = _columns(use.key)
    return {
        "request": use.request,
        "session": use.session,
        "agent": use.agent,
        "type": type_,
        "server": server,
        "name": name,
        "mode": str(use.mode),
        "score": use.score,
        "tokens": use.tokens,
        "cited": int(use.cited),
        "called": use.called,
        "at": use.at,
    }


def _use(row: Row[tuple[object, ...]]) -> ItemUse:
    return ItemUse(
        request=row.request,
        session=row.session,
        agent=row.agent,
        key=_key(row),
        mode=RequestMode(row.mode),
        score=row.score,
        tokens=row.tokens,
        cited=bool(row.cited),
        called=row.called,
        at=row.at,
    )
