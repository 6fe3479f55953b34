"""JSON-RPC over a channel: requests with deadlines from any thread, answers to the server's."""

import contextlib
import itertools
import queue
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from asterism.lsp.channels import LARGEST_MESSAGE, Channel, Message, MessageReader, encode
from asterism.types.errors import (
    LanguageServerError,
    ServerDied,
    ServerGarbled,
    ServerRefused,
    ServerTimeout,
)

Answer = Callable[[Any], Any]
"""What a request of the server is answered with, from its parameters.

What it tells without being asked may have one too, which then only listens.
"""

_METHOD_NOT_FOUND = -32601
_INTERNAL_ERROR = -32603


class Connection:
    """One conversation. Threads may share it; when it is over every waiting request is told why."""

    def __init__(
        self,
        channel: Channel,
        answers: Mapping[str, Answer] | None = None,
        largest: int = LARGEST_MESSAGE,
    ) -> None:
        self._channel = channel
        self._answers = dict(answers or {})
        self._reader = MessageReader(channel.read, largest)
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._waiting: dict[int, queue.SimpleQueue[Message | LanguageServerError]] = {}
        self._ended: LanguageServerError | None = None
        # Writing has its own thread: a server that no longer reads must not hold up a deadline.
        self._outgoing: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=work, name=f"server-{name}", daemon=True)
            for name, work in (("reader", self._read_all), ("writer", self._write_all))
        ]
        for thread in self._threads:
            thread.start()

    @property
    def ended(self) -> LanguageServerError | None:
        """Why the conversation is over, or None while it goes on."""
        return self._ended

    def request(self, method: str, params: Any = None, *, seconds: float) -> Any:
        """The server's answer; without one in time the request is cancelled and raises."""
        number = next(self._numbers)
        box: queue.SimpleQueue[Message | LanguageServerError] = queue.SimpleQueue()
        with self._lock:
            if self._ended is not None:
                raise _again(self._ended)
            self._waiting[number] = box
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        try:
            reply = box.get(timeout=max(0.0, seconds))
        except queue.Empty:
            with self._lock:
                self._waiting.pop(number, None)
            self.notify("$/cancelRequest", {"id": number})
            raise ServerTimeout(f"no answer to {method} within {seconds:g} seconds") from None
        if isinstance(reply, LanguageServerError):
            raise _again(reply)
        if (problem := reply.get("error")) is not None:
            raise ServerRefused(f"{method}: {_problem_text(problem)}")
        return reply.get("result")

    def notify(self, method: str, params: Any = None) -> None:
        """Tell the server something; nothing comes back."""
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def end(self, reason: LanguageServerError) -> None:
        """End the conversation: every waiting request is given the reason; the first one stays."""
        with self._lock:
            if self._ended is None:
                self._ended = reason
            boxes, self._waiting = list(self._waiting.values()), {}
        for box in boxes:
            box.put(self._ended)
        self._outgoing.put(None)

    def join(self, seconds: float) -> None:
        """Wait for the conversation's threads, which end soon after both sides have."""
        deadline = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def _send(self, message: Message) -> None:
        self._outgoing.put(encode(message))

    def _write_all(self) -> None:
        # What breaks here meets the reader too, and it knows better why.
        with contextlib.suppress(OSError):
            while (data := self._outgoing.get()) is not None:
                self._channel.write(data)
        self._channel.finish_writing()

    def _read_all(self) -> None:
        try:
            while (message := self._reader.next()) is not None:
                self._take(message)
            self.end(ServerDied("the server ended"))
        except OSError as error:
            self.end(ServerDied(f"the connection broke ({error.strerror})"))
        except LanguageServerError as error:
            self.end(error)
        finally:
            self._channel.finish_reading()

    def _take(self, message: Message) -> None:
        number = message.get("id")
        if "method" in message:
            method, params = str(message["method"]), message.get("params")
            if number is not None:
                self._send(self._answer(number, method, params))
            elif method in self._answers:
                self._answer(None, method, params)
            return
        if not isinstance(number, int):
            raise ServerGarbled("the server sent a message that is neither question nor answer")
        with self._lock:
            # An answer that comes after its deadline has nobody waiting.
            box = self._waiting.pop(number, None)
        if box is not None:
            box.put(message)

    def _answer(self, number: object, method: str, params: Any) -> Message:
        reply: Message = {"jsonrpc": "2.0", "id": number}
        answer = self._answers.get(method)
        if answer is None:
            return {**reply, "error": {"code": _METHOD_NOT_FOUND, "message": "not supported"}}
        with contextlib.suppress(KeyError, TypeError, AttributeError, ValueError):
            return {**reply, "result": answer(params)}
        return {**reply, "error": {"code": _INTERNAL_ERROR, "message": "odd parameters"}}


def _again(reason: LanguageServerError) -> LanguageServerError:
    """A new error of the same kind: one object raised in two threads would mix their traces."""
    return type(reason)(*reason.args)


def _problem_text(problem: object) -> str:
    if isinstance(problem, dict):
        return str(problem.get("message") or problem)
    return str(problem)
