"""Do embedders over HTTP get right vectors, or the right error, from a server that misbehaves?"""

import logging
import threading
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import pytest

from asterism.models.embed import http
from asterism.models.embed.http import HttpEmbedder
from asterism.models.embed.options import EmbedOptions
from asterism.models.embed.vendors import openai_embedder, voyage_embedder
from asterism.types.errors import (
    BadVectors,
    ProviderDown,
    ProviderError,
    ProviderRefused,
    SettingError,
    TextTooLong,
)
from tests.models.http.misbehaving_server import (
    DIMENSIONS,
    KEY,
    Behaviour,
    MisbehavingServer,
    Reply,
    Request,
    cut_short,
    dropped,
    embeddings,
    failing,
    page,
    parts,
    same_index_twice,
    serving,
    shuffled,
    slow,
    too_few,
    truncated,
    vector,
    well,
    wrong_size,
)

SECRET_CODE = "def launch_code(): return 4711"
TEXTS = [SECRET_CODE, "second text", "third text"]

DOCUMENT_ATTEMPTS = 7
QUERY_ATTEMPTS = 2


class Setup(NamedTuple):
    """A client and its server; `waits` are the pauses it made, in seconds."""

    embedder: HttpEmbedder
    server: MisbehavingServer
    waits: list[float]


def options(server: MisbehavingServer, **changes: object) -> EmbedOptions:
    values: dict[str, object] = {
        "provider": "openai",
        "model": "some-model",
        "url": server.url,
        "dimensions": DIMENSIONS,
        "api_key": KEY,
        "timeout_seconds": 30.0,
        **changes,
    }
    return EmbedOptions(**values)  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server is on this machine, whatever way leads out of it."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def server() -> Iterator[MisbehavingServer]:
    with serving() as server:
        yield server


@pytest.fixture
def start(server: MisbehavingServer) -> Iterator[Callable[..., Setup]]:
    """Makes a client of the server, which is closed at the end."""
    made: list[HttpEmbedder] = []

    def start(**changes: object) -> Setup:
        waits: list[float] = []
        wanted = options(server, **changes)
        make = voyage_embedder if wanted.provider == "voyage" else openai_embedder
        made.append(make(wanted, waits.append))
        return Setup(made[-1], server, waits)

    yield start
    for embedder in made:
        embedder.close()


