"""Another tool under evaluation, through a Python file that defines a class `Adapter`.

    class Adapter:
        name = "..."                                      # may be missing
        def __init__(self, **arguments: str): ...
        def index(self, repo_dir: str) -> handle: ...
        def search(self, handle, query: str, k: int) -> [(path, start_line, end_line), ...]
        def close(self, handle): ...                      # may be missing

Lines count from 1 and are inclusive, or None for the whole file. After `index`, `last_size` may
say how large the index became. A place may have a fourth element, what it costs to read in tokens
(None to count its lines), and a fifth, how sure the tool is of it, between 0 and 1.
"""

import json
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from asterism.analysis.terms import terms_of
from asterism.config.load import upgrade_options
from asterism.engine.engine import Engine
from asterism.evaluation.datasets import FoundPlace
from asterism.evaluation.replies import ReplyText, token_count
from asterism.evaluation.run import CheckOut
from asterism.programs.start import Launch, TimeoutExpired, run
from asterism.programs.table import COMPARED_TOOL
from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.registry import Registered
from asterism.types.errors import PathMissing, UsageError
from asterism.types.files import display_path
from asterism.types.search import Detail, Filter, Hit, Kept

# The end of what a failing command said is where it says why.
SHOWN_ERROR = 300

# A search that takes longer is stuck.
SEARCH_SECONDS = 300

# The user names paths of the command from where he is.
_HERE = {"directory": "."}


class CommandSearcher:
    """Starts a command for every search: `tool search --json -k {k} {query} {repo}`.

    The braces are replaced inside each word of the template, so a query is one argument whatever
    is in it; no shell reads it.
    """

    def __init__(self, command: str, index_command: str = "") -> None:
        self._command = _words(command)
        self._index_command = _words(index_command)
        if not self._command:
            raise UsageError("The command is empty; give one such as 'tool -k {k} {query} {repo}'.")
        self._directory = Path()
        self.name = self._command[0]

    def index(self, directory: Path) -> str:
        """Run the command that indexes, if there is one."""
        self._directory = directory
        if self._index_command:
            _output(self._filled(self._index_command, "", 0), None)
        return ""

    def search(self, query: str, limit: int) -> list[FoundPlace]:
        """What the command prints, as places."""
        return parse_found(_output(self._filled(self._command, query, limit), SEARCH_SECONDS))

    def within(self, query: str, limit: int, budget: int) -> Sequence[FoundPlace] | None:
        """A command knows no budget."""
        return None

    def reply(self, query: str) -> ReplyText | None:
        """A command has no replies with code."""
        return None

    def close(self) -> None:
        """Nothing is held."""

    def _filled(self, words: Sequence[str], query: str, limit: int) -> list[str]:
        values = {"{query}": query, "{repo}": str(self._directory), "{k}": str(limit)}
        return [_filled(word, values) for word in words]


def parse_found(text: str) -> list[FoundPlace]:
    """Places as tools print them.

    Either a JSON array of objects, bare or under `results` or `hits`; or one to a line, as a JSON
    object, `PATH:START:END` or a path alone. An object has `path`, `file_path` or `file`, and may
    have `start_line` or `start`, `end_line` or `end`, `tokens`, and a `score` between 0 and 1.
    """
    text = text.strip()
    if text[:1] not in ("[", "{"):
        return [_from_line(line.strip()) for line in text.splitlines() if line.strip()]
    try:
        try:
            data = json.loads(text)
        except json.JSONDecodeError:
            data = [json.loads(line) for line in text.splitlines() if line.strip()]
        if isinstance(data, dict):
            data = data.get("results", data.get("hits", [data]))
        return [_from_object(entry) for entry in data]
    except (ValueError, TypeError, AttributeError) as error:
        raise UsageError(
            f"The command printed no places that can be read: {text[:SHOWN_ERROR]!r}; "
            "print PATH:START:END lines, or JSON objects with a `path`."
        ) from error


def _from_line(line: str) -> FoundPlace:
    path, *lines = line.rsplit(":", 2)
    if len(lines) == 2 and all(number.isdecimal() for number in lines):
        return FoundPlace(path, int(lines[0]), int(lines[1]))
    return FoundPlace(line)


def _from_object(entry: Mapping[str, Any]) -> FoundPlace:
    def pick(*names: str) -> Any:
        return next((entry[name] for name in names if entry.get(name) is not None), None)

    path = pick("path", "file_path", "file")
    lines = pick("start_line", "start"), pick("end_line", "end"), pick("tokens")
    score = pick("score")
    if not isinstance(path, str) or not all(isinstance(line, int | None) for line in lines):
        raise ValueError("an object without a path, or with lines that are no numbers")
    return FoundPlace(path, *lines, score=score if isinstance(score, int | float) else None)


