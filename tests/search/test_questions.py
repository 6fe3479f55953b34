"""Does a question mean what its words say?"""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asterism.search.query.parse import MAX_CHARACTERS, MAX_SENTENCES, understand
from asterism.search.query.text import MAX_SENTENCE, sentences_of
from asterism.types.errors import UsageError
from asterism.types.search import FileLine, Intent, Question

TESTS, EXAMPLES = Intent.tests, Intent.examples
DOCUMENTATION, CONFIGURATION = Intent.documentation, Intent.configuration


def check(text: str, **expected: Any) -> None:
    question = understand(text)
    assert {name: getattr(question, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("text", "symbol"),
    [
        ("symbol = issue", "issue"),
        ("symbol=issue", "issue"),
        ("  Symbol =  issue ", "issue"),
        ("symbol = TokenService > issue", "TokenService > issue"),
        ("symbol = TokenService.issue", "TokenService.issue"),
        ("symbol = Journal::post", "Journal::post"),
        ("symbol = web/src/auth/tokenService.ts > TokenService > issue",
         "web/src/auth/tokenService.ts > TokenService > issue"),
        ("symbol = `issue`", "issue"),
        ('symbol = "issue"', "issue"),
        ("symbol == issue", None),
        ("the symbol = issue", None),
        ("symbol = a\nother = b", None),
        ("symbols", None),
    ],
)  # fmt: skip
def test_symbol(text: str, symbol: str | None) -> None:
    check(text, symbol=symbol)


def test_a_symbol_is_also_searchable() -> None:
    check("symbol = A.getX", identifiers=("A.getX",), terms=("a", "getx", "get"), phrases=())


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("regex:foo", "foo"),
        ("regex: foo bar", "foo bar"),
        ("REGEX:^def \\w+$", "^def \\w+$"),
        ("regex:[[a]", "[[a]"),
        ("regex:a ", "a"),
        ("the regex: foo", None),
        ("regexp:foo", None),
    ],
)
def test_pattern(text: str, pattern: str | None) -> None:
    check(text, pattern=pattern)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        (" \n\t", "empty"),
        ("\0", "empty"),
        ("?!", "no words"),
        ("… — , ;", "no words"),
        ("🚀🚀", "no words"),
        ("_", "no words"),
        ('""', "no words"),
        ("symbol =", "no name"),
        ("symbol = ``", "no name"),
        ("regex:", "no pattern"),
        ("regex:" + "a" * MAX_CHARACTERS, "shorten"),
    ],
)
def test_what_cannot_be_asked(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        understand(text)


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ('find "no rate for" here', ("no rate for",)),
        ("find 'no rate' here", ("no rate",)),
        ("find `no rate` here", ("no rate",)),
        ("find “no rate” and «kein Tarif» here", ("no rate", "kein Tarif")),
        ('"one" then "two" then "one"', ("one", "two")),
        ('"=>"', ("=>",)),
        ('"🚀"', ("🚀",)),
        ('say "a \\"b\\" c"', ('a "b" c',)),
        ("don't say 'it isn't so' twice", ("it isn't so",)),
        ("don't do what doesn't work", ()),
        ("the users' tokens and the clients' keys", ()),
        ("rock 'n' roll", ()),
        ("the user's 'big house' rule", ("big house",)),
        ('5" disk and a 3" one', ()),
        ('never "closed', ()),
        ("'at the start' and 'at the end'", ("at the start", "at the end")),
        ("wait for (`a b`), 'c d'.", ("a b", "c d")),
        ('" padded "', ("padded",)),
    ],
)
def test_phrases(text: str, phrases: tuple[str, ...]) -> None:
    check(text, phrases=phrases)


