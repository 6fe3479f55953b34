"""Answers without a model: what, where, signature, first sentence, and how hits connect."""

from collections.abc import Mapping

import pytest

from asterism.chat.extractive import FAINT, HEAD, NOTHING, compose, first_sentence, is_faint
from asterism.types.search import Hit
from tests.search.selection_hits import hit


def documented(name: str, signature: str, doc: str, text: str, lines: tuple[int, int]) -> Hit:
    """A hit with a documentation comment."""
    found = hit(name, lines=lines, text=text, signature=signature)
    return found._replace(chunk=found.chunk._replace(docstring=doc or None))


def test_an_answer() -> None:
    login = documented(
        "login",
        "def login(user):",
        "Let a user in.\n\nMore about it.",
        "def login(user):\n    return issue(user)",
        (3, 4),
    )
    issue = documented("issue", "def issue(user):", "", "def issue(user): ...", (9, 9))
    assert (
        compose([login, issue])
        == f"""{HEAD}

1. **login** (function) in `login.py:3-4`
   `def login(user):`
   Let a user in.

2. **issue** (function) in `issue.py:9`
   `def issue(user):`

How they connect, by name:
- `login` uses `issue`."""
    )


def test_nothing_was_found() -> None:
    assert compose([]) == NOTHING


def test_hits_that_are_far_are_said_to_be() -> None:
    answer = compose([hit("a")], is_faint=True)
    assert answer.startswith(FAINT)
    # One sentence says it; another that promises what matches best would say the opposite.
    assert HEAD not in answer
    assert FAINT not in compose([hit("a")])


def test_five_are_described_and_the_rest_is_named() -> None:
    answer = compose([hit(f"name{number}") for number in range(8)])
    assert "5. **name4**" in answer
    assert "6. " not in answer
    assert answer.endswith("Also found: name5.py:1, name6.py:1, name7.py:1.")


def test_what_stands_inside_another() -> None:
    outer, inner = hit("Cart", text="class Cart: total"), hit("total")
    inner = inner._replace(
        chunk=inner.chunk._replace(parent_chunk_id="Cart", qualified_name="Cart.total")
    )
    answer = compose([outer, inner])
    assert "- `Cart.total` is part of `Cart`." in answer
    assert "uses" not in answer


@pytest.mark.parametrize(
    ("source", "name", "depth", "expected"),
    [
        ("return issue(user)", "issue", 0, True),
        ("return Issue(user)", "Issue", 0, True),
        ("kind: TokenService", "TokenService", 0, True),
        # A part of another word, or an ordinary word that is not called.
        ("reissued()", "issue", 0, False),
        ("the_issue = 5; issue = 6", "issue", 0, False),
        # A member is used as one.
        ("self.total()", "total", 1, True),
        ("cart->total", "total", 1, True),
        ("total = 5", "total", 1, False),
        # Neither comments nor strings use anything.
        ("x = 1  # as TokenService does", "TokenService", 0, False),
        ('"""As TokenService."""\ny()', "TokenService", 0, False),
        ("log('TokenService \\' x')", "TokenService", 0, False),
        ("don't()\nTokenService()", "TokenService", 0, True),
    ],
)
def test_what_is_a_use(source: str, name: str, depth: int, expected: bool) -> None:
    used = hit(name)
    used = used._replace(chunk=used.chunk._replace(depth=depth))
    answer = compose([hit("caller", text=source), used])
    assert (f"`caller` uses `{name}`" in answer) is expected


@pytest.mark.parametrize(
    ("language", "source", "expected"),
    [
        ("go", "// TokenService\ny()", False),
        ("go", "/* see\n TokenService */ y()", False),
        ("go", "/* never closed TokenService", False),
        ("c", "i--; TokenService()", True),
        ("typescript", "this.#x = new TokenService()", True),
        ("python", "half = all // TokenService()", True),
        ("lua", "-- TokenService\ny()", False),
        ("lua", "TokenService() -- made", True),
    ],
)
def test_comments_of_languages(language: str, source: str, expected: bool) -> None:
    hits = [hit("caller", text=source), hit("TokenService")]
    hits = [one._replace(chunk=one.chunk._replace(language=language)) for one in hits]
    assert ("uses" in compose(hits)) is expected


def test_languages_do_not_use_each_other() -> None:
    other = hit("TokenService")
    other = other._replace(chunk=other.chunk._replace(language="go"))
    assert "uses" not in compose([hit("caller", text="TokenService()"), other])


@pytest.mark.parametrize("text", ["'\\", "\\'", '"', "/* ", '""" ', "#-", "\n"])
def test_no_source_takes_long(text: str) -> None:
    """Each of these once took, or could have taken, a time that grows with the square."""
    assert compose([hit("caller", text=text * 20_000), hit("TokenService")])


def described(kind: str, name: str, signature: str, text: str) -> str:
    """How the answer describes a hit of that kind."""
    found = hit("pay", text=text, signature=signature)
    chunk = found.chunk._replace(node_kind=kind, name=name, qualified_name=name)
    return compose([found._replace(chunk=chunk)]).removeprefix(f"{HEAD}\n\n")


@pytest.mark.parametrize(
    ("kind", "name", "signature", "text", "expected"),
    [
        # What has no name is called by its place, and quoted once.
        (
            "text",
            "[package] …",
            "[package] …",
            "[package]",
            "1. `pay.py:1` (text)\n   `[package] …`",
        ),
        (
            "import",
            "import:os",
            "import os",
            "import os",
            "1. `pay.py:1` (import)\n   `import os`",
        ),
        # A section says its first sentence.
        (
            "section",
            "Paying",
            "## Paying",
            "## Paying\n\nWith money. Or not.\n",
            "1. **Paying** (section) in `pay.py:1`\n   `## Paying`\n   With money.",
        ),
        (
            "section",
            "Paying",
            "## Paying",
            "## Paying",
            "1. **Paying** (section) in `pay.py:1`\n   `## Paying`",
        ),
    ],
)
def test_what_is_no_symbol(kind: str, name: str, signature: str, text: str, expected: str) -> None:
    assert described(kind, name, signature, text) == expected


def test_a_name_that_is_too_long_keeps_its_end() -> None:
    name = "describe() callback." * 10 + "it()"
    title = described("function", name, "function ()", "function () {}").split("**")[1]
    assert len(title) == 80
    assert title.startswith("…")
    assert title.endswith("describe() callback.it()")


def test_prose_is_shown_by_its_first_line() -> None:
    assert "   How to pay" in compose([hit("pay", text="\nHow to pay\n\nWith money.")])


@pytest.mark.parametrize(
    ("doc", "expected"),
    [
        ("Lets a user in.", "Lets a user in."),
        ("Lets a user in. Checks first.", "Lets a user in."),
        (
            "/**\n * Lets a user in,\n * if known.\n * @param x the user\n */",
            "Lets a user in, if known.",
        ),
        ("# Lets a user in", "Lets a user in"),
        ("@param x the user", ""),
        ("Args:\n    x: the user", ""),
        ("", ""),
        ("w" * 300, "w" * 239 + "…"),
    ],
)
def test_the_first_sentence(doc: str, expected: str) -> None:
    assert first_sentence(doc) == expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (None, False),
        ({"results": []}, False),
        ({"results": [{"below_threshold": True}]}, True),
        ({"results": [{"below_threshold": True}, {}]}, False),
        ({"results": "x"}, False),
    ],
)
def test_faint(data: Mapping[str, object] | None, expected: bool) -> None:
    assert is_faint(data) is expected