def _words(template: str) -> list[str]:
    try:
        return shlex.split(template)
    except ValueError as error:
        raise UsageError(f"The command {template!r} is not complete: {error}.") from error


def _filled(word: str, values: Mapping[str, str]) -> str:
    """The word with its braces replaced, what was put in not looked at again."""
    start, brace = min(
        ((word.find(brace), brace) for brace in values if brace in word), default=(-1, "")
    )
    if start < 0:
        return word
    rest = word[start + len(brace) :]
    return f"{word[:start]}{values[brace]}{_filled(rest, values)}"


def _output(words: Sequence[str], seconds: float | None) -> str:
    """What a command prints; one that fails must not look like one that found nothing."""
    shown = shlex.join(words)[:SHOWN_ERROR]
    try:
        launch = Launch(program=COMPARED_TOOL, command=tuple(words), values=_HERE)
        done = run(launch, seconds)
    except TimeoutExpired as error:
        raise UsageError(f"`{shown}` ran for {error.timeout:g} s; see why it hangs.") from error
    except (OSError, ValueError) as error:
        raise UsageError(f"`{shown}` cannot be started: {error}; check the command.") from error
    said = done.stderr.strip()
    # Tools like grep end with 1 where nothing was found, and are silent then.
    if done.returncode > 1 or done.returncode < 0 or (done.returncode and said):
        raise UsageError(
            f"`{shown}` ended with status {done.returncode}: {said[-SHOWN_ERROR:]}; "
            "run it by hand to see why."
        )
    return done.stdout


# The adapter's module is known by this name while it runs, as pickling its records demands.
_MODULE = "asterism_evaluation_adapter"

_Value = TypeVar("_Value")


def checked_out(command: str) -> CheckOut:
    """Checks commits out by a command: `git -C {repo} checkout -q -f {commit}`."""
    words = _words(command)
    if not any("{commit}" in word for word in words):
        raise UsageError(
            f"The command {command!r} does not say {{commit}}; write it as "
            "'git -C {repo} checkout -q -f {commit}'."
        )

    def check_out(directory: Path, commit: str) -> None:
        values = {"{repo}": str(directory), "{commit}": commit}
        _output([_filled(word, values) for word in words], None)

    return check_out


class AdapterSearcher:
    """A searcher over an adapter of someone else."""

    def __init__(self, file: Path, arguments: Mapping[str, str]) -> None:
        self._file = display_path(str(file))
        if not file.is_file():
            raise PathMissing(f"{self._file} does not exist; give a Python file with an Adapter.")
        self._adapter = self._do("loading", lambda: _load(file)(**arguments))
        self._handle: Any = None
        self.name: str = getattr(self._adapter, "name", None) or file.stem

    def index(self, directory: Path) -> str:
        """Let the adapter index a directory."""
        self._handle = self._do("indexing", lambda: self._adapter.index(str(directory)))
        return getattr(self._adapter, "last_size", None) or ""

    def search(self, query: str, limit: int) -> list[FoundPlace]:
        """What the adapter finds."""
        return self._do(
            "searching",
            lambda: [_place(*place) for place in self._adapter.search(self._handle, query, limit)],
        )

    def within(self, query: str, limit: int, budget: int) -> Sequence[FoundPlace] | None:
        """An adapter knows no budget."""
        return None

    def reply(self, query: str) -> ReplyText | None:
        """An adapter has no replies with code."""
        return None

    def close(self) -> None:
        """Let the adapter free what it holds."""
        if hasattr(self._adapter, "close"):
            self._do("closing", lambda: self._adapter.close(self._handle))
        self._handle = None

    def _do(self, stage: str, work: Callable[[], _Value]) -> _Value:
        try:
            return work()
        except Exception as error:
            # Another tool's code may raise anything; none of it is a failure of Asterism.
            raise UsageError(
                f"{self._file} failed while {stage}: {type(error).__name__}: {error}; "
                "the adapter has to be corrected, or its arguments."
            ) from error


def _place(
    path: object,
    start: int | None,
    end: int | None,
    tokens: int | None = None,
    score: float | None = None,
) -> FoundPlace:
    return FoundPlace(str(path), start, end, tokens, score=None if score is None else float(score))


def _load(file: Path) -> Callable[..., Any]:
    spec = spec_from_file_location(_MODULE, file)
    if spec is None or spec.loader is None:
        raise ImportError("not a Python file")
    module = module_from_spec(spec)
    sys.modules[_MODULE] = module
    spec.loader.exec_module(module)
    adapter: Callable[..., Any] = module.Adapter
    return adapter


