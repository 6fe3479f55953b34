"""The user's conversations and sessions: one database, opened at its first use."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

from asterism.config.options import records_options
from asterism.config.settings import Settings
from asterism.engine.wiring import Places

if TYPE_CHECKING:
    # They bring SQLAlchemy, which takes a tenth of a second to load.
    from asterism.records.conversations import Conversations
    from asterism.records.database import Database
    from asterism.records.sessions import SessionStore
    from asterism.records.turns import Turns


class Records:
    """What is kept of chats; threads may share it."""

    def __init__(self, settings: Settings, places: Places) -> None:
        self._options = records_options(settings, places.data)
        self._database: Database | None = None
        self._lock = Lock()

    def database(self) -> Database:
        """The database, made or brought up to date if need be."""
        from asterism.records.database import open_database

        with self._lock:
            if self._database is None:
                self._database = open_database(self._options)
            return self._database

    def conversations(self) -> Conversations:
        """The conversations."""
        from asterism.records.conversations import Conversations

        return Conversations(self.database())

    def turns(self) -> Turns:
        """Their turns."""
        from asterism.records.turns import Turns

        return Turns(self.database())

    def sessions(self) -> SessionStore:
        """The sessions of agents."""
        from asterism.records.sessions import SessionStore

        return SessionStore(self.database())

    def close(self) -> None:
        """Let go of the database; what is asked next opens it again."""
        with self._lock:
            if self._database is not None:
                self._database.close()
                self._database = None
