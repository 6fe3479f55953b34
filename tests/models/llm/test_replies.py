"""Both protocols over real HTTP: text, tools, usage, and every way in which a server misbehaves."""

import asyncio
import json
import re
from typing import Any

import pytest

from asterism.models.llm.protocol import LanguageModel, ModelRequest
from asterism.types.chat import Ending, Message, ModelReply, Role, ToolCall, Usage
from asterism.types.errors import (
    AsterismError,
    ProviderDown,
    ProviderError,
    ProviderRefused,
    ReplyCut,
    SettingError,
    TextTooLong,
)
from tests.llm.asking import (
    ANTHROPIC,
    OPENAI,
    SEARCH,
    VENDORS,
    Pauses,
    Vendor,
    ask,
    model_of,
    request,
)
from tests.llm.loopback import Call, Say, closed_port

KEY = "sk-secret-0123456789"
both = pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.provider)


@both
def test_text_comes_in_pieces_and_then_as_a_whole(vendor: Vendor) -> None:
    with vendor.fake([Say("It is in a.py", usage=(12, 4))]) as server:
        pieces, reply = ask(model_of(vendor, server.url))
    assert pieces == ["It ", "is ", "in ", "a.py"]
    assert reply == ModelReply("It is in a.py", (), Usage(12, 4), "fake-1", Ending.answer)


@both
def test_calls_are_put_together(vendor: Vendor) -> None:
    calls = (Call("search", '{"q": "login"}', "one"), Call("search", '{"q": "broken', "two"))
    with vendor.fake([Say("Let me look.", calls)]) as server:
        _, reply = ask(model_of(vendor, server.url), request(tools=[SEARCH]))
    assert reply.calls == (
        ToolCall("one", "search", '{"q": "login"}'),
        ToolCall("two", "search", '{"q": "broken'),
    )
    assert reply.ending is Ending.calls


@pytest.mark.parametrize(
    ("vendor", "word", "expected"),
    [
        (OPENAI, "length", Ending.length),
        (OPENAI, "content_filter", Ending.refusal),
        (OPENAI, "something_new", Ending.answer),
        (ANTHROPIC, "max_tokens", Ending.length),
        (ANTHROPIC, "refusal", Ending.refusal),
    ],
)
def test_why_it_ended(vendor: Vendor, word: str, expected: Ending) -> None:
    with vendor.fake([Say("Half", ending=word)]) as server:
        assert ask(model_of(vendor, server.url))[1].ending is expected


CONVERSATION = (
    Message(Role.system, "Be brief."),
    Message(Role.system, "Be kind."),
    Message(Role.user, "Where?"),
    Message(Role.assistant, "", (ToolCall("c1", "search", '{"q": 1}'), ToolCall("c2", "a b", "{"))),
    Message(Role.tool, "found", call_id="c1"),
    Message(Role.tool, "no such tool", call_id="c2", is_error=True),
)


def test_what_openai_is_sent() -> None:
    asked = request(messages=CONVERSATION, tools=[SEARCH], may_call=False, temperature=0.2)
    with OPENAI.fake([Say("ok")]) as server:
        ask(model_of(OPENAI, server.url), asked)
    (received,) = server.received
    assert received.path == "/v1/chat/completions"
    assert received.body == {
        "model": "fake-1",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": "Where?"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "c1",
                        "type": "function",
                        "function": {"name": "search", "arguments": '{"q": 1}'},
                    },
                    # What no server would take back is made sound.
                    {
                        "id": "c2",
                        "type": "function",
                        "function": {"name": "a_b", "arguments": "{}"},
                    },
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "found"},
            {"role": "tool", "tool_call_id": "c2", "content": "no such tool"},
        ],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 4096,
        "temperature": 0.2,
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "search",
                    "description": "Finds code.",
                    "parameters": {"type": "object", "properties": {"q": {}}},
                },
            }
        ],
        "tool_choice": "none",
    }


def test_what_anthropic_is_sent() -> None:
    with ANTHROPIC.fake([Say("ok")]) as server:
        ask(
            model_of(ANTHROPIC, server.url),
            request(messages=CONVERSATION, tools=[SEARCH], temperature=0.2),
        )
    (received,) = server.received
    assert received.path == "/v1/messages"
    assert received.body == {
        "model": "fake-1",
        "max_tokens": 4096,
        "system": "Be brief.\n\nBe kind.",
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Where?"}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "tool_use", "id": "c1", "name": "search", "input": {"q": 1}},
                    {"type": "tool_use", "id": "c2", "name": "a_b", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "c1",
                        "content": "found",
                        "is_error": False,
                    },
                    {
                        "type": "tool_result",
                        "tool_use_id": "c2",
                        "content": "no such tool",
                        "is_error": True,
                    },
                ],
            },
        ],
        "stream": True,
        "tools": [
            {
                "name": "search",
                "description": "Finds code.",
                "input_schema": {"type": "object", "properties": {"q": {}}},
            }
        ],
        "tool_choice": {"type": "auto"},
    }


