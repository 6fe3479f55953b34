"""`asterism eval`: how good, fast and cheap a search is on labelled queries."""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from asterism.cli.options import add_json
from asterism.cli.parser import CommandParser
from asterism.cli.progress import watched_by_user
from asterism.cli.setup import directory_named, engine, settings_for
from asterism.cli.terminal import write_json
from asterism.engine.engine import Engine
from asterism.engine.search import SearchRequest
from asterism.engine.stores import DataDirectories
from asterism.evaluation.adapters import (
    AdapterSearcher,
    CommandSearcher,
    EngineSearcher,
    checked_out,
    word_search,
)
from asterism.evaluation.datasets import (
    DatasetRepository,
    PathMatch,
    load_dataset,
    titles_only,
    write_dataset,
)
from asterism.evaluation.reliability import (
    reliability_json,
    reliability_tables,
    silence_lines,
)
from asterism.evaluation.replies import ReplyText
from asterism.evaluation.run import Locate, Searcher, SearchOptions, run_dataset
from asterism.evaluation.runs import (
    Building,
    QueryResult,
    Run,
    is_run_file,
    load_run,
    run_json,
    save_run,
)
from asterism.evaluation.self_supervised import SetOptions, make_queries
from asterism.evaluation.summaries import answerable, mean, percentile, summary_json
from asterism.evaluation.tables import comparison_tables, differences, run_tables, symbol_tables
from asterism.operations.schema import Json
from asterism.store.registry import Registered
from asterism.types.errors import UsageError
from asterism.types.files import display_path
from asterism.types.search import Hit, Kept


