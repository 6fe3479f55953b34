"""The requests on chats, conversations and agents that commands of the terminal share with HTTP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypeAlias

from asterism.operations.schema import (
    NOT_A_FLAG,
    Option,
    ProjectId,
    RepositoryId,
    choice,
    share,
    switch,
    text,
    whole,
)
from asterism.types.context import DEFAULT_PRIORITY, Include, Reference, Rule
from asterism.types.errors import UsageError
from asterism.types.request_limits import NAME, PASTED

PROVIDERS = ("extractive", "openai", "anthropic", "sampling")
SHELVES = ("open", "archived", "all")
DEFAULT_AGENT = "reader"
KINDS = ("rule", "reference", "tool")
ACTIONS = ("add", "update", "remove", "enable", "disable")

ModelName: TypeAlias = Annotated[
    str | None,
    text("The model's name, or PROVIDER/NAME; else the one of the settings."),
    Option(help="the model: a name, PROVIDER/NAME, or extractive (default: the settings')"),
]
ProviderName: TypeAlias = Annotated[
    str | None, choice("Who answers; else whom the settings name.", PROVIDERS), NOT_A_FLAG
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A question about a repository."""

    question: Annotated[
        str, text("The question."), Option(is_position=True, help="the question, or - to read it")
    ]
    agentName: Annotated[
        str | None,
        text("The agent that answers; else the conversation's, or none."),
        Option(flag="--agent", metavar="NAME", help="the agent that answers"),
    ] = None
    model: ModelName = None
    provider: ProviderName = None
    requestId: Annotated[
        str | None,
        text("A name for this request: repeated, it is not answered twice."),
        Option(flag="--request-id", metavar="ID"),
    ] = None
    retries: Annotated[
        int | None,
        whole("How often the model may assess the hits and search again.", 0, 10),
        Option(help="let the model search again up to N times (default: 0)", is_bounded=False),
    ] = None
    repository_id: RepositoryId = None
    project_id: ProjectId = None
    conversationId: Annotated[
        str | None,
        text("Go on with this conversation; else a new one begins."),
        Option(
            flag="--conversation",
            metavar="ID",
            help="go on with this one: its id, the start of it, or last (default: a new one)",
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AskOn(Ask):
    """The next question of a conversation."""

    conversationId: Annotated[str, text("The conversation's id.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListConversations:
    """A page of conversations."""

    limit: Annotated[
        int, whole("Entries at most.", 1, 200), Option(help="show so many", is_bounded=False)
    ] = 20
    cursor: Annotated[
        str | None,
        text("Go on where the page before ended."),
        Option(help="go on where the last page ended"),
    ] = None
    shelf: Annotated[str | None, choice("Which conversations.", SHELVES), NOT_A_FLAG] = None
    repository: Annotated[
        str | None,
        text("Only those about the repository of this name."),
        Option(flag="--repo", metavar="NAME", help="only those about this repository"),
    ] = None
    repository_id: Annotated[
        str | None,
        text("The same by the id, or the name, of a repository that is known."),
        NOT_A_FLAG,
    ] = None


AgentName: TypeAlias = Annotated[
    str, text("The agent, one of list_agents; reader comes with Asterism.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextOf:
    """A message for which items of an agent and code are chosen."""

    message: Annotated[str, text("What is asked.", PASTED), Option(is_position=True)]
    agent: Annotated[str, text("Whose items.", NAME), Option(metavar="NAME")] = DEFAULT_AGENT
    session: Annotated[
        str | None, text("Go on with a session instead.", NAME), Option(metavar="ID")
    ] = None
    max_tokens: Annotated[
        int,
        whole("Of everything.", 50, 1_000_000),
        Option(flag="--tokens", is_bounded=False),
    ] = 8_000
    code_hits: Annotated[
        int,
        whole("Hits at most; 0 for none.", 0, 50),
        Option(flag="--code", is_bounded=False),
    ] = 10
    min_score: Annotated[
        float | None,
        share("Of code that is given (default: code that is worth its tokens)."),
        Option(metavar="SCORE", is_bounded=False),
    ] = None
    connect: Annotated[bool, switch("Start the agent's servers."), NOT_A_FLAG] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class EditItem:
    """A change of one rule or reference."""

    agentName: AgentName
    action: Annotated[str, choice("What to do.", ACTIONS)]
    type: Annotated[str, choice("What it is.", KINDS[:2])]
    name: Annotated[str, text("The item's name.")]
    text: Annotated[
        str | None,
        text("With add and update: what it says."),
        Option(help="of the item to add; - reads the input"),
    ] = None
    description: Annotated[
        str | None,
        text("With add and update: what it is for, in a few words."),
        Option(metavar="TEXT", help="with new, or of the item to add"),
    ] = None
    priority: Annotated[
        int | None,
        whole("With add and update: the highest comes first.", 0, 999),
        Option(help="of the item to add: 0 to 999, the highest first", is_bounded=False),
    ] = None
    include: Annotated[
        str | None,
        choice("With add and update: when it comes in.", ("always", "manual", "agent")),
        Option(help="of the item to add"),
    ] = None
    repository_id: RepositoryId = None
    project_id: ProjectId = None


def item_of(asked: EditItem) -> Rule | Reference:
    """The item that is added."""
    if not (asked.text or "").strip():
        raise UsageError("add needs a text; say what the item is to say.")
    kind = Rule if asked.type == "rule" else Reference
    return kind(
        name=asked.name,
        text=asked.text or "",
        description=asked.description or "",
        priority=DEFAULT_PRIORITY if asked.priority is None else asked.priority,
        include=Include(asked.include or "always"),
    )
