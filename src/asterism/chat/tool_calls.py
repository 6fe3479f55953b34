"""Tool calls of a model: which may run, which wait, and what comes of them."""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from asterism.chat.ports import ToolOutput, Tools, TurnOptions
from asterism.chat.prompts import shortened
from asterism.types.agent_settings import Permission
from asterism.types.chat import Round, ToolCall, ToolResult, ToolSpec
from asterism.types.errors import AsterismError

REFUSED = "The user refused this call. Go on without it, or say why it is needed."
REPEATED = (
    "This call was made before with the same arguments, and its result stands above. Use that, "
    "call something else, or answer."
)


class Sorted(NamedTuple):
    """The calls of one reply, by what happens to them."""

    run: tuple[tuple[ToolCall, ToolSpec, Mapping[str, object]], ...] = ()
    wait: tuple[ToolCall, ...] = ()
    """Those that need the user's approval."""
    answered: tuple[ToolResult, ...] = ()
    """Those that are answered without being run."""


def offered(tools: Iterable[ToolSpec]) -> tuple[ToolSpec, ...]:
    """The tools a model hears of: not those that are never allowed; of one name the first."""
    named: dict[str, ToolSpec] = {}
    for tool in tools:
        if tool.permission is not Permission.never:
            named.setdefault(tool.name, tool)
    return tuple(named.values())


class CallTerms(NamedTuple):
    """What may be called."""

    tools: tuple[ToolSpec, ...]
    options: TurnOptions
    approvals: Mapping[str, bool] = {}
    """By id, whether the user approved a call that waited."""


def sort_calls(calls: Sequence[ToolCall], before: Sequence[Round], terms: CallTerms) -> Sorted:
    """What happens to each call, given the rounds before.

    A tool that can change something waits for approval, whatever its permission says.
    """
    known = {tool.name: tool for tool in terms.tools}
    approvals, most = terms.approvals, terms.options.calls_at_once
    made = Counter(
        same(call)
        for one in before
        for call in one.calls
        if any(result.call_id == call.id and not result.is_error for result in one.results)
    )
    run, wait, answered = [], [], []
    for number, call in enumerate(calls):
        tool = known.get(call.name)
        arguments = read_arguments(call, tool)
        if number >= most:
            answered.append(_said(call, f"Only {most} calls are taken at once; ask again."))
        elif isinstance(arguments, str) or tool is None:
            answered.append(_said(call, str(arguments) if tool else unknown(call, known)))
        elif approvals.get(call.id) is False:
            answered.append(_said(call, REFUSED))
        elif call.id not in approvals and must_ask(tool):
            wait.append(call)
        elif made[same(call)] and not tool.effects:
            answered.append(_said(call, REPEATED))
        else:
            run.append((call, tool, arguments))
            made[same(call)] += 1
    return Sorted(tuple(run), tuple(wait), tuple(answered))


def must_ask(tool: ToolSpec) -> bool:
    """Whether it needs the user's approval before it is called."""
    return tool.effects or tool.permission is not Permission.always


def is_looping(rounds: Sequence[Round], options: TurnOptions) -> bool:
    """Whether the model keeps asking for what it has had."""
    texts = [result.text for one in rounds for result in one.results]
    if texts.count(REPEATED) >= options.repeats:
        return True
    # The same reply again and again, each time in vain.
    last = rounds[-(options.repeats + 1) :]
    asked = {tuple(same(call) for call in one.calls) for one in last}
    in_vain = all(result.is_error for one in last for result in one.results)
    return len(last) > options.repeats and len(asked) == 1 and in_vain


def same(call: ToolCall) -> tuple[str, str]:
    """What two calls share that ask for the same."""
    try:
        arguments = json.dumps(json.loads(call.arguments or "{}"), sort_keys=True)
    except (ValueError, RecursionError):
        arguments = call.arguments
    return call.name, arguments


def read_arguments(call: ToolCall, tool: ToolSpec | None) -> Mapping[str, object] | str:
    """The arguments, or a sentence for the model about what is wrong with them."""
    try:
        arguments = json.loads(call.arguments.strip() or "{}")
    except (ValueError, RecursionError):
        return "The arguments are not valid JSON; call again with a JSON object."
    if not isinstance(arguments, dict):
        return "The arguments have to be a JSON object; call again with one."
    required = tool.schema.get("required") if tool is not None else None
    names = required if isinstance(required, list | tuple) else ()
    missing = [str(name) for name in names if name not in arguments]
    if missing:
        return f"The arguments lack {', '.join(missing)}; call again with all of them."
    return arguments


def unknown(call: ToolCall, known: Iterable[str]) -> str:
    """What a model is told that calls a tool which is not there."""
    name = call.name[:100] or "(no name)"
    names = ", ".join(sorted(known)) or "none"
    return f"There is no tool {name}. The tools are: {names}."


async def run_call(
    call: ToolCall, tool: ToolSpec, arguments: Mapping[str, object], how: tuple[Tools, TurnOptions]
) -> ToolResult:
    """Call a tool; a failure is something that the model is told."""
    tools, options = how
    began = time.perf_counter()
    try:
        async with asyncio.timeout(options.tool_seconds):
            output = await tools.call(tool, arguments)
    except TimeoutError:
        output = ToolOutput(
            f"The tool did not answer within {options.tool_seconds:.0f} seconds.", is_error=True
        )
    except AsterismError as error:
        output = ToolOutput(str(error), is_error=True)
    milliseconds = round((time.perf_counter() - began) * 1000)
    return trimmed(call, output, options)._replace(milliseconds=milliseconds)


def trimmed(call: ToolCall, output: ToolOutput, options: TurnOptions) -> ToolResult:
    """A result in the size that a model and a database can take, saying what is gone."""
    text = shortened(output.text, options.tool_chars)
    left_out = len(output.text) - options.tool_chars if text is not output.text else 0
    data = output.data
    if data is not None and not _is_small(data, options.data_chars):
        data = None
    return ToolResult(call.id, call.name, text, output.is_error, data, left_out)


def _is_small(data: Mapping[str, object], most: int) -> bool:
    """Whether it is written in so many characters, without writing much more than that."""
    written = 0
    try:
        for piece in json.JSONEncoder(ensure_ascii=False).iterencode(data):
            written += len(piece)
            if written > most:
                return False
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _said(call: ToolCall, sentence: str) -> ToolResult:
    return ToolResult(call.id, call.name, sentence, is_error=True)
