"""Hostile calls of tools: queries of every kind, filters, cursors and arguments that do not fit.

A case is JSON: the tool and its arguments.
"""

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import jsonschema_rs

from asterism.operations.dispatch.toolbox import Toolbox
from asterism.operations.error_codes import CODES
from asterism.operations.limits import measured, written
from asterism.operations.registry import TOOLS
from tests.fuzz.mutations import damaged
from tests.fuzz.scene import FILES, leaks, toolbox_in
from tests.fuzz.target import Check, Target, one_by_one

QUERIES = (
    *(
        "how is a cart paid",
        "symbol = Cart.total",
        "symbol = Money",
        "regex:def \\w+",
        '"card refused"',
    ),
    *(
        "regex:class (\\w+)",
        "Cart",
        "cart.py:8",
        "where is total used",
        "Fix the rounding in total()",
    ),
    'Traceback (most recent call last):\n  File "cart.py", line 8, in total\n    return Money()\n'
    "ValueError: card refused",
    "    at pay (app.js:2:40)\n    at Object.<anonymous> (/srv/app.js:9:1)\nTypeError: x is not a function",
    "thread 'main' panicked at src/main.rs:4:5:\nindex out of bounds",
    "goroutine 1 [running]:\nmain.main()\n\t/src/naïve.go:3 +0x1d",
    "def total(self):\n    return Money(sum(item.price for item in self.items))",
)
PIECES = (
    *(
        "regex:",
        "symbol =",
        "symbol==",
        '"',
        "'",
        "`",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "*",
        "?",
        "\\",
        "|",
    ),
    *(
        "(?:",
        "(?=",
        "(?P<a>",
        "(?i)",
        "{9}",
        "{0,65535}",
        "\\b",
        "\\1",
        "\\p{L}",
        "[^",
        "[[:a:]]",
        "$",
        "^",
    ),
    *(
        "a" * 300,
        "é" * 200,
        "\0",
        "\ud800",
        "\u202e",
        "\U0001f600",
        "\n" * 50,
        "\t",
        " " * 500,
        "1" * 400,
    ),
    *(
        "../",
        "/etc/passwd",
        "~",
        "file:",
        "C:\\",
        "%00",
        "AND",
        "NOT",
        "' OR 1=1 --",
        ";",
        "${x}",
        "{{7*7}}",
    ),
    *(
        "at f (a.js:1:1)\n",
        'File "',
        '", line 9999999999999999999999',
        "Cart.",
        "::",
        "->",
        "<T>",
        "#",
        "@",
    ),
)
WORDS = (
    *(
        "python",
        "go",
        "Cart",
        "lib",
        "lib/",
        "*.py",
        "**/*.ts",
        "cart.py",
        "py",
        ".py",
        "class",
        "function",
    ),
    *(
        "definition",
        "usage",
        "hybrid",
        "exact",
        "semantic",
        "reader",
        "harbor",
        "true",
        "../",
        "/",
        "",
        ".",
    ),
)
KEYS = (
    *(
        "path",
        "path_prefix",
        "path_contains",
        "path_not_contains",
        "path_glob",
        "path_not_glob",
        "type",
    ),
    *(
        "extension",
        "languages",
        "language",
        "is_exported",
        "decorator_contains",
        "has_docstring",
        "repo",
    ),
    *("context_filepaths", "context_path_prefix", "min_lines", "kind", "name", "role", "nonsense"),
)
NUMBERS = (
    0,
    1,
    -1,
    2,
    50,
    100,
    10**6,
    2**31,
    2**63,
    -(2**63),
    10**400,
    0.5,
    1.0,
    -0.0,
    1e308,
    5e-324,
)
SEARCHING = ("search_code", "codebase_search", "symbol_lookup")
# Each needs a model or takes whole repositories; they have tests of their own.
LEFT_OUT = frozenset({"codebase_question", "run_agent_instruction"})


def _text(random: Random) -> str:
    text = random.choice((*QUERIES, *WORDS, *WORDS))
    for _ in range(random.choice((0, 0, 1, 1, 2, 6))):
        at = random.randrange(len(text) + 1)
        text = text[:at] + random.choice(PIECES) + text[at:]
    if random.random() < 0.1:
        text = damaged(text.encode("utf-8", "replace"), random)[:30_000].decode("utf-8", "replace")
    return text


def _value(random: Random, depth: int = 0) -> Any:
    kind = random.randrange(8 if depth < 3 else 5)
    if kind < 3:
        return _text(random)
    if kind == 3:
        return random.choice(NUMBERS)
    if kind == 4:
        return random.choice((None, True, False))
    if kind == 5:
        return [_value(random, depth + 1) for _ in range(random.choice((0, 1, 2, 5, 300)))]
    if kind == 6:
        return {random.choice(KEYS): _value(random, depth + 1) for _ in range(random.randrange(4))}
    return random.choice((*FILES,))


def _glob(random: Random) -> str:
    pieces = (
        "*",
        "**",
        "/",
        "?",
        "[a-z]",
        "[!",
        "a",
        ".py",
        "{",
        "}",
        "lib",
        "**/",
        "*a",
        "\\",
        "é",
    )
    return "".join(random.choice(pieces) for _ in range(random.choice((1, 3, 8, 40))))


def _filters(random: Random) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for _ in range(random.randrange(1, 4)):
        key = random.choice(KEYS)
        fits = random.choice(WORDS) if random.random() < 0.5 else _value(random)
        found[key] = _glob(random) if "glob" in key and random.random() < 0.7 else fits
    return found


