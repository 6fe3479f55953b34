"""Patterns and loops over texts of others: their time grows with the text, not with its square.

Each case runs over a hundred thousand characters in a process of its own, which is ended after
minutes. What takes linear time needs well under a second of them; what takes the square of the
length would need hours, and backtracking without bounds would never end.
"""

import subprocess
import sys
from itertools import product

import pytest

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
        target = found(name)
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

    done = subprocess.run(
        [sys.executable, "-c", RUNNER],
        input=json.dumps(cases),
        capture_output=True,
        text=True,
        timeout=GENEROUS_SECONDS,
        check=False,
    )
    assert done.stdout == "done\n", done.stderr[-2_000:]


def long(pump: str, before: str = "", after: str = "\x01", size: int = SIZE) -> str:
    return before + pump * (size // len(pump)) + after


def test_questions() -> None:
    """Everything that is read out of a question; of its characters ten thousand count."""
    check(
        [
            ("retrieval.questions.understand", "call", [long(pump, size=10_000) for pump in PUMPS]),
            (
                "retrieval.questions.understand",
                "call",
                [long(pump, 'a "b" ', size=10_000) for pump in PUMPS[::4]],
            ),
            (
                "retrieval.questions.understand_code",
                "call",
                [long(pump, size=10_000) for pump in PUMPS[1::4]],
            ),
        ]
    )


@pytest.mark.parametrize(
    ("name", "pumps"),
    [
        ("retrieval.questions_code.is_error", ["\n", " \n", "a.", "\r", "at a.", "aError: "]),
        ("retrieval.questions_code.is_snippet", ["d", "\n ", "a: ", "{;", "a.", "= "]),
        (
            "retrieval.questions_traces.frames_in",
            ["\n", "a.", "at a.", "panicked at '", "a/", "1: "],
        ),
        ("retrieval.questions_quotes.quotes_in", ['"\\', '\\"', "'a", "`", "``", "```a", "‘"]),
        ("retrieval.questions_names.names_in", ["A", "a.", "a-", "!A", "a:", "--a"]),
        ("retrieval.questions_names.all_names_in", ["A", "a.", "a-", "!A", "a::"]),
        (
            "retrieval.questions_paths.places_in",
            [".", "..", "\\", "@", "-", "a.", "http://", "www."],
        ),
        ("retrieval.questions_sentences.sentences_of", [".", "!'", "…", "\n\n ", "\n- ", "e.g."]),
        ("retrieval.questions_uses.used_name", [" ", "who uses ", "who uses a" + " " * 9, "a."]),
        ("retrieval.questions_words.has_content", ["a", "n't", "'s", "e.g."]),
        ("analysis.terms.terms_of", ["a", "A", "aA", "1a", "漢", "é", "_", "_a"]),
        ("context.pieces.pieces_of", ["a", ".", "\n\n", " ", ". ", "a\n"]),
        ("context.pieces.query_sentences", ["a", ".", "\n\n", " ", ". ", "a\n"]),
        ("chat.extractive.first_sentence", ["a", ". ", "@a\n", " ", "\n"]),
        ("structure.jsonc.loads", ['\\"', '"\\', "/*", "//", ",", ", "]),
        ("domain.files.display_path", ["a", "\n", "é", "\\"]),
    ],
)
def test_functions(name: str, pumps: list[str]) -> None:
    check([(name, "call", [long(pump) for pump in pumps])])


def test_functions_of_more_than_a_text() -> None:
    mentions = [long(pump) for pump in ("@rule:", "@rule:a", '@rule:"', "@", '@rule:"a" ')]
    logged = [long(pump) for pump in ("a", "bearer ", "//", "//a:", "key=", "eyJ-", "-----BEGIN ")]
    check([("context.mentions.mentions", "call[[]]", mentions)])
    check([("telemetry.redaction.excerpt", "call[2000]", logged)])


@pytest.mark.parametrize(
    ("name", "how", "pumps"),
    [
        ("structure.jsonc._TOKEN", "find", ['\\"', '"\\', "/*", "//", ",", ", "]),
        ("structure.typescript_signatures._COMMENT", "find", ['\\"', "'\\", "`\\", "/"]),
        ("structure.call_sites._CALL", "match", [" ", "<", "<[", "\n"]),
        ("structure.python_types._ASSIGNED", "match", ["a", "a ", ": ", "a:" + " " * 9]),
        ("structure.server_loading._OF", "find", ["1", "1/"]),
        ("analysis.graph.heritage._MIXINS", "find", ["\n", " \n", "include ", "use "]),
        ("analysis.graph.scopes._PACKAGES", "find", ["\n", " \n", "package ", "namespace "]),
        ("analysis.graph.variables._SET", "find", ["a,", "a:", "a: ", ",A", "a ", "a\t"]),
        ("analysis.graph.variables._WITH", "find", ["with a(", "with ", "a."]),
        ("analysis.graph.variables._TYPE_ARGUMENTS", "match", ["<", "[", "a", "<["]),
        ("analysis.graph.parameters._BEHIND", "find", ["\n", " ", "\t\n", ": "]),
        ("analysis.syntax.prose._LINK", "find", ["[", "[a](", "![", "[]("]),
        ("analysis.syntax.signatures._DOTTED", "find", ["1", "_", "a:", "1:"]),
        ("analysis.syntax.doc_comments._BLOCK_CLOSE", "find", ["*", "=", "]=", "* "]),
        ("languages.php.closures._BROKEN_CHAIN", "find", [" ", "\n", "\t"]),
        ("context.agents_text._COMMENT", "find", [" ", "\t", " \t"]),
    ],
)
def test_patterns(name: str, how: str, pumps: list[str]) -> None:
    befores = ("", "a", "a = b<", "include", "package", "include ")
    texts = [long(pump, before) for pump in pumps for before in befores]
    check([(name, how, texts)])
