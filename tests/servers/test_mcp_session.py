"""Can the SDK's own client index, search, page, meet a limit and read the account of it?"""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError
from mcp.types import CallToolResult, LoggingMessageNotificationParams, TextContent

from asterism.operations.calls import Standpoint
from asterism.operations.dispatch.toolbox import Toolbox
from asterism.operations.limits import MOST_CHARS
from asterism.operations.registry import TOOLS
from asterism.servers.mcp.server import CALLS_AT_ONCE, make_server
from tests.servers.conftest import copy_of_harbor, make_engine

Story = Callable[[Client], Awaitable[None]]
ERAS = ("legacy", "auto")


def tell(toolbox: Toolbox, story: Story, mode: str = "legacy", **callbacks: Any) -> None:
    """Run a story between a client and a server of its own."""

    async def session() -> None:
        chosen: Any = mode
        async with Client(make_server(toolbox), mode=chosen, **callbacks) as client:
            await story(client)

    anyio.run(session)


def texts(result: CallToolResult) -> list[str]:
    return [part.text for part in result.content if isinstance(part, TextContent)]


def found_in(result: CallToolResult) -> dict[str, Any]:
    assert not result.is_error, texts(result)
    assert isinstance(result.structured_content, dict)
    return result.structured_content


def code_of(result: CallToolResult) -> str:
    assert result.is_error
    meta: Any = result.meta
    code: str = meta["asterism"]["code"]
    assert texts(result)[0].endswith(f" [{code}]")
    return code


