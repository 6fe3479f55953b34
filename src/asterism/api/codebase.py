"""One repository with its index, for programs: sync it, search it, look names up in it."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Unpack

from asterism.api.keywords import (
    AskKeywords,
    RoleName,
    ask_request,
    check_choice,
    request_of,
    text,
    whole,
)
from asterism.api.replies import (
    Answer,
    Context,
    IndexStatus,
    Relations,
    Reply,
    Symbols,
    answer_of,
    context_of,
    relations_of,
    reply_of,
    status_record,
    symbols_of,
)
from asterism.config.environment import cache_directory, data_directory
from asterism.config.load import load
from asterism.config.settings import Settings
from asterism.engine.chat.service import Asking
from asterism.engine.engine import Engine
from asterism.engine.lookups import place_in
from asterism.engine.search import SearchRequest
from asterism.engine.stores import DataDirectories
from asterism.indexing.report import Listener, Progress, SyncReport, UpgradeReport
from asterism.operations.requests import (
    STAGES,
    CodebaseSearch,
    ContextKeywords,
    SearchCode,
    SearchKeywords,
    SimilarCode,
    SimilarKeywords,
    SymbolLookup,
    engine_request,
)
from asterism.store.registry import Registered
from asterism.types.chat import TurnEvent
from asterism.types.errors import UsageError, WorkerDied
from asterism.types.index import Role, SymbolQuery, symbol_query
from asterism.types.search import Filter, Stage, Texts

_log = logging.getLogger("asterism")
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
        """Compute the encoder vectors that `embedding.upgrade` selects, and report what was done.

        It takes some eight milliseconds of a core for each text; nothing else waits for it.
        """
        engine = self._open()
        self._build_if_missing(engine)
        return engine.upgrade(self._registered, self._listener)

    def search(
        self,
        query: str = "",
        *,
        filters: Mapping[str, object] | None = None,
        **options: Unpack[SearchKeywords],
    ) -> Reply:
        """The code for a question.

        The index is brought up to date first, for at most `index.sync_seconds`; a missing
        index is built. Filters are given by keyword, in a mapping, or both. Mode `similar`
        compares with `code_snippet`. An exhaustive search gives every match in stable order, page
        by page: go on with the reply's cursor. `max_tokens` limits the texts of all hits together.
        `bm25_weight` is deprecated: the mode chooses between words and meaning.
        """
        asked, narrowed = request_of(SearchCode, {"query": query, **options})
        request = engine_request(asked, SearchRequest, where=self._where(filters, narrowed))
        engine = self._open()
        self._build_if_missing(engine)
        return reply_of(engine.search(self._registered, request), self._registered)

    def similar(
        self,
        file_path: str | os.PathLike[str],
        start_line: int | None = None,
        end_line: int | None = None,
        *,
        filters: Mapping[str, object] | None = None,
        **options: Unpack[SimilarKeywords],
    ) -> Reply:
        """Code like the function, class … around a line of a file, or like all of the file.

        A path that is not absolute begins at the root, as the paths of hits do.
        """
        given = {"file_path": os.fspath(file_path), "start_line": start_line, "end_line": end_line}
        asked, narrowed = request_of(SimilarCode, {**given, **options})
        engine = self._open()
        path = self.root / asked.file_path
        lines = (asked.start_line, asked.end_line)
        # A wrong place is an error before an index is built.
        place_in(self._registered, path, *lines)
        request = engine_request(asked, SearchRequest, where=self._where(filters, narrowed))
        self._build_if_missing(engine)
        found = engine.similar(self._registered, request, path, lines)
        return reply_of(found, self._registered)

    def context(
        self,
        query: str,
        *,
        filters: Mapping[str, object] | None = None,
        **options: Unpack[ContextKeywords],
    ) -> Context:
        """The same question, answered for reading: how the hits connect, then their code.

        Everything together has at most `max_tokens`, 8,000 unless told otherwise: what does not
        fit is given in less detail. Only hits that score `min_score` are given, by default those
        that are worth their tokens beside the best; `symbol = …` gives what has the name.
        """
        from asterism.engine.search import SearchRequest

        engine = self._open()
        stage = options.pop("stage", None)
        asked, narrowed = request_of(CodebaseSearch, {"query": query, **options})
        if stage is not None:
            check_choice("stage", {"enum": STAGES}, stage)
        request = SearchRequest(
            text=asked.query,
            limit=asked.limit,
            stage=None if stage is None else Stage(stage),
            where=self._where(filters, narrowed),
        )
        self._build_if_missing(engine)
        found = engine.context(self._registered, request, asked.max_tokens, asked.min_score)
        return context_of(found)

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
        asked, _ = request_of(SymbolLookup, {"name": name, "kind": kind, "role": role})
        roles = asked.role or ()
        wanted = SymbolQuery(
            name,
            kinds=tuple(asked.kind or ()),
            roles=tuple(each for each in Role if each.value in roles),
            limit=limit,
        )
        self._build_if_missing(engine)
        return symbols_of(engine.symbols(self._registered, symbol_query(name, wanted)))

    def ask(
        self,
        question: str,
        *,
        on_event: Callable[[TurnEvent], None] | None = None,
        **options: Unpack[AskKeywords],
    ) -> Answer:
        """An answer in words, with the places it rests on; it is kept in a conversation.

        Without a model, which is the default, it is put together from the best hits. `model` is a
        name, `PROVIDER/NAME` or `extractive`; `agent` and `conversation` name an agent and the
        conversation to go on with. A repeated `request_id` is not answered twice. The model may
        search again `retries` times. `on_event` receives tokens, tools and citations while the
        answer is written, in another thread.
        """
        engine = self._open()
        request = ask_request(question, options)
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


def open(
    path: str | os.PathLike[str] | None = None,
    *,
    name: str | None = None,
    project: str | None = None,
    jobs: int = 1,
    settings: Mapping[str, object] | None = None,
    listener: Callable[[Progress], None] | None = None,
) -> Codebase:
    """Open a repository; one that is not known yet is made known, and indexed when first needed.

    `path` is a directory, or anything in a repository that is known; nothing means the repository
    around the current directory. `name` and `project` are for a new one. `jobs` says how many
    processes read files: more than one is faster on a first build, and needs a script to have
    `if __name__ == "__main__":`. `settings` are as in the settings files, `{"index.sync_seconds":
    5}`, and come before these. `listener` hears how far a build is.
    """
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1:
        raise UsageError(f"jobs is {jobs!r}; give a whole number from 1 on.")
    said: set[str] = set()

    def settings_for(root: str) -> Settings:
        loaded = load(Path(root), {"work.jobs": jobs, **(settings or {})}, "asterism.open")
        for warning in loaded.warnings:
            if warning not in said:
                said.add(warning)
                _log.warning("%s", warning)
        return loaded.settings

    engine = Engine(DataDirectories(data_directory(), cache_directory()), settings_for)
    where = Path.cwd() if path is None else Path(text("path", os.fspath(path))).absolute()
    registered = engine.registry.find(where) if name is None and project is None else None
    if registered is None or not where.exists():
        root = engine.root_for(where) if path is None else where
        registered = engine.register(root, name, project)
    # A mistake in the settings shows here, not with the first question.
    settings_for(registered.repository.root)
    return Codebase(engine, registered, listener)
