"""What a request should know, for programs: rules, references, tools and code in one budget."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Unpack

from asterism.api.keywords import RequestKeywords, context_request, text
from asterism.config.environment import cache_directory, data_directory
from asterism.config.load import load
from asterism.config.settings import Settings
from asterism.context.messages import item_text, tool_description
from asterism.engine.engine import Engine
from asterism.engine.sessions import ContextFor
from asterism.engine.stores import DataDirectories
from asterism.types.context import Item, RequestItem, Tool


class ContextItem(NamedTuple):
    """A rule, reference or tool that the request is given."""

    type: str
    """`rule`, `reference` or `tool`."""
    name: str
    text: str
    """As much of it as fits: all, some pieces, or nothing but the name."""
    mode: str
    """`always`, `manual`, `agent` or `expansion`."""
    score: float | None
    """How likely it is of use, where it was chosen by meaning."""
    server: str = ""
    """Of a tool."""
    description: str = ""
    priority: int | None = None
    """Of a rule or reference: 0 to 999, the highest first."""
    why: str = ""
    schema: Mapping[str, object] | None = None
    """Of a tool's arguments, as JSON Schema."""


class CodePart(NamedTuple):
    """Code that the request is given."""

    place: str
    """As `path:first-last`."""
    text: str
    detail: str
    """`full`, `collapsed`, `signature` or `location`."""
    score: float


class LeftOutItem(NamedTuple):
    """Something that the request is not given, and why."""

    what: str
    """As `rule:NAME`, `ref:NAME`, `tool:SERVER.NAME`, or the place of some code."""
    reason: str
    """`not_relevant`, `over_count`, `not_allowed`, `disabled`, `missing` or `budget`."""
    score: float | None
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenContext:
    """Everything a request should know, within one token budget."""

    agent: str
    items: tuple[ContextItem, ...]
    """Rules, then references, then tools, each in its order."""
    code: tuple[CodePart, ...]
    left_out: tuple[LeftOutItem, ...]
    used_tokens: int
    budget: int
    session: str | None = None
    """The id of the session, where there is one."""
    request_id: str = ""
    """What the request is kept under, to be shown and replayed."""
    notes: tuple[str, ...] = ()
    """What did not go as it should: servers that do not answer, code that is not indexed."""

    @property
    def rules(self) -> tuple[ContextItem, ...]:
        """What the model is to keep to, the highest priority first."""
        return self._of("rule")

    @property
    def references(self) -> tuple[ContextItem, ...]:
        """What it may look up."""
        return self._of("reference")

    @property
    def tools(self) -> tuple[ContextItem, ...]:
        """What it may call."""
        return self._of("tool")

    def _of(self, kind: str) -> tuple[ContextItem, ...]:
        return tuple(item for item in self.items if item.type == kind)


def context_for(
    request: str,
    path: str | os.PathLike[str] | None = None,
    *,
    settings: Mapping[str, object] | None = None,
    **options: Unpack[RequestKeywords],
) -> GivenContext:
    """What a model should be given for a request: items of an agent, and code.

    Items are chosen by meaning among those of `agent` ("reader" by default), or of the agent whose
    `session` is given by its id; `@rule:NAME` and `@ref:NAME` in the request bring an item whatever
    it scores. Code comes from the index of the repository at `path`, or around the current
    directory; `code_hits` is the most (10 by default), 0 for none, each scoring `min_score`, by
    default those worth their tokens. All together has at most `max_tokens`, 8,000 by default: what
    does not fit is given in less detail, then left out, and listed. Unless `connect` is false, the
    agent's servers are started and asked for their tools.
    """
    from asterism.engine.sessions import context_for

    def settings_for(root: str) -> Settings:
        return load(Path(root), dict(settings or {}), "asterism.context_for").settings

    wanted = context_request(request, options)
    engine = Engine(DataDirectories(data_directory(), cache_directory()), settings_for)
    with closing(engine):
        if path is None:
            registered = engine.registry.find(Path.cwd())
        else:
            registered = engine.locate(Path(text("path", os.fspath(path))).absolute())
        return request_context_of(context_for(engine, registered, wanted))


def request_context_of(found: ContextFor) -> GivenContext:
    """The engine's reply as programs get it."""
    context = found.context
    return GivenContext(
        agent=context.agent,
        items=tuple(_item(entry, found.items[entry.key]) for entry in context.items),
        code=tuple(
            CodePart(code.place, code.form.text, code.form.detail, code.score)
            for code in found.code
        ),
        left_out=tuple(
            LeftOutItem(str(entry.key), str(entry.reason), entry.score, entry.detail)
            for entry in context.left_out
        ),
        used_tokens=found.used_tokens,
        budget=found.budget,
        session=None if found.session is None else found.session.id,
        request_id=found.request_id,
        notes=found.notes,
    )


def _item(entry: RequestItem, item: Item) -> ContextItem:
    shown = ContextItem(
        type=str(entry.key.kind),
        name=item.name,
        text="",
        mode=str(entry.mode),
        score=entry.score,
        description=item.description,
        why=entry.why,
    )
    if isinstance(item, Tool):
        said = tool_description(item, entry.detail)
        return shown._replace(text=said, server=item.server, schema=item.schema)
    return shown._replace(text=item_text(item, entry), priority=item.priority)
