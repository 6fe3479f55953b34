"""What the HTTP API offers for chats, described like the tools."""

from asterism.operations.schema import (
    REPOSITORY,
    Json,
    Tool,
    choice,
    mapping,
    switch,
    text,
    whole,
)
from asterism.servers.tools_answers_described import PROVIDERS

SHELVES = ("open", "archived", "all")
FORMATS = ("json", "markdown")

_CONVERSATION: Json = {"conversation_id": text("The conversation's id.")}
_TURN: Json = {"turn_id": text("The turn's id.")}
_PAGE: Json = {
    "limit": whole("Entries at most.", 1, 200, 20),
    "cursor": text("Go on where the page before ended."),
    "shelf": choice("Which conversations.", SHELVES),
    "repository": text("Only those about the repository of this name."),
    "repository_id": text("The same by the id, or the name, of a repository that is known."),
}
_ANSWERER: Json = {
    "model": text("The model's name, or PROVIDER/NAME; else the one of the settings."),
    "provider": choice("Who answers; else whom the settings name.", PROVIDERS),
}
_ASKED: Json = {
    "question": text("The question."),
    "agentName": text("The agent that answers; else the conversation's, or none."),
    **_ANSWERER,
    "requestId": text("A name for this request: repeated, it is not answered twice."),
    "retries": whole("How often the model may judge the hits and search again.", 0, 10),
    **REPOSITORY,
}
_OBJECT: Json = {"type": "object"}

EVENTS_TEXT = """\
With `Accept: text/event-stream` the reply is a stream of events: `start` (conversationId and \
turnId), `context`, `token` (text), `discarded` (text that was no part of the answer), \
`tool_start`, `tool_end`, `approval` (calls that wait for somebody's word), `citations`, `note`, \
then one `done` with what would be the reply, or one `error`. Whoever leaves stops the turn."""

ASK = Tool(
    name="ask",
    title="Ask a question",
    description=f"""\
Answer a question about a repository in words, and keep the turn with all it used. Without \
conversationId a new conversation begins.

{EVENTS_TEXT}""",
    parameters={
        **_ASKED,
        "conversationId": text("Go on with this conversation; else a new one begins."),
    },
    required=("question",),
    output=_OBJECT,
)

ASK_ON = Tool(
    name="ask_on",
    title="Ask in a conversation",
    description=f"""\
Ask the next question of a conversation; one at a time is answered, the others wait.

{EVENTS_TEXT}""",
    parameters={**_CONVERSATION, **_ASKED},
    required=("conversation_id", "question"),
    output=_OBJECT,
)

GO_ON = Tool(
    name="go_on",
    title="Approve calls, or resume a turn",
    description=f"""\
Go on with a turn that waits for somebody's word on calls of tools, or that was interrupted. \
Calls that are not named go on waiting.

{EVENTS_TEXT}""",
    parameters={
        **_TURN,
        "approvals": mapping("For the id of each call true, to allow it, or false."),
        **_ANSWERER,
        **REPOSITORY,
    },
    required=("turn_id",),
    output=_OBJECT,
    read_only=False,
    idempotent=False,
)

STOP_TURN = Tool(
    name="stop_turn",
    title="Stop a turn",
    description="Stop a turn that is being answered; what was said until then is its answer.",
    parameters=_TURN,
    required=("turn_id",),
    output=_OBJECT,
)

SHOW_TURN = Tool(
    name="show_turn",
    title="Show a turn",
    description="Show a turn with everything that was used for it, and what happened when.",
    parameters=_TURN,
    required=("turn_id",),
    output=_OBJECT,
)

LIST_CONVERSATIONS = Tool(
    name="list_conversations",
    title="List conversations",
    description="List conversations, the one used last first.",
    parameters=_PAGE,
    output=_OBJECT,
)

SEARCH_CONVERSATIONS = Tool(
    name="search_conversations",
    title="Search conversations",
    description="Find turns in whose question or answer each of some words stands.",
    parameters={"query": text("What was said."), **_PAGE},
    required=("query",),
    output=_OBJECT,
)

SHOW_CONVERSATION = Tool(
    name="show_conversation",
    title="Show a conversation",
    description="Show a conversation with its turns; `brief` leaves out what tools said.",
    parameters={**_CONVERSATION, "brief": switch("Only questions, answers and citations.")},
    required=("conversation_id",),
    output=_OBJECT,
)

EXPORT_CONVERSATION = Tool(
    name="export_conversation",
    title="Export a conversation",
    description="Give a whole conversation as JSON, or as the text of a Markdown page.",
    parameters={**_CONVERSATION, "format": choice("What is given.", FORMATS, "json")},
    required=("conversation_id",),
    output=_OBJECT,
)


def _change(name: str, title: str, description: str, destructive: bool = False) -> Tool:
    return Tool(
        name=f"{name}_conversation",
        title=title,
        description=description,
        parameters=_CONVERSATION,
        required=("conversation_id",),
        output=_OBJECT,
        read_only=False,
        destructive=destructive,
    )


ARCHIVE_CONVERSATION = _change(
    "archive", "Archive a conversation", "Put a conversation away; it takes no more questions."
)
RESTORE_CONVERSATION = _change(
    "restore", "Restore a conversation", "Bring back a conversation that was archived."
)
DELETE_CONVERSATION = _change(
    "delete",
    "Delete a conversation",
    "Remove a conversation and everything recorded under it, for good.",
    destructive=True,
)