def expected(texts: list[str], dimensions: int = DIMENSIONS) -> np.ndarray:
    rows = np.array([vector(text, dimensions) for text in texts], dtype=np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows.astype(np.float16).astype(np.float32)


def test_openai_protocol(start: Callable[..., Setup]) -> None:
    setup = start()
    found = setup.embedder.embed_documents(TEXTS)
    assert (found == expected(TEXTS)).all()
    assert found.dtype == np.float32
    (request,) = setup.server.requests
    assert request.path == "/v1/embeddings"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body == {"model": "some-model", "input": TEXTS, "encoding_format": "float"}


def test_openai_without_a_key(start: Callable[..., Setup]) -> None:
    setup = start(api_key="")
    setup.embedder.embed_queries(["question"])
    assert "authorization" not in setup.server.requests[0].headers


@pytest.mark.parametrize(
    ("model", "dimensions", "sent"),
    [
        ("text-embedding-3-small", 8, {"dimensions": 8}),
        ("unknown-model", 8, {}),
    ],
)
def test_openai_sends_dimensions_to_models_that_shorten(
    start: Callable[..., Setup], model: str, dimensions: int, sent: dict[str, int]
) -> None:
    setup = start(model=model, dimensions=dimensions)
    setup.embedder.embed_documents(["text"])
    body = setup.server.requests[0].body
    assert {key: body[key] for key in body.keys() - {"model", "input", "encoding_format"}} == sent


def test_voyage_protocol(start: Callable[..., Setup]) -> None:
    setup = start(provider="voyage", model="", dimensions=0)
    assert str(setup.embedder.identity) == "voyage/voyage-code-3, 1024 dimensions"
    documents = setup.embedder.embed_documents(TEXTS)
    queries = setup.embedder.embed_queries(TEXTS)
    assert (documents == expected(TEXTS, 1024)).all()
    assert (queries == documents).all()
    fixed = {
        "model": "voyage-code-3",
        "truncation": False,
        "output_dimension": 1024,
        "input": TEXTS,
    }
    bodies = [request.body for request in setup.server.requests]
    assert bodies == [{**fixed, "input_type": "document"}, {**fixed, "input_type": "query"}]
    assert setup.server.requests[0].headers["authorization"] == f"Bearer {KEY}"


def test_voyage_sends_no_size_to_a_model_of_one_size(start: Callable[..., Setup]) -> None:
    setup = start(provider="voyage", model="voyage-code-2", dimensions=0)
    setup.server.script = [lambda _: embeddings([vector("text", 1536)])]
    setup.embedder.embed_documents(["text"])
    assert "output_dimension" not in setup.server.requests[0].body


@pytest.mark.parametrize("blank", ["", " ", "\n\t\r\n", "\u2003"])
def test_blank_texts_are_never_sent(start: Callable[..., Setup], blank: str) -> None:
    setup = start()
    found = setup.embedder.embed_documents([blank, "a", blank, "b", blank])
    assert setup.server.texts == ["a", "b"]
    assert (found[[1, 3]] == expected(["a", "b"])).all()
    assert not found[[0, 2, 4]].any()


@pytest.mark.parametrize("texts", [[], [""], ["  ", "\n"]])
def test_nothing_to_send(start: Callable[..., Setup], texts: list[str]) -> None:
    setup = start()
    found = setup.embedder.embed_documents(texts)
    assert found.shape == (len(texts), DIMENSIONS)
    assert not found.any()
    assert setup.server.requests == []


def test_batches_by_count_keep_their_order(start: Callable[..., Setup]) -> None:
    setup = start(batch_size=3, concurrency=4)
    # The first answers come last.
    setup.server.script = [slow(0.05), slow(0.03), shuffled]
    texts = [f"text {number}" for number in range(20)]
    assert (setup.embedder.embed_documents(texts) == expected(texts)).all()
    sizes = sorted(len(request.texts) for request in setup.server.requests)
    assert sizes == [2, 3, 3, 3, 3, 3, 3]
    assert sorted(setup.server.texts) == sorted(texts)
    assert setup.server.busiest <= 4


def test_one_request_at_a_time_when_asked(start: Callable[..., Setup]) -> None:
    setup = start(batch_size=1, concurrency=1)
    setup.embedder.embed_documents([f"text {number}" for number in range(5)])
    assert setup.server.busiest == 1
    assert setup.server.texts == [f"text {number}" for number in range(5)]


def test_batches_by_tokens(start: Callable[..., Setup]) -> None:
    setup = start(provider="voyage", model="", dimensions=256, concurrency=1)
    long = "word " * 30_000  # some 37,500 tokens: two fit into a request, three do not
    setup.embedder.embed_documents([long, long, long, "short", "x" * 400_000, "short"])
    sizes = [len(request.texts) for request in setup.server.requests]
    assert sizes == [2, 2, 1, 1]


PASSING: list[tuple[str, Behaviour]] = [
    ("429", failing(429)),
    ("500", failing(500)),
    ("502", failing(502)),
    ("503", failing(503)),
    ("504", failing(504)),
    ("dropped", dropped),
    ("truncated", truncated),
    ("cut short", cut_short),
]


@pytest.mark.parametrize("behaviour", [row[1] for row in PASSING], ids=[row[0] for row in PASSING])
def test_passing_failures_are_retried(start: Callable[..., Setup], behaviour: Behaviour) -> None:
    setup = start()
    setup.server.script = [behaviour, behaviour]
    assert (setup.embedder.embed_documents(TEXTS) == expected(TEXTS)).all()
    assert len(setup.server.requests) == 3
    first, second = setup.waits
    assert 0.5 <= first <= 1
    assert 1 <= second <= 2


@pytest.mark.parametrize("behaviour", [row[1] for row in PASSING], ids=[row[0] for row in PASSING])
def test_attempts_are_bounded(start: Callable[..., Setup], behaviour: Behaviour) -> None:
    setup = start()
    setup.server.script = [behaviour] * 50
    with pytest.raises(ProviderDown, match="tried 7 times") as caught:
        setup.embedder.embed_documents(TEXTS)
    assert len(setup.server.requests) == DOCUMENT_ATTEMPTS
    assert len(setup.waits) == DOCUMENT_ATTEMPTS - 1
    assert max(setup.waits) <= 60
    assert_quiet(caught.value)


def test_questions_are_given_up_sooner(start: Callable[..., Setup]) -> None:
    setup = start()
    setup.server.script = [failing(503)] * 50
    with pytest.raises(ProviderDown):
        setup.embedder.embed_queries(["question"])
    assert len(setup.server.requests) == QUERY_ATTEMPTS


def test_late_answers_are_retried(start: Callable[..., Setup]) -> None:
    setup = start(timeout_seconds=0.15)
    setup.server.script = [slow(20), slow(20)]
    with pytest.raises(ProviderDown, match="in time"):
        setup.embedder.embed_queries(["question"])
    assert len(setup.server.requests) == QUERY_ATTEMPTS


def test_no_server_listens(start: Callable[..., Setup]) -> None:
    with serving() as gone:
        url = gone.url
    setup = start(url=url)
    with pytest.raises(ProviderDown, match=r"nothing answers .* Check that it runs"):
        setup.embedder.embed_queries(["question"])
    assert len(setup.waits) == 1


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"Retry_After": "17"}, 17),
        ({"Retry_After": "0"}, 0),
        ({"Retry_After": "2.5"}, 2.5),
    ],
)
def test_retry_after_is_honoured(
    start: Callable[..., Setup], headers: dict[str, str], wait: float
) -> None:
    setup = start()
    setup.server.script = [failing(429, **headers)]
    assert (setup.embedder.embed_documents(TEXTS) == expected(TEXTS)).all()
    assert setup.waits == [wait]