@pytest.mark.parametrize("mode", ERAS)
def test_a_first_session(tmp_path: Path, mode: str) -> None:
    engine = make_engine(tmp_path)
    toolbox = Toolbox(engine, Standpoint(copy_of_harbor(tmp_path), is_root=True))
    heard: list[tuple[float, float | None, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    async def story(client: Client) -> None:
        assert [tool.name for tool in (await client.list_tools()).tools] == [*TOOLS]
        query = {"query": "verify the signature of a webhook"}
        assert code_of(await client.call_tool("codebase_search", query)) == "index_missing"
        made = await client.call_tool("index_codebase", {}, progress_callback=hear)
        assert found_in(made)["files"]["added"] > 10
        answer = await client.call_tool("codebase_search", query)
        graph, *snapshots = texts(answer)
        assert graph.startswith('Search: "verify the signature of a webhook" | ')
        assert any("gateway/webhook/" in text for text in snapshots)
        rows = found_in(await client.call_tool("search_code", query))["results"]
        assert any(row["file_path"].startswith("gateway/webhook/") for row in rows[:3])

    tell(toolbox, story, mode)
    toolbox.close()
    assert heard
    assert [progress for progress, _, _ in heard] == sorted({progress for progress, _, _ in heard})
    assert all(total == 5 and message for _, total, message in heard)


def test_context_is_in_parts_for_the_assistant_with_data_for_machines(toolbox: Toolbox) -> None:
    async def story(client: Client) -> None:
        query = {"query": "verify the signature of a webhook", "max_tokens": 2_000}
        answer = await client.call_tool("codebase_search", query)
        assert answer.structured_content is None
        notes = [part.annotations for part in answer.content if isinstance(part, TextContent)]
        assert all(note is not None and note.audience == ["assistant"] for note in notes)
        priorities = [note.priority or 0.0 for note in notes if note is not None]
        assert priorities[0] == 1.0
        assert priorities == sorted(priorities, reverse=True)
        meta: Any = answer.meta
        data = meta["asterism"]
        assert data["used_tokens"] <= data["budget"] == 2_000
        assert data["returned_count"] == len(data["results"]) > 0
        assert {"total_count", "truncated", "truncation_info", "dropped", "index_state"} <= {*data}

    tell(toolbox, story)


def test_context_that_does_not_fit_is_told(toolbox: Toolbox) -> None:
    warned: list[Any] = []

    async def log(params: LoggingMessageNotificationParams) -> None:
        warned.append(params.data)

    async def story(client: Client) -> None:
        query = {"query": "price of a parcel", "max_tokens": 60, "min_score": 0.0}
        answer = await client.call_tool("codebase_search", query)
        meta: Any = answer.meta
        data = meta["asterism"]
        assert data["truncated"]
        assert data["total_count"] == data["returned_count"] + sum(data["dropped"].values())
        assert any("had no place within 60 tokens" in text for text in texts(answer))

    tell(toolbox, story, logging_callback=log)
    assert len(warned) == 1


def test_rows_are_complete_by_themselves(toolbox: Toolbox, harbor: Path) -> None:
    wanted = "chunk_id file_path content start_line end_line similarity_score distance kind qualified_name"
    wanted += " signature context_before context_after"

    async def story(client: Client) -> None:
        query = {"query": "apply a discount", "limit": 3, "context_lines": 2, "explain": True}
        found = found_in(await client.call_tool("search_code", query))
        assert found["returned_count"] == len(found["results"]) == 3
        for row in found["results"]:
            assert {*wanted.split(), "why"} <= {*row}
            lines = (harbor / row["file_path"]).read_text().split("\n")
            source = "\n".join(lines[row["start_line"] - 1 : row["end_line"]])
            assert row["detail"] != "full" or row["content"] == source
        keys = "query mode filters_applied total_matches elapsed_ms latency_ms project_id"
        assert {*keys.split(), "database_name", "cursor", "index_state"} <= {*found}

    tell(toolbox, story)


@pytest.mark.parametrize("max_tokens", [None, 900])
def test_pages_hold_every_match_once(toolbox: Toolbox, max_tokens: int | None) -> None:
    async def story(client: Client) -> None:
        query = {"query": "regex:async", "mode": "exact", "exhaustive": True, "limit": 7}
        whole = found_in(await client.call_tool("search_code", {**query, "limit": 100}))
        assert whole["cursor"] is None
        seen: list[str] = []
        cursor = None
        while True:
            asked = {**query, "cursor": cursor, "max_tokens": max_tokens}
            page = found_in(await client.call_tool("search_code", asked))
            assert page["results"]
            # A shorter page than asked for says so, unless it is the last.
            assert page["truncated"] or len(page["results"]) == 7 or not page["cursor"]
            seen += [row["chunk_id"] for row in page["results"]]
            cursor = page["cursor"]
            if cursor is None:
                break
        assert seen == [row["chunk_id"] for row in whole["results"]]
        assert len(seen) > 14

    tell(toolbox, story)


@pytest.mark.parametrize("mode", ERAS)
def test_a_limit_is_told_and_accounted_for(toolbox: Toolbox, mode: str) -> None:
    warned: list[Any] = []

    async def log(params: LoggingMessageNotificationParams) -> None:
        warned.append((params.level, params.data))

    async def story(client: Client) -> None:
        query = {"query": "handle a request", "limit": 50, "max_tokens": 1_500}
        found = found_in(await client.call_tool("search_code", query))
        assert found["truncated"]
        info = found["truncation_info"]
        assert info["reason"] == "token_budget"
        assert info["estimated_chars"] <= 6_000 + 20
        assert found["total_count"] == found["returned_count"] + sum(found["dropped"].values())
        assert 0 < found["returned_count"] == len(found["results"])
        plain = found_in(await client.call_tool("search_code", {"query": "handle", "limit": 2}))
        assert not plain["truncated"]

    tell(toolbox, story, mode, logging_callback=log)
    # The stateless revision sends such messages only to clients that ask for them.
    assert [level for level, _ in warned] == (["warning"] if mode == "legacy" else [])
    assert all("search_code: the reply was shortened (token_budget)" in data for _, data in warned)


def test_no_reply_is_over_the_ceiling(toolbox: Toolbox) -> None:
    async def story(client: Client) -> None:
        for name, arguments in (
            ("search_code", {"query": "e", "limit": 50, "context_lines": 10, "explain": True}),
            (
                "search_code",
                {"query": "regex:.", "mode": "exact", "exhaustive": True, "limit": 100},
            ),
            ("codebase_search", {"query": "x " * 40_000, "limit": 50, "min_score": 0}),
            ("codebase_search", {"query": "request", "max_tokens": 25_000, "min_score": 0}),
            ("symbol_lookup", {"name": "err", "limit": 500, "include_context": True}),
            ("index_debug", {"file_path": "ledger/main.py", "include_text": True}),
        ):
            answer = await client.call_tool(name, arguments)
            assert (
                len(answer.model_dump_json(by_alias=True, exclude_none=True)) <= MOST_CHARS + 1_000
            )

    tell(toolbox, story)


@pytest.mark.parametrize("max_tokens", [None, 900])
def test_a_name_is_looked_up_in_pages(toolbox: Toolbox, max_tokens: int | None) -> None:
    async def story(client: Client) -> None:
        asked: dict[str, object] = {"name": "Money", "include_context": True}
        whole = found_in(await client.call_tool("symbol_lookup", {**asked, "limit": 500}))
        assert whole["total_count"] == sum(whole["counts"].values()) > 5
        seen: list[tuple[str, int]] = []
        cursor = None
        for _ in range(whole["total_count"]):
            page = found_in(
                await client.call_tool(
                    "symbol_lookup",
                    {**asked, "limit": 8, "cursor": cursor, "max_tokens": max_tokens},
                )
            )
            seen += [(row["file_path"], row["line"]) for row in page["symbols"]]
            assert all("Money" in row["context"] for row in page["symbols"])
            cursor = page["cursor"]
            if cursor is None:
                break
        places = [(row["file_path"], row["line"]) for row in whole["symbols"]]
        assert seen == places
        assert len(seen) == whole["total_count"]
        narrowed = {**asked, "filters": {"path_prefix": "pricing/"}, "role": "usage"}
        found = found_in(await client.call_tool("symbol_lookup", narrowed))
        assert {row["role"] for row in found["symbols"]} == {"usage"}
        assert all(row["file_path"].startswith("pricing/") for row in found["symbols"])
        nothing = found_in(await client.call_tool("symbol_lookup", {"name": "Monney"}))
        assert nothing["symbols"] == []
        assert "Money" in nothing["did_you_mean"]

    tell(toolbox, story)


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("search_code", {"query": "x", "limit": 60}, "invalid_argument"),
        ("search_code", {"query": "x", "filters": {"colour": "red"}}, "invalid_argument"),
        ("search_code", {"query": "x", "cursor": "x", "exhaustive": True}, "invalid_argument"),
        ("search_code", {"query": "regex:(", "mode": "exact"}, "invalid_argument"),
        ("search_code", {"query": "x", "directory": "../.."}, "path_outside"),
        ("search_code", {"query": "x", "repository_id": "other"}, "repository_unclear"),
        ("codebase_search", {"query": "x", "path": "/etc"}, "path_outside"),
        ("codebase_search", {"query": "x", "path": ["src", "../x"]}, "path_outside"),
        ("symbol_lookup", {"name": " "}, "invalid_argument"),
        ("symbol_lookup", {"name": "x", "filters": {"languages": "go"}}, "invalid_argument"),
        ("index_codebase", {"path": "/etc"}, "path_outside"),
        ("index_debug", {}, "invalid_argument"),
        ("index_debug", {"file_path": "no/such/file.py"}, "path_missing"),
        ("index_debug", {"file_path": "../../etc/passwd"}, "path_outside"),
        ("index_status", {"path": "/etc"}, "path_outside"),
    ],
)
def test_errors_have_codes(
    toolbox: Toolbox, tool: str, arguments: dict[str, object], code: str
) -> None:
    async def story(client: Client) -> None:
        answer = await client.call_tool(tool, arguments)
        assert code_of(answer) == code
        assert answer.structured_content is None

    tell(toolbox, story)


