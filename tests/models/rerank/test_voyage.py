"""Do rerankers over HTTP get right scores, or the right error, from a server that misbehaves?"""

import logging
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest

from asterism.models.rerank import voyage
from asterism.models.rerank.options import RerankOptions
from asterism.models.rerank.voyage import HttpReranker, voyage_reranker
from asterism.types.errors import (
    BadScores,
    ProviderDown,
    ProviderError,
    ProviderRefused,
    SettingError,
    TextTooLong,
)
from tests.models.http.misbehaving_server import (
    KEY,
    Behaviour,
    MisbehavingServer,
    Reply,
    cut_short,
    dropped,
    failing,
    judging,
    page,
    score,
    serving,
    slow,
    truncated,
)

SECRET_CODE = "def launch_code(): return 4711"
QUERY = "where is the secret question asked"
TEXTS = [SECRET_CODE, "second text", "third text"]
ATTEMPTS = 2


class Setup(NamedTuple):
    """A client and its server; `waits` are the pauses it made, in seconds."""

    reranker: HttpReranker
    server: MisbehavingServer
    waits: list[float]


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server is on this machine, whatever way leads out of it."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def start() -> Iterator[Callable[..., Setup]]:
    """Makes a client of a server, which is closed at the end."""
    made: list[HttpReranker] = []
    with serving() as server:

        def start(**changes: object) -> Setup:
            waits: list[float] = []
            values = {"provider": "voyage", "url": server.url, "api_key": KEY, **changes}
            made.append(voyage_reranker(RerankOptions(**values), waits.append))  # type: ignore[arg-type]
            return Setup(made[-1], server, waits)

        yield start
        for reranker in made:
            reranker.close()


def expected(texts: list[str], query: str = QUERY) -> list[float]:
    return [score(query, text) for text in texts]


def test_voyage_protocol(start: Callable[..., Setup]) -> None:
    setup = start()
    found = setup.reranker.rerank(QUERY, TEXTS)
    assert found == expected(TEXTS)
    assert len(set(found)) == 3
    (request,) = setup.server.requests
    assert request.path == "/v1/rerank"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body == {
        "model": "rerank-2.5",
        "query": QUERY,
        "documents": TEXTS,
        "truncation": True,
    }


def test_another_model(start: Callable[..., Setup]) -> None:
    setup = start(model="rerank-2.5-lite")
    setup.reranker.rerank(QUERY, TEXTS)
    assert setup.server.requests[0].body["model"] == "rerank-2.5-lite"


@pytest.mark.parametrize("blank", ["", " ", "\n\t\r\n", "\u2003"])
def test_blank_texts_are_never_sent(start: Callable[..., Setup], blank: str) -> None:
    setup = start()
    found = setup.reranker.rerank(QUERY, [blank, "a", blank, "b"])
    assert setup.server.texts == ["a", "b"]
    assert found == [0.0, score(QUERY, "a"), 0.0, score(QUERY, "b")]


@pytest.mark.parametrize(
    ("query", "texts"), [(QUERY, []), (QUERY, ["", " "]), ("", TEXTS), (" \n", TEXTS)]
)
def test_nothing_to_send(start: Callable[..., Setup], query: str, texts: list[str]) -> None:
    setup = start()
    assert setup.reranker.rerank(query, texts) == [0.0] * len(texts)
    assert setup.server.requests == []


@pytest.mark.parametrize(
    ("model", "query", "document"),
    [
        ("rerank-2.5", 32_000, 96_000 - 4),
        ("rerank-lite-1", 4_000, 12_000 - 4),
        ("rerank-of-tomorrow", 32_000, 96_000 - 4),
    ],
)
def test_texts_are_trimmed_to_the_models_context(
    start: Callable[..., Setup], model: str, query: int, document: int
) -> None:
    """Four characters to a token; the question takes its share of what is read together."""
    setup = start(model=model)
    setup.reranker.rerank("q" * 500_000, ["d" * 500_000, "short"])
    (request,) = setup.server.requests
    assert len(request.body["query"]) == query
    assert [len(text) for text in request.texts] == [document, 5]


def test_a_request_holds_what_the_service_takes(start: Callable[..., Setup]) -> None:
    """The question counts with each document: 400,000 tokens are 20 pairs of 20,000."""
    setup = start()
    query, documents = "q" * 19_996, [f"{number:05}".ljust(59_996, "d") for number in range(45)]
    found = setup.reranker.rerank(query, documents)
    assert [len(request.texts) for request in setup.server.requests] == [20, 20, 5]
    assert found == expected(documents, query)


def test_a_request_holds_a_thousand_documents(start: Callable[..., Setup]) -> None:
    setup = start()
    setup.reranker.rerank("q", [str(number) for number in range(1001)])
    assert [len(request.texts) for request in setup.server.requests] == [1000, 1]


