"""Does the command line show what an operation declares, and nothing of its own?"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pytest

from asterism.cli.options import add_request, request_from
from asterism.cli.parser import COMMANDS, Command, CommandParser, build_parser
from asterism.operations.calls import Call
from asterism.operations.chat_requests import Ask, ContextOf, EditItem, ListConversations
from asterism.operations.json import to_json
from asterism.operations.limits import CallReply, TextPart
from asterism.operations.operation import Operation
from asterism.operations.requests import (
    AddRepository,
    IndexCodebase,
    IndexPlace,
    SearchCode,
    SimilarCode,
    SymbolLookup,
    SymbolRelations,
)
from asterism.operations.schema import Option, choice, request_fields, text, whole
from asterism.types.errors import UsageError
from scripts.write_docs import cli_page


@dataclass(frozen=True, slots=True, kw_only=True)
class Echo:
    query: Annotated[str, text("What comes back."), Option(is_position=True)]
    limit: Annotated[int, whole("How often.", 1, 9)] = 2
    stage: Annotated[str | None, choice("When.", ("early", "late"))] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Echoed:
    results: tuple[str, ...]


def echo(_call: Call, asked: Echo) -> CallReply:
    found = Echoed(results=(asked.query,) * asked.limit)
    return CallReply(parts=(TextPart(" ".join(found.results)),), structured=to_json(found))


SCRATCH = Operation(
    name="echo_text",
    title="Give a text back",
    description="Give a text back.",
    request=Echo,
    reply=Echoed,
    run=echo,
)


WITH_ECHO = (*COMMANDS, Command("echo", "Give a text back.", operation="echo_text"))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("echo x", "x x\n"),
        ("echo x --limit 3", "x x x\n"),
        ("echo x --json", {"results": ["x", "x"]}),
    ],
)
def test_an_operation_with_a_command(
    places: Path, capsys: pytest.CaptureFixture[str], line: str, expected: object
) -> None:
    options = build_parser(WITH_ECHO, (SCRATCH,)).parse_args(line.split())
    assert options.run(options) == 0
    printed = capsys.readouterr().out
    assert (json.loads(printed) if isinstance(expected, dict) else printed) == expected


def test_its_command_is_on_the_page() -> None:
    page = cli_page(build_parser(WITH_ECHO, (SCRATCH,)))
    assert "asterism echo [--limit N] [--stage {early,late}] [--json] QUERY" in page
    assert "| `--limit N` | how often (default: 2) |" in page


def test_a_number_keeps_to_the_bounds_of_its_field() -> None:
    options = build_parser(WITH_ECHO, (SCRATCH,)).parse_args(["echo", "x", "--limit", "10"])
    with pytest.raises(UsageError, match="--limit is 10; give 1 to 9"):
        request_from(Echo, options)


@dataclass(frozen=True, slots=True, kw_only=True)
class WiderSearch(SearchCode):
    colour: Annotated[str | None, choice("Only of this colour.", ("red", "blue"))] = None


def test_a_search_option_that_is_added_to_the_request() -> None:
    parser = CommandParser(command="search", arguments=lambda one: add_request(one, WiderSearch))
    options = parser.parse_args(["x", "--colour", "red"])
    assert request_from(WiderSearch, options) == WiderSearch(query="x", colour="red")
    assert "only of this colour" in parser.format_help()


@pytest.mark.parametrize(
    ("command", "request_record", "left_out"),
    [
        ("search", SearchCode, set()),
        ("similar", SimilarCode, set()),
        ("symbols", SymbolLookup, set()),
        ("callers", SymbolRelations, set()),
        ("callees", SymbolRelations, set()),
        ("refs", SymbolRelations, {"depth"}),
        ("ask", Ask, set()),
        ("chat", Ask, {"question", "requestId"}),
        ("conversations", ListConversations, set()),
        ("context", ContextOf, set()),
        ("agent", EditItem, {"agentName", "type"}),
        ("index", IndexCodebase, set()),
        ("index", AddRepository, set()),
        ("repos", AddRepository, set()),
        ("status", IndexPlace, set()),
    ],
)
def test_every_shown_field_is_an_argument(
    command: str, request_record: type[Any], left_out: set[str]
) -> None:
    [commands] = [action for action in build_parser()._actions if action.dest == "command"]
    assert isinstance(commands.choices, dict)
    taken = {action.dest for action in commands.choices[command]._actions}
    shown = {field.name for field in request_fields(request_record) if field.option.shown}
    assert shown - taken == left_out


def test_every_command_has_a_module() -> None:
    root = Path(__file__).resolve().parents[2] / "src/asterism/cli/commands"
    modules = {command.module or command.name for command in COMMANDS}
    assert {name for name in modules if not (root / f"{name}.py").is_file()} == set()
