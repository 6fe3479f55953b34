"""The arguments of the command that measures."""

from asterism.cli.parser import Commands, command, json_option


def add(commands: Commands) -> None:
    """Add `eval`."""
    parser = command(
        commands, "eval", "Measure how good, fast and cheap a search is on labelled queries."
    )
    parser.add_argument(
        "dataset",
        metavar="DATASET",
        nargs="?",
        help="a JSONL file, a folder with queries.jsonl and repos.json, or a saved run (.json)",
    )
    parser.add_argument("--repos-dir", metavar="DIR", help="the directory of the repositories")
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
    json_option(parser)