PASSING: list[tuple[str, Behaviour]] = [
    ("429", failing(429)),
    ("500", failing(500)),
    ("503", failing(503)),
    ("dropped", dropped),
    ("truncated", truncated),
    ("cut short", cut_short),
]


@pytest.mark.parametrize("behaviour", [row[1] for row in PASSING], ids=[row[0] for row in PASSING])
def test_passing_failures_are_retried(start: Callable[..., Setup], behaviour: Behaviour) -> None:
    setup = start()
    setup.server.script = [behaviour]
    assert setup.reranker.rerank(QUERY, TEXTS) == expected(TEXTS)
    (wait,) = setup.waits
    assert 0.5 <= wait <= 1


@pytest.mark.parametrize("behaviour", [row[1] for row in PASSING], ids=[row[0] for row in PASSING])
def test_attempts_are_bounded(start: Callable[..., Setup], behaviour: Behaviour) -> None:
    setup = start()
    setup.server.script = [behaviour] * 50
    with pytest.raises(
        ProviderDown, match=r"gave no scores: .*tried 2 times.*rerank\.url"
    ) as caught:
        setup.reranker.rerank(QUERY, TEXTS)
    assert len(setup.server.requests) == ATTEMPTS
    assert_quiet(caught.value)


def test_late_answers_are_given_up(start: Callable[..., Setup]) -> None:
    setup = start(timeout_seconds=0.15)
    setup.server.script = [slow(20), slow(20)]
    with pytest.raises(ProviderDown, match="in time"):
        setup.reranker.rerank(QUERY, TEXTS)
    assert len(setup.server.requests) == ATTEMPTS


def test_no_server_listens(start: Callable[..., Setup]) -> None:
    with serving() as gone:
        url = gone.url
    with pytest.raises(ProviderDown, match="nothing answers"):
        start(url=url).reranker.rerank(QUERY, TEXTS)


def test_retry_after_is_honoured_within_the_patience_of_a_query(
    start: Callable[..., Setup],
) -> None:
    setup = start()
    setup.server.script = [failing(429, Retry_After="1.5")]
    assert setup.reranker.rerank(QUERY, TEXTS) == expected(TEXTS)
    assert setup.waits == [1.5]
    setup.server.script = [failing(429, Retry_After="30")]
    with pytest.raises(ProviderDown, match="asked to wait for 30 seconds"):
        setup.reranker.rerank(QUERY, TEXTS)
    assert setup.waits == [1.5]


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, "The example at index 1 in your batch has too many tokens for its context window"),
        (400, {"code": "context_length_exceeded"}),
        (500, "input is too large to process"),
    ],
)
def test_too_long_is_not_retried(start: Callable[..., Setup], status: int, body: object) -> None:
    setup = start()
    setup.server.script = [failing(status, body)]
    with pytest.raises(TextTooLong, match=r"34 characters with a text of 30 is longer") as caught:
        setup.reranker.rerank(QUERY, TEXTS)
    assert len(setup.server.requests) == 1
    assert_quiet(caught.value)


TOO_LARGE = "The max allowed tokens per submitted batch is 600000. Your batch has 700000 tokens."


def test_too_large_request_is_halved(start: Callable[..., Setup]) -> None:
    setup = start()
    setup.server.script = [failing(400, TOO_LARGE), failing(400, TOO_LARGE)]
    texts = [f"text {number}" for number in range(5)]
    assert setup.reranker.rerank(QUERY, texts) == expected(texts)
    assert [len(request.texts) for request in setup.server.requests] == [5, 2, 1, 1, 3]


def test_too_large_request_of_one_is_too_long(start: Callable[..., Setup]) -> None:
    setup = start()
    setup.server.script = [failing(400, TOO_LARGE)]
    with pytest.raises(TextTooLong):
        setup.reranker.rerank(QUERY, ["only one"])
    assert len(setup.server.requests) == 1


