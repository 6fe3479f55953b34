"""What an agent and its servers offer right now, and in which order it is shown."""

from collections.abc import Iterable, Sequence

from asterism.types.context import (
    Agent,
    Include,
    Item,
    ItemKey,
    ItemKind,
    RequestMode,
    Server,
    SessionItem,
    Tool,
    ToolChoice,
)
from asterism.types.context_settings import Layer, settings_of, stated_permission
from asterism.types.permissions import Permission

_KINDS = tuple(ItemKind)


def offered_items(agent: Agent, tools: Sequence[Tool]) -> dict[ItemKey, Item]:
    """Every item that is switched on, in the order of display.

    `tools` are what the agent's servers list; those of a server that the agent does not have, or
    has switched off, are left aside.
    """
    on = {server.name for server in agent.servers if server.enabled}
    items: list[Item] = [item for item in agent.texts if item.enabled]
    items += [tool for tool in tools if tool.server in on]
    return {item.key: item for item in in_order(items)}


def in_order(items: Iterable[Item]) -> list[Item]:
    """Rules and references by priority, the highest first, then name; tools by server and name."""
    return sorted(items, key=_place)


def _place(item: Item) -> tuple[int, int, str, str]:
    kind = _KINDS.index(item.key.kind)
    if isinstance(item, Tool):
        return kind, 0, item.server, item.name
    return kind, -item.priority, "", item.name


def first_items(agent: Agent, tools: Sequence[Tool]) -> tuple[SessionItem, ...]:
    """What a new session holds: every item that is to be there always."""
    standing = Standing(agent, {})
    return tuple(
        SessionItem(key, RequestMode.always)
        for key, item in offered_items(agent, tools).items()
        if standing.include_of(item) is Include.always
    )


class Standing:
    """What an agent's file says of each tool, looked up quickly; servers can have thousands."""

    def __init__(self, agent: Agent, session: Layer) -> None:
        """`session` is what the session itself sets."""
        self._session = session
        self._base = settings_of(agent.settings).tool_permission
        self._servers = {server.name: server for server in agent.servers}
        self._choices = {
            (server.name, choice.name): choice
            for server in agent.servers
            for choice in server.tools
        }

    def include_of(self, item: Item) -> Include:
        """The item's mode; a tool's own, else its server's, else `always`."""
        if not isinstance(item, Tool):
            return item.include
        choice, server = self._said_of(item)
        own = choice.include if choice is not None else None
        return own or (server.include if server is not None else None) or Include.always

    def may_use(self, item: Item) -> bool:
        """Whether the session may be given an item: any text, and a tool that is not forbidden."""
        if not isinstance(item, Tool):
            return True
        choice, server = self._said_of(item)
        stated = (
            choice.permission if choice is not None else None,
            server.permission if server is not None else None,
            self._base,
        )
        return stated_permission(stated, self._session) is not Permission.never

    def _said_of(self, tool: Tool) -> tuple[ToolChoice | None, Server | None]:
        return self._choices.get((tool.server, tool.name)), self._servers.get(tool.server)
