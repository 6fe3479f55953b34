"""No token in a text gets to a model over any way out of this process."""

import asyncio
import json
import logging
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from asterism.disclosure.tokens import mark
from asterism.models.embed.options import EmbedOptions
from asterism.models.embed.provider import make_embedder
from asterism.models.llm.options import LlmOptions
from asterism.models.llm.protocol import ModelRequest
from asterism.models.llm.provider import Lent, make_model
from asterism.models.rerank.options import RerankOptions
from asterism.models.rerank.provider import make_reranker
from asterism.telemetry.log import LogOptions, start_logging, stop_logging
from asterism.telemetry.meters import MASKED_TOKENS
from asterism.telemetry.notices import counting_masked
from asterism.types.chat import Message, ModelReply, Role, ToolCall, ToolSpec
from tests.disclosure.examples import AWS, GITHUB, JWT, KEY_BODY, private_key
from tests.llm.asking import VENDORS, Vendor
from tests.llm.loopback import Say
from tests.models.http.misbehaving_server import DIMENSIONS, KEY, MisbehavingServer, serving

CODE = f"def connect():\n    return sign('{AWS}', '{GITHUB}')\n\n{private_key()}\nafter = 1\n"
MASKED = (
    f"def connect():\n    return sign('{mark('AWS access key')}', '{mark('GitHub token')}')\n\n"
    f"{mark('private key')}" + "\n" * 14 + "after = 1\n"
)
SECRETS = (AWS, GITHUB, JWT, KEY_BODY[0], KEY_BODY[-1], KEY_BODY[5][:30])


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server is on this machine, whatever way leads out of it."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def server() -> Iterator[MisbehavingServer]:
    """One for embeddings and rerankers."""
    with serving() as running:
        yield running


def sent(server: MisbehavingServer) -> str:
    """All that arrived, as one text."""
    assert server.requests
    return json.dumps([request.body for request in server.requests])


def clean(text: str) -> None:
    """None of the secrets is in it, whole or escaped."""
    for secret in SECRETS:
        assert secret not in text


@pytest.mark.parametrize("provider", ["openai", "voyage"])
@pytest.mark.parametrize("role", ["documents", "queries"])
def test_embeddings(server: MisbehavingServer, provider: Any, role: str) -> None:
    """A server on the loopback is a server like any other."""
    options = EmbedOptions(
        provider, "m" if provider == "openai" else "", server.url, DIMENSIONS, KEY, batch_size=2
    )
    if provider == "voyage":
        options = EmbedOptions(provider, "voyage-code-3", server.url, 256, KEY, batch_size=2)
    embedder = make_embedder(options)
    with counting_masked() as counts:
        try:
            getattr(embedder, f"embed_{role}")([CODE, JWT, "plain"])
        except Exception:  # noqa: BLE001 - of the sizes that this server makes
            assert provider == "voyage"
        finally:
            embedder.close()
    clean(sent(server))
    assert counts["JSON web token"] >= (1 if provider == "openai" else 0)
    assert counts["private key"] >= 1
    assert any(MASKED in text for request in server.requests for text in request.texts)


def test_rerankers(server: MisbehavingServer) -> None:
    reranker = make_reranker(RerankOptions("voyage", "rerank-2.5", server.url, KEY))
    assert reranker is not None
    with counting_masked() as counts:
        reranker.rerank(f"where is {GITHUB}", [CODE, f"{JWT} x"])
    reranker.close()
    clean(sent(server))
    assert server.requests[0].body["query"] == f"where is {mark('GitHub token')}"
    assert server.requests[0].texts == [MASKED.strip(), f"{mark('JSON web token')} x"]
    assert counts == {
        "AWS access key": 1,
        "GitHub token": 2,
        "JSON web token": 1,
        "private key": 1,
    }


REQUEST = ModelRequest(
    messages=(
        Message(Role.system, f"Rules: {JWT}"),
        Message(Role.user, f"What does this do?\n{CODE}"),
        Message(Role.assistant, "", (ToolCall("c1", "find", json.dumps({"q": GITHUB})),)),
        Message(Role.tool, CODE, call_id="c1"),
        Message(Role.user, "Go on."),
    ),
    tools=(ToolSpec("find", f"Finds {AWS}.", {"type": "object", "title": GITHUB}),),
)


def reply_of(model: Any) -> tuple[ModelReply, Mapping[str, int]]:
    """The whole answer, and what was masked in the request."""

    async def run() -> ModelReply:
        last = None
        async for piece in model.reply(REQUEST):
            last = piece
        await model.close()
        assert isinstance(last, ModelReply)
        return last

    with counting_masked() as counts:
        return asyncio.run(run()), counts


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.provider)
def test_language_models(vendor: Vendor) -> None:
    with vendor.fake([Say("ok")]) as server:
        options = LlmOptions(vendor.provider, model="fake-1", url=server.url, api_key=KEY)
        reply, counts = reply_of(make_model(options))
        body = json.dumps([one.body for one in server.received])
    clean(body)
    assert json.dumps(MASKED)[1:-1].rstrip("\\n") in body
    assert reply.text == "ok"
    assert counts == {
        "AWS access key": 3,
        "GitHub token": 4,
        "JSON web token": 1,
        "private key": 2,
    }


def test_the_model_of_a_client() -> None:
    """MCP sampling hands the request to the client's vendor."""
    asked: list[ModelRequest] = []

    async def sample(request: ModelRequest) -> ModelReply:
        asked.append(request)
        return ModelReply("ok")

    _, counts = reply_of(make_model(LlmOptions("sampling"), Lent(sample)))
    clean(repr(asked))
    assert asked[0].messages[3].text == MASKED
    assert counts


def test_a_request_without_tokens_is_sent_as_it_is() -> None:
    asked: list[ModelRequest] = []

    async def sample(request: ModelRequest) -> ModelReply:
        asked.append(request)
        return ModelReply("ok")

    model = make_model(LlmOptions("sampling"), Lent(sample))
    assert model is not None
    request = ModelRequest(messages=(Message(Role.user, "plain"),))

    async def run() -> None:
        async for _ in model.reply(request):
            pass

    asyncio.run(run())
    assert asked == [request]
    assert asked[0] is request


def test_what_was_masked_is_counted_and_logged_without_it(tmp_path: Path) -> None:
    before = readings()
    log = tmp_path / "log"
    start_logging(LogOptions("info", "plain", str(log)))
    try:
        with serving() as server:
            reranker = make_reranker(RerankOptions("voyage", "rerank-2.5", server.url, KEY))
            assert reranker is not None
            reranker.rerank("q", [CODE])
            reranker.close()
    finally:
        stop_logging()
    assert readings()["rerank", "GitHub token"] == before.get(("rerank", "GitHub token"), 0) + 1
    text = log.read_text()
    assert "masked receiver=rerank" in text
    clean(text)


def readings() -> dict[tuple[str, ...], float]:
    """The counter, by its labels."""
    return {labels: value for labels, value, _ in MASKED_TOKENS.readings()}


@pytest.mark.parametrize("log", [logging.getLogger("asterism").warning])
def test_logs(log: Callable[..., None], tmp_path: Path) -> None:
    """The logger that writes the line."""
    start_logging(LogOptions("info", "json", str(tmp_path / "log")))
    try:
        for secret in (AWS, GITHUB, JWT, private_key()):
            log(f"odd: {secret}")
    finally:
        stop_logging()
    text = (tmp_path / "log").read_text()
    assert text.count("odd: ") == 4
    clean(text)
