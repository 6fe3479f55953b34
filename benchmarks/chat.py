"""Turns against a model that costs nothing: python -m benchmarks.chat [REPOSITORY] [--waves 20].

Many at once without loss or growth, what a turn adds to a model's first word, and, with a
repository, what an answer without a model takes beyond its search, and the same load as streams of
a server of its own over HTTP.
"""

import argparse
import asyncio
import gc
import json
import multiprocessing
import os
import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median

import httpx

from asterism.chat.ports import PlainContexts, ToolOutput, TurnOptions, Unrecorded
from asterism.chat.run import start
from asterism.chat.turn import Parts
from asterism.cli.setup import engine as users_engine
from asterism.engine.chat.requests import AskRequest
from asterism.engine.chat.service import Asking
from asterism.engine.engine import Engine
from asterism.engine.search import SearchRequest
from asterism.models.llm.openai import OpenAiModel
from asterism.models.llm.options import LlmOptions
from asterism.models.llm.protocol import ModelRequest
from asterism.store.registry import Registered
from asterism.types.chat import Message, Role, Token, ToolSpec, Turn, TurnStatus
from benchmarks.serving import Served, percentile, questions, serving
from tests.chat.scenes import Toolbox
from tests.llm.fake_openai import FakeOpenAI
from tests.llm.loopback import Call, Say

AT_ONCE = 50
WORDS = " ".join(f"word{number}" for number in range(200))
FIND = ToolSpec("search_code", "Finds code.", {"type": "object", "properties": {"query": {}}})
LOOK = Say("I look.", (Call("search_code", '{"query": "send a request"}', "c1"),))


def serve(pipe: Connection) -> None:
    """The model's server, in a process of its own: a call first, then two hundred words."""

    def script(body: dict[str, list[dict[str, object]]]) -> Say:
        answered = any(message["role"] == "tool" for message in body["messages"])
        return Say(WORDS) if answered or not body.get("tools") else LOOK

    with FakeOpenAI(script) as server:
        pipe.send(server.url)
        pipe.recv()


@contextmanager
def served() -> Iterator[str]:
    """The address of a model."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=(theirs,), daemon=True)
    process.start()
    try:
        yield str(ours.recv())
    finally:
        ours.send("end")
        process.join(10)


def megabytes() -> float:
    """What this process holds in memory."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    found = re.search(r"VmRSS:\s+(\d+)", status)
    return int(found[1]) / 1024 if found else 0.0


async def one_turn(number: int, parts: Parts) -> tuple[Turn, str]:
    """A turn, and what was streamed of its answer."""
    running = start(Turn(id=f"t{number}", question="Where?"), parts, TurnOptions())
    said = ""
    async for event in running:
        if isinstance(event, Token):
            said += event.text
    return await running.wait(), said