def test_retry_after_that_is_too_long(start: Callable[..., Setup]) -> None:
    setup = start()
    setup.server.script = [failing(429, Retry_After="3600")]
    with pytest.raises(ProviderDown, match="wait for 3600 seconds"):
        setup.embedder.embed_documents(TEXTS)
    assert len(setup.server.requests) == 1
    assert setup.waits == []


TOO_LONG: list[tuple[str, int, object]] = [
    ("OpenAI", 400, {"code": "context_length_exceeded", "message": "…"}),
    ("OpenAI, one of several", 400, "Invalid 'input[1]': maximum input length is 8192 tokens."),
    ("vLLM", 400, "This model's maximum context length is 512 tokens. However, you requested 600."),
    (
        "Voyage",
        400,
        "The example at index 1 in your batch has too many tokens for its context window",
    ),
    ("Ollama", 400, "the input length exceeds the context length"),
    ("older Ollama", 400, "input length exceeds maximum context length"),
    ("LM Studio", 400, "The number of tokens is greater than the context length"),
    ("llama.cpp", 500, "input is too large to process. increase the physical batch size"),
    ("text-embeddings-inference", 413, "`inputs` must have less than 512 tokens. Given: 600"),
]


@pytest.mark.parametrize(
    ("status", "body"), [row[1:] for row in TOO_LONG], ids=[row[0] for row in TOO_LONG]
)
def test_too_long_text_is_named_and_not_retried(
    start: Callable[..., Setup], status: int, body: object
) -> None:
    setup = start()
    setup.server.script = [failing(status, body)]
    texts = ["", "short", SECRET_CODE * 40, "short"]
    with pytest.raises(TextTooLong, match=r"Text 3 of 4 \(1,200 characters\)") as caught:
        setup.embedder.embed_documents(texts)
    assert len(setup.server.requests) == 1
    assert setup.waits == []
    assert_quiet(caught.value)


TOO_LARGE = [
    "The max allowed tokens per submitted batch is 120000. Your batch has 137437 tokens.",
    "Requested 301000 tokens, max 300000 tokens per request",
    "Too many tokens in batch. Max is 16384 got 17555",
    "batch size 64 > maximum allowed batch size 32",
]


@pytest.mark.parametrize("message", TOO_LARGE)
def test_too_large_batch_is_halved(start: Callable[..., Setup], message: str) -> None:
    setup = start()
    setup.server.script = [failing(400, message), failing(400, message)]
    texts = [f"text {number}" for number in range(5)]
    assert (setup.embedder.embed_documents(texts) == expected(texts)).all()
    assert [len(request.texts) for request in setup.server.requests] == [5, 2, 1, 1, 3]
    assert setup.waits == []


def test_too_large_batch_of_one_is_too_long(start: Callable[..., Setup]) -> None:
    setup = start()
    setup.server.script = [failing(400, TOO_LARGE[0])] * 9
    with pytest.raises(TextTooLong, match="Text 2 of 3"):
        setup.embedder.embed_documents(["", "only one", ""])
    assert len(setup.server.requests) == 1


