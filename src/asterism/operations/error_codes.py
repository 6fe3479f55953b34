"""Error codes: a stable code for each kind of error, with what a caller does about it."""

from collections.abc import Mapping
from typing import NamedTuple

from asterism.types import errors


class Code(NamedTuple):
    """A stable code for a kind of error, with advice for callers of tools."""

    name: str
    advice: str = ""
    """Added to the message, which names commands of the terminal."""


_INDEX_IT = "Call index_codebase, then ask again."
_LATER = "Ask again in a moment."
_WORDS_ONLY = 'Until that is fixed, search_code with mode="exact" needs no model.'
_NO_TOOL = "Go on without this server's tools."
_NO_SERVER = "Ask again, or use search_code and symbol_lookup, which do not need it."
_OTHER_MODEL = 'provider="extractive" answers without a model.'

CODES: Mapping[type[errors.AsterismError], Code] = {
    errors.AsterismError: Code("failed"),
    errors.UsageError: Code("invalid_argument"),
    errors.SettingError: Code("invalid_setting", "The user has to correct the settings."),
    errors.RepositoryUnclear: Code(
        "repository_unclear", "list_repositories shows them; name one with repository_id."
    ),
    errors.InputError: Code("path_unusable"),
    errors.PathMissing: Code("path_missing"),
    errors.AgentMissing: Code("agent_missing", "list_agents shows those there are."),
    errors.PathOutside: Code("path_outside"),
    errors.WrongPathKind: Code("path_wrong_kind"),
    errors.PathUnreadable: Code("path_unreadable"),
    errors.SecretFile: Code("secret_file"),
    errors.NotText: Code("not_text"),
    errors.StoreError: Code("index_unusable", "Call index_status to see what is wrong."),
    errors.IndexMissing: Code("index_missing", _INDEX_IT),
    errors.IndexCorrupt: Code("index_corrupt", "Call index_codebase with force=true."),
    errors.IndexTooNew: Code("index_too_new", "The user has to update Asterism."),
    errors.IndexOutdated: Code("index_outdated", _INDEX_IT),
    errors.IndexMismatch: Code("index_mismatch", _INDEX_IT),
    errors.IndexBusy: Code("index_busy", "index_status shows how far it is; ask again later."),
    errors.StorageFailed: Code("storage_failed"),
    errors.ProviderError: Code("provider_failed", _WORDS_ONLY),
    errors.ProviderDown: Code("provider_down", _WORDS_ONLY),
    errors.ProviderRefused: Code("provider_refused", _WORDS_ONLY),
    errors.TextTooLong: Code("text_too_long", "Give a shorter text."),
    errors.BadVectors: Code("provider_bad_answer", _WORDS_ONLY),
    errors.BadScores: Code("reranker_bad_answer", _WORDS_ONLY),
    errors.BadReply: Code("model_bad_answer", _OTHER_MODEL),
    errors.ReplyCut: Code("model_reply_cut", _LATER),
    errors.ProviderMissing: Code("model_missing", _OTHER_MODEL),
    errors.LanguageServerError: Code("structure_failed", _NO_SERVER),
    errors.ServerMissing: Code("structure_missing", _NO_SERVER),
    errors.ServerStarting: Code("structure_starting", _LATER),
    errors.ServerDied: Code("structure_died", _NO_SERVER),
    errors.ServerTimeout: Code("structure_timeout", _NO_SERVER),
    errors.ServerGarbled: Code("structure_garbled", _NO_SERVER),
    errors.ServerTooLarge: Code("structure_too_large", _NO_SERVER),
    errors.ServerRefused: Code("structure_refused", _NO_SERVER),
    errors.ServerGivenUp: Code("structure_given_up", _NO_SERVER),
    errors.RecordsError: Code("records_unusable"),
    errors.RecordsUnreachable: Code("records_unreachable", _LATER),
    errors.RecordsCorrupt: Code("records_corrupt", "The user has to repair that."),
    errors.RecordsTooNew: Code("records_too_new", "The user has to update Asterism."),
    errors.ConversationMissing: Code(
        "conversation_missing", "Leave conversationId out to begin a new conversation."
    ),
    errors.ConversationArchived: Code(
        "conversation_archived", "Leave conversationId out to begin a new conversation."
    ),
    errors.TurnRunning: Code("turn_running", _LATER),
    errors.ToolServerError: Code("tool_server_failed", _NO_TOOL),
    errors.ToolServerMissing: Code("tool_server_missing", _NO_TOOL),
    errors.ToolServerSlow: Code("tool_server_slow", _NO_TOOL),
    errors.ToolServerDied: Code("tool_server_died", _NO_TOOL),
    errors.ToolServerFlooding: Code("tool_server_flooding", _NO_TOOL),
    errors.ToolServerRefused: Code("tool_server_refused", _NO_TOOL),
    errors.DeadlineExceeded: Code("deadline_exceeded"),
    errors.WaitedTooLong: Code("waited_too_long"),
    errors.TooBusy: Code("too_busy"),
    errors.ShareExceeded: Code("share_exceeded"),
    errors.WorkerDied: Code("worker_died", _LATER),
    errors.Cancelled: Code("cancelled"),
}
"""Every kind of error that Asterism raises on purpose."""

INTERNAL = Code("internal_error")
"""A defect of Asterism; the log has the traceback."""

INTERNAL_SENTENCE = (
    "Something went wrong inside Asterism; the server's log has the details. Ask again, or "
    "differently; `asterism doctor` checks the installation."
)

LONGEST_SENTENCE = 4_000
"""Messages repeat what they were given, which may be long."""


def code_of(error: errors.AsterismError) -> Code:
    """The code of an error: that of its class, else of the nearest base class."""
    return next(CODES[kind] for kind in type(error).__mro__ if kind in CODES)


def sentence_of(error: errors.AsterismError) -> str:
    """The message, the advice and the code, as a model reads them."""
    code = code_of(error)
    message = str(error)
    if len(message) > LONGEST_SENTENCE:
        message = f"{message[:LONGEST_SENTENCE]}…"
    words = [message, code.advice, f"[{code.name}]"]
    text = " ".join(word for word in words if word)
    return text.encode("utf-8", "backslashreplace").decode()
