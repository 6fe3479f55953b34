"""How a written value of each kind is read, and what is said of one that is not allowed."""

import pytest

from asterism.config.setting import Setting, SettingKind, Value, Voice


def setting(kind: SettingKind, **more: object) -> Setting:
    """A setting that nothing reads."""
    made = Setting("section", "name", kind, "", "Made up.", Voice.anyone)
    return made._replace(**more)  # type: ignore[arg-type]


WHOLE = setting(SettingKind.whole, minimum=1, maximum=1_000)
DECIMAL = setting(SettingKind.decimal, minimum=0.5)
BOOLEAN = setting(SettingKind.boolean)
CHOICE = setting(SettingKind.text, choices=("one", "two"))
TEXT = setting(SettingKind.text)
ADDRESS = setting(SettingKind.address)
PATHS = setting(SettingKind.paths)


@pytest.mark.parametrize(
    ("given", "written", "expected"),
    [
        (WHOLE, 5, 5),
        (WHOLE, 0, None),
        (WHOLE, 1_001, None),
        (WHOLE, True, None),
        (WHOLE, 5.0, None),
        (WHOLE, "5", None),
        (DECIMAL, 2, 2.0),
        (DECIMAL, 0.5, 0.5),
        (DECIMAL, 0.4, None),
        (DECIMAL, float("inf"), None),
        (DECIMAL, float("nan"), None),
        (DECIMAL, True, None),
        (DECIMAL, 10**400, None),
        (DECIMAL, -(10**400), None),
        (WHOLE, 10**4_000, None),
        (setting(SettingKind.whole, minimum=0), 10**400, None),
        (setting(SettingKind.decimal), float("-inf"), None),
        (BOOLEAN, False, False),
        (BOOLEAN, 0, None),
        (BOOLEAN, "false", None),
        (CHOICE, "two", "two"),
        (CHOICE, "Two", None),
        (CHOICE, "", None),
        (TEXT, "", ""),
        (TEXT, "BAAI/bge-m3:latest", "BAAI/bge-m3:latest"),
        (TEXT, "two\nlines", None),
        (TEXT, "not \udcff utf-8", None),
        (TEXT, ["x"], None),
        (ADDRESS, "", ""),
        (ADDRESS, "https://example.org", "https://example.org"),
        (ADDRESS, "http://[::1]:8080/v1", "http://[::1]:8080/v1"),
        (ADDRESS, "https://user:pass@example.org/v1", None),
        (ADDRESS, "example.org", None),
        (ADDRESS, "file:///etc/passwd", None),
        (ADDRESS, "https://", None),
        (PATHS, [], ()),
        (PATHS, ["/a", "~/b"], ("/a", "~/b")),
        (PATHS, ["a"], None),
        (PATHS, [""], None),
        (PATHS, "/a", None),
        (PATHS, ["/a", 1], None),
    ],
)
def test_files_and_calls_give_values_of_the_right_kind(
    given: Setting, written: object, expected: Value | None
) -> None:
    """Nothing is converted but whole numbers where decimal ones are wanted."""
    found = given.read(written)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("given", "text", "expected"),
    [
        (WHOLE, " 1_000 ", 1_000),
        (WHOLE, "1.5", None),
        (WHOLE, "many", None),
        (DECIMAL, "2", 2.0),
        (DECIMAL, "1e1", 10.0),
        (DECIMAL, "nan", None),
        (DECIMAL, "2,5", None),
        *((BOOLEAN, text, True) for text in ("true", "1", "yes", "on", "TRUE", " On ")),
        *((BOOLEAN, text, False) for text in ("false", "0", "no", "off", "No")),
        *((BOOLEAN, text, None) for text in ("2", "t", "never")),
        (CHOICE, "two ", "two"),
        (CHOICE, "three", None),
        (ADDRESS, "https://example.org/v1", "https://example.org/v1"),
        (PATHS, "/a:~/b", ("/a", "~/b")),
        (PATHS, "/a:", ("/a",)),
        (PATHS, "/a\udcff", ("/a\udcff",)),
        (PATHS, "a:/b", None),
    ],
)
def test_the_environment_writes_everything_as_text(
    given: Setting, text: str, expected: Value | None
) -> None:
    """The same values, and words for true and false."""
    found = given.read_text(text, ":")
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (WHOLE, "a whole number from 1 to 1,000"),
        (DECIMAL, "a decimal number of 0.5 or more"),
        (setting(SettingKind.decimal), "a decimal number"),
        (BOOLEAN, "true or false"),
        (CHOICE, "one of one, two"),
        (TEXT, "a text of one line"),
        (ADDRESS, "an address with http:// or https:// and without a password, or nothing"),
        (PATHS, "a list of absolute paths"),
    ],
)
def test_what_is_allowed_is_said_in_words(given: Setting, words: str) -> None:
    """Errors and the reference use them."""
    assert given.allowed == words
