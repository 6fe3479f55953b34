"""Replies as HTTP has them: JSON, with a status for each code, and nothing of the server's own."""

import json
import math
import re
from collections.abc import Mapping
from typing import NamedTuple

from asterism.operations.limits import CallReply
from asterism.operations.schema import Json
from asterism.telemetry.events import current_request

STATUSES: Mapping[str, int] = {
    "failed": 500,
    "invalid_argument": 400,
    "invalid_setting": 500,
    "repository_unclear": 404,
    "path_unusable": 400,
    "path_missing": 404,
    "agent_missing": 404,
    "path_outside": 403,
    "path_wrong_kind": 400,
    "path_unreadable": 403,
    "secret_file": 403,
    "not_text": 422,
    "index_unusable": 500,
    "index_missing": 409,
    "index_corrupt": 500,
    "index_too_new": 409,
    "index_outdated": 409,
    "index_mismatch": 409,
    "index_busy": 409,
    "storage_failed": 507,
    "provider_failed": 502,
    "provider_down": 503,
    "provider_refused": 502,
    "text_too_long": 413,
    "provider_bad_answer": 502,
    "reranker_bad_answer": 502,
    "model_bad_answer": 502,
    "model_reply_cut": 502,
    "model_missing": 503,
    "structure_failed": 502,
    "structure_missing": 503,
    "structure_starting": 503,
    "structure_died": 502,
    "structure_timeout": 504,
    "structure_garbled": 502,
    "structure_too_large": 503,
    "structure_refused": 502,
    "structure_given_up": 503,
    "records_unusable": 500,
    "records_unreachable": 503,
    "records_corrupt": 500,
    "records_too_new": 409,
    "conversation_missing": 404,
    "conversation_archived": 409,
    "turn_running": 409,
    "tool_server_failed": 502,
    "tool_server_missing": 503,
    "tool_server_slow": 504,
    "tool_server_died": 502,
    "tool_server_flooding": 502,
    "tool_server_refused": 502,
    "deadline_exceeded": 504,
    "waited_too_long": 503,
    "too_busy": 503,
    "share_exceeded": 429,
    "worker_died": 503,
    "cancelled": 499,
    "internal_error": 500,
}
"""The HTTP status of each error code of a call; 500 for others."""

OWN_STATUSES: Mapping[str, int] = {
    "malformed": 400,
    "unauthorized": 401,
    "origin_refused": 403,
    "read_only": 403,
    "not_found": 404,
    "method_not_allowed": 405,
    "timeout": 408,
    "too_large": 413,
    "address_too_long": 414,
    "not_json": 415,
    "host_refused": 421,
    "headers_too_large": 431,
}
"""The same for errors before a call."""

RETRY_SECONDS = 1
"""When to ask again where the server or a helper was busy; most questions take less."""
_RETRIED = frozenset(
    {
        "too_busy",
        "waited_too_long",
        "share_exceeded",
        "structure_starting",
        "provider_down",
        "worker_died",
    }
)

_CODE_AT_THE_END = re.compile(r" \[[a-z_]+\]$")


class HttpProblem(NamedTuple):
    """A failure: its code, and a sentence that says what to do next."""

    code: str
    message: str
    wait_seconds: float = RETRY_SECONDS
    """When to ask again, where that helps."""

    @property
    def status(self) -> int:
        """What HTTP calls it."""
        return STATUSES.get(self.code) or OWN_STATUSES.get(self.code, 500)

    @property
    def headers(self) -> dict[str, str]:
        """When to come back, and how to say who one is."""
        if self.code == "unauthorized":
            return {"www-authenticate": 'Bearer realm="asterism"'}
        return {"retry-after": str(math.ceil(self.wait_seconds))} if self.code in _RETRIED else {}


class Refused(Exception):
    """A request that is not carried out; the outer edge answers with the problem."""

    def __init__(self, problem: HttpProblem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class Wording(NamedTuple):
    """Messages of tools in the words of the HTTP API."""

    routes: Mapping[str, str]
    """The route of each tool: `POST /api/index` for `index_codebase`."""

    def problem_of(self, reply: CallReply) -> HttpProblem:
        """The failure that a reply is."""
        sentence = _CODE_AT_THE_END.sub("", reply.parts[0].text)
        return HttpProblem(reply.error or "failed", self.told(sentence))

    def told(self, sentence: str) -> str:
        """A sentence with routes in place of tools."""
        for tool, route in self.routes.items():
            sentence = re.sub(rf"\b{tool}\b", route, sentence)
        return sentence


def problem_json(problem: HttpProblem) -> Json:
    """The body of an answer that says what went wrong."""
    return {
        "error": {"code": problem.code, "message": problem.message, "request_id": current_request()}
    }


def encoded(value: object) -> bytes:
    """JSON as it is sent; a name that is no text is written with escapes."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")
