"""How an issue is split into title, prose, code, output, messages and boilerplate."""

import pytest

from asterism.search.query.parse import LONG_WORDS, understand
from asterism.search.query.parts import details_of, parts_of, sentences_in
from asterism.types.search import QueryParts

ISSUE = """\
[Bug]: Tokens expire twice
<!-- Thank you for taking the time to file this! -->
### Description
When a token is renewed it `expires_at` once more, see https://example.org/1.

```python
store = TokenStore()
store.renew("a")
```

### Actual behaviour

```
Traceback (most recent call last):
  File "shop/tokens.py", line 12, in renew
    self.check(token)
TokenError: the token 'a' has expired
```

- [x] I have searched the other issues

### Versions
Python 3.11.2
shop: 1.4.0
"""


def check(text: str, **expected: object) -> None:
    found = parts_of(text)._asdict()
    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_an_issue(ends: str) -> None:
    check(
        ISSUE.replace("\n", ends),
        title="[Bug]: Tokens expire twice",
        prose=("When a token is renewed it `expires_at` once more, see",),
        code=("expires_at", 'store = TokenStore()\nstore.renew("a")'),
        messages=("the token 'a' has expired",),
    )


def test_output_is_not_code() -> None:
    (output,) = parts_of(ISSUE).output
    assert output.startswith("Traceback")
    assert output.endswith("has expired")


@pytest.mark.parametrize(
    "boilerplate",
    [
        "<!-- Thank you for taking the time to file this! -->",
        "### Description",
        "### Actual behaviour",
        "- [x] I have searched the other issues",
        "### Versions",
        "Python 3.11.2\nshop: 1.4.0",
        "https://example.org/1.",
    ],
)
def test_boilerplate_is_kept_apart(boilerplate: str) -> None:
    parts = parts_of(ISSUE)
    assert boilerplate in parts.boilerplate
    said = " ".join([parts.title, *parts.prose, *parts.code, *parts.output])
    assert boilerplate not in said


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("how are tokens renewed", QueryParts("how are tokens renewed")),
        ("## Renewal fails\n", QueryParts("Renewal fails")),
        ("", QueryParts("")),
        ("<!-- nothing -->", QueryParts("")),
        ("Renewal\n\nIt fails on Mondays.", QueryParts("Renewal", ("It fails on Mondays.",))),
        (
            "ValueError: no such token",
            QueryParts("ValueError: no such token", messages=("no such token",)),
        ),
    ],
)
def test_short_texts(text: str, expected: QueryParts) -> None:
    assert parts_of(text)._replace(boilerplate=()) == expected


def test_sentences() -> None:
    text = "Renewal\n\nIt fails on Mondays. Never on a Tuesday, though. Why?"
    assert [*sentences_in(parts_of(text))] == [
        "Renewal",
        "It fails on Mondays.",
        "Never on a Tuesday, though.",
    ]


def test_an_issue_is_understood_by_its_title() -> None:
    question = understand(ISSUE)
    assert question.parts == parts_of(ISSUE)
    assert question.sentences == ("[Bug]: Tokens expire twice",)
    assert [(line.path, line.line) for line in question.lines] == [("shop/tokens.py", 12)]
    assert question.details == details_of(parts_of(ISSUE))
    assert question.text == ISSUE.strip()


@pytest.mark.parametrize(
    "text",
    [
        "how are tokens renewed, and by whom?\n\nSay it briefly.",
        "word " * (LONG_WORDS + 5),
        "\n".join(f"    total_{n} = {n} * rate(order)" for n in range(20)),
    ],
)
def test_other_texts_have_no_parts(text: str) -> None:
    assert understand(text).parts is None


MOSTLY_CODE = """\
Renewed tokens don't expire after an hour
Description
from shop.tokens import TokenStore
store = TokenStore()
store.renew("a")
store.renew("b", hours=2)
print(store.kept["a"])
print(store.kept["b"])
assert store.kept["a"] < store.kept["b"]
for token in store.kept:
    print(token, store.kept[token])
while store.kept:
    store.kept.pop("a", None)
    store.kept.pop("b", None)
    store.check("a", now=2)
"""


@pytest.mark.parametrize(
    ("text", "is_issue"),
    [
        (MOSTLY_CODE, True),
        ("# " + MOSTLY_CODE, False),
        ("store.renew('a')\n" + MOSTLY_CODE.partition("Description\n")[2], False),
        (MOSTLY_CODE.partition("Description\n")[2], False),
    ],
)
def test_a_line_of_prose_before_code_is_a_title(text: str, is_issue: bool) -> None:
    """However much code follows: a fifth of real issues are code for the most part."""
    assert len(text.split()) >= LONG_WORDS
    found = understand(text)
    assert (found.parts is not None, found.is_code) == (is_issue, not is_issue)