REFUSED: list[tuple[str, Behaviour, type[ProviderError], str]] = [
    ("401", failing(401), ProviderRefused, "check ASTERISM_EMBEDDING_API_KEY"),
    ("403", failing(403), ProviderRefused, "check ASTERISM_EMBEDDING_API_KEY"),
    ("404", failing(404), ProviderRefused, r"check embedding\.url and embedding\.model"),
    ("400", failing(400, "no"), ProviderRefused, r"check embedding\.model"),
    ("301", failing(301, Location="/v2"), ProviderRefused, r"check embedding\.url"),
    ("page", page, ProviderRefused, r"web page .* check embedding\.url"),
    ("no data", lambda _: Reply(body=b'{"ok": true}'), BadVectors, r"check embedding\.url"),
    ("a list", lambda _: Reply(body=b"[1, 2]"), BadVectors, r"check embedding\.url"),
    ("too few", too_few, BadVectors, "2 vectors for 3 texts"),
    ("index twice", same_index_twice, BadVectors, "3 vectors for 3 texts"),
    ("wrong size", wrong_size, BadVectors, r"9 dimensions where 8 .* embedding\.dimensions"),
    ("NaN", parts(float("nan"), 1.0), BadVectors, "zero or not finite"),
    ("infinite", parts(float("inf")), BadVectors, "zero or not finite"),
    ("zero", parts(0.0), BadVectors, "zero or not finite"),
    ("null", parts(None), BadVectors, "not finite|no numbers"),
    ("words", parts("one"), BadVectors, "no numbers"),
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
        setup.embedder.embed_documents(TEXTS)
    assert len(setup.server.requests) == 1
    assert setup.waits == []
    assert_quiet(caught.value)
    assert KEY not in caplog.text
    assert SECRET_CODE not in caplog.text


def test_missing_key_is_asked_for(start: Callable[..., Setup]) -> None:
    setup = start(api_key="")
    setup.server.script = [failing(401)]
    with pytest.raises(ProviderRefused, match="wants a key; set ASTERISM_EMBEDDING_API_KEY"):
        setup.embedder.embed_documents(TEXTS)


def test_voyage_without_a_key(start: Callable[..., Setup]) -> None:
    """Voyage itself is not asked; the user's own server may work without a key."""
    with pytest.raises(ProviderRefused, match="Set VOYAGE_API_KEY or ASTERISM_EMBEDDING_API_KEY"):
        start(provider="voyage", model="", dimensions=0, api_key=" ", url="")
    setup = start(provider="voyage", model="", dimensions=0, api_key="")
    assert setup.embedder.embed_queries(["question"]).any()


def test_key_that_cannot_be_sent(start: Callable[..., Setup]) -> None:
    with pytest.raises(
        ProviderRefused, match="set ASTERISM_EMBEDDING_API_KEY to the key alone"
    ) as caught:
        start(api_key=f"{KEY}\nX-Other: 1")
    assert_quiet(caught.value)


@pytest.mark.parametrize("url", ["localhost:1234", "ftp://host/v1", "http://", "/v1"])
def test_an_invalid_address(start: Callable[..., Setup], url: str) -> None:
    with pytest.raises(SettingError, match=r"embedding\.url"):
        start(url=url)


def test_password_in_the_address_is_not_shown(start: Callable[..., Setup]) -> None:
    with serving() as gone:
        url = gone.url.replace("http://", f"http://me:{KEY}@")
    setup = start(url=url)
    with pytest.raises(ProviderDown) as caught:
        setup.embedder.embed_queries(["question"])
    assert_quiet(caught.value)
    assert KEY not in repr(setup.embedder)


def test_failure_of_one_batch_ends_the_others(start: Callable[..., Setup]) -> None:
    setup = start(batch_size=1, concurrency=1)
    setup.server.script = [well, failing(401)]
    with pytest.raises(ProviderRefused):
        setup.embedder.embed_documents([f"text {number}" for number in range(100)])
    assert len(setup.server.requests) == 2


def test_failure_wakes_those_that_wait(
    server: MisbehavingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client does not sleep for the fifty seconds that the server asked for."""
    asleep = threading.Event()
    woken: list[bool] = []

    class Alarm(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            asleep.set()
            woken.append(super().wait(timeout))
            return woken[-1]

    def behave(request: Request) -> Reply:
        if request.texts == ["patient"]:
            return failing(503, Retry_After="50")(request)
        asleep.wait(20)
        return failing(401)(request)

    monkeypatch.setattr(http, "Event", Alarm)
    server.script = [behave, behave]
    embedder = openai_embedder(options(server, batch_size=1, concurrency=2))
    with pytest.raises(ProviderRefused):
        embedder.embed_documents(["patient", "other"])
    embedder.close()
    assert woken == [True]


def test_connections_are_used_again_and_anew_after_closing(start: Callable[..., Setup]) -> None:
    setup = start()
    first = setup.embedder.embed_documents(TEXTS)
    setup.embedder.close()
    setup.embedder.close()
    assert (setup.embedder.embed_documents(TEXTS) == first).all()


def test_key_is_not_shown(start: Callable[..., Setup]) -> None:
    setup = start()
    assert KEY not in repr(setup.embedder)
    assert KEY not in repr(setup.embedder._service)
    assert KEY not in repr(options(setup.server))


def assert_quiet(error: BaseException | None) -> None:
    """Neither the key nor source code in an error, nor in what caused it."""
    while error is not None:
        assert KEY not in str(error) + repr(error)
        assert SECRET_CODE not in str(error) + repr(error)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