@pytest.mark.parametrize(
    ("text", "identifiers"),
    [
        ("Encoder", ("Encoder",)),
        ("parse", ("parse",)),
        ("how getUser works", ("getUser",)),
        ("how TokenService works", ("TokenService",)),
        ("how HTTPServer starts", ("HTTPServer",)),
        ("who calls parse_config first", ("parse_config",)),
        ("the __init__ of it", ("__init__",)),
        ("value of MAX_SIZE here", ("MAX_SIZE",)),
        ("see os.path.join for it", ("os.path.join",)),
        ("see TokenService.issue.", ("TokenService.issue",)),
        ("see Journal::post and Foo#bar and foo->baz", ("Journal.post", "Foo.bar", "foo.baz")),
        ("who calls close() and open(path)", ("close", "open")),
        ("the @app.route decorator", ("app.route",)),
        ("mail foo@bar.com about it", ()),
        ("the --dry-run flag", ("--dry-run",)),
        ("how Decoder parses JSON", ("Decoder",)),
        ("Printer for JSON", ("Printer",)),
        ("Find the parser. Show it.", ()),
        ("How is it done?", ()),
        ("the parameter(s) and class(es)", ()),
        ("a name e.g. this, i.e. that", ()),
        ("the `parser` object", ("parser",)),
        ("the `two words` phrase", ()),
        ("written in Node.js", ()),
        ("re-used and well-known", ()),
        ("getUser and getUser again", ("getUser",)),
        ("what is in src/auth/token_service.ts", ()),
        ("connection pooling and reuse", ()),
        ("über_größe setzen", ("über_größe",)),
        ("$userId is unset", ("userId",)),
    ],
)
def test_identifiers(text: str, identifiers: tuple[str, ...]) -> None:
    check(text, identifiers=identifiers)


@pytest.mark.parametrize(
    ("text", "paths", "lines"),
    [
        ("look at src/auth/token.ts", ("src/auth/token.ts",), ()),
        ("look at ./src/auth/", ("src/auth/",), ()),
        ("look at src\\auth\\token.ts", ("src/auth/token.ts",), ()),
        ("the Makefile and package.json", ("Makefile", "package.json"), ()),
        ("tokenService.ts:42", ("tokenService.ts",), (FileLine("tokenService.ts", 42),)),
        ("in a/b.go:7:3, please", ("a/b.go",), (FileLine("a/b.go", 7),)),
        ("in page.tsx(12,3)", ("page.tsx",), (FileLine("page.tsx", 12),)),
        ("lib/x.rb#L7", ("lib/x.rb",), (FileLine("lib/x.rb", 7),)),
        ("main.py line 9", ("main.py",), (FileLine("main.py", 9),)),
        ("main.py on line 9", ("main.py",), (FileLine("main.py", 9),)),
        ("app/[id]/page.tsx", ("app/[id]/page.tsx",), ()),
        ("src/auth", ("src/auth",), ()),
        ("internal/server/http", ("internal/server/http",), ()),
        ("request/response and/or client/server I/O", (), ()),
        ("https://example.com/a/b.html", (), ()),
        ("Node.js", (), ()),
        ("e.g. this", (), ()),
        (".gitignore", (".gitignore",), ()),
        ("v1.2 of it", (), ()),
        ("self.c = a.b", (), ()),
        ("(see config.yaml)", ("config.yaml",), ()),
    ],
)
def test_paths(text: str, paths: tuple[str, ...], lines: tuple[FileLine, ...]) -> None:
    check(text, paths=paths, lines=lines)


