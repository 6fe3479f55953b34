"""Every error Asterism raises on purpose, and what the user can do about it.

AsterismError           anything a user should read as one clear sentence
├── UsageError          the request itself is wrong: unknown option value, bad combination
│   ├── SettingError    a setting that does not exist, or a value it does not allow
│   └── RepositoryUnclear  no repository is named, and several could be meant
├── InputError          a path that cannot be used
│   ├── PathMissing     nothing is there
│   │   └── AgentMissing  there is no agent of that name
│   ├── PathOutside     it leads out of every known repository
│   ├── WrongPathKind   a directory where a file is wanted, or the reverse
│   ├── PathUnreadable  no permission, or the read failed
│   │   └── SecretFile  it holds keys or passwords
│   └── NotText         a binary file, or a language that does not exist
├── StoreError          an index that cannot be used as it is
│   ├── IndexMissing    there is no index
│   ├── IndexCorrupt    it is damaged and has to be built again
│   ├── IndexTooNew     a newer Asterism wrote it
│   ├── IndexOutdated   an older Asterism wrote it: it can be read, not written to
│   ├── IndexMismatch   its vectors are of another model
│   ├── IndexBusy       another process is writing to it
│   └── StorageFailed   the disk is full, or does not let us write
├── ProviderError       a model that gave no answer, or none of use
│   ├── ProviderDown    not reachable, or failing after every retry
│   │   └── ReplyCut    it fell silent in the middle of an answer
│   ├── ProviderRefused it does not accept the request: key, model name, address
│   ├── TextTooLong     a text is over the model's context
│   ├── BadVectors      an answer of the wrong number or size
│   ├── BadScores       a reranker's answer of the wrong number, or out of range
│   ├── BadReply        a language model's answer that cannot be read
│   └── ProviderMissing its library is not installed, or the client does not offer it
├── LanguageServerError a language server that gave no answer
│   ├── ServerMissing   its program is not installed, or cannot be started
│   ├── ServerStarting  it is still loading the repository
│   ├── ServerDied      it ended, perhaps in the middle of a request
│   ├── ServerTimeout   it did not answer in time
│   ├── ServerGarbled   what it said is not its protocol
│   ├── ServerTooLarge  it took more memory than it may
│   ├── ServerRefused   it answered a request with an error
│   └── ServerGivenUp   it failed again after a new start, and rests for a while
├── ToolServerError     an MCP server of an agent that gave no answer
│   ├── ToolServerMissing   it cannot be started, or nothing answers at its address
│   ├── ToolServerSlow      it did not answer in time
│   ├── ToolServerDied      it ended, perhaps in the middle of a call
│   ├── ToolServerFlooding  it said more than it may
│   └── ToolServerRefused   it answered with an error, or not in its protocol
├── RecordsError        conversations that cannot be used as they are
│   ├── RecordsUnreachable  their database does not answer, or its library is missing
│   ├── RecordsCorrupt  their database is damaged
│   ├── RecordsTooNew   a newer Asterism wrote them
│   ├── ConversationMissing   there is no conversation of that name
│   ├── ConversationArchived  it is put away, and has to be restored to go on
│   └── TurnRunning     an earlier question is still being answered
├── WorkerDied          a process that reads files was killed
├── DeadlineExceeded    a query took longer than it may, and was ended
├── ShareExceeded       a client used more of the processor than its share
└── Cancelled           the user asked to stop; what was done is kept
"""


class AsterismError(Exception):
    """Something the user can act on; the message says what happened and what to do next."""


class UsageError(AsterismError):
    """The request itself is wrong."""


class SettingError(UsageError):
    """A setting that does not exist, or a value it does not allow."""


class RepositoryUnclear(UsageError):
    """No repository is named, and several could be meant, or the one that is named is unknown."""


class InputError(AsterismError):
    """A path that cannot be used."""


class PathMissing(InputError):
    """Nothing exists at the path."""


class AgentMissing(PathMissing):
    """There is no agent of that name."""


class PathOutside(InputError):
    """The path leads out of every repository that is known."""


class WrongPathKind(InputError):
    """A directory where a file is wanted, or the reverse."""


class PathUnreadable(InputError):
    """The operating system refused to open or read the path."""


