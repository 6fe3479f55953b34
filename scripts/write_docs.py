"""Writes the pages of docs/ that are generated from the code, so that they cannot drift from it."""

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from asterism.cli.parser import build_parser
from asterism.config.environment import CACHE, DATA, UserDirectory
from asterism.config.layers import SECRETS
from asterism.config.setting import Setting, SettingKind, Voice, rules
from asterism.config.settings import all_settings
from asterism.models.embed import options as embed
from asterism.models.rerank import options as rerank
from asterism.operations.error_codes import CODES, INTERNAL
from asterism.operations.operation import Operation
from asterism.operations.registry import OPERATIONS, tools_of
from asterism.operations.schema import Json
from asterism.servers.mcp.handshake import INSTRUCTIONS
from asterism.types.request_limits import FIELDS
from asterism.types.search import FILTER_KEYS
from scripts.house import trace
from scripts.languages_section import languages_list, languages_table, visibility_table
from scripts.programs_section import programs_section

ROOT = Path(__file__).resolve().parent.parent
SECURITY = ROOT / "docs" / "security.md"
HTTP = ROOT / "docs" / "http.md"
OUTLINES = ROOT / "docs" / "outlines.md"
README = ROOT / "README.md"

CLI_HEADER = """\
# Command line

<!-- Written by `make fix` from the argument parser; do not edit by hand. -->
"""


SETTINGS_HEADER = """\
# Settings

<!-- Written by `make fix` from the settings themselves; do not edit by hand. -->

A value is looked for in this order, and the first one found counts: an option of the command,
`asterism.toml` in the repository, the user's file (`~/.config/asterism/config.toml`, or below
`$XDG_CONFIG_HOME`), the environment, the default. Both files are TOML:

    [discovery]
    max_file_bytes = 2_000_000

A wrong value in a file or on the command line is an error that says what is allowed; one in the
environment is ignored with a warning. There, true and false may also be written 1 and 0, yes and
no, on and off; the paths of a list are separated as in `PATH`.
"""

TRUST_SECTION = """\
## What a repository may change

A repository's `asterism.toml` is written by the repository's author. What it may do with a setting
is said at each one. Values that it may not set are left out, with one warning that names the key,
the value and what applies instead, until you trust the folder that holds the file:
`asterism trust ~/code/shop` adds it to your own settings. Trust also lets language servers and the
repository's agents start programs ([security.md](security.md)). Commands give the warning once,
and again when it changes; `asterism doctor` always gives it. A trusted file with a model that does
not exist or has other vectors is an error, which names the file, the keys and `asterism untrust`.

    [trust]
    repositories = ["~/code/shop"]

An entry is an absolute path, `~/` allowed, without links in it. It is for this folder alone, not
for repositories below it. The reasons, and what else is checked of such a file, are in
[security.md](security.md#what-a-repositorys-settings-may-change).
"""

REPOSITORY_TABLE = """\
| a repository may | trusted | settings |
| --- | --- | --- |
{rows}
"""

REPOSITORY_MAY = {
    Voice.anyone: ("set any value", "any value"),
    Voice.only_lower: ("only lower", "any value"),
    Voice.only_higher: ("only raise", "any value"),
    Voice.trusted: ("change nothing", "any value"),
    Voice.user: ("change nothing", "nothing"),
}
"""What a repository may do with a setting, and what one that the user trusts may."""

REPOSITORY_SAID = {
    Voice.anyone: "A repository may set any value.",
    Voice.only_lower: "A repository may only set a lower value than yours.",
    Voice.only_higher: "A repository may only set a higher value than yours.",
    Voice.trusted: "Only a repository that you trust may set it.",
    Voice.user: "No repository may set it.",
}

SECRETS_SECTION = """\
## Secrets

Keys come from the environment only; one in a file is an error. {own} are sent to whatever server
their section names. Without them {vendors} is used, and sent to that vendor's own address only.
`{token}` is the token that requests to `asterism serve` must carry; the file that
`server.token_file` names may hold it instead.
"""