TRACES = {
    "python": (
        "Traceback (most recent call last):\n"
        '  File "/home/me/harbor/cli.py", line 12, in main\n    run(args)\n'
        '  File "harbor/engine.py", line 88, in <module>\n    raise QuoteError("no rate")\n'
        "harbor.errors.QuoteError: no rate",
        ("main", "QuoteError"),
        (("/home/me/harbor/cli.py", 12), ("harbor/engine.py", 88)),
    ),
    "javascript": (
        "TypeError: Cannot read properties of undefined (reading 'scopes')\n"
        "    at TokenService.validate (/srv/web/src/auth/tokenService.ts:118:31)\n"
        "    at async Object.handler (file:///srv/dist/app.js:40:5)\n"
        "    at /srv/web/src/main.ts:9:3",
        ("TokenService.validate", "handler", "TypeError"),
        (("/srv/web/src/auth/tokenService.ts", 118), ("/srv/dist/app.js", 40),
         ("/srv/web/src/main.ts", 9)),
    ),
    "java": (
        'Exception in thread "main" java.lang.IllegalStateException: no stock\n'
        "\tat com.shop.Inventory.take(Inventory.java:42)\n"
        "Caused by: com.shop.StockException: empty",
        ("com.shop.Inventory.take", "IllegalStateException", "StockException"),
        (("Inventory.java", 42),),
    ),
    "go": (
        "panic: runtime error\n\ngoroutine 1 [running]:\nmain.(*Server).Start(0xc000010000)\n"
        "\t/srv/gateway/router.go:42 +0x1d\nexample.com/harbor/webhook.Dispatch(...)\n"
        "\t/srv/webhook/dispatcher.go:17",
        ("Server.Start", "webhook.Dispatch"),
        (("/srv/gateway/router.go", 42), ("/srv/webhook/dispatcher.go", 17)),
    ),
    "rust": (
        "thread 'main' panicked at src/journal.rs:31:9:\nunbalanced\nstack backtrace:\n"
        "   2: ledger::journal::Journal::post\n             at ./src/journal.rs:31:9",
        ("ledger.journal.Journal.post",),
        (("src/journal.rs", 31),),
    ),
    "rust before 1.73": (
        "thread 'main' panicked at 'no account', src/account.rs:4:5",
        (),
        (("src/account.rs", 4),),
    ),
    "c#": (
        "System.NullReferenceException: not set\n"
        "   at Shop.Catalog.Find(String name) in C:\\src\\Catalog.cs:line 42",
        ("Shop.Catalog.Find", "NullReferenceException"),
        (("C:/src/Catalog.cs", 42),),
    ),
    "ruby": (
        "app/user.rb:10:in `save': invalid\n\tfrom app/main.rb:3:in 'block in run'",
        ("save", "run"),
        (("app/user.rb", 10), ("app/main.rb", 3)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("language", TRACES)
def test_traces(language: str) -> None:
    text, identifiers, places = TRACES[language]
    lines = tuple(FileLine(path, line) for path, line in places)
    paths = tuple(dict.fromkeys(path for path, _ in places))
    check(text, identifiers=identifiers, lines=lines, paths=paths, is_code=True, phrases=())


@pytest.mark.parametrize(
    ("text", "is_code"),
    [
        ("const x = 1;", True),
        ("x = foo(bar)", True),
        ("def foo(a):\n    return a + 1", True),
        ("for (const a of b) {\n  go(a);\n}", True),
        ("items.map(item => item.id)", True),
        ("func (s *Server) Start() error {", True),
        ("SELECT id FROM parcels", True),
        ("from os import path", True),
        ('#include <stdio.h>\nint main(void) { return 0; }', True),
        ("error[E0382]: borrow of moved value: `x`", True),
        ("ValueError: invalid literal for int()", True),
        ("src/a.c:12:5: error: expected ';'", True),
        ("fatal: not a git repository", True),
        ("what raises ValueError", False),
        ("class that handles tokens", False),
        ("return early when the token is expired", False),
        ("import statements in a module", False),
        ("foo()", False),
        ("@Component", False),
        ("print 'hello'", False),
        ("key=value parsing", False),
        ("# a heading", False),
        ("*.ts files", False),
        ("// sums up\nreturn a(b);", True),
        ("total: int = 3", True),
        ("count += step", True),
        ("for each item: print it", False),
        ("Where is the retry set up?\nAnd who calls it?", False),
        ("if a token is expired, what happens (and where)?", False),
        ("how does this work:\nfoo(bar)\nand is it safe to call it twice?", False),
    ],
)  # fmt: skip
def test_code(text: str, is_code: bool) -> None:
    check(text, is_code=is_code)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Queue:take", ("Queue.take",)),
        ("shop.Queue:take", ("shop.Queue.take",)),
        ("note: this", ()),
    ],
)
def test_a_method_as_lua_writes_it(text: str, names: tuple[str, ...]) -> None:
    check(text, identifiers=names)


def test_names_of_a_snippet() -> None:
    check("const total = price.sum(items);", identifiers=("total", "price.sum", "items"))


@pytest.mark.parametrize(
    ("text", "intents"),
    [
        ("test for TokenService", {TESTS}),
        ("the spec of the parser", {TESTS}),
        ("fixtures of pricing", {TESTS}),
        ("how is quote() tested", {TESTS}),
        ("test_quote_rounding", {TESTS}),
        ("unit tests of rounding", {TESTS}),
        ("which tests cover refunds", {TESTS}),
        ("session expiry tests", {TESTS}),
        ("where is the login test", {TESTS}),
        ("how is a test run on another thread", set()),
        ("how a signature becomes a tool spec", set()),
        ("order of callbacks around a single test method", set()),
        ("configuration for production and testing", {CONFIGURATION}),
        ("what is in web/test/tokenService.test.ts", {TESTS}),
        ("example usage of the client", {EXAMPLES}),
        ("how to use the client", {EXAMPLES}),
        ("where is this documented", {DOCUMENTATION}),
        ("the README about webhooks", {DOCUMENTATION}),
        ("how is the timeout configured", {CONFIGURATION}),
        ("which environment variables are read", {CONFIGURATION}),
        ("documentation with examples", {DOCUMENTATION, EXAMPLES}),
        ("the latest contest", set()),
        ("title setting functions", set()),
        ("test_config = load(settings)", set()),
        ("doc comments of a token", set()),
        ("token validation", set()),
        ('where is "test mode" set', set()),
        ("the sample rate", set()),
        ("TestClient", set()),
    ],
)
def test_intents(text: str, intents: set[Intent]) -> None:
    check(text, intents=frozenset(intents))


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One thing. Another thing.", ["One thing.", "Another thing."]),
        ("Is it quick? yes! then go", ["Is it quick?", "yes!", "then go"]),
        ("uses e.g. Redis vs. memory, i.e. a cache", ["uses e.g. Redis vs. memory, i.e. a cache"]),
        ("call a.b.c and v1.2.3 of x.py now", ["call a.b.c and v1.2.3 of x.py now"]),
        ("J. Doe wrote it. Really.", ["J. Doe wrote it.", "Really."]),
        ("one line\ngoes on here", ["one line goes on here"]),
        ("one topic\n\nanother topic", ["one topic", "another topic"]),
        ("steps:\n- first step\n- second step\n", ["steps:", "first step", "second step"]),
        ("1. read files\n2) write files", ["read files", "write files"]),
        ("日本語の検証。次の文", ["日本語の検証。", "次の文"]),
        ('He said "stop." Then it stopped.', ['He said "stop."', "Then it stopped."]),
        ("Find the parser. Thanks!", ["Find the parser."]),
        ("Can you? Will you?", ["Can you?", "Will you?"]),
    ],
)
def test_sentences(text: str, sentences: list[str]) -> None:
    assert sentences_of(text) == sentences