def word_search(registered: Registered, query: str, limit: int) -> list[Hit]:
    """The chunks that share words with a query; scores are relative to the best."""
    from asterism.store.lance.table import LanceTable

    directory = registered.project.directory
    with Catalogue.open(directory) as catalogue:
        version, name = catalogue.chunks_version(), catalogue.table.name
    terms = list(dict.fromkeys(terms_of(query)))
    if not terms or version == 0:
        return []
    rows = LanceTable.open(directory, name=name).snapshot(version)
    matches = rows.matching(terms, limit, Filter(repos=(registered.repository.name,)))
    scores = {match.key.id: match.score for match in matches}
    best = max(scores.values(), default=1.0) or 1.0
    chunks = rows.chunks([match.key for match in matches])
    return [Hit(chunk, scores[chunk.id] / best) for chunk in chunks]


SearchFunction: TypeAlias = Callable[[Registered, str, int], Sequence[Hit]]
"""From a repository, a query and a limit to hits, best first."""
BudgetFunction: TypeAlias = Callable[[Registered, str, int, int], Sequence[Kept]]
"""From a repository, a query, a limit and a budget of tokens to the returned hits."""
ReplyFunction: TypeAlias = Callable[[Registered, str], ReplyText]
"""From a repository and a query to the reply with code."""

# What is given of a hit at these is code to read: all of it, or with its parts' bodies left out.
_WHOLE = frozenset({Detail.full, Detail.collapsed, Detail.within})


class EngineSearcher:
    """A searcher over an engine; the repositories it indexes stay registered there."""

    def __init__(
        self,
        engine: Engine,
        search: SearchFunction,
        name: str = "asterism",
        within: BudgetFunction | None = None,
        reply: ReplyFunction | None = None,
    ) -> None:
        self._engine = engine
        self._search = search
        self._within = within
        self._reply = reply
        self._registered: Registered | None = None
        self.name = name

    def index(self, directory: Path) -> str:
        """Register a directory and bring its index up to date, encoder vectors included."""
        self._registered = self._engine.register(directory)
        self._engine.index(self._registered)
        if upgrade_options(self._engine.settings_of(self._registered)) is not None:
            self._engine.upgrade(self._registered)
        with Catalogue.open(self._registered.project.directory) as catalogue:
            held = catalogue.statistics(self._registered.repository.name)
        return f"{held.chunks:,} chunks"

    def search(self, query: str, limit: int) -> list[FoundPlace]:
        """The hits as places."""
        return [found_of(hit) for hit in self._search(self._indexed(), query, limit)]

    def within(self, query: str, limit: int, budget: int) -> list[FoundPlace] | None:
        """The hits returned within the budget, each with the cost of its text."""
        if self._within is None:
            return None
        output = self._within(self._indexed(), query, limit, budget)
        return [place for kept in output for place in given_of(kept)]

    def reply(self, query: str) -> ReplyText | None:
        """The reply with code."""
        return None if self._reply is None else self._reply(self._indexed(), query)

    def close(self) -> None:
        """Forget the directory; its index is kept."""
        self._registered = None

    def _indexed(self) -> Registered:
        if self._registered is None:
            raise UsageError("No directory is indexed; call `index` first.")
        return self._registered


def found_of(hit: Hit) -> FoundPlace:
    """A hit as a place that costs as much as its source."""
    chunk = hit.chunk
    return FoundPlace(
        chunk.relative_path,
        chunk.start_line,
        chunk.end_line,
        token_count(len(chunk.full_source)),
        chunk.qualified_name,
        hit.score,
        kind=chunk.node_kind,
    )


def given_of(kept: Kept) -> list[FoundPlace]:
    """A hit as it is returned: what its text costs, and which of its lines it has."""
    found = found_of(kept.hit)._replace(tokens=token_count(len(kept.text)))
    if kept.detail in _WHOLE:
        return [found]
    named = found._replace(shown="name")
    return [named, *(_lines(named, first, last) for first, last in _pieces(kept))]


def _lines(named: FoundPlace, first: int, last: int) -> FoundPlace:
    return named._replace(start_line=first, end_line=last, tokens=0, shown="lines")


def _pieces(kept: Kept) -> list[tuple[int, int]]:
    """The ranges of lines that are given, where it is neither all of them nor none."""
    gaps = list(kept.gaps)
    if kept.left_out is not None:
        # A cut begins inside its first line where that line alone is too long; it is not there.
        gaps.append(kept.left_out)
    if not gaps:
        return []
    chunk = kept.hit.chunk
    pieces = []
    first = chunk.start_line
    for gap in sorted(gaps):
        if first < gap.first:
            pieces.append((first, gap.first - 1))
        first = gap.last + 1
    return [*pieces, (first, chunk.end_line)] if first <= chunk.end_line else pieces