def test_the_operating_tools_answer(toolbox: Toolbox, harbor: Path) -> None:
    async def story(client: Client) -> None:
        status = found_in(await client.call_tool("index_status", {}))
        assert status["state"] == "equal"
        assert status["statistics"]["files"] > 10
        assert "operations" in status["metrics"]
        assert found_in(await client.call_tool("watch_status", {}))["running"] is False
        assert found_in(await client.call_tool("cancel_indexing", {}))["cancelled"] is False
        listed = found_in(await client.call_tool("list_repositories", {}))
        assert [row["name"] for row in listed["repositories"]] == [harbor.name]
        file = found_in(await client.call_tool("index_debug", {"file_path": "gateway/main.go"}))
        assert (file["freshness"], file["verdict"]["indexed"]) == ("equal", True)
        assert file["chunks"]
        ranked = found_in(await client.call_tool("index_debug", {"query": "webhook", "limit": 2}))
        assert all(row["why"] for row in ranked["results"])
        resources = [str(one.uri) for one in (await client.list_resources()).resources]
        assert resources == ["asterism://status", "asterism://metrics"]
        for uri in resources:
            assert (await client.read_resource(uri)).contents
        with pytest.raises(MCPError, match="no such resource"):
            await client.read_resource("asterism://secrets")
        with pytest.raises(MCPError, match="There is no tool 'drop_tables'"):
            await client.call_tool("drop_tables", {})

    tell(toolbox, story)


def test_indexing_in_the_background(tmp_path: Path) -> None:
    toolbox = Toolbox(make_engine(tmp_path), Standpoint(copy_of_harbor(tmp_path), is_root=True))

    async def story(client: Client) -> None:
        begun = found_in(await client.call_tool("index_codebase", {"wait": False}))
        assert begun["state"] == "running"
        for _ in range(6_000):
            answer = await client.call_tool("index_codebase", {})
            if not answer.is_error:
                break
            assert code_of(answer) == "index_busy"
            await anyio.sleep(0.01)
        assert "Nothing to do" in texts(answer)[0]

    tell(toolbox, story)
    toolbox.close()


def test_many_calls_at_once_are_all_answered(toolbox: Toolbox) -> None:
    async def story(client: Client) -> None:
        answers: list[CallToolResult] = []

        async def ask(number: int) -> None:
            query = {"query": f"handle request {number % 3}", "limit": 2}
            answers.append(await client.call_tool("search_code", query))

        async with anyio.create_task_group() as group:
            for number in range(3 * CALLS_AT_ONCE):
                group.start_soon(ask, number)
        assert len(answers) == 3 * CALLS_AT_ONCE
        assert all(len(found_in(answer)["results"]) == 2 for answer in answers)

    tell(toolbox, story)
