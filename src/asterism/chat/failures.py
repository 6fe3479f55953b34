"""The stable code of each failure that ends a turn."""

from asterism.types import errors
from asterism.types.chat import TurnError

CODES: dict[type[errors.AsterismError], str] = {
    errors.AsterismError: "failed",
    errors.UsageError: "invalid_argument",
    errors.SettingError: "invalid_setting",
    errors.StoreError: "index_unusable",
    errors.IndexMissing: "index_missing",
    errors.IndexCorrupt: "index_corrupt",
    errors.IndexTooNew: "index_too_new",
    errors.IndexOutdated: "index_outdated",
    errors.IndexMismatch: "index_mismatch",
    errors.IndexBusy: "index_busy",
    errors.StorageFailed: "storage_failed",
    errors.ProviderError: "provider_failed",
    errors.ProviderDown: "provider_down",
    errors.ProviderRefused: "provider_refused",
    errors.TextTooLong: "text_too_long",
    errors.BadReply: "model_bad_answer",
    errors.ReplyCut: "model_reply_cut",
    errors.ProviderMissing: "model_missing",
}
"""Named as the tools of the servers name them; kinds that are not here have the code above them."""

INTERNAL = TurnError(
    "internal_error",
    "Something went wrong inside Asterism; the log has the details. Ask again; `asterism doctor` "
    "checks the installation.",
)
"""A mistake of ours."""


def error_of(error: errors.AsterismError) -> TurnError:
    """What a turn says of a failure."""
    code = next(CODES[kind] for kind in type(error).__mro__ if kind in CODES)
    return TurnError(code, str(error))
