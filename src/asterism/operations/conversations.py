"""The operations on recorded conversations: list, search, show, export, archive, restore, delete.

Their fields are named as those of stored turns are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from asterism.operations.calls import Call
from asterism.operations.chat_requests import ListConversations
from asterism.operations.limits import CallReply, reply_of
from asterism.operations.operation import Operation, Route
from asterism.operations.schema import Json, choice, switch, text
from asterism.types.chat import Shelf

if TYPE_CHECKING:
    # They bring the database, which a list of operations does not need.
    from asterism.records.conversations import Conversations
    from asterism.records.turns import Turns

FORMATS = ("json", "markdown")
_BRIEF = ("rounds", "found", "context", "searches")
"""What a brief conversation leaves out of its turns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchConversations(ListConversations):
    """A page of turns that have the words."""

    query: Annotated[str, text("What was said.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationPlace:
    """A conversation that is meant."""

    conversationId: Annotated[str, text("The conversation's id.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowConversation(ConversationPlace):
    """A conversation that is to be shown."""

    brief: Annotated[bool, switch("Only questions, answers and citations.")] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportConversation(ConversationPlace):
    """A conversation that is to be kept elsewhere."""

    format: Annotated[str, choice("What is given.", FORMATS)] = "json"


@dataclass(frozen=True, kw_only=True)
class ConversationsFound:
    """A page of conversations."""

    conversations: tuple[Json, ...]
    total: int
    cursor: str | None


@dataclass(frozen=True, kw_only=True)
class MatchesFound:
    """A page of turns in which the words were said."""

    matches: tuple[Json, ...]
    total: int
    cursor: str | None


@dataclass(frozen=True, kw_only=True)
class MarkdownFound:
    """A conversation as a Markdown page."""

    conversationId: str
    markdown: str


@dataclass(frozen=True, kw_only=True)
class ConversationDeleted:
    """A conversation that was removed for good."""

    conversationId: str
    deleted: bool


def list_conversations(call: Call, asked: ListConversations) -> CallReply:
    """A page of conversations."""
    from asterism.engine.chat.requests import conversation_json

    shelf = Shelf(asked.shelf or "open")
    page = _conversations(call).page(shelf, _about(call), asked.limit, asked.cursor)
    listed = tuple(map(conversation_json, page.conversations))
    return reply_of(ConversationsFound(conversations=listed, total=page.total, cursor=page.cursor))


def search_conversations(call: Call, asked: SearchConversations) -> CallReply:
    """Turns in which something was said."""
    from asterism.engine.chat.requests import match_json

    page = _conversations(call).search(
        asked.query, Shelf(asked.shelf or "all"), _about(call), asked.limit, asked.cursor
    )
    matches = tuple(map(match_json, page.matches))
    return reply_of(MatchesFound(matches=matches, total=page.total, cursor=page.cursor))


def _about(call: Call) -> str | None:
    """The name of the repository that conversations are about; an id is for one that is known."""
    if "repository_id" in call.arguments:
        return call.repository().repository.name
    name: str | None = call.arguments.get("repository")
    return name


def show_conversation(call: Call, asked: ShowConversation) -> CallReply:
    """A conversation with its turns."""
    found = _export(call, asked.conversationId)
    if asked.brief:
        found["turns"] = [_brief(turn) for turn in found["turns"]]
    return reply_of(found)


def export_conversation(call: Call, asked: ExportConversation) -> CallReply:
    """All of a conversation, for keeping elsewhere."""
    from asterism.engine.chat.requests import export_markdown

    id_ = asked.conversationId
    if asked.format == "markdown":
        page = export_markdown(_conversations(call).get(id_), _turns(call).of(id_))
        return reply_of(MarkdownFound(conversationId=id_, markdown=page))
    return reply_of(_export(call, id_))


def archive_conversation(call: Call, asked: ConversationPlace) -> CallReply:
    """Archive a conversation."""
    from asterism.engine.chat.requests import conversation_json

    return reply_of(conversation_json(_conversations(call).archive(asked.conversationId)))


def restore_conversation(call: Call, asked: ConversationPlace) -> CallReply:
    """Bring an archived conversation back."""
    from asterism.engine.chat.requests import conversation_json

    return reply_of(conversation_json(_conversations(call).restore(asked.conversationId)))


def delete_conversation(call: Call, asked: ConversationPlace) -> CallReply:
    """Remove a conversation for good."""
    _conversations(call).delete(asked.conversationId)
    return reply_of(ConversationDeleted(conversationId=asked.conversationId, deleted=True))


def _conversations(call: Call) -> Conversations:
    return call.engine.records().conversations()


def _turns(call: Call) -> Turns:
    return call.engine.records().turns()


def _export(call: Call, id_: str) -> Json:
    from asterism.engine.chat.requests import export_json

    return export_json(_conversations(call).get(id_), _turns(call).of(id_))


def _brief(turn: Json) -> Json:
    return {name: value for name, value in turn.items() if name not in _BRIEF}


OPERATIONS = (
    Operation(
        name="list_conversations",
        title="List conversations",
        description="List conversations, the one used last first.",
        request=ListConversations,
        reply=ConversationsFound,
        run=list_conversations,
        route=Route("GET", "/api/conversations"),
    ),
    Operation(
        name="search_conversations",
        title="Search conversations",
        description="Find turns in whose question or answer each of some words stands.",
        request=SearchConversations,
        reply=MatchesFound,
        run=search_conversations,
        route=Route("GET", "/api/conversations/search"),
    ),
    Operation(
        name="show_conversation",
        title="Show a conversation",
        description="Show a conversation with its turns; `brief` leaves out what tools said.",
        request=ShowConversation,
        run=show_conversation,
        route=Route("GET", "/api/conversations/{conversationId}"),
    ),
    Operation(
        name="export_conversation",
        title="Export a conversation",
        description="Give a whole conversation as JSON, or as the text of a Markdown page.",
        request=ExportConversation,
        run=export_conversation,
        route=Route("GET", "/api/conversations/{conversationId}/export"),
    ),
    Operation(
        name="archive_conversation",
        title="Archive a conversation",
        description="Put a conversation away; it takes no more questions.",
        request=ConversationPlace,
        run=archive_conversation,
        read_only=False,
        route=Route("POST", "/api/conversations/{conversationId}/archive"),
    ),
    Operation(
        name="restore_conversation",
        title="Restore a conversation",
        description="Bring back a conversation that was archived.",
        request=ConversationPlace,
        run=restore_conversation,
        read_only=False,
        route=Route("POST", "/api/conversations/{conversationId}/restore"),
    ),
    Operation(
        name="delete_conversation",
        title="Delete a conversation",
        description="Remove a conversation and everything recorded under it, for good.",
        request=ConversationPlace,
        reply=ConversationDeleted,
        run=delete_conversation,
        read_only=False,
        destructive=True,
        route=Route("DELETE", "/api/conversations/{conversationId}"),
    ),
)
