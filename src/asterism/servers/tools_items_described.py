"""The tools for rules, references and tools of the user's agents, as models read them."""

from asterism.operations.schema import (
    MAX_TOKENS,
    REPOSITORY,
    Json,
    Tool,
    choice,
    choices,
    switch,
    text,
    whole,
)

KINDS = ("rule", "reference", "tool")
ACTIONS = ("add", "update", "remove", "enable", "disable")

_AGENT: Json = {"agentName": text("The agent, one of list_agents; reader comes with Asterism.")}

SEARCH_ITEMS = Tool(
    name="search_items",
    title="Find rules, references and tools",
    description="""\
Find the rules, references and tools of an agent that matter for a task, by meaning.

Use it for: what the user's team wants kept to before you do something ("commit", "add a column"), \
which of many tools fits.
Do not use it for: code (codebase_search), all items of an agent (list_items).

Gives each item with its text, how likely it is of use (0 to 1), and why it is there: always, \
manual, agent (chosen for this query) or expansion (goes with a chosen one); then the best of what \
was left out. Nothing is filled up: no items means that none fits.

Example: {"query": "write a migration that adds a column", "agentName": "reader"}""",
    parameters={
        "query": text("The task, in a sentence or more."),
        **_AGENT,
        "type": choices("Only these; all three unless told otherwise.", KINDS),
        "tools": switch("Ask the agent's servers for their tools, which may start programs.", True),
        **REPOSITORY,
        **MAX_TOKENS,
    },
    required=("query", "agentName"),
)

LIST_ITEMS = Tool(
    name="list_items",
    title="List rules, references and tools",
    description="""\
List what an agent has: rules, references and, if wanted, the tools of its servers.

Use it for: seeing all items before you change one (edit_item), reading one whole (name).
Do not use it for: what matters for a task (search_items).

Example: {"agentName": "reader", "type": ["rule"]}""",
    parameters={
        **_AGENT,
        "type": choices("Only these; rules and references unless told otherwise.", KINDS),
        "name": text("Only the item of this name, with its text."),
        **REPOSITORY,
        **MAX_TOKENS,
    },
    required=("agentName",),
)

EDIT_ITEM = Tool(
    name="edit_item",
    title="Change a rule or reference",
    description="""\
Add, change, remove or switch a rule or reference of an agent of the user's. The agent's file \
keeps its comments and order.

Use it for: what the user asks to be remembered or forgotten ("from now on …").
Do not use it for: tools and servers, which the user changes; anything the user did not ask for.

Example: {"agentName": "mine", "action": "add", "type": "rule", "name": "Money", "text": "Amounts \
are whole cents.", "include": "agent"}""",
    parameters={
        **_AGENT,
        "action": choice("What to do.", ACTIONS),
        "type": choice("What it is.", KINDS[:2]),
        "name": text("The item's name."),
        "text": text("With add and update: what it says."),
        "description": text("With add and update: what it is for, in a few words."),
        "priority": whole("With add and update: the highest comes first.", 0, 999),
        "include": choice("With add and update: when it comes in.", ("always", "manual", "agent")),
        **REPOSITORY,
    },
    required=("agentName", "action", "type", "name"),
    read_only=False,
    destructive=True,
)

ITEMS = (SEARCH_ITEMS, LIST_ITEMS, EDIT_ITEM)
