"""The tools that answer in words, as models read them."""

from asterism.operations.schema import REPOSITORY, Json, Tool, choice, text

PROVIDERS = ("extractive", "openai", "anthropic", "sampling")

_CONVERSATION: Json = {
    "conversationId": text(
        "Go on with this conversation: the conversationId of an earlier reply. Without it a new "
        "one begins."
    )
}

CODEBASE_QUESTION = Tool(
    name="codebase_question",
    title="Answer a question about the code",
    description="""\
Answer a question about the codebase in words, from the code itself.

Use it for: "how does X work here?", "why is Y done this way?", when an explanation is enough and \
you do not need to read the code yourself. Ask follow-up questions with the conversationId of the \
reply.
Do not use it for: code that you are going to edit (codebase_search gives it whole), lists of \
matches (search_code), where a name is used (symbol_lookup).

Gives JSON: {"conversationId", "modelId", "segments": [{"type": "answer", "text"}]}, exactly one \
segment. Without a configured model the answer is put together from the best hits, and modelId is \
"extractive".

Example: {"question": "How are failed payments retried?"}""",
    parameters={
        "question": text("The question, in a sentence or more."),
        **_CONVERSATION,
        "model": text("The model's name; else the one the user has set."),
        "provider": choice("Who answers; else whom the user has set.", PROVIDERS),
        **REPOSITORY,
    },
    required=("question",),
)

LIST_AGENTS = Tool(
    name="list_agents",
    title="List agents",
    description="""\
List the agents that the user has set up, with what each is for.

Use it for: choosing an agent for run_agent_instruction.
Do not use it for: anything else; most questions need no agent (codebase_question).

Example: {}""",
)

RUN_AGENT_INSTRUCTION = Tool(
    name="run_agent_instruction",
    title="Have an agent do something",
    description="""\
Give an agent of the user's an instruction, and get its answer. An agent has rules, references and \
tools of its own for its task.

Use it for: a task that one of list_agents is made for.
Do not use it for: plain questions about the code (codebase_question), an agent whose name you do \
not know (list_agents first).

Gives JSON: {"agentName", "conversationId", "modelId", "segments": [{"type": "answer", "text"}]}, \
exactly one segment.

Example: {"agentName": "reviewer", "instruction": "Review the error handling in src/payments."}""",
    parameters={
        "agentName": text("The agent's name, from list_agents."),
        "instruction": text("What it is to do."),
        **_CONVERSATION,
        **REPOSITORY,
    },
    required=("agentName", "instruction"),
    read_only=False,
    idempotent=False,
)

ANSWERING = (CODEBASE_QUESTION, LIST_AGENTS, RUN_AGENT_INSTRUCTION)
"""The tools that give an answer, and nothing else."""