ODD: tuple[object, ...] = (
    None,
    5,
    "text",
    [],
    {},
    {"choices": None},
    {"choices": {"a": 1}},
    {"choices": [None]},
    {"choices": [{"delta": None}]},
    {"choices": [{"delta": 5, "finish_reason": []}]},
    {"choices": [{"delta": {"content": 5, "tool_calls": "x"}}]},
    {"choices": [{"delta": {"tool_calls": [None]}}]},
    {"choices": [{"delta": {"tool_calls": [{"index": "x", "function": None}]}}]},
    {"choices": [], "usage": "many", "model": 7},
    {"type": "content_block_delta", "index": None, "delta": {"type": "text_delta"}},
    {"type": "content_block_delta", "delta": {"type": "input_json_delta", "partial_json": "{"}},
    {"type": "content_block_start", "content_block": {"type": "tool_use"}},
    {"type": "content_block_start", "content_block": None},
    {"type": "message_start", "message": None},
    {"type": "message_delta", "delta": None, "usage": None},
    {"type": "something_new"},
)


@both
@pytest.mark.parametrize("odd", ODD, ids=str)
def test_odd_events_are_endured_or_a_failure_of_the_server(vendor: Vendor, odd: object) -> None:
    """Never anything else: what a server sends is not our mistake."""
    kind = odd.get("type", "message") if isinstance(odd, dict) else "message_start"
    event = f"event: {kind}\ndata: {json.dumps(odd)}\n\n"
    with vendor.fake([Say("It is in a.py", first=(event,))]) as server:
        try:
            _, reply = ask(model_of(vendor, server.url, attempts=1))
        except ProviderError:
            return
    assert reply.text == "It is in a.py"


@both
def test_an_error_inside_the_stream(vendor: Vendor) -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}
    event = f"event: error\ndata: {json.dumps(error)}\n\n"
    with vendor.fake([Say("No", first=(event,)), Say("Yes")]) as server:
        assert ask(model_of(vendor, server.url))[1].text == "Yes"


@pytest.mark.parametrize(
    ("say", "error", "words"),
    [
        (Say(status=401), ProviderRefused, "does not accept the key; check ASTERISM_MODEL_API_KEY"),
        (Say(status=404), ProviderRefused, "check model.url and model.name"),
        (Say(status=400), ProviderRefused, "does not accept the request"),
        (Say(body="<html>", headers={"content-type": "text/html"}), ProviderRefused, "model.url"),
        (Say(body='{"a": 1}'), ProviderRefused, "check model.url"),
        (
            Say(status=400, body='{"error": {"message": "prompt is too long: 9 > 8"}}'),
            TextTooLong,
            "model.window",
        ),
        (
            Say(status=400, body='{"error": {"code": "context_length_exceeded"}}'),
            TextTooLong,
            "model.window",
        ),
        (Say(status=500), ProviderDown, "it failed (status 500) (tried 3 times)"),
        (Say(status=529), ProviderDown, "tried 3 times"),
        (Say(status=429), ProviderDown, "refuses more requests for now"),
        (Say("a b c", drop_after=0), ProviderDown, "the connection broke (tried 3 times)"),
        (Say("a b c", garble_after=0), ProviderDown, "could not be read (tried 3 times)"),
        (Say("", no_end=True), ProviderDown, "ended before the answer did"),
        (Say("a b c", drop_after=4), ReplyCut, "broke off in the middle of its answer"),
        (Say("a b c", garble_after=4), ReplyCut, "could not be read"),
        (Say("a b c", no_end=True), ReplyCut, "ended before the answer did"),
    ],
)
@both
def test_failures_say_what_to_do(
    vendor: Vendor, say: Say, error: type[AsterismError], words: str
) -> None:
    with vendor.fake([say]) as server:
        with pytest.raises(error, match=re.escape(words)) as raised:
            ask(model_of(vendor, server.url, api_key=KEY))
        assert server.url in str(raised.value) or error is TextTooLong
    assert type(raised.value) is error
    # A foreign cause would hold the request, and with it the key.
    assert KEY not in str(raised.value)
    assert raised.value.__cause__ is None