PLACES_SECTION = """\
## Places

| what | variable | otherwise | macOS | Windows |
| --- | --- | --- | --- | --- |
{rows}

The variable holds an absolute path. Both places can be read by their owner only, for what is in
them was made from source. The cache can be removed at any time.
"""


TOOLS_HEADER = """\
# Tools for agents

<!-- Written by `make fix` from the tools themselves; do not edit by hand. -->

`asterism mcp` serves these tools over MCP on standard input and output, `asterism serve` over HTTP
([http.md](http.md)). A reply has at most 100,000
characters as it is sent, `max_tokens` lowers that, and every reply accounts for what it left out.
"""

ERRORS_SECTION = """\
## Errors

A call that fails is answered with a sentence that says what to do next. It ends with a code in
brackets, which stays the same from version to version and is also in `_meta.asterism.code`.

| code | what happened |
| --- | --- |
{rows}
"""

INSTRUCTIONS_SECTION = """\
## What a model is told at the start

```
{text}```
"""


def pages() -> dict[Path, str]:
    """Return every generated page: its path and the text it should have."""
    return {
        ROOT / "docs" / "cli.md": cli_page(build_parser()),
        ROOT / "docs" / "settings.md": settings_page(),
        ROOT / "docs" / "tools.md": tools_page(),
        **{page: with_tables(page, tables) for page, tables in tables_of().items()},
    }


def tables_of() -> dict[Path, dict[str, str]]:
    """Tables in pages that are otherwise written by hand, by page and name."""
    return {
        SECURITY: {
            "programs": programs_section(),
            "repository-settings": repository_table(),
            "limits": limits_table(),
        },
        OUTLINES: {"languages": languages_table(), "visibility": visibility_table()},
        HTTP: {"operations": operations_table()},
        README: {"languages": languages_list()},
    }


def with_tables(page: Path, tables: dict[str, str]) -> str:
    """A page written by hand, with the tables between its marks written again."""
    text = page.read_text(encoding="utf-8")
    for name, table in tables.items():
        begin, end = f"<!-- table {name}, written by `make fix` -->\n", "<!-- end of table -->"
        before, mark, rest = text.partition(begin)
        _old, ending, after = rest.partition(end)
        if not (mark and ending):
            raise ValueError(f"{page.name} has no place for the table {name}")
        text = f"{before}{begin}\n{table}\n{end}{after}"
    return text


def limits_table() -> str:
    """The limits of every field of a request."""
    lines = [
        "| field | characters of a text | entries | wildcards of a text |",
        "| --- | --- | --- | --- |",
    ]
    fields = {**FIELDS, **{f"filters.{name}": key.bound for name, key in FILTER_KEYS.items()}}
    for name, bound in sorted(fields.items(), key=lambda pair: pair[0].lower()):
        if any(part is not None for part in bound):
            cells = " | ".join("" if part is None else f"{part:,}" for part in bound)
            lines.append(f"| `{name}` | {cells} |")
    return "\n".join([*lines, ""])


def operations_table(operations: Iterable[Operation] = OPERATIONS) -> str:
    """Every operation that the HTTP API has, with its tool if it is one."""
    rows = [
        f"| `{one.route.method} {one.route.path}` | {f'`{one.name}`' if one.is_tool else ''} "
        f"| {one.title} |"
        for one in operations
        if one.route is not None
    ]
    return "\n".join(["| operation | tool | for |", "| --- | --- | --- |", *rows, ""])


def tools_page(operations: Iterable[Operation] = OPERATIONS) -> str:
    """Describe every tool, every error and the server's instructions in Markdown."""
    sections = [TOOLS_HEADER, *(_tool(tool) for tool in tools_of(operations).values())]
    kinds = {kind.__doc__ or "": code.name for kind, code in CODES.items()}
    rows = [f"| `{name}` | {_cell(text)} |" for text, name in kinds.items()]
    rows.append(f"| `{INTERNAL.name}` | A mistake of Asterism's; its log says which. |")
    sections.append(ERRORS_SECTION.format(rows="\n".join(rows)))
    return "\n".join([*sections, INSTRUCTIONS_SECTION.format(text=INSTRUCTIONS)])


