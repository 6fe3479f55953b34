"""Questions about where something is used name it, and are answered by the places that use it."""

import pytest

from asterism.search.query.parse import understand


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("where is parse used", "parse"),
        ("Where is `TokenService.validate()` called?", "validate"),
        ("where are retries being used", "retries"),
        ("who calls withRetry?", "withRetry"),
        ("which functions use MAX_SIZE", "MAX_SIZE"),
        ("find all references to Box::open", "open"),
        ("callers of x", "x"),
        ("list the usages of user_id", "user_id"),
        ("where is the cache used for sessions", None),
        ("where are tokens checked", None),
        ("how is parse used in the parser", None),
        ("who calls whom", "whom"),
        ("used", None),
    ],
)
def test_the_name_that_is_asked_about(text: str, name: str | None) -> None:
    assert understand(text).used == name