async def many(url: str, waves: int) -> None:
    """Waves of turns, each with a tool call; every word has to arrive, memory has to stay."""
    tools = Toolbox(lambda tool, arguments: ToolOutput("found " * 1000))
    model = OpenAiModel(LlmOptions("openai", "fake", url))
    parts = Parts(model, PlainContexts([FIND]), tools, None, Unrecorded())
    memory: list[float] = []
    lost = 0
    began, cpu = time.perf_counter(), time.process_time()
    for wave in range(waves):
        turns = await asyncio.gather(*(one_turn(wave * AT_ONCE + n, parts) for n in range(AT_ONCE)))
        for turn, said in turns:
            right = turn.status is TurnStatus.done and turn.answer == WORDS
            lost += not (right and said == LOOK.text + WORDS)
        tools.calls.clear()
        del turns
        gc.collect()
        memory.append(megabytes())
    await model.close()
    seconds, busy = time.perf_counter() - began, time.process_time() - cpu
    count = waves * AT_ONCE
    print(f"{count} turns of {AT_ONCE} at once: {lost} lost, {seconds:.1f} s, ", end="")
    print(f"{busy / count * 1000:.1f} CPU ms a turn (200 words, one tool call)")
    shown = ", ".join(f"{memory[place]:.0f}" for place in (0, waves // 4, waves // 2, waves - 1))
    print(f"memory after the first wave, a quarter, half, all: {shown} MB")


async def first_words(url: str, times: int) -> None:
    """The model's first word, asked directly and through a turn, in turns."""
    model = OpenAiModel(LlmOptions("openai", "fake", url))
    parts = Parts(model, PlainContexts(), Toolbox(), None, Unrecorded())
    asked = ModelRequest(messages=(Message(Role.user, "Where?"),))
    direct, through = [], []
    for number in range(times + 5):
        began = time.perf_counter()
        stream = model.reply(asked)
        await anext(stream)
        direct.append(time.perf_counter() - began)
        # To the end, so that the next one finds a connection and an idle server.
        async for _ in stream:
            pass
        began = time.perf_counter()
        running = start(Turn(id=f"t{number}", question="Where?"), parts, TurnOptions())
        seconds = 0.0
        async for event in running:
            if isinstance(event, Token) and not seconds:
                seconds = time.perf_counter() - began
        through.append(seconds)
    await model.close()
    # The first few open connections and load the library.
    ours, theirs = median(through[5:]) * 1000, median(direct[5:]) * 1000
    print(f"first word: {theirs:.1f} ms directly, {ours:.1f} ms through a turn (medians)")


@contextmanager
def indexed(repository: Path, url: str) -> Iterator[tuple[Engine, Registered]]:
    """An engine of its own with the repository, and with the fake as the model of its settings."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {
            "ASTERISM_DATA_DIR": f"{folder}/data",
            "ASTERISM_CACHE_DIR": f"{folder}/cache",
            "ASTERISM_MODEL_URL": url,
            "ASTERISM_MODEL_PROVIDER": "openai",
            "ASTERISM_MODEL_NAME": "fake",
        }
        engine = users_engine()
        registered = engine.register(repository)
        engine.index(registered)
        yield engine, registered
        engine.close()


def whole(engine: Engine, registered: Registered, waves: int) -> None:
    """The same load with everything: conversations kept, and a search of the index in each turn."""
    asking = Asking(engine)
    memory: list[float] = []
    lost = 0
    began, cpu = time.perf_counter(), time.process_time()
    for _ in range(waves):
        asked = [asking.ask(registered, AskRequest(question="Where?")) for _ in range(AT_ONCE)]
        turns = [one.result(600).turn for one in asked]
        searched = [turn.rounds[0].results[0].is_error for turn in turns]
        lost += sum(turn.answer != WORDS for turn in turns) + sum(searched)
        gc.collect()
        memory.append(megabytes())
    asking.close()
    seconds, busy = time.perf_counter() - began, time.process_time() - cpu
    count = waves * AT_ONCE
    print(f"{count} turns of {AT_ONCE} at once, kept, each with a search: {lost} lost, ", end="")
    print(f"{seconds:.1f} s, {busy / count * 1000:.1f} CPU ms a turn")
    shown = ", ".join(f"{memory[place]:.0f}" for place in (0, waves // 4, waves // 2, waves - 1))
    print(f"memory after the first wave, a quarter, half, all: {shown} MB")


async def one_stream(client: httpx.AsyncClient) -> bool:
    """A turn as a stream of events; whether every word of it came, in order, with its end."""
    headers = {"accept": "text/event-stream"}
    said, name, is_done = "", "", False
    async with client.stream(
        "POST", "/api/ask", json={"question": "Where?"}, headers=headers
    ) as reply:
        async for line in reply.aiter_lines():
            kind, _, data = line.partition(": ")
            if kind == "event":
                name = data
            elif kind == "data" and name == "token":
                said += json.loads(data)["text"]
            elif kind == "data" and name == "done":
                answer = json.loads(data)
                is_done = answer["status"] == "done" and answer["answer"] == WORDS
    return is_done and said == LOOK.text + WORDS


async def streams(server: Served, waves: int) -> None:
    """The same load as clients of the server see it: a stream of events for each turn."""
    memory: list[float] = []
    lost = 0
    limits = httpx.Limits(max_connections=AT_ONCE)
    async with httpx.AsyncClient(base_url=server.address, timeout=600, limits=limits) as client:
        began, cpu = time.perf_counter(), server.cpu_seconds()
        for _ in range(waves):
            whole_ones = await asyncio.gather(*(one_stream(client) for _ in range(AT_ONCE)))
            lost += whole_ones.count(False)
            memory.append(server.megabytes())
    seconds, busy = time.perf_counter() - began, server.cpu_seconds() - cpu
    count = waves * AT_ONCE
    print(
        f"{count} streams over HTTP, {AT_ONCE} at once, kept, each with a search: {lost} lost, ",
        end="",
    )
    print(f"{seconds:.1f} s, {busy / count * 1000:.1f} CPU ms of the server a turn")
    shown = ", ".join(f"{memory[place]:.0f}" for place in (0, waves // 4, waves // 2, waves - 1))
    print(f"memory of the server after the first wave, a quarter, half, all: {shown} MB")


def extractive(engine: Engine, registered: Registered, asked: list[str]) -> None:
    """What an answer without a model takes, conversation kept, beyond the search it makes."""
    asking = Asking(engine)
    beyond: list[float] = []
    for question in asked:
        engine.search(registered, SearchRequest(text=question))
        began = time.perf_counter()
        engine.search(registered, SearchRequest(text=question))
        searched = time.perf_counter() - began
        began = time.perf_counter()
        asking.ask(registered, AskRequest(question=question, model="extractive")).result(60)
        beyond.append(time.perf_counter() - began - searched)
    asking.close()
    # The first ones make the database.
    times = beyond[3:]
    print(
        f"an answer without a model, beyond its search: median {median(times) * 1000:.1f} ms, "
        f"p90 {percentile(times, 0.9):.1f}, slowest {max(times) * 1000:.1f} of {len(times)}"
    )


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repository", nargs="?", type=Path)
    parser.add_argument("--waves", type=int, default=20)
    parser.add_argument("--questions", type=int, default=50)
    arguments = parser.parse_args()
    with served() as url:
        asyncio.run(first_words(url, 100))
        asyncio.run(many(url, arguments.waves))
        if arguments.repository is not None:
            with indexed(arguments.repository, url) as (engine, registered):
                extractive(
                    engine, registered, questions(arguments.repository, arguments.questions + 3)
                )
                whole(engine, registered, max(4, arguments.waves // 4))
                # Both share the environment, which names the fake as the model.
                with (
                    tempfile.TemporaryDirectory() as folder,
                    serving(arguments.repository, Path(folder)) as server,
                ):
                    asyncio.run(streams(server, max(4, arguments.waves // 4)))


if __name__ == "__main__":
    main()