def _tool(tool: Operation) -> str:
    hints = ["only reads" if tool.read_only else "writes the index"]
    hints += ["may be repeated without harm"] if tool.idempotent else []
    lines = [f"## `{tool.name}`", "", f"{tool.title}; {', '.join(hints)}.", ""]
    lines += ["```", *tool.description.splitlines(), "```", ""]
    lines += ["| parameter | type | meaning |", "| --- | --- | --- |"]
    for name, schema in tool.parameters.items():
        needed = " (required)" if name in tool.required else ""
        meaning = _cell(schema["description"])
        lines.append(f"| `{name}`{needed} | {_cell(_type(schema))} | {meaning} |")
    return "\n".join([*lines, ""])


def _type(schema: Json) -> str:
    if "anyOf" in schema:
        one = schema["anyOf"][0]
        return f"{_type(one)}, one or a list"
    words = [", ".join(f"`{word}`" for word in schema["enum"])] if "enum" in schema else []
    words = words or [schema["type"]]
    if "minimum" in schema:
        words.append(f"{schema['minimum']:,} to {schema['maximum']:,}")
    if "default" in schema:
        words.append(f"default {str(schema['default']).lower()}")
    return "; ".join(words)


def settings_page() -> str:
    """Describe every setting in Markdown."""
    lines = [SETTINGS_HEADER]
    for setting in all_settings():
        allowed = setting.allowed[0].upper() + setting.allowed[1:]
        lines += [
            f"## `{setting.key}`",
            "",
            f"{setting.purpose} {allowed}; {_default(setting)} by default.",
            f"In the environment {_variables(setting)}.",
        ]
        lines.append(f"{_repository_may(setting)}")
        lines.append("")
    return "\n".join([*lines, TRUST_SECTION, _secrets(), _places()])


def _default(setting: Setting) -> str:
    default = setting.default
    if isinstance(default, bool):
        return str(default).lower()
    if isinstance(default, int | float):
        return f"{default:,}"
    return f"`{default}`" if default else "nothing"


def _variables(setting: Setting) -> str:
    older = (
        f", or `{setting.older_variable}` where that is not set" if setting.older_variable else ""
    )
    return f"`{setting.variable}`{older}"


def _repository_may(setting: Setting) -> str:
    if setting.kind is SettingKind.boolean and setting.voice is Voice.only_lower:
        return "A repository may only turn it off."
    return REPOSITORY_SAID[setting.voice]


def repository_table() -> str:
    """What a repository may do with each setting, for the page on security."""
    rows = [
        f"| {may} | {trusted} | {', '.join(f'`{key}`' for key in rules(all_settings())[voice])} |"
        for voice, (may, trusted) in REPOSITORY_MAY.items()
    ]
    return REPOSITORY_TABLE.format(rows="\n".join(rows))


def _secrets() -> str:
    keys = [variable for name, variable in SECRETS.items() if name.endswith(".api_key")]
    own = " and ".join(f"`{variable}`" for variable in keys)
    variables = dict.fromkeys([*embed.KEY_VARIABLES.values(), *rerank.KEY_VARIABLES.values()])
    vendors = " or ".join(f"`{variable}`" for variable in variables)
    return SECRETS_SECTION.format(own=own, vendors=vendors, token=SECRETS["server.token"])


def _places() -> str:
    rows = [_place("indexes", DATA), _place("cache of vectors", CACHE)]
    return PLACES_SECTION.format(rows="\n".join(rows))


def _place(what: str, place: UserDirectory) -> str:
    unix = f"`${place.xdg_variable}/asterism`, else `~/{place.below_home}/asterism`"
    macos = f"`~/{place.on_macos}/asterism`"
    windows = "`%LOCALAPPDATA%\\" + place.on_windows.replace("/", "\\") + "`"
    return f"| {what} | `{place.variable}` | {unix} | {macos} | {windows} |"


