"""Patterns and loops over texts of others: their time grows with the text, not with its square.

Each case runs over a hundred thousand characters in a process of its own, which is ended after
minutes. What takes linear time needs well under a second of them; what takes the square of the
length would need hours, and backtracking without bounds would never end.
"""

import subprocess
import sys
from itertools import product

import pytest

from asterism.languages.registry import languages

GENEROUS_SECONDS = 300
SIZE = 150_000
"""Characters of a text where nothing else limits it."""

RUNNER = """if True:
    import json, re, sys
    from importlib import import_module

    def found(name):
        module, _, attribute = name.rpartition(".")
        return getattr(import_module("asterism." + module), attribute)

    def each(value):
        if isinstance(value, re.Pattern):
            return [value]
        inner = value.values() if isinstance(value, dict) else value
        return [pattern for one in inner for pattern in each(one)]

    work = json.load(sys.stdin)
    for name, how, texts in work:
        target = re.compile(name, re.M) if how == "pattern" else found(name)
        for text in texts:
            if how.startswith("call"):
                try:
                    target(text, *json.loads(how[4:] or "[]"))
                except Exception as error:
                    assert type(error).__name__ in ("UsageError", "JSONDecodeError"), (name, error)
                continue
            for pattern in each(target):
                given = text.encode() if isinstance(pattern.pattern, bytes) else text
                if how == "match":
                    pattern.match(given)
                else:
                    for _ in pattern.finditer(given):
                        pass
    print("done")
"""

SIGNS = [*"aA1_.,:;!?/\\-()[]{}<>=@#$%^&*+|~`'\"é漢…"]
PUMPS = [
    *SIGNS,
    *(
        one + other
        for one, other in product(SIGNS, ["a", " ", "\n", ".", "'", '"', "\\", "(", "1"])
    ),
    *("\n", " \n", "\t", "\r", "  ", '"\\', "at ", "at a.", "panicked at '", 'File "', "1: "),
    *("\tat a(a.a:1)\n", "SELECT ", "const a ", "if :", "a: ", "use a::", "class ", "def "),
    *("aError: ", "a.AError", "Caused by: ", "```", "``", "“", "‘", "「", "who uses ", "test "),
    *("a b c d ", "http://", "www.", "C:", "::a", "->", "0x", "e.g.", "don't ", "'n' ", "{;"),
    *("</a b=", "@a(", "=> ", ") -> ", "--a", "thread '", 'Exception in thread "', "(*a).", "- "),
    *("@rule:", "\n- a", "symbol = ", "regex:", "where is a used ", '"a" '),
]
"""What a text may consist of, over and over."""


def check(cases: list[tuple[str, str, list[str]]]) -> None:
    """Run (name, how, texts) in a process of its own and wait for its end."""
    import json

    assert run_python(RUNNER, json.dumps(cases)) == "done\n"


