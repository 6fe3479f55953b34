"""One repository with its index, for programs: sync it, search it, look names up in it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal, TypeAlias, Unpack

from asterism.api.arguments import (
    choice,
    number,
    stage_of,
    text,
    texts,
    whole,
)
from asterism.api.connections import Context, Relations, context_of, relations_of
from asterism.api.replies import (
    Answer,
    IndexStatus,
    Reply,
    Symbols,
    answer_of,
    ask_request,
    reply_of,
    status_record,
    symbols_of,
)
from asterism.engine.engine import Engine
from asterism.indexing.report import Listener, Progress, SyncReport, UpgradeReport
from asterism.store.registry import Registered
from asterism.types.chat import TurnEvent
from asterism.types.errors import UsageError, WorkerDied
from asterism.types.index import Role, SymbolQuery, symbol_query
from asterism.types.search import Filter, Filters, Mode, Texts

if TYPE_CHECKING:
    # They bring what searches, which looking up a symbol does not need.
    from asterism.engine.chat.service import Asking
    from asterism.engine.search import SearchReply, SearchRequest

ModeName: TypeAlias = Literal["hybrid", "semantic", "exact", "definition", "similar"]
StageName: TypeAlias = Literal["discover", "refine"]
RoleName: TypeAlias = Literal["definition", "export", "import", "usage"]

_GUARD = (
    'put what the script does below `if __name__ == "__main__":`, or leave `jobs` at 1: processes '
    "that read files begin by importing the script"
)


class Codebase:
    """A repository and its index. It is used by one thread at a time, and can be a context."""

    def __init__(
        self,
        engine: Engine,
        registered: Registered,
        listener: Callable[[Progress], None] | None = None,
    ) -> None:
        """Programs call `asterism.open` instead."""
        self._engine: Engine | None = engine
        self._registered = registered
        self._listener = Listener() if listener is None else Listener(listener)
        self._asking: Asking | None = None

    @property
    def root(self) -> Path:
        """Where the repository is."""
        return Path(self._registered.repository.root)

    @property
    def name(self) -> str:
        """What the repository is called."""
        return self._registered.repository.name

    def sync(self, *, force: bool = False) -> SyncReport:
        """Bring the index up to date, and say what was done; `force` reads everything anew.

        Another process that is writing to the index is waited for.
        """
        engine = self._open()
        _check_not_imported()
        try:
            return engine.index(self._registered, self._listener, force)
        except WorkerDied as error:
            raise WorkerDied(f"{error} If this is a script, {_GUARD}.") from error

    def upgrade(self) -> UpgradeReport:
        """Make the second vectors that `embedding.upgrade` asks for, and say what was done.

        It takes some eight milliseconds of a core for each text; nothing else waits for it.
        """
        engine = self._open()
        self._build_if_missing(engine)
        return engine.upgrade(self._registered, self._listener)

    def search(
        self,
        query: str = "",
        *,
        mode: ModeName = "hybrid",
        limit: int = 10,
        filters: Mapping[str, object] | None = None,
        min_score: float = 0.0,
        stage: StageName | None = None,
        exhaustive: bool = False,
        cursor: str | None = None,
        code_snippet: str | None = None,
        max_tokens: int | None = None,
        context_lines: int = 0,
        bm25_weight: float | None = None,
        **narrowed: Unpack[Filters],
    ) -> Reply:
        """The code for a question.

        The index is brought up to date first, for at most `index.sync_seconds`; where there is
        none yet it is built. Filters are given by keyword, in a mapping, or both. Mode `similar`
        compares with `code_snippet`. An exhaustive search gives every match in stable order, page
        by page: go on with the reply's cursor. `max_tokens` limits the texts of all hits together.
        `bm25_weight` is deprecated: the mode chooses between words and meaning.
        """
        from asterism.engine.search import SearchRequest

        request = SearchRequest(
            text=text("query", query),
            mode=choice("mode", Mode, mode),
            limit=whole("limit", limit),
            min_score=number("min_score", min_score),
            token_budget=None if max_tokens is None else whole("max_tokens", max_tokens),
            stage=stage_of(stage),
            exhaustive=bool(exhaustive),
            cursor=None if cursor is None else text("cursor", cursor),
            code_snippet=None if code_snippet is None else text("code_snippet", code_snippet),
            context_lines=whole("context_lines", context_lines),
            bm25_weight=None if bm25_weight is None else number("bm25_weight", bm25_weight),
        )
        return self._answer(request, filters, narrowed)

    def similar(
        self,
        file_path: str | os.PathLike[str],
        start_line: int | None = None,
        end_line: int | None = None,
        *,
        limit: int = 10,
        filters: Mapping[str, object] | None = None,
        min_score: float = 0.0,
        max_tokens: int | None = None,
        context_lines: int = 0,
        **narrowed: Unpack[Filters],
    ) -> Reply:
        """Code like the function, class … around a line of a file, or like all of the file.

        A path that is not absolute begins at the root, as the paths of hits do.
        """
        from asterism.engine.lookups import place_in
        from asterism.engine.search import SearchRequest

        given = {"start_line": start_line, "end_line": end_line}
        lines = [None if one is None else whole(name, one) for name, one in given.items()]
        self._open()
        place = place_in(
            self._registered, self.root / text("file_path", os.fspath(file_path)), *lines
        )
        request = SearchRequest(
            mode=Mode.similar,
            place=place,
            limit=whole("limit", limit),
            min_score=number("min_score", min_score),
            token_budget=None if max_tokens is None else whole("max_tokens", max_tokens),
            context_lines=whole("context_lines", context_lines),
        )
        return self._answer(request, filters, narrowed)

    def context(
        self,
        query: str,
        *,
        limit: int = 10,
        filters: Mapping[str, object] | None = None,
        min_score: float | None = None,
        stage: StageName | None = None,
        max_tokens: int | None = None,
        **narrowed: Unpack[Filters],
    ) -> Context:
        """The same question, answered for reading: how the hits connect, then their code.

        Everything together has at most `max_tokens`, 8,000 unless told otherwise: what does not
        fit is given in less detail. Only hits that score `min_score` are given, by default those
        that are more likely right than not; `symbol = …` gives what has the name.
        """
        from asterism.engine.search import SearchRequest

        engine = self._open()
        request = SearchRequest(
            text=text("query", query), limit=whole("limit", limit), stage=stage_of(stage)
        )
        gate = None if min_score is None else number("min_score", min_score)
        budget = None if max_tokens is None else whole("max_tokens", max_tokens)
        request = replace(request, where=self._where(filters, narrowed))
        self._build_if_missing(engine)
        return context_of(engine.context(self._registered, request, budget, gate))

    def callers(self, name: str, *, depth: int = 1) -> Relations:
        """Who calls a symbol, and who calls those, as deep as asked: `x`, `A.x`, `path > A > x`."""
        return self._relations(name, "callers", depth)

    def callees(self, name: str, *, depth: int = 1) -> Relations:
        """What a symbol calls, and what that calls, as deep as asked."""
        return self._relations(name, "callees", depth)

    def references(self, name: str) -> Relations:
        """Which files refer to a symbol, and who in them."""
        return self._relations(name, "references", 1)

    def symbols(
        self,
        name: str,
        *,
        kind: Texts = (),
        role: RoleName | Sequence[RoleName] = (),
        limit: int = 50,
    ) -> Symbols:
        """Where a name is defined, exported, imported and used: `x`, `A.x`, `A > x`, `path > x`.

        The index is brought up to date first, as for a search.
        """
        engine = self._open()
        if not text("name", name).strip():
            raise UsageError("The name is empty; give a symbol's name, such as `Parser.parse`.")
        if whole("limit", limit) < 0:
            raise UsageError(f"limit is {limit}; give 0 or more.")
        roles = {choice("role", Role, word) for word in texts(role)}
        wanted = SymbolQuery(
            name,
            kinds=tuple(texts(kind)),
            roles=tuple(each for each in Role if each in roles),
            limit=limit,
        )
        self._build_if_missing(engine)
        return symbols_of(engine.symbols(self._registered, symbol_query(name, wanted)))

    def ask(
        self,
        question: str,
        *,
        conversation: str = "",
        agent: str = "",
        model: str = "",
        request_id: str = "",
        retries: int | None = None,
        on_event: Callable[[TurnEvent], None] | None = None,
    ) -> Answer:
        """An answer in words, with the places it rests on; it is kept in a conversation.

        Without a model, which is the default, it is put together from the best hits. `model` is a
        name, `PROVIDER/NAME` or `extractive`. A repeated `request_id` is not answered twice.
        `on_event` hears of tokens, tools and citations as they come, in another thread.
        """
        from asterism.engine.chat.service import Asking

        engine = self._open()
        request = ask_request(question, conversation, agent, model, request_id, retries)
        self._build_if_missing(engine)
        if self._asking is None:
            self._asking = Asking(engine)
        asked = self._asking.ask(self._registered, request, on_event or (lambda _event: None))
        return answer_of(asked.result())

    def status(self) -> IndexStatus:
        """What state the index is in; nothing is changed."""
        return status_record(self._open().status(self._registered))

    def close(self) -> None:
        """Let go of tables, models and compilers; the index stays."""
        if self._asking is not None:
            self._asking.close()
        self._asking = None
        if self._engine is not None:
            self._engine.close()
        self._engine = None

    def __enter__(self) -> Codebase:
        """Itself, to be closed at the end."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it, whatever happened."""
        self.close()

    def __repr__(self) -> str:
        """What it is of."""
        return f"<asterism.Codebase {self.name} at {self.root}>"

    def _open(self) -> Engine:
        if self._engine is None:
            raise UsageError(f"{self.name} was closed; open it again with `asterism.open`.")
        return self._engine

    def _answer(
        self,
        request: SearchRequest,
        filters: Mapping[str, object] | None,
        narrowed: Mapping[str, object],
    ) -> Reply:
        from asterism.search.filters import applied

        engine = self._open()
        where = self._where(filters, narrowed)
        self._build_if_missing(engine)
        found: SearchReply = engine.search(self._registered, replace(request, where=where))
        return reply_of(found, applied(found.search.where))

    def _relations(self, name: str, relation: str, depth: int) -> Relations:
        from asterism.engine.relations import Relation, RelationsRequest

        engine = self._open()
        request = RelationsRequest(
            name=text("name", name), relation=Relation(relation), depth=whole("depth", depth)
        )
        self._build_if_missing(engine)
        return relations_of(engine.relations(self._registered, request))

    def _where(
        self, filters: Mapping[str, object] | None, narrowed: Mapping[str, object]
    ) -> Filter:
        """What a question is narrowed to, by keyword, in a mapping, or both."""
        from asterism.search.filters import parse_filters

        given = {} if filters is None else filters
        if not isinstance(given, Mapping):
            raise UsageError(f"filters is {given!r:.80}; give a mapping of keys to values.")
        twice = [key for key in narrowed if key in given]
        if twice:
            raise UsageError(f"The filter {twice[0]} is given twice; give it once.")
        return parse_filters({**given, **narrowed}, str(self.root))

    def _build_if_missing(self, engine: Engine) -> None:
        if not engine.is_indexed(self._registered):
            self.sync()


def _check_not_imported() -> None:
    """Refuse to index in a process that is only importing the script that started it."""
    processes = sys.modules.get("multiprocessing")
    if processes is not None and getattr(processes.current_process(), "_inheriting", False):
        raise UsageError(f"This script indexes while it is imported: {_GUARD}.")
