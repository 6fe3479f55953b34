"""The life of one server: started when needed, restarted once, released when idle."""

import atexit
import contextlib
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

from asterism.lsp.connection import Answer, ServerConnection
from asterism.lsp.process import ServerCommand, ServerProcess
from asterism.types.errors import (
    LanguageServerError,
    ServerDied,
    ServerGarbled,
    ServerGivenUp,
    ServerMissing,
    ServerRefused,
    ServerStarting,
    ServerTimeout,
    ServerTooLarge,
)

Session = TypeVar("Session")
Result = TypeVar("Result")

# The second failure without a success between them is one too many.
FAILURES_AT_MOST = 2

# How long the threads of a dead connection may take to notice.
JOIN_SECONDS = 2.0


class ServerCondition(StrEnum):
    """Where a server stands."""

    resting = "resting"
    """Not running; the next question starts it."""
    starting = "starting"
    ready = "ready"
    given_up = "given_up"
    """Failed again after a new start."""
    closed = "closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeeperOptions:
    """How patient a keeper is."""

    wait_seconds: float = 20.0
    """How long a question waits for a server that is starting."""
    idle_seconds: float = 900.0
    """After a quarter of an hour without a question the server's memory is worth more elsewhere."""
    rest_seconds: float = 300.0
    """How long a server that was given up rests before it is tried again."""


@dataclass(frozen=True, slots=True)
class _Life:
    """One process with what talks to it."""

    process: ServerProcess
    connection: ServerConnection