@both
def test_no_server_is_there(vendor: Vendor) -> None:
    with pytest.raises(ProviderDown, match="nothing answers at this address"):
        ask(model_of(vendor, f"http://127.0.0.1:{closed_port()}", attempts=1))


@both
def test_a_passing_failure_is_tried_again(vendor: Vendor) -> None:
    pauses = Pauses()
    says = [Say(status=503), Say(status=429, headers={"retry-after": "7"}), Say("At last")]
    with vendor.fake(says) as server:
        _, reply = ask(model_of(vendor, server.url, pauses))
    assert reply.text == "At last"
    assert len(server.received) == 3
    assert pauses.seconds[0] <= 1.0
    assert pauses.seconds[1] == 7.0


@both
def test_a_server_that_asks_for_too_much_patience_is_given_up(vendor: Vendor) -> None:
    with (
        vendor.fake([Say(status=429, headers={"retry-after": "3600"})]) as server,
        pytest.raises(ProviderDown, match="asked to wait for 3600 seconds"),
    ):
        ask(model_of(vendor, server.url))
    assert len(server.received) == 1


@both
@pytest.mark.parametrize("limit", ["timeout_seconds", "total_seconds"])
@pytest.mark.parametrize("hold_after", [0, 4])
def test_silence_ends(vendor: Vendor, limit: str, hold_after: int) -> None:
    """Whether before the first word or after it is looked at without a server."""
    limits: dict[str, Any] = {limit: 0.2}
    with vendor.fake([Say("a b c", hold_after=hold_after)]) as server, pytest.raises(ProviderDown):
        ask(model_of(vendor, server.url, attempts=1, **limits))


@both
def test_no_key_is_no_header(vendor: Vendor, monkeypatch: pytest.MonkeyPatch) -> None:
    """The libraries would take keys from the environment, whatever the address."""
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_ORG_ID"):
        monkeypatch.setenv(name, KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
    with vendor.fake([Say("ok")]) as server:
        ask(model_of(vendor, server.url))
    assert KEY not in str(server.received)
    assert not {"authorization", "x-api-key"} & set(server.received[0].headers)


@both
def test_a_key_is_sent_and_not_shown(vendor: Vendor) -> None:
    with vendor.fake([Say("ok")]) as server:
        model = model_of(vendor, server.url, api_key=KEY)
        ask(model)
    assert server.received[0].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in repr(vars(model).get("_options"))


def test_a_refused_parameter_is_left_out_from_then_on() -> None:
    refusal = Say(status=400, body='{"error": {"message": "Unsupported parameter: temperature"}}')
    with OPENAI.fake([refusal, Say("one"), Say("two")]) as server:
        model = model_of(OPENAI, server.url)
        asked = request(temperature=0.5, top_p=0.9)

        async def twice() -> list[str]:
            texts = [await _text(model, asked), await _text(model, asked)]
            await model.close()
            return texts

        assert asyncio.run(twice()) == ["one", "two"]
    sent = [("temperature" in one.body, "top_p" in one.body) for one in server.received]
    assert sent == [(True, True), (False, True), (False, True)]


def test_a_newer_name_for_the_limit_is_learned() -> None:
    words = "Unsupported parameter: max_tokens. Use max_completion_tokens instead."
    refusal = Say(status=400, body=json.dumps({"error": {"message": words}}))
    with OPENAI.fake([refusal, Say("one")]) as server:
        assert ask(model_of(OPENAI, server.url))[1].text == "one"
    assert "max_tokens" not in server.received[1].body
    assert server.received[1].body["max_completion_tokens"] == 4096


@both
def test_leaving_early_closes_the_connection(vendor: Vendor) -> None:
    with vendor.fake([Say("a b c d", hold_after=4)]) as server:
        model = model_of(vendor, server.url)

        async def leave() -> None:
            reader = asyncio.create_task(_text(model, request()))
            await asyncio.to_thread(server.holding.wait, 10)
            reader.cancel()
            with pytest.raises(asyncio.CancelledError):
                await reader
            await model.close()

        asyncio.run(leave())
        assert server.left.wait(10)


@both
def test_a_model_has_to_be_named(vendor: Vendor) -> None:
    with pytest.raises(SettingError, match=r"model\.name is not set"):
        model_of(vendor, "http://localhost:1", model="")


@both
def test_an_address_has_to_be_one(vendor: Vendor) -> None:
    with pytest.raises(SettingError, match=r"model\.url has to begin with http"):
        model_of(vendor, "localhost:1234")


async def _text(model: LanguageModel, asked: ModelRequest) -> str:
    text = ""
    async for piece in model.reply(asked):
        if isinstance(piece, ModelReply):
            text = piece.text
    return text
