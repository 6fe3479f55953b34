"""`asterism search`: hits for people and programs, filters, pages."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run


def test_a_question_in_words(run: Run, indexed: Path) -> None:
    done = run("search", "validate a token")
    assert done.code == 0
    place, name, *code = done.out.splitlines()
    assert place.startswith("1. src/tokens.ts:")
    assert "TokenService" in name
    assert "by " in name
    assert code[0].lstrip()[0].isdigit()


def test_json_accounts_for_everything(run: Run, indexed: Path) -> None:
    done = run("search", "TokenService validate", "--limit", "2", "--json", "--explain")
    reply = json.loads(done.out)
    assert (done.code, reply["mode"], reply["query"]) == (0, "hybrid", "TokenService validate")
    assert reply["returned_count"] == len(reply["results"]) == 2
    assert reply["total_count"] == reply["returned_count"] + sum(reply["dropped"].values())
    assert reply["index_state"] == {"message": "", "behind": 0}
    assert reply["total_is_exact"] is False
    best = reply["results"][0]
    assert best["file_path"] == "src/tokens.ts"
    assert 0 <= best["similarity_score"] <= 1
    assert {signal["name"] for signal in best["why"]} & {"text", "vector", "name"}


def test_json_has_every_field_of_the_contract(run: Run, indexed: Path) -> None:
    reply = json.loads(run("search", "validate", "--json", "--context-lines", "1").out)
    assert set(reply) == {
        *("query", "mode", "filters_applied", "project_id", "repository_id", "database_name"),
        *("results", "total_matches", "total_is_exact", "total_count", "returned_count"),
        *("truncated", "truncation_info", "dropped", "token_method", "cursor", "did_you_mean"),
        *("notes", "index_state", "elapsed_ms", "latency_ms"),
    }
    assert set(reply["truncation_info"]) == {
        *("reason", "original_count", "returned_count", "estimated_chars", "limit_chars"),
        *("estimated_tokens", "limit_tokens"),
    }
    assert set(reply["results"][0]) == {
        *("chunk_id", "repo", "file_path", "absolute_path", "language", "content", "detail"),
        *("start_line", "end_line", "similarity_score", "distance", "kind", "qualified_name"),
        *("signature", "context_before", "context_after"),
    }
    assert isinstance(reply["latency_ms"], int)


@pytest.mark.parametrize(
    ("query", "options", "names"),
    [
        ("symbol = TokenService > validate", [], ["TokenService.validate"]),
        ("symbol = validate", [], ["TokenService.validate"]),
        ("regex:jwt\\.ver", [], ["TokenService.validate"]),
        ('"Checks tokens."', ["--mode", "exact"], ["TokenService"]),
        ("TokenService", ["--mode", "definition"], ["TokenService"]),
    ],
)
def test_what_is_exact_is_complete(
    run: Run, indexed: Path, query: str, options: list[str], names: list[str]
) -> None:
    reply = json.loads(run("search", query, *options, "--json").out)
    assert [row["qualified_name"] for row in reply["results"]] == names
    assert (reply["total_matches"], reply["total_is_exact"]) == (len(names), True)


def test_filters_narrow_and_are_echoed(run: Run, indexed: Path) -> None:
    reply = json.loads(run("search", "main", "--filter", "languages=python", "--json").out)
    assert {Path(row["file_path"]).suffix for row in reply["results"]} == {".py"}
    assert reply["filters_applied"]["languages"] == ["python"]


def test_pages_hold_everything_once(run: Run, indexed: Path) -> None:
    seen: list[str] = []
    more: list[str] = []
    while True:
        command = ["search", "regex:.", "--exhaustive", "--limit", "3", "--json", *more]
        reply = json.loads(run(*command).out)
        seen += [row["chunk_id"] for row in reply["results"]]
        if reply["cursor"] is None:
            break
        more = ["--cursor", reply["cursor"]]
    assert len(seen) == len(set(seen)) > 3


def test_new_code_is_found_at_once(run: Run, indexed: Path) -> None:
    (indexed / "late.py").write_text("def serendipity():\n    return 1\n")
    assert run("search", "serendipity").out.startswith("1. late.py:1–2  ")


def test_nothing_found(run: Run, indexed: Path) -> None:
    done = run("search", "symbol = validat")
    assert done.code == 1
    assert done.out.startswith("Nothing here matches.\nDid you mean ")


def test_the_lines_around(run: Run, indexed: Path) -> None:
    done = run("search", "symbol = validate", "--context-lines", "2")
    assert (
        "    4 · /** Checks tokens. */\n    5 · export class TokenService {\n    6 │ " in done.out
    )
    assert "   11 ·   private key(): Key { return 1; }\n   12 · }\n" in done.out
    row = json.loads(run("search", "symbol = validate", "--context-lines", "1", "--json").out)
    assert row["results"][0]["context_before"] == "export class TokenService {"


def test_a_path_narrows(run: Run, indexed: Path) -> None:
    for place, files in (("src", {"src/tokens.ts"}), ("main.py", {"main.py"})):
        reply = json.loads(run("search", "token main", place, "--json").out)
        assert {row["file_path"] for row in reply["results"]} == files
    everywhere = json.loads(run("search", "token main", ".", "--json").out)
    assert len({row["file_path"] for row in everywhere["results"]}) > 1


def test_a_budget_of_tokens(run: Run, indexed: Path) -> None:
    whole = json.loads(run("search", "token", "--json").out)
    small = json.loads(run("search", "token", "--tokens", "40", "--json").out)
    assert small["truncated"]
    assert sum(map(len, _contents(small))) <= 160 < sum(map(len, _contents(whole)))
    done = run("search", "token", "--tokens", "1")
    assert done.code == 1
    assert done.out.startswith("Something matches, and not even its name fits")


def test_people_see_no_more_than_the_budget_allows(run: Run, indexed: Path) -> None:
    body = "".join(f"    total += entry_{number}.amount_in_cents\n" for number in range(30))
    (indexed / "sums.py").write_text(f"def quokka_ledger(total):\n{body}    return total\n")
    asked = ("search", "quokka_ledger amount", "--limit", "1", "--tokens", "70")
    [row] = json.loads(run(*asked, "--json").out)["results"]
    assert row["detail"] == "lines"
    given = {line.strip() for line in row["content"].splitlines() if "left out" not in line}
    shown = {
        line.partition("│ ")[2].strip() for line in run(*asked).out.splitlines() if "│" in line
    }
    assert shown == given


def _contents(reply: dict[str, Any]) -> list[str]:
    return [row["content"] for row in reply["results"]]


def test_exact_matches_for_people(run: Run, indexed: Path) -> None:
    (indexed / "calls.py").write_text("def first():\n    main()\n    main()\n")
    out = run("search", "main", "--mode", "exact").out
    assert out.splitlines()[:2] == [
        "1. main.py:1–2",
        "   function main  1 matching line, defines it",
    ]
    assert "2. calls.py:1–3\n   function first  2 matching lines\n" in out
    assert "2 of 2, 3 matching lines, " in out


def test_a_list_of_everything_is_short(run: Run, indexed: Path) -> None:
    done = run("search", "regex:key", "--exhaustive")
    assert done.out.startswith(
        'src/tokens.ts:2  import ./keys\n   2 │ import { Key } from "./keys";\n'
    )
    rows = json.loads(run("search", "regex:return", "--exhaustive", "--json").out)["results"]
    assert rows[0]["content"] == "    return ("
    assert (rows[0]["detail"], rows[0]["matching_lines"]) == ("signature", [2])


def test_reasons_as_a_table(run: Run, indexed: Path) -> None:
    lines = run("search", "validate", "--explain", "--limit", "1").out.splitlines()
    shown = [line.split() for line in lines]
    assert any(words[:2] == ["text", "rank"] for words in shown)
    assert any(words[:1] == ["distance"] for words in shown)


def test_nothing_likely_is_said(run: Run, indexed: Path) -> None:
    done = run("search", "kubernetes reconciliation of ingress certificates")
    assert done.code == 0
    assert done.out.startswith("Nothing here is a likely answer. The nearest:\n1. ")


def test_a_minimum_score(run: Run, indexed: Path) -> None:
    done = run("search", "token", "--min-score", "1")
    assert done.code == 1
    assert done.out.startswith("Nothing here scores 1 or more.\n")


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "exact"])
@pytest.mark.parametrize("key", ["path", "path_glob"])
def test_filters_that_nothing_passes_are_told_from_words_that_nothing_has(
    run: Run, indexed: Path, mode: str, key: str
) -> None:
    done = run("search", "token", "--mode", mode, "--filter", f"{key}=src/nowhere")
    assert (done.code, done.out.splitlines()[0]) == (1, "Nothing here matches.")
    assert "passes the filters" in done.err
    assert run("search", "zyzzyva", "--mode", "exact").err == ""


def test_what_is_left_out_below_the_lines_around_is_counted(run: Run, indexed: Path) -> None:
    body = "".join(f"  told += {number};\n" for number in range(20))
    (indexed / "told.ts").write_text(
        "let told = 1;\n/**\n * Says it\n * twice.\n */\n"
        f"export function tellAll(): void {{\n{body}}}\n"
    )
    done = run("search", "symbol = tellAll", "--context-lines", "1")
    lines = [line.strip() for line in done.out.splitlines()]
    assert lines[2:5] == [
        "1 · let told = 1;",
        "⋮ 4 lines",
        "6 │ export function tellAll(): void {",
    ]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [("sums.xyz", "quokka ledger\n", False), ("sums.py", "# quokka ledger\n", True)],
)
def test_only_comments_are_called_so(
    run: Run, indexed: Path, name: str, text: str, said: bool
) -> None:
    (indexed / name).write_text(text)
    place, reasons, *_ = run("search", "quokka ledger").out.splitlines()
    assert place.startswith(f"1. {name}:1  ")
    assert reasons.endswith("; a comment") == said


def test_literally(run: Run, indexed: Path) -> None:
    (indexed / "walrus.py").write_text("if (n := 3) > 2:\n    pass\n")
    assert run("search", '":="').out.startswith("1. walrus.py:1–2\n")


def test_notes_go_to_standard_error(run: Run, indexed: Path) -> None:
    done = run("search", "symbol = validate", "--filter", "languages=python")
    assert (done.code, done.out.splitlines()[0]) == (1, "Nothing here matches.")
    assert done.err == "asterism: 1 more of that name do not pass the filters.\n"
