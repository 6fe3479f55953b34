"""Which tokens are found in a text, what is left in their place, and what is no token."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asterism.disclosure.tokens import (
    PRIVATE_KEY,
    find_tokens,
    has_crc32,
    line_of,
    mark,
    masked,
    masked_body,
    rules,
)
from tests.disclosure.examples import (
    AWS,
    BASE64,
    GITHUB,
    IN_CONTEXT,
    KEY_BODY,
    TOKENS,
    WORD,
    made,
    private_key,
)

ALONE = [(kind, token) for kind, tokens in TOKENS.items() for token in tokens]
WITHIN = [(kind, line, token) for kind, cases in IN_CONTEXT.items() for line, token in cases]


def test_every_rule_has_an_example() -> None:
    known = {rule.kind for rule in rules()} - {"Teams webhook"}
    assert known == TOKENS.keys() | IN_CONTEXT.keys()
    teams = f"x.webhook.office.com/webhookb2/{made('abc0-@', 90)}/IncomingWebhook/"
    teams += f"{made('abcdef0', 32)}/{made('abcdef0', 36)}"
    assert masked(teams).text == "x.webhook.office.com/webhookb2/[masked: Teams webhook]"


@pytest.mark.parametrize(("kind", "token"), ALONE)
@pytest.mark.parametrize(
    "line",
    ['key = "{}"', "{}", "KEY={}\n", "<{}>", "call('{}', 1)", "a {} b", "key: {}", "`{}`,"],
)
def test_a_token_is_masked_wherever_it_stands(kind: str, token: str, line: str) -> None:
    assert masked(line.format(token)).text == line.format(mark(kind))


@pytest.mark.parametrize(("kind", "line", "token"), WITHIN)
def test_a_token_is_known_by_what_stands_around_it(kind: str, line: str, token: str) -> None:
    assert masked(line.format(token)).text == line.format(mark(kind))


@pytest.mark.parametrize(("kind", "token"), ALONE)
def test_what_was_masked_is_not_masked_again(kind: str, token: str) -> None:
    """The text that is sent is the text that the cache is asked for."""
    once = masked(f"a = '{token}'\n").text
    assert masked(once).text == once
    assert find_tokens(mark(kind)) == []


CUT = [
    *("AWS access key", "Anthropic key", "DigitalOcean token", "Docker token", "GitHub token"),
    *("GitLab token", "Google API key", "Grafana token", "Linear key", "PyPI token"),
    *("Slack token", "Stripe key", "Vault token", "npm token"),
]


@pytest.mark.parametrize("kind", CUT)
@pytest.mark.parametrize("text", ["key = {}", "{}", "a\nb: '{}"])
def test_a_token_whose_end_was_cut_away_is_masked(kind: str, text: str) -> None:
    """Texts are cut at a number of characters before they are sent."""
    for token in TOKENS[kind]:
        for length in range(min(24, len(token) - 3), len(token)):
            assert masked(text.format(token[:length])).text == text.format(mark(kind))


@pytest.mark.parametrize(
    "text", ["npm_config", "npm_package_json", "see key-value-store", "glpat-", "AKIA", "AIza"]
)
def test_a_text_that_ends_in_such_a_word_stays(text: str) -> None:
    assert masked(text).text == text


NO_TOKENS = [
    "where is the token checked?",
    'AWS_SECRET = "production/payments/database/credentials"',
    'AWS_SECRET = "PaymentsServiceProductionDatabasePasswrd"',
    "aws_secret: 0123456789abcdef0123456789abcdef01234567",
    f'AWS_SECRET_NAME = "{made(BASE64, 40)}"',
    f'aws_secret = "{made(BASE64, 41)}"',
    f'LAWS_OF_SECRETS = "{made(BASE64, 40)}"',
    "AWS_SECRET = os.environ['AWS_SECRET']",
    "npm_config_registry = npm_package_json",
    "class AKIAHelper: pass",
    "sk-learn and scikit-learn and risk-free",
    "task-some-words-and-more-words-with-dashes-in-a-row-and-so-on",
    "https://example.org:8080/a@b",
    "https://user@example.org/",
    "https://${USER}:${PASSWORD}@example.org/",
    "https://{user}:{password}@example.org/",
    "git@github.com:owner/name.git",
    "postgres://app:{}@db.example/x",
    "authorization: Bearer <token>",
    "Authorization: Bearer ${TOKEN}",
    "ghp_" + "x" * 36,
    "AKIA" + "X" * 16,
    "sk_live_" + "*" * 24,
    "0x" + "ab" * 32,
    "sha256:" + "0123456789abcdef" * 4,
    "commit 0123456789abcdef0123456789abcdef01234567",
    "-----BEGIN RSA PRIVATE KEY-----",
    'if text.startswith("-----BEGIN PRIVATE KEY-----"):',
    'key = text.removeprefix("-----BEGIN PRIVATE KEY-----")\n'
    'if not key.endswith("-----END PRIVATE KEY-----"): raise ValueError("no key")',
    f"iVBORw0KGgo/EAAA{made(WORD, 60)}",
    "self._auth = connection.settings_dictionary_of_it",
    "netrc_auth = requests.sessions.get_netrc_auth",
    "https://name:password@example.org",
    "\n".join(f'"{made("0123456789abcdef", 64, str(n))}",' for n in range(9)),
    "-----BEGIN CERTIFICATE-----\n" + "\n".join(KEY_BODY) + "\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\n" + "\n".join(KEY_BODY) + "\n-----END PUBLIC KEY-----",
    "password = os.environ['PASSWORD']",
    "self.password = password; pwd = getpass()",
    "const key = `key-${id}`",
    f"https://video.example/play?expire=1&sig={made(WORD, 60)}&key=yt8&sparams=a",
    "import os\n" * 50,
    "",
]


@pytest.mark.parametrize("text", NO_TOKENS)
def test_what_is_no_token_stays(text: str) -> None:
    assert masked(text).text == text


@pytest.mark.parametrize(
    "kind", ["RSA PRIVATE KEY", "PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY"]
)
def test_a_private_key_is_masked_and_the_lines_keep_their_numbers(kind: str) -> None:
    text = f"KEY = '''\n{private_key(kind)}\n'''\nafter = 1\n"
    clean = masked(text).text
    assert clean.count("\n") == text.count("\n")
    assert clean.splitlines()[16] == "after = 1"
    assert [line for line in clean.splitlines() if line] == [
        "KEY = '''",
        "[masked: private key]",
        "'''",
        "after = 1",
    ]


@pytest.mark.parametrize(
    "text",
    [
        private_key(ending="\\n"),
        private_key(ending="\\n' +\n    '"),
        private_key(ending='\\n"\n  "'),
        private_key("PGP PRIVATE KEY BLOCK"),
        # Without its end, without its beginning, without both.
        private_key().rpartition("\n")[0],
        "\n".join(private_key().splitlines()[:8]),
        private_key().partition("\n")[2],
        "x = 1\n" + private_key().partition("\n")[2] + "\ny = 2",
        "\n".join(KEY_BODY[3:9]),
        "  '" + "' +\n  '".join(KEY_BODY[3:9]) + "'",
        private_key() + "\n\n" + private_key("EC PRIVATE KEY"),
    ],
)
def test_nothing_of_a_private_key_is_left(text: str) -> None:
    clean = masked(text)
    for line in KEY_BODY:
        assert line not in clean.text
        assert line[:20] not in clean.text
    assert set(clean.counts) == {PRIVATE_KEY}
    assert clean.text.count("\n") == text.count("\n")


def test_a_long_token_hides_the_shorter_one_in_it() -> None:
    text = f"https://me:{GITHUB}@example.org"
    (token,) = find_tokens(text)
    assert text[token.start : token.end] == GITHUB


def test_tokens_are_counted_by_kind_with_their_lines() -> None:
    text = f"a = '{AWS}'\n\nb = '{GITHUB}', '{AWS}'\n"
    found = masked(text)
    assert found.counts == {"AWS access key": 2, "GitHub token": 1}
    assert [(line_of(text, one), one.kind) for one in found.tokens] == [
        (1, "AWS access key"),
        (3, "GitHub token"),
        (3, "AWS access key"),
    ]


def test_a_checksum_proves_a_token_and_its_absence_unmasks_none() -> None:
    """A token of a newer form, or one that was mistyped, is masked all the same."""
    wrong = GITHUB[:-1] + ("a" if GITHUB[-1] != "a" else "b")
    assert has_crc32(GITHUB)
    assert not has_crc32(wrong)
    assert [token.proven for token in find_tokens(f"{GITHUB} {wrong}")] == [True, False]


def test_a_body_is_masked_in_every_depth() -> None:
    found: list[object] = []
    body = {"input": [f"x {AWS}", {"deep": (AWS, 1, None, True)}], "n": 1.5, "raw": b"x"}
    clean = masked_body(body, found)  # type: ignore[arg-type]
    hidden = mark("AWS access key")
    assert clean == {
        "input": [f"x {hidden}", {"deep": [hidden, 1, None, True]}],
        "n": 1.5,
        "raw": b"x",
    }
    assert len(found) == 2


@given(st.text(max_size=400))
def test_masking_any_text_keeps_its_lines_and_is_stable(text: str) -> None:
    clean = masked(text)
    assert clean.text.count("\n") == text.count("\n")
    assert masked(clean.text).text == clean.text


@given(st.lists(st.sampled_from([*(token for _, token in ALONE), " ", "\n", "'", "x"])))
def test_masking_tokens_in_any_order_leaves_none(parts: list[str]) -> None:
    text = " ".join(parts)
    clean = masked(text).text
    for _, token in ALONE:
        if f" {token} " in f" {text} ":
            assert token not in clean


def test_the_rules_are_data_of_the_package() -> None:
    for rule in rules():
        assert rule.words
        assert rule.pattern.groups <= 1
        assert rule.kind.isprintable()
        # A text without the words is not looked at.
        assert all(word.isascii() and len(word) >= 1 for word in rule.words)
