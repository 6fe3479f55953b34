"""The text a model reads, character by character."""

from textwrap import dedent

import pytest

from asterism.analysis.chunks.embedding_text import first_paragraph, preamble, shortened
from asterism.analysis.chunks.units import ChunkOptions
from tests.analysis.chunks.cutting import chunk_named, chunks_of

FULL = """
    import jwt from "jsonwebtoken";
    import { log } from "./log";

    interface JwtPayload { sub: string }

    export class TokenService {
      /**
       * Checks a token
       * and its age.
       *
       * Not in the purpose.
       */
      async validateToken(token: string): Promise<JwtPayload> {
        log(token);
        return this.decode(jwt.verify(token));
      }

      decode(raw: string): JwtPayload { return JSON.parse(raw); }
    }
    """


def test_everything_a_preamble_can_hold() -> None:
    found = chunk_named("src/auth/tokenService.ts", FULL, "TokenService.validateToken")
    assert found.embedding_text == dedent(
        """\
        [TypeScript] src/auth/tokenService.ts > TokenService > validateToken
        Purpose: Checks a token and its age.
        Signature: async validateToken(token: string): Promise<JwtPayload>
        Dependencies: jsonwebtoken, ./log

        Referenced symbols:
        - JwtPayload: interface JwtPayload
        - decode: decode(raw: string): JwtPayload

        ---
          /**
           * Checks a token
           * and its age.
           *
           * Not in the purpose.
           */
          async validateToken(token: string): Promise<JwtPayload> {
            log(token);
            return this.decode(jwt.verify(token));
          }"""
    )


def test_the_least_a_preamble_can_hold() -> None:
    (found,) = chunks_of("main.py", "run()\n")
    assert found.embedding_text == "[Python] main.py > run()\n---\nrun()"


@pytest.mark.parametrize(
    ("path", "text", "title"),
    [
        ("a.tsx", "const a = 1;\n", "TypeScript"),
        ("a.cs", "class A {}\n", "C#"),
        ("a.md", "# A\n", "Markdown"),
        ("a.csv", "a,b\n", "Text"),
    ],
)
def test_the_language_is_named_for_people(path: str, text: str, title: str) -> None:
    assert chunks_of(path, text)[0].embedding_text.startswith(f"[{title}] {path} > ")


def _preamble(options: ChunkOptions) -> list[str]:
    quotes = [("f", "def f(a_long_name)")]
    return preamble(
        "[Python] a.py > A", "One two three.", None, ["m", "n", "m"], quotes, options
    ).split("\n")


def test_limits_of_a_preamble() -> None:
    options = ChunkOptions(max_purpose_chars=7, max_quote_chars=5, max_dependencies=1)
    assert _preamble(options) == [
        "[Python] a.py > A",
        "Purpose: One two …",
        "Dependencies: m",
        "",
        "Referenced symbols:",
        "- f: def f …",
        "",
        "---",
    ]


def test_a_module_is_named_once() -> None:
    assert "Dependencies: m, n" in _preamble(ChunkOptions())


@pytest.mark.parametrize(
    ("doc", "expected"),
    [
        ("One.", "One."),
        ("One\ntwo.\n\nThree.", "One two."),
        ("One   two", "One two"),
        ("\n\nThree.", ""),
        ("abcdefghijkl", "abcdefghij …"),
    ],
)
def test_first_paragraph(doc: str, expected: str) -> None:
    assert first_paragraph(doc, 10) == expected


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (40, "[C] a.c > f\nPurpose: x\n---"),
        (20, "[C] a.c > f\n---"),
        (10, "[C] a. …\n---"),
    ],
)
def test_shortened(limit: int, expected: str) -> None:
    head = "[C] a.c > f\nPurpose: x\nSignature: a very long one indeed\n---"
    assert shortened(head, limit) == expected