class Keeper(Generic[Session]):
    """Keeps one server. `open_session` prepares it (handshake, project) and is asked once a start.

    Every method may be called from any thread. A session's requests carry their own deadlines.
    """

    def __init__(
        self,
        server: ServerCommand,
        open_session: Callable[[ServerConnection], Session],
        options: KeeperOptions | None = None,
        answers: dict[str, Answer] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._server = server
        self._open_session = open_session
        self._options = options or KeeperOptions()
        self._answers = answers or {}
        self._clock = clock
        self._changed = threading.Condition()
        self._condition = ServerCondition.resting
        self._life: _Life | None = None
        self._session: Session | None = None
        self._failures = 0
        self._trouble: LanguageServerError | None = None
        self._given_up_at = 0.0
        self._used_at = clock()
        self._users = 0

    @property
    def condition(self) -> ServerCondition:
        """Where the server stands now."""
        return self._condition

    @property
    def trouble(self) -> str | None:
        """What went wrong last, for a person; None after a success."""
        return str(self._trouble) if self._trouble else None

    @property
    def pid(self) -> int | None:
        """The process, while there is one."""
        life = self._life
        return life.process.pid if life else None

    def memory(self) -> int:
        """Resident bytes of the server; 0 while it is not running."""
        life = self._life
        return life.process.memory() if life else 0

    def warm_up(self) -> None:
        """Start the server in the background, if it is not running and was not given up."""
        with self._changed:
            if self._condition is ServerCondition.resting:
                self._begin()

    def call(self, work: Callable[[Session], Result]) -> Result:
        """Do some work with the session; if the server dies of it, once more with a new one.

        A server that did not answer in time is replaced too, but the work is not repeated: the
        caller has waited long enough.
        """
        for is_last in (False, True):
            session, life = self._enter()
            try:
                result = work(session)
            except ServerRefused:
                # An answer, if not the one hoped for: the server is well.
                raise
            except LanguageServerError as error:
                trouble = self._fail(life, error)
                if is_last or isinstance(trouble, ServerTimeout | ServerTooLarge):
                    raise trouble from error
            else:
                self._succeed()
                return result
            finally:
                self._leave()
        raise AssertionError("the second attempt returns or raises")

    def renew(self) -> None:
        """End a server that stands ready, so that the next question starts another."""
        with self._changed:
            if self._condition is not ServerCondition.ready:
                return
            life, self._life, self._session = self._life, None, None
            self._condition = ServerCondition.resting
        _end(life, ServerDied("it was to start anew"))

    def close(self) -> None:
        """End the server; the keeper can be used no more."""
        with self._changed:
            self._condition = ServerCondition.closed
            life, self._life, self._session = self._life, None, None
            self._changed.notify_all()
        atexit.unregister(self.close)
        _end(life, ServerDied(f"the {self._server.name} was closed"))

    def _enter(self) -> tuple[Session, _Life | None]:
        """A server that is ready, started and waited for where needed."""
        deadline = time.monotonic() + self._options.wait_seconds
        with self._changed:
            rested = self._clock() - self._given_up_at >= self._options.rest_seconds
            if self._condition is ServerCondition.given_up and rested:
                self._condition, self._failures = ServerCondition.resting, 0
            if self._condition is ServerCondition.resting:
                self._begin()
            while self._condition is ServerCondition.starting:
                if not self._changed.wait(max(0.0, deadline - time.monotonic())):
                    raise ServerStarting(
                        f"The {self._server.name} is still loading the repository; "
                        "ask again in a moment."
                    )
            if self._condition is ServerCondition.closed:
                raise ServerDied(f"The {self._server.name} was closed.")
            if self._condition is not ServerCondition.ready or self._session is None:
                raise self._given_up()
            self._users += 1
            return self._session, self._life

    def _leave(self) -> None:
        with self._changed:
            self._users -= 1
            self._used_at = self._clock()

    def _succeed(self) -> None:
        with self._changed:
            self._failures = 0
            self._trouble = None

    def _begin(self) -> None:
        self._condition = ServerCondition.starting
        atexit.unregister(self.close)
        atexit.register(self.close)
        threading.Thread(target=self._start, name="server-start", daemon=True).start()

    def _start(self) -> None:
        """Start a server and prepare its session; a first failure is followed by a second try."""
        life: _Life | None = None
        try:
            process = ServerProcess(self._server, self._look)
            life = _Life(process, ServerConnection(process.channel, self._answers))
            with self._changed:
                if self._condition is ServerCondition.starting:
                    self._life = life
            session = self._open_session(life.connection)
        except Exception as error:  # noqa: BLE001 - a thread's outer edge: others wait for the end
            if not isinstance(error, LanguageServerError):
                error = ServerDied(f"it cannot be prepared: {error!r}")
            self._fail(life, error)
            with self._changed:
                if self._condition is ServerCondition.resting:
                    self._begin()
            return
        with self._changed:
            is_wanted = self._condition is ServerCondition.starting
            if is_wanted:
                self._condition, self._session = ServerCondition.ready, session
                self._used_at = self._clock()
            self._changed.notify_all()
        if not is_wanted:
            _end(life, ServerDied(f"the {self._server.name} was closed"))

    def _fail(self, life: _Life | None, error: LanguageServerError) -> LanguageServerError:
        """End a server that failed, and decide whether it may start again; return what to say."""
        if life is not None:
            if isinstance(error, ServerTimeout | ServerGarbled):
                life.process.kill()
            error = life.process.reason(error) if not isinstance(error, ServerTimeout) else error
        trouble = type(error)(_sentence(self._server.name, error))
        with self._changed:
            # Of several callers that met the same end, one counts it.
            is_first = self._life is life and self._condition is not ServerCondition.closed
            if is_first:
                self._life = self._session = None
                self._failures += 1
                self._trouble = trouble
                self._condition = ServerCondition.resting
                if self._failures >= FAILURES_AT_MOST or isinstance(trouble, ServerMissing):
                    self._condition = ServerCondition.given_up
                    self._given_up_at = self._clock()
                self._changed.notify_all()
        _end(life, trouble)
        return trouble

    def _given_up(self) -> LanguageServerError:
        if isinstance(self._trouble, ServerMissing):
            return ServerMissing(str(self._trouble))
        return ServerGivenUp(
            f"The {self._server.name} failed twice and rests for a while. {self._trouble}"
        )

    def _look(self) -> None:
        """Release a server that was not used for a long time; called by its guard."""
        with self._changed:
            idle = self._clock() - self._used_at
            if self._condition is not ServerCondition.ready or self._users:
                return
            if idle < self._options.idle_seconds:
                return
            life, self._life, self._session = self._life, None, None
            self._condition = ServerCondition.resting
        _end(life, ServerDied("it was idle"))


def _end(life: _Life | None, reason: LanguageServerError) -> None:
    """End a server and everything that belongs to it."""
    if life is None:
        return
    life.connection.end(reason)
    life.process.close()
    life.connection.join(JOIN_SECONDS)


def _sentence(name: str, error: LanguageServerError) -> str:
    text = str(error)
    if text.startswith("The "):
        return text
    with contextlib.suppress(IndexError):
        text = text[0].upper() + text[1:]
    return f"The {name} failed: {text}." if not text.endswith(".") else text