def run_python(program: str, given: str) -> str:
    """What a program prints that is run in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=given,
        capture_output=True,
        text=True,
        timeout=GENEROUS_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    return done.stdout


def long(pump: str, before: str = "", after: str = "\x01", size: int = SIZE) -> str:
    return before + pump * (size // len(pump)) + after


def test_questions() -> None:
    """Everything that is read out of a question; of its characters ten thousand count."""
    check(
        [
            ("search.query.parse.understand", "call", [long(pump, size=10_000) for pump in PUMPS]),
            (
                "search.query.parse.understand",
                "call",
                [long(pump, 'a "b" ', size=10_000) for pump in PUMPS[::4]],
            ),
            (
                "search.query.parse.understand_code",
                "call",
                [long(pump, size=10_000) for pump in PUMPS[1::4]],
            ),
        ]
    )


@pytest.mark.parametrize(
    ("name", "pumps"),
    [
        ("search.query.names.is_error", ["\n", " \n", "a.", "\r", "at a.", "aError: "]),
        ("search.query.names.is_snippet", ["d", "\n ", "a: ", "{;", "a.", "= "]),
        (
            "search.query.paths.frames_in",
            ["\n", "a.", "at a.", "panicked at '", "a/", "1: "],
        ),
        ("search.query.text.quotes_in", ['"\\', '\\"', "'a", "`", "``", "```a", "‘"]),
        ("search.query.names.names_in", ["A", "a.", "a-", "!A", "a:", "--a"]),
        ("search.query.names.all_names_in", ["A", "a.", "a-", "!A", "a::"]),
        (
            "search.query.paths.places_in",
            [".", "..", "\\", "@", "-", "a.", "http://", "www."],
        ),
        ("search.query.text.sentences_of", [".", "!'", "…", "\n\n ", "\n- ", "e.g."]),
        ("search.query.parse.used_name", [" ", "who uses ", "who uses a" + " " * 9, "a."]),
        (
            "search.query.parts.parts_of",
            ["\n", "a ", "<!--", "```\n", "`", "a: ", "- [ ]", "# ", "1.", ">>> "],
        ),
        ("search.query.text.has_content", ["a", "n't", "'s", "e.g."]),
        ("analysis.terms.terms_of", ["a", "A", "aA", "1a", "漢", "é", "_", "_a"]),
        ("context.items.pieces_of", ["a", ".", "\n\n", " ", ". ", "a\n"]),
        ("context.items.query_sentences", ["a", ".", "\n\n", " ", ". ", "a\n"]),
        ("chat.extractive.first_sentence", ["a", ". ", "@a\n", " ", "\n"]),
        ("structure.typescript.config.loads", ['\\"', '"\\', "/*", "//", ",", ", "]),
        ("types.files.display_path", ["a", "\n", "é", "\\"]),
    ],
)
def test_functions(name: str, pumps: list[str]) -> None:
    check([(name, "call", [long(pump) for pump in pumps])])


def test_functions_of_more_than_a_text() -> None:
    mentions = [long(pump) for pump in ("@rule:", "@rule:a", '@rule:"', "@", '@rule:"a" ')]
    logged = [long(pump) for pump in ("a", "bearer ", "//", "//a:", "key=", "eyJ-", "-----BEGIN ")]
    check([("context.choice.mentions", "call[[]]", mentions)])
    check([("telemetry.events.excerpt", "call[2000]", logged)])


@pytest.mark.parametrize(
    ("name", "how", "pumps"),
    [
        ("structure.typescript.config._TOKEN", "find", ['\\"', '"\\', "/*", "//", ",", ", "]),
        ("structure.typescript.signatures._COMMENT", "find", ['\\"', "'\\", "`\\", "/"]),
        ("structure.uses._CALL", "match", [" ", "<", "<[", "\n"]),
        ("structure.python.references._ASSIGNED", "match", ["a", "a ", ": ", "a:" + " " * 9]),
        ("structure.servers.session._OF", "find", ["1", "1/"]),
        ("analysis.resolve.variables._SET", "find", ["a,", "a:", "a: ", ",A", "a ", "a\t"]),
        (
            "analysis.resolve.variables._BLOCK_BRACKET",
            "find",
            ['"', "'", "`", "/*", "//", "{", '\\"'],
        ),
        ("analysis.resolve.variables._WITH", "find", ["with a(", "with ", "a."]),
        ("analysis.resolve.variables._TYPE_ARGUMENTS", "match", ["<", "[", "a", "<["]),
        ("analysis.resolve.parameters._BEHIND", "find", ["\n", " ", "\t\n", ": "]),
        ("analysis.syntax.prose._LINK", "find", ["[", "[a](", "![", "[]("]),
        ("analysis.syntax.text._DOTTED", "find", ["1", "_", "a:", "1:"]),
        ("analysis.syntax.text._BLOCK_CLOSE", "find", ["*", "=", "]=", "* "]),
        ("languages.php.names._BROKEN_CHAIN", "find", [" ", "\n", "\t"]),
        ("context.agents.text._COMMENT", "find", [" ", "\t", " \t"]),
    ],
)
def test_patterns(name: str, how: str, pumps: list[str]) -> None:
    befores = ("", "a", "a = b<", "include", "package", "include ")
    texts = [long(pump, before) for pump in pumps for before in befores]
    check([(name, how, texts)])


def test_patterns_of_languages() -> None:
    """What facets hold as text; the others match at one place or read paths."""
    patterns = {
        pattern.decode() if isinstance(pattern, bytes) else pattern
        for facets in languages()
        for pattern in (
            facets.scopes.package_line,
            facets.types.attribute_set,
            facets.bases.mark,
            facets.bases.mixins,
            facets.bases.interface_name,
        )
        if pattern
    }
    pumps = [
        "\n",
        " \n",
        "include ",
        "use ",
        "package ",
        "namespace ",
        "self.",
        "@",
        "/",
        "/go/src/",
    ]
    texts = [long(pump, before) for pump in pumps for before in ("", "a", "include", "package")]
    assert len(patterns) > len(pumps)
    check([(pattern, "pattern", texts) for pattern in sorted(patterns)])