@pytest.mark.parametrize(
    "text",
    ["word " * 300, "a, b; c " * 200, "x" * 1200, "日本語" * 400, "first part, " + "y" * 600],
)
def test_long_sentences_are_cut_and_lose_nothing(text: str) -> None:
    pieces = sentences_of(text)
    assert len(pieces) > 1
    assert max(map(len, pieces)) <= MAX_SENTENCE
    assert "".join("".join(pieces).split()) == "".join(text.split())


def test_code_is_cut_between_lines() -> None:
    line = "    total = total + price_of(item)"
    question = understand("\n".join([line] * 40))
    assert question.is_code
    assert max(map(len, question.sentences)) <= MAX_SENTENCE
    assert {piece for text in question.sentences for piece in text.splitlines()} == {
        line,
        line.strip(),
    }


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("how does the token expire", ("token", "expire")),
        ("where is getUser", ("where", "is", "getuser", "get", "user")),
        ("how are users and getUser related",
         ("users", "getuser", "get", "user", "related")),
        ("is it not", ("is", "it", "not")),
        ("what's new", ("what", "new")),
        ("what isn't done doesn't count", ("done", "count")),
        ('the phrase "to be or not" stays', ("phrase", "to", "be", "or", "not", "stays")),
        ("what is this.is doing here now", ("this", "is", "now")),
        ("return not a + b;", ("return", "not", "a", "b")),
        ("retry retry logic", ("retry", "retry", "logic")),
        ("検証 token", ("検", "証", "検証", "token")),
    ],
)  # fmt: skip
def test_terms(text: str, terms: tuple[str, ...]) -> None:
    check(text, terms=terms)


def test_a_huge_question_is_cut_and_says_so() -> None:
    text = "How does the TokenService work in src/auth? " * 2_500
    question = understand(text)
    assert len(question.text) <= MAX_CHARACTERS
    assert len(question.sentences) == MAX_SENTENCES
    assert question.left_out >= len(text.strip()) - MAX_CHARACTERS > 0
    assert question.identifiers == ("TokenService",)


def test_an_ordinary_question_is_whole() -> None:
    assert understand("How is it cut? Not at all.").left_out == 0


@given(st.text(max_size=400) | st.text(alphabet="ab.:-_/'\"`()#@\\ \nA1", max_size=400))
def test_any_text_is_a_question_or_a_usage_error(text: str) -> None:
    try:
        question = understand(text)
    except UsageError:
        return
    assert isinstance(question, Question)
    assert question.sentences or question.pattern
    assert all(len(sentence) <= MAX_SENTENCE for sentence in question.sentences) or question.symbol
    question.text.encode()