def declare(parser: CommandParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "dataset",
        metavar="DATASET",
        nargs="?",
        help="a JSONL file of queries, readers' questions or issues, a folder with queries.jsonl "
        "and repos.json, or a saved run (.json)",
    )
    parser.add_argument("--repos-dir", metavar="DIR", help="the directory of the repositories")
    parser.add_argument(
        "--checkout",
        metavar="CMD",
        help="checks out the commit of a query: 'git -C {repo} checkout -q -f {commit}'",
    )
    parser.add_argument(
        "--titles", action="store_true", help="ask the first line of each query alone"
    )
    parser.add_argument(
        "--no-replies", action="store_true", help="leave the replies with code unmeasured"
    )
    tools = parser.add_mutually_exclusive_group()
    tools.add_argument("--adapter", metavar="FILE", help="a Python file with a class Adapter")
    tools.add_argument(
        "--command",
        dest="template",
        metavar="CMD",
        help="another tool: 'tool --json -k {k} {query} {repo}'",
    )
    tools.add_argument("--baseline", action="store_true", help="words by BM25 and nothing else")
    tools.add_argument(
        "--make", metavar="REPOSITORY", help="make a set from a repository; --out says where"
    )
    parser.add_argument(
        "--index-command", metavar="CMD", help="with --command: 'tool index {repo}'"
    )
    parser.add_argument(
        "--arg", metavar="K=V", action="append", help="for the adapter; may be repeated"
    )
    parser.add_argument(
        "--repo", metavar="NAME", action="append", help="only this repository; may be repeated"
    )
    parser.add_argument(
        "--scope",
        choices=("root", "full"),
        default="root",
        help="index the part that the dataset names, or whole checkouts (default: %(default)s)",
    )
    parser.add_argument(
        "--match",
        choices=("suffix", "strict"),
        help="how paths are compared (default: as the dataset is made)",
    )
    parser.add_argument(
        "--limit", type=int, default=10, metavar="K", help="places a query (default: %(default)s)"
    )
    parser.add_argument(
        "--repeats",
        type=int,
        default=1,
        metavar="N",
        help="searches a query, the median time counts (default: %(default)s)",
    )
    parser.add_argument(
        "--index-dir", metavar="DIR", help="keep indexes here (default: made anew each time)"
    )
    parser.add_argument("-o", "--out", metavar="FILE", help="where to save the run, or the set")
    parser.add_argument("--compare", metavar="RUN", help="a saved run to compare with")
    parser.add_argument(
        "--reliability",
        action="store_true",
        help="also print how often places of each score are right",
    )
    parser.add_argument(
        "--seed", type=int, default=1, metavar="N", help="with --make: which set (default: 1)"
    )
    parser.add_argument(
        "--size",
        type=int,
        default=40,
        metavar="N",
        help="with --make: queries of each category (default: %(default)s)",
    )
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Make a set, or run one and print its tables."""
    if options.make is not None:
        return _make(options)
    if options.dataset is None:
        raise UsageError("Give a dataset, or --make REPOSITORY to make one; see --help.")
    earlier = None if options.compare is None else load_run(Path(options.compare))
    dataset = Path(options.dataset)
    done = load_run(dataset) if is_run_file(dataset) else _run(options, dataset)
    if options.out is not None:
        save_run(Path(options.out), done)
    if options.json:
        write_json(_report_json(done, earlier))
        return 0
    sys.stdout.write(f"{run_tables(done)}\n")
    if by_symbol := symbol_tables(done):
        sys.stdout.write(f"{by_symbol}\n")
    trust = reliability_tables(done) if options.reliability else "\n".join(silence_lines(done))
    if trust:
        sys.stdout.write(f"{trust}\n")
    if earlier is not None:
        sys.stdout.write(f"{comparison_tables(earlier, done)}\n")
    return 0


def _report_json(done: Run, earlier: Run | None) -> Json:
    report = {
        "summary": summary_json(done),
        "reliability": reliability_json(done),
        **run_json(done),
    }
    if earlier is not None:
        changes = differences(earlier, done)
        report["differences"] = {name: change._asdict() for name, change in changes.items()}
    return report


def _make(options: argparse.Namespace) -> int:
    if options.out is None:
        raise UsageError("Say where the set is to be written: --make REPOSITORY --out FILE.")
    if options.size < 1:
        raise UsageError("--size is how many queries of each kind; give a number from 1.")
    here = engine()
    registered = here.register(directory_named(options.make))
    with watched_by_user() as listener:
        here.index(registered, listener)
    queries = make_queries(registered, SetOptions(options.size, options.seed))
    write_dataset(Path(options.out), queries)
    shown = display_path(options.out)
    sys.stdout.write(f"{len(queries):,} queries about {registered.repository.name} in {shown}.\n")
    return 0


def _run(options: argparse.Namespace, dataset: Path) -> Run:
    chosen = SearchOptions(
        limit=options.limit,
        match=None if options.match is None else PathMatch(options.match),
        scope=options.scope,
        repeats=options.repeats,
        repos=tuple(options.repo or ()),
        replies=not options.no_replies,
        check_out=None if options.checkout is None else checked_out(options.checkout),
    )
    labelled = load_dataset(dataset)
    if options.titles:
        labelled = titles_only(labelled)
    with ExitStack() as stack:
        return run_dataset(labelled, _locate(options), _searcher(options, stack), chosen, _hear)


def _locate(options: argparse.Namespace) -> Locate:
    """Where checkouts are: below one directory, or wherever repositories of that name are."""
    if options.repos_dir is not None:
        top = directory_named(options.repos_dir)
        return lambda checkout: _checkout_below(top, checkout.name)
    registry = engine().registry

    def registered(checkout: DatasetRepository) -> Path:
        found = registry.find_by_name(checkout.name)
        if found is None:
            raise UsageError(
                f"No repository is called {checkout.name}; say with --repos-dir in which directory "
                "the repositories are."
            )
        return Path(found.repository.root)

    return registered


def _checkout_below(top: Path, name: str) -> Path:
    """`owner/name` is a folder of that path, `owner+name`, or `name`."""
    names = (name, name.replace("/", "+"), name.rpartition("/")[2])
    return next((top / one for one in names if (top / one).is_dir()), top / name)


def _searcher(options: argparse.Namespace, stack: ExitStack) -> Searcher:
    if options.template is not None:
        return CommandSearcher(options.template, options.index_command or "")
    if options.adapter is not None:
        return AdapterSearcher(Path(options.adapter), _arguments(options.arg or ()))
    own = _own_engine(options, stack)
    if options.baseline:
        return EngineSearcher(own, word_search, "words by BM25")

    def search(registered: Registered, query: str, limit: int) -> list[Hit]:
        reply = own.search(registered, SearchRequest(text=query, limit=limit))
        return [kept.hit for kept in reply.selection.kept]

    def within(registered: Registered, query: str, limit: int, budget: int) -> Sequence[Kept]:
        request = SearchRequest(text=query, limit=limit, token_budget=budget)
        return own.search(registered, request).selection.kept

    def reply(registered: Registered, query: str) -> ReplyText:
        from asterism.api.replies import context_of
        from asterism.operations.requests import CodebaseSearch

        request = SearchRequest(text=query, limit=CodebaseSearch(query=query).limit)
        found = context_of(own.context(registered, request))
        return ReplyText(found.text, len(found))

    return EngineSearcher(own, search, "asterism", within, reply)


def _own_engine(options: argparse.Namespace, stack: ExitStack) -> Engine:
    """An engine with indexes of its own, so that index times are those of a first build."""
    if options.index_dir is not None:
        kept = directory_named(options.index_dir)
    else:
        kept = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="asterism-eval-")))
    own = Engine(DataDirectories(kept / "data", kept / "cache"), settings_for)
    stack.callback(own.close)
    return own


def _arguments(typed: Sequence[str]) -> dict[str, str]:
    for argument in typed:
        if "=" not in argument:
            raise UsageError(f"--arg {argument!r} is not of the form key=value; write it so.")
    return dict(argument.split("=", 1) for argument in typed)


def _hear(building: Building, results: Sequence[QueryResult]) -> None:
    """A line on the terminal for each repository that is done."""
    if not sys.stderr.isatty():
        return
    ndcg = mean(result.measures.ndcg for result in answerable(results))
    p50 = percentile([result.ms for result in results], 50)
    sys.stderr.write(
        f"{building.repo:24} {building.language:12} NDCG {ndcg:.3f}  p50 {p50:8.2f} ms  "
        f"index {building.seconds:7.2f} s  {building.size}\n"
    )
