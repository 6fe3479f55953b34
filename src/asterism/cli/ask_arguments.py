"""The arguments of the commands that answer questions and keep conversations."""

import argparse

from asterism.cli.parser import Commands, command, json_option


def add(commands: Commands) -> None:
    """Add `ask`, `chat` and `conversations`."""
    _add_ask(commands)
    _add_chat(commands)
    _add_conversations(commands)


def _add_ask(commands: Commands) -> None:
    parser = command(
        commands, "ask", "Answer a question about a repository, with the places it rests on."
    )
    parser.add_argument("question", metavar="QUESTION", help="the question, or - to read it")
    _who_answers(parser)
    parser.add_argument(
        "--no-stream", action="store_true", help="print the answer when it is whole"
    )
    parser.add_argument(
        "--request-id",
        metavar="ID",
        default="",
        help="a name for this request: repeated, it is not answered twice",
    )
    parser.add_argument(
        "--yes", action="store_true", help="agree to every call of a tool that needs it"
    )
    json_option(parser)


def _add_chat(commands: Commands) -> None:
    parser = command(commands, "chat", "Ask question after question; /help shows what else.")
    _who_answers(parser)


def _who_answers(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "path", metavar="PATH", nargs="?", help="anything in the repository (default: here)"
    )
    parser.add_argument("--agent", metavar="NAME", default="", help="the agent that answers")
    parser.add_argument(
        "--model",
        metavar="MODEL",
        default="",
        help="the model: a name, PROVIDER/NAME, or extractive (default: the settings')",
    )
    parser.add_argument(
        "--conversation",
        metavar="ID",
        default="",
        help="go on with this one: its id, the start of it, or last (default: a new one)",
    )
    parser.add_argument(
        "--retries",
        type=int,
        default=None,
        metavar="N",
        help="the model judges what was found and searches again, so often (default: 0)",
    )


def _add_conversations(commands: Commands) -> None:
    parser = command(
        commands, "conversations", "List, show, search, archive, delete or export conversations."
    )
    parser.add_argument(
        "action",
        nargs="?",
        choices=("list", "show", "search", "archive", "restore", "delete", "export"),
        default="list",
        help="what to do (default: %(default)s)",
    )
    parser.add_argument(
        "target",
        metavar="TARGET",
        nargs="?",
        help="the id, the start of it, or last; with search: what was said",
    )
    parser.add_argument("--repo", metavar="NAME", help="only those about this repository")
    shelf = parser.add_mutually_exclusive_group()
    shelf.add_argument("--archived", action="store_true", help="only those that are archived")
    shelf.add_argument("--all", action="store_true", help="archived ones too")
    parser.add_argument(
        "--limit", type=int, default=20, metavar="N", help="show so many (default: %(default)s)"
    )
    parser.add_argument("--cursor", metavar="CURSOR", help="go on where the last page ended")
    parser.add_argument(
        "--format",
        choices=("markdown", "json"),
        default="markdown",
        help="with export: what is written (default: %(default)s)",
    )
    parser.add_argument("-o", "--out", metavar="FILE", help="with export: the file to write")
    parser.add_argument("--yes", action="store_true", help="with delete: do not ask")
    json_option(parser)