REFUSED: list[tuple[str, Behaviour, type[ProviderError], str]] = [
    (
        "401",
        failing(401),
        ProviderRefused,
        "does not accept the key; check ASTERISM_RERANK_API_KEY",
    ),
    ("403", failing(403), ProviderRefused, "check ASTERISM_RERANK_API_KEY"),
    ("404", failing(404), ProviderRefused, r"check rerank\.url and rerank\.model"),
    ("400", failing(400, "no"), ProviderRefused, r"check rerank\.model \(status 400\)"),
    ("301", failing(301, Location="/v2"), ProviderRefused, r"check rerank\.url"),
    ("page", page, ProviderRefused, r"web page instead of scores; check rerank\.url"),
    (
        "no data",
        lambda _: Reply(body=b'{"ok": true}'),
        BadScores,
        r"without scores; check rerank\.url",
    ),
    ("a list", lambda _: Reply(body=b"[1, 2]"), BadScores, "without scores"),
    ("a number", lambda _: Reply(body=b"7"), BadScores, "without scores"),
    ("rows of another kind", lambda _: Reply(body=b'{"data": ["x"]}'), BadScores, "without scores"),
    ("no score", lambda _: Reply(body=b'{"data": [{"index": 0}]}'), BadScores, "without scores"),
    ("index is a list", judging(0, 0, 0, indexes=[[0], [1], [2]]), BadScores, "without scores"),
    ("too few", judging(0.1, 0.2), BadScores, "2 scores for 3 texts"),
    ("too many", judging(0.1, 0.2, 0.3, 0.4), BadScores, "4 scores for 3 texts"),
    ("index twice", judging(0.1, 0.2, 0.3, indexes=[0, 1, 1]), BadScores, "3 scores for 3 texts"),
    ("index outside", judging(0.1, 0.2, 0.3, indexes=[1, 2, 3]), BadScores, "3 scores for 3 texts"),
    ("NaN", judging(0.1, float("nan"), 0.3), BadScores, "no numbers"),
    ("infinite", judging(0.1, float("inf"), 0.3), BadScores, "no numbers"),
    ("null", judging(0.1, None, 0.3), BadScores, "no numbers"),
    ("words", judging(0.1, "0.2", 0.3), BadScores, "no numbers"),
    ("truths", judging(0.1, True, 0.3), BadScores, "no numbers"),
    (
        "log-odds",
        judging(0.1, -4.25, 0.3),
        BadScores,
        r"a score of -4\.25, and not one from 0 to 1",
    ),
    ("percents", judging(10, 20, 30), BadScores, "a score of 10, and not one from 0 to 1"),
]


@pytest.mark.parametrize(
    ("behaviour", "error", "message"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
def test_refusals_are_not_retried(
    start: Callable[..., Setup],
    caplog: pytest.LogCaptureFixture,
    behaviour: Behaviour,
    error: type[ProviderError],
    message: str,
) -> None:
    caplog.set_level(logging.DEBUG)
    setup = start()
    setup.server.script = [behaviour]
    with pytest.raises(error, match=message) as caught:
        setup.reranker.rerank(QUERY, TEXTS)
    assert len(setup.server.requests) == 1
    assert setup.waits == []
    assert_quiet(caught.value)
    assert KEY not in caplog.text
    assert SECRET_CODE not in caplog.text
    assert QUERY not in caplog.text


def test_scores_that_were_rounded_are_taken(start: Callable[..., Setup]) -> None:
    setup = start()
    setup.server.script = [judging(1.0004, -0.0004, 1)]
    assert setup.reranker.rerank(QUERY, TEXTS) == [1.0, 0.0, 1.0]


def test_voyage_without_a_key(start: Callable[..., Setup]) -> None:
    """Voyage itself is not asked; the user's own server may work without a key."""
    for url in ("", "https://api.voyageai.com/v1/"):
        with pytest.raises(ProviderRefused, match="Set VOYAGE_API_KEY or ASTERISM_RERANK_API_KEY"):
            start(api_key=" ", url=url)
    setup = start(api_key="")
    assert setup.reranker.rerank(QUERY, TEXTS) == expected(TEXTS)
    assert "authorization" not in setup.server.requests[0].headers


@pytest.mark.parametrize("url", ["localhost:1234", "ftp://host/v1", "http://"])
def test_an_invalid_address(start: Callable[..., Setup], url: str) -> None:
    with pytest.raises(SettingError, match=r"rerank\.url has to begin with http"):
        start(url=url)


def test_key_is_not_shown(start: Callable[..., Setup]) -> None:
    setup = start()
    assert KEY not in repr(setup.reranker)
    assert KEY not in repr(setup.reranker._service)
    assert KEY not in repr(RerankOptions("voyage", api_key=KEY))


def test_after_closing_it_can_be_asked_again(start: Callable[..., Setup]) -> None:
    setup = start()
    setup.reranker.close()
    assert setup.reranker.rerank(QUERY, TEXTS) == expected(TEXTS)
    setup.reranker.close()
    setup.reranker.close()
    assert setup.reranker.rerank(QUERY, TEXTS) == expected(TEXTS)


def test_contexts_are_cut_so_that_documents_fit() -> None:
    assert all(context.query < context.together for context in voyage.CONTEXTS.values())


def assert_quiet(error: BaseException | None) -> None:
    """Neither the key nor source code nor the question in an error, nor in what caused it."""
    while error is not None:
        for secret in (KEY, SECRET_CODE, QUERY):
            assert secret not in str(error) + repr(error)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