class SecretFile(PathUnreadable):
    """The file holds keys or passwords, which are never shown or kept."""


class NotText(InputError):
    """The file is binary, so it has no outline."""


class StoreError(AsterismError):
    """An index that cannot be used as it is."""


class IndexMissing(StoreError):
    """There is no index."""


class IndexCorrupt(StoreError):
    """The index is damaged and has to be built again."""


class IndexTooNew(StoreError):
    """A newer Asterism wrote the index."""


class IndexOutdated(StoreError):
    """An older Asterism wrote the index; it can be read, and is built again to be written to."""


class IndexMismatch(StoreError):
    """The index holds vectors of another model."""


class IndexBusy(StoreError):
    """Another process is writing to the index."""


class StorageFailed(StoreError):
    """The disk is full, or does not let us write."""


class ProviderError(AsterismError):
    """A model that gave no answer, or none of use."""


class ProviderDown(ProviderError):
    """The provider cannot be reached, or failed after every retry."""


class ReplyCut(ProviderDown):
    """A language model fell silent in the middle of an answer."""


class ProviderRefused(ProviderError):
    """The provider does not accept the request."""


class TextTooLong(ProviderError):
    """A text is over the model's context; sending it again would not help."""


class BadVectors(ProviderError):
    """The provider's answer has the wrong number of vectors, or vectors of the wrong size."""


class BadScores(ProviderError):
    """The reranker's answer has the wrong number of scores, or values that are not scores."""


class BadReply(ProviderError):
    """A language model's answer that cannot be read."""


class ProviderMissing(ProviderError):
    """The provider's library is not installed, or the client does not offer its model."""


class LanguageServerError(AsterismError):
    """A language server that gave no answer."""


class ServerMissing(LanguageServerError):
    """The server's program is not installed, or cannot be started."""


class ServerStarting(LanguageServerError):
    """The server is still loading the repository; the next question may find it ready."""


class ServerDied(LanguageServerError):
    """The server ended, perhaps in the middle of a request."""


class ServerTimeout(LanguageServerError):
    """The server did not answer in time."""


class ServerGarbled(LanguageServerError):
    """What the server said is not its protocol."""


class ServerTooLarge(LanguageServerError):
    """The server took more memory than it may."""


class ServerRefused(LanguageServerError):
    """The server answered a request with an error; asking again would not help."""


class ServerGivenUp(LanguageServerError):
    """The server failed again after a new start, and rests for a while."""


class ToolServerError(AsterismError):
    """An MCP server of an agent that gave no answer."""


class ToolServerMissing(ToolServerError):
    """The server cannot be started, or nothing answers at its address."""


class ToolServerSlow(ToolServerError):
    """The server did not answer in time."""


class ToolServerDied(ToolServerError):
    """The server ended, perhaps in the middle of a call."""


class ToolServerFlooding(ToolServerError):
    """The server said more than it may."""


class ToolServerRefused(ToolServerError):
    """The server answered with an error, or not in its protocol."""


class RecordsError(AsterismError):
    """Conversations that cannot be used as they are."""


class RecordsUnreachable(RecordsError):
    """The database of the conversations does not answer, or its library is missing."""


class RecordsCorrupt(RecordsError):
    """The database of the conversations is damaged."""


class RecordsTooNew(RecordsError):
    """A newer Asterism wrote the conversations."""


class ConversationMissing(RecordsError):
    """There is no conversation, or no turn in it, of that name."""


class ConversationArchived(RecordsError):
    """The conversation is put away, and has to be restored to go on."""


class TurnRunning(RecordsError):
    """An earlier question, or the same one, is still being answered."""


class DeadlineExceeded(AsterismError):
    """A query took longer than it may, and was ended."""


class WaitedTooLong(AsterismError):
    """A query waited for other queries until its time was over."""


class TooBusy(AsterismError):
    """Too many requests wait already, of this client or of all."""


class ShareExceeded(AsterismError):
    """A client used more of the processor than its share, and may ask again a little later."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds
        """After which it may ask again."""


class WorkerDied(AsterismError):
    """A process that reads files was killed, so its files have no result."""


class Cancelled(AsterismError):
    """The user asked to stop; what was done until then is kept."""