def _cursor(random: Random) -> str:
    inside = random.choice(
        (
            json.dumps(["id", 1, "0" * 32, random.choice(NUMBERS[:9])]),
            json.dumps(_value(random)),
            "[" * 500,
            _text(random),
        )
    )
    data = inside.encode("utf-8", "replace")
    if random.random() < 0.4:
        data = damaged(data, random)
    text = base64.urlsafe_b64encode(data).decode().rstrip("=")
    return text if random.random() < 0.8 else _text(random)


def argument(name: str, schema: dict[str, Any], random: Random) -> Any:
    """A value for a parameter: mostly one that gets past the first check."""
    if random.random() < 0.06:
        return _value(random)
    if name == "filters":
        return _filters(random) if random.random() < 0.3 else _good_filters(random)
    if name == "cursor":
        return _cursor(random)
    if name in ("path", "file_path"):
        return random.choice(("cart.py", "lib", "lib/total.ts", "", ".", "long.py", "../shop"))
    if "anyOf" in schema:
        return argument(name, random.choice(schema["anyOf"]), random)
    if "enum" in schema:
        return random.choice(schema["enum"])
    kind = schema.get("type")
    if kind == "boolean":
        return random.random() < 0.5
    if kind == "array":
        return [_text(random) for _ in range(random.choice((0, 1, 1, 3)))]
    if kind in ("integer", "number"):
        low, high = schema["minimum"], schema["maximum"]
        middle = random.uniform(low, high)
        return random.choice((low, high, int(middle) if kind == "integer" else middle))
    if name in ("query", "name", "question", "code", "code_snippet", "text"):
        return _text(random)
    return random.choice((*FILES, *WORDS)) if random.random() < 0.8 else _text(random)


GOOD_FILTERS: tuple[dict[str, Any], ...] = (
    {},
    {"languages": ["python", "go"]},
    {"extension": "py"},
    {"path_prefix": "lib/"},
    {"path_contains": "a"},
    {"is_exported": True},
    {"type": "function"},
    {"has_docstring": False},
    {"decorator_contains": "x"},
    {"context_filepaths": ["cart.py"]},
)


def _good_filters(random: Random) -> dict[str, Any]:
    one, other = random.choice(GOOD_FILTERS), random.choice(GOOD_FILTERS)
    globs = {"path_glob": _glob(random)} if random.random() < 0.4 else {}
    return {**one, **other, **globs}


def arguments(
    parameters: dict[str, Any], required: tuple[str, ...], random: Random
) -> dict[str, Any]:
    """Arguments of a call: those that are needed, nearly always, and some others."""
    given = {
        name: argument(name, schema, random)
        for name, schema in parameters.items()
        if (name in required and random.random() < 0.97)
        or random.random() < (0.02 if name.endswith("_id") else 0.15)
    }
    if random.random() < 0.03:
        given[_text(random)] = _value(random)
    return given


def _case(random: Random) -> bytes:
    others = [name for name in TOOLS if name not in LEFT_OUT]
    name = random.choice(SEARCHING if random.random() < 0.8 else others)
    tool = TOOLS[name]
    call = {"tool": name, "arguments": arguments(dict(tool.parameters), tool.required, random)}
    return json.dumps(call).encode()


def only_with_path(given: dict[str, Any], place: Path) -> bool:
    """Whether a call leaves the machine's own directories alone; indexing `/` takes for ever."""
    path = given.get("path")
    return path is None or not isinstance(path, str) or str(path).startswith(str(place))


@contextmanager
def _opened(place: Path) -> Iterator[Check]:
    with toolbox_in(place) as toolbox:

        def check(case: bytes) -> list[str]:
            try:
                call = json.loads(case)
                name, given = call["tool"], call["arguments"]
            except (ValueError, KeyError, TypeError, RecursionError):
                return []
            if name not in TOOLS or not isinstance(given, dict):
                return []
            return _complaints(toolbox, name, given)

        yield check


CODE_NAMES = {code.name for code in CODES.values()}


def _complaints(toolbox: Toolbox, name: str, given: dict[str, Any]) -> list[str]:
    reply = toolbox.call(name, given)
    sent = json.dumps(written(reply), ensure_ascii=False, allow_nan=False)
    wrong = leaks(sent)
    try:
        sent.encode()
    except UnicodeEncodeError:
        wrong.append("the reply holds lone surrogates")
    if measured(reply) > 100_000:
        wrong.append(f"the reply has {measured(reply)} characters")
    if reply.error is not None:
        if reply.error not in CODE_NAMES:
            wrong.append(f"{name} failed with {reply.error}")
        if not reply.parts[0].text.endswith(f"[{reply.error}]"):
            wrong.append("the failure does not end with its code")
    elif reply.structured is not None and (valid := _validator(name)) is not None:
        wrong.extend(
            f"{name} not as described: {one.message}" for one in _errors(valid, reply.structured)
        )
    return wrong


def _errors(valid: Any, value: Any) -> list[Any]:
    return list(valid.iter_errors(value))[:3]


@cache
def _validator(name: str) -> Any:
    output = TOOLS[name].reply_schema if TOOLS[name].shows_reply else None
    return None if output is None else jsonschema_rs.validator_for(output)


TARGET = Target(
    name="calls",
    about="hostile queries, filters, cursors and arguments of tools",
    cases=one_by_one(_case),
    opened=_opened,
    batch=100,
    tries=300,
    deadline=120,
)
