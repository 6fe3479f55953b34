"""Text to search terms: identifiers whole and in parts."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from asterism.analysis import terms
from asterism.analysis.terms import joined_terms, name_terms, path_terms, terms_of
from tests.analysis.chunks.invariants import STEADY


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Whole and parts.
        ("word", "word"),
        ("Word", "word"),
        ("WORD", "word"),
        ("fooBar", "foobar foo bar"),
        ("FooBar", "foobar foo bar"),
        ("foo_bar", "foo_bar foo bar"),
        ("FOO_BAR", "foo_bar foo bar"),
        ("XMLHttpRequest2_fooBar", "xmlhttprequest2_foobar xml http request 2 foo bar"),
        ("HTTPServer", "httpserver http server"),
        ("parseURLs", "parseurls parse urls"),
        ("sha256", "sha256 sha 256"),
        ("_private", "_private private"),
        ("__init__", "__init__ init"),
        ("fooFoo", "foofoo foo"),
        # Single letters: a word on their own, else with what follows.
        ("for i in x", "for i in x"),
        ("OAuth2", "oauth2 oauth auth 2"),
        ("iPhoneApp", "iphoneapp iphone phone app"),
        ("getV2User", "getv2user get v2 2 user"),
        ("getX", "getx get"),
        ("a_bc", "a_bc bc"),
        # What is not a letter, a digit or an underscore separates.
        ("$name @decorator #tag", "name decorator tag"),
        ("kebab-case", "kebab case"),
        ("a.b(c)", "a b c"),
        ("don't", "don t"),
        ("1.2.3", "1 2 3"),
        ("x\u00a0y", "x y"),
        # Numbers, and what is only data.
        ("404 20240131", "404 20240131"),
        ("123456789", ""),
        ("id123456789", "id123456789 id"),
        ("0xDEADBEEF", "0xdeadbeef"),
        ("da39a3ee5e6b4b0d3255bfef95601890afd80709", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
        ("aGVsbG8gd29ybGQhIQ", "agvsbg8gd29ybgqhiq"),
        ("aGVsbG8gd29ybGQhIQ" * 6, ""),
        ("x" * 101, ""),
        ("X" * 101, ""),
        ("é" * 101, ""),
        ("VeryLongName" * 9, "very long name"),
        ("___", ""),
        ("", ""),
        (" \n\t", ""),
        ("___ x ___ y ___", "x y"),
        # Other letters.
        ("ΑλφαΒήτα", "αλφαβήτα αλφα βήτα"),
        ("ÉcoleHTTPServeur2", "écolehttpserveur2 école http serveur 2"),
        ("имяФайла", "имяфайла имя файла"),
        ("straße STRASSE", "strasse strasse"),
        ("café cafe\u0301", "café café"),
        ("ＡＢＣ", "abc"),
        ("größe_max", "grösse_max grösse max"),
        ("éA", "éa"),
        # Without spaces: characters and pairs.
        ("用户登录", "用 户 登 录 用户 户登 登录"),
        ("中", "中"),
        ("get用户Name", "get 用 户 用户 name"),
        ("데이터", "데 이 터 데이 이터"),
    ],
)
def test_terms(text: str, expected: str) -> None:
    assert terms_of(text) == expected.split()
    assert joined_terms(text) == expected


def test_names() -> None:
    found = name_terms(["TokenService", "validate"])
    assert found == "tokenservice token service validate"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/auth/tokenService.ts", "src auth tokenservice token service"),
        ("user.service.spec.ts", "user service spec"),
        ("my-lib/read_me.md", "my lib read_me read me"),
        ("a.b/Makefile", "a b makefile"),
        (".github/.gitignore", "github gitignore"),
        ("pkg/__init__.py", "pkg __init__ init"),
    ],
)
def test_paths(path: str, expected: str) -> None:
    assert path_terms(path) == expected


TEXTS = st.text(max_size=80) | st.text(alphabet="aB1_ é用-9xX", max_size=60)


@STEADY
@given(TEXTS)
@example("ŉ ǰ İ ﬃ Ⅷ ² ½")
def test_any_text(text: str) -> None:
    joined = joined_terms(text)
    found = terms_of(text)
    assert joined.split() == found
    assert " ".join(found) == joined
    for term in found:
        assert 0 < len(term) <= 3 * terms.MAX_TERM
        assert term == term.casefold()
        assert any(character.isalnum() for character in term)


@STEADY
@given(TEXTS, TEXTS)
def test_texts_side_by_side(one: str, other: str) -> None:
    assert terms_of(f"{one} {other}") == terms_of(one) + terms_of(other)


@STEADY
@given(st.from_regex(r"[A-Za-z][A-Za-z0-9_]{0,30}", fullmatch=True))
def test_a_whole_word_is_found_in_any_case(word: str) -> None:
    whole = word.lower()
    assert terms_of(word)[:1] == terms_of(word.upper())[:1] == terms_of(whole)[:1] == [whole]


@STEADY
@given(st.text(alphabet="用户登录データ베이스", min_size=1, max_size=12), st.data())
def test_any_piece_of_text_without_spaces_is_found(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    assert set(terms_of(text[start:end])) <= set(terms_of(text))


def test_the_memory_is_bounded() -> None:
    memory = terms._Memo(10)
    for number in range(35):
        assert memory[f"nameNumber{number}"] == f"namenumber{number} name number {number}"
        assert 0 < len(memory) <= 10
    assert memory["WordOver" * 9] == f"{'wordover' * 9} word over"
    assert "WordOver" * 9 not in memory
