"""What an agent has, a session holds and a request is given: rules, references and tools."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeAlias

from asterism.types.agent_settings import Layer, Permission, settings_of, stated_permission

HIGHEST_PRIORITY = 999
DEFAULT_PRIORITY = 500


class ItemKind(StrEnum):
    """The three kinds of items."""

    rule = "rule"
    reference = "reference"
    tool = "tool"


class Include(StrEnum):
    """When an item of the agent comes into a session or a request."""

    always = "always"
    """With every new session."""
    manual = "manual"
    """When a person adds it to the session."""
    agent = "agent"
    """With each request that it is relevant to."""


class RequestMode(StrEnum):
    """How an item came into a request."""

    always = "always"
    """It is in the session since its beginning."""
    manual = "manual"
    """A person added it to the session."""
    agent = "agent"
    """It was chosen for this request by meaning."""
    expansion = "expansion"
    """It goes with something that was chosen, or with what a tool returned."""


SessionMode: TypeAlias = Literal[RequestMode.always, RequestMode.manual]


@dataclass(frozen=True, slots=True)
class RuleKey:
    """Which rule of the agent."""

    name: str

    @property
    def kind(self) -> Literal[ItemKind.rule]:
        """A rule."""
        return ItemKind.rule

    def __str__(self) -> str:
        """As messages and commands spell it: `rule:NAME`."""
        return f"rule:{self.name}"


@dataclass(frozen=True, slots=True)
class ReferenceKey:
    """Which reference of the agent."""

    name: str

    @property
    def kind(self) -> Literal[ItemKind.reference]:
        """A reference."""
        return ItemKind.reference

    def __str__(self) -> str:
        """As messages and commands spell it: `ref:NAME`."""
        return f"ref:{self.name}"


@dataclass(frozen=True, slots=True)
class ToolKey:
    """Which tool of which server; a tool without a server does not exist."""

    server: str
    name: str

    @property
    def kind(self) -> Literal[ItemKind.tool]:
        """A tool."""
        return ItemKind.tool

    @property
    def qualified(self) -> str:
        """As an agent's file spells it: `SERVER.NAME`; a server's name has no dot."""
        return f"{self.server}.{self.name}"

    def __str__(self) -> str:
        """As messages and commands spell it: `tool:SERVER.NAME`."""
        return f"tool:{self.server}.{self.name}"


ItemKey: TypeAlias = RuleKey | ReferenceKey | ToolKey


def key_from_text(text: str) -> ItemKey | None:
    """The key that is spelled `rule:NAME`, `ref:NAME` or `tool:SERVER.NAME`; None if none is."""
    kind, separator, name = text.partition(":")
    if not separator or not name:
        return None
    match kind:
        case "rule":
            return RuleKey(name)
        case "ref" | "reference":
            return ReferenceKey(name)
        case "tool":
            server, dot, tool = name.partition(".")
            return ToolKey(server, tool) if dot and server and tool else None
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What the model is to keep to."""

    name: str
    text: str
    description: str = ""
    priority: int = DEFAULT_PRIORITY
    """0 to 999; the higher one comes first, everywhere."""
    include: Include = Include.always
    enabled: bool = True

    @property
    def key(self) -> RuleKey:
        """Its key."""
        return RuleKey(self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """What the model may look up."""

    name: str
    text: str
    description: str = ""
    priority: int = DEFAULT_PRIORITY
    include: Include = Include.always
    enabled: bool = True

    @property
    def key(self) -> ReferenceKey:
        """Its key."""
        return ReferenceKey(self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """What the model may call, as its server describes it."""

    server: str
    name: str
    description: str = ""
    schema: Mapping[str, object] = field(default_factory=dict, hash=False)
    """The JSON schema of its arguments."""
    effects: bool = False
    """Whether its server says that it changes something; what a server does not say is unknown."""

    @property
    def key(self) -> ToolKey:
        """Its key."""
        return ToolKey(self.server, self.name)


Item: TypeAlias = Rule | Reference | Tool


def content_hash(item: Item) -> str:
    """What an item says, as a hash: equal if and only if the model would read the same."""
    parts: tuple[str, ...]
    if isinstance(item, Tool):
        schema = json.dumps(item.schema, sort_keys=True, ensure_ascii=False, default=str)
        parts = (ItemKind.tool, item.server, item.name, item.description, schema)
    else:
        parts = (item.key.kind, item.name, item.description, item.text)
    written = json.dumps(parts, ensure_ascii=False)
    return hashlib.sha256(written.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class FromEnvironment:
    """A value that is read from a variable of the environment when it is needed, never kept."""

    variable: str
    before: str = ""
    """Text before the value, such as `Bearer ` in a header."""

    @property
    def written(self) -> str:
        """As an agent's file spells it: `env:VARIABLE`."""
        return f"{self.before}env:{self.variable}"


Setting: TypeAlias = str | FromEnvironment


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolChoice:
    """What an agent says of one tool; None leaves it to the server's entry."""

    name: str
    include: Include | None = None
    permission: Permission | None = None
    expand_results: bool | None = None
    """Whether what it returns may bring further items; None leaves it to the settings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """An MCP server of an agent: a program to start, or an address."""

    name: str
    command: str = ""
    args: tuple[Setting, ...] = ()
    url: str = ""
    environment: Mapping[str, Setting] = field(default_factory=lambda: MappingProxyType({}))
    headers: Mapping[str, Setting] = field(default_factory=lambda: MappingProxyType({}))
    include: Include | None = None
    permission: Permission | None = None
    enabled: bool = True
    tools: tuple[ToolChoice, ...] = ()

    def choice(self, tool: str) -> ToolChoice:
        """What is said of a tool, or nothing of it."""
        return next((choice for choice in self.tools if choice.name == tool), ToolChoice(name=tool))


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """Everything an agent's file says."""

    name: str
    """That of its file."""
    description: str = ""
    system_prompt: str = ""
    enabled: bool = True
    rules: tuple[Rule, ...] = ()
    references: tuple[Reference, ...] = ()
    servers: tuple[Server, ...] = ()
    tool_rules: Mapping[ToolKey, tuple[ToolKey, ...]] = field(
        default_factory=lambda: MappingProxyType({})
    )
    """Tools that come along with a tool."""
    settings: Layer = field(default_factory=lambda: MappingProxyType({}))
    """What the file sets; `settings_of` fills in the rest."""

    @property
    def texts(self) -> tuple[Rule | Reference, ...]:
        """Rules and references, as the file has them."""
        return (*self.rules, *self.references)

    def server(self, name: str) -> Server | None:
        """The server of that name."""
        return next((server for server in self.servers if server.name == name), None)

    def tool_include(self, key: ToolKey) -> Include:
        """The tool's own mode, else its server's, else `always`."""
        server = self.server(key.server)
        if server is None:
            return Include.always
        return server.choice(key.name).include or server.include or Include.always

    def tool_permission(self, key: ToolKey, session: Layer) -> Permission:
        """Whether a session with these settings of its own may call a tool."""
        server = self.server(key.server)
        choice = server.choice(key.name) if server is not None else ToolChoice(name=key.name)
        stated = (
            choice.permission,
            server.permission if server is not None else None,
            settings_of(self.settings).tool_permission,
        )
        return stated_permission(stated, session)

    def include_of(self, item: Item) -> Include:
        """The mode of any item."""
        return self.tool_include(item.key) if isinstance(item, Tool) else item.include


class SessionItem(NamedTuple):
    """An item that a session holds."""

    key: ItemKey
    mode: SessionMode


class ItemDetail(StrEnum):
    """How much of an item is given."""

    full = "full"
    excerpt = "excerpt"
    """Some pieces of its text, the gaps marked; a tool with the first sentence about it."""
    name = "name"
    """Its name and description."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestItem:
    """An item that a request was given, by name; the hash says whether it has changed since."""

    key: ItemKey
    mode: RequestMode
    content_hash: str
    score: float | None = None
    """Of what was chosen or came by expansion; a stated rule has none."""
    detail: ItemDetail = ItemDetail.full
    pieces: tuple[int, ...] = ()
    """Of an excerpt: which pieces of the text, from 0."""
    why: str = ""
    """Why it is here, in a few words."""


class LeftOutReason(StrEnum):
    """Why an item is not in a request."""

    not_relevant = "not_relevant"
    """Its score is below the floor: it would be noise."""
    over_count = "over_count"
    """Relevant, but others are more so."""
    not_allowed = "not_allowed"
    """The session may not call it."""
    disabled = "disabled"
    missing = "missing"
    """The session holds it, and the agent has it no more, or its server is not there."""
    budget = "budget"
    """Over the token budget."""


class LeftOut(NamedTuple):
    """An item, or the code at a place, that was left out, and why."""

    key: ItemKey | str
    reason: LeftOutReason
    score: float | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestContext:
    """What a request was given: the messages are built from this and nothing else."""

    agent: str
    prompt_hash: str
    """Of the agent's system prompt."""
    items: tuple[RequestItem, ...] = ()
    """Rules, references, tools, each in the order they are shown in."""
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()
    """What did not go as it should, in sentences."""
    considered: int = 0
    """How many items could have been chosen."""

    def keys(self) -> frozenset[ItemKey]:
        """The keys of all items."""
        return frozenset(item.key for item in self.items)


def text_hash(text: str) -> str:
    """The hash of a text, such as a system prompt."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