def cli_page(parser: argparse.ArgumentParser) -> str:
    """Describe the program and each of its commands in Markdown.

    The parser's records are read directly: argparse's own help text depends on the terminal's width
    and differs from one Python release to the next.
    """
    sections = [CLI_HEADER, _section(parser, parser.prog, level=2)]
    for name, command in _commands(parser):
        sections.append(_section(command, f"{parser.prog} {name}", level=2))
    return "\n".join(sections)


def _section(parser: argparse.ArgumentParser, title: str, level: int) -> str:
    lines = [f"{'#' * level} `{title}`", ""]
    description = _folded(parser.description)
    if description:
        lines += [description, ""]
    lines += ["```", _usage(parser, title), "```", ""]
    rows = [(_spelling(action), _help(action, title)) for action in _visible(parser)]
    if rows:
        lines += ["| argument | meaning |", "| --- | --- |"]
        lines += [f"| `{spelling}` | {meaning} |" for spelling, meaning in rows]
        lines.append("")
    summaries = _summaries(parser)
    if summaries:
        lines += ["| command | what it does |", "| --- | --- |"]
        lines += [f"| `{name}` | {_cell(text)} |" for name, text in summaries]
        lines.append("")
    epilog = parser.epilog.strip() if parser.epilog else ""
    if epilog:
        lines += ["```", *epilog.splitlines(), "```", ""]
    return "\n".join(lines)


def _usage(parser: argparse.ArgumentParser, title: str) -> str:
    words = [title]
    optional = [action for action in _visible(parser) if action.option_strings]
    positional = [action for action in _visible(parser) if not action.option_strings]
    for action in optional:
        word = action.option_strings[-1]
        if _takes_value(action):
            word += f" {_value(action)}"
        words.append(word if action.required else f"[{word}]")
    words += [_value(action) for action in positional]
    if _summaries(parser):
        words.append("COMMAND …")
    return " ".join(words)


def _spelling(action: argparse.Action) -> str:
    if not action.option_strings:
        return _value(action)
    names = ", ".join(action.option_strings)
    return f"{names} {_value(action)}" if _takes_value(action) else names


def _takes_value(action: argparse.Action) -> bool:
    return action.nargs != 0


def _value(action: argparse.Action) -> str:
    if action.metavar is not None:
        name = action.metavar if isinstance(action.metavar, str) else " ".join(action.metavar)
    elif action.choices is not None:
        name = "{" + ",".join(str(choice) for choice in action.choices) + "}"
    else:
        name = action.dest.upper()
    match action.nargs:
        case "+":
            return f"{name} [{name} …]"
        case "*":
            return f"[{name} …]"
        case "?":
            return f"[{name}]"
        case _:
            return name


def _help(action: argparse.Action, program: str) -> str:
    text = _folded(action.help)
    if "%" in text:
        text = text % {**vars(action), "prog": program}
    if action.choices is not None and action.metavar is not None:
        text += f" ({', '.join(str(choice) for choice in action.choices)})"
    return _cell(text)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _folded(text: str | None) -> str:
    return " ".join((text or "").split())


def _visible(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    return [
        action
        for action in parser._actions
        if action.help != argparse.SUPPRESS
        and not isinstance(action, argparse._SubParsersAction | argparse._HelpAction)
    ]


def _subparsers(
    parser: argparse.ArgumentParser,
) -> Iterable["argparse._SubParsersAction[argparse.ArgumentParser]"]:
    return (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))


def _commands(parser: argparse.ArgumentParser) -> list[tuple[str, argparse.ArgumentParser]]:
    return [pair for action in _subparsers(parser) for pair in action.choices.items()]


def _summaries(parser: argparse.ArgumentParser) -> list[tuple[str, str]]:
    return [
        (str(choice.dest), _folded(choice.help))
        for action in _subparsers(parser)
        for choice in action._choices_actions
    ]


def main() -> int:
    """Write each page whose text has changed and say which."""
    for path, text in pages().items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8", newline="\n")
            print(f"wrote {path.relative_to(ROOT)}")
    return trace.main()


if __name__ == "__main__":
    sys.exit(main())
