"""Are questions and English answers mined from every markup, once, and never from what is kept out?"""

import gzip
import json
import lzma
import random
import subprocess
from pathlib import Path

import pytest

from training.examples.english import Kept, main, pairs_of_source, said_in
from training.examples.pairs import (
    Pair,
    pairs_of_code,
    pairs_of_document,
    pairs_of_documentation,
    pairs_of_history,
    pairs_of_service,
)
from training.examples.prose import Option, Section, is_prose, options, sections
from training.sources.archives import SourceFile
from training.sources.exclusions import Exclusions

SAID = "Every session ends an hour after it was last used by a client."
MORE = "A session that has ended can be renewed with the token that it had before."
GUIDE = f"# Sessions\n\nLicensed under the terms of the MIT license.\n\n## How a session ends\n\n{SAID}\n\n{MORE}\n"
NOTHING = Exclusions(frozenset(), frozenset())


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.md", f"# Sessions\n\n## Ending\n\n```\nrun --this is not the text of a paragraph\n```\n\n{SAID}\n\n{MORE}\n"),
        ("a.md", f"Sessions\n========\n\nEnding\n------\n\n- {SAID}\n- {MORE}\n"),
        ("a.rst", f"Sessions\n========\n\nEnding\n~~~~~~\n\n{SAID}\n\n.. code-block:: python\n\n   this is not the text of a paragraph\n\n{MORE}\n"),
        ("a.adoc", f"= Sessions\n\n== Ending\n\n[source]\n----\nthis is not the text of a paragraph\n----\n{SAID}\n\n{MORE}\n"),
        ("a.1", f".TH A 1\n.SH SESSIONS\n.SS Ending\n{SAID}\n.PP\n\\fB{MORE}\\fR\n"),
        ("a.html", f"<h1>Sessions</h1><h2>Ending</h2><p>{SAID}</p><p>{MORE}</p>"),
        ("a.sgml", f"<title>Sessions</title><sect1><title>Ending</title><para>{SAID}</para><para>{MORE}</para>"),
        ("a.texi", f"@chapter Sessions\n@section Ending\n{SAID}\n\n@example\nnot the text of a paragraph\n@end example\n\n{MORE}\n"),
    ],
)  # fmt: skip
def test_sections_of_every_markup(path: str, text: str) -> None:
    assert sections(path, text)[-1] == Section(("Sessions", "Ending"), (SAID, MORE))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.md", "- `--keep-alive`: Keeps a connection open for all the requests that follow."),
        ("a.md", "| `--keep-alive` | flag | Keeps a connection open for all the requests that follow. |"),
        ("a.adoc", "--keep-alive::\n    Keeps a connection open for all the requests that follow."),
        ("a.rst", ".. option:: --keep-alive\n\n   Keeps a connection open for all the requests that follow."),
        ("a.1", ".TP\n.B \\-\\-keep\\-alive\nKeeps a connection open for all the requests that follow."),
        ("a.texi", "@item --keep-alive\nKeeps a connection open for all the requests that follow."),
    ],
)  # fmt: skip
def test_options_of_every_markup(path: str, text: str) -> None:
    said = "Keeps a connection open for all the requests that follow."
    assert list(options(path, text)) == [Option("--keep-alive", said)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SAID, True),
        ("Permission is granted to redistribute this under the terms of the license", False),
        ("Eine Sitzung endet eine Stunde nach dem letzten Zugriff durch irgendwen", False),
        ("foo(bar, baz) + qux[3] == {x: y, z: w} || !ok && 0x12 | 0xff", False),
        ("too short", False),
    ],
)
def test_prose_is_english_sentences(text: str, expected: bool) -> None:
    assert is_prose(text) is expected


def test_headings_ask_for_what_stands_below() -> None:
    found = list(pairs_of_document(SourceFile("docs/guide.md", GUIDE.encode()), random.Random(1)))
    [pair] = [pair for pair in found if pair.kind == "section"]
    assert "session" in pair.query.lower()
    assert pair.text.endswith(f"{SAID}\n{MORE}")
    [rule] = [
        pair
        for pair in pairs_of_document(SourceFile("AGENTS.md", GUIDE.encode()), random.Random(1))
        if pair.kind == "rule"
    ]
    assert rule.text.endswith(MORE)


def test_code_declares_options_and_tools() -> None:
    code = """
    parser.add_argument("--keep-alive", action="store_true", help="keep the connection open for all requests that follow")
    tool = {"name": "list_runs", "description": "Lists the last runs of a pipeline. Each of them comes with its state and the time that it took."}
    """
    found = list(pairs_of_code(SourceFile("a.py", code.encode()), random.Random(2)))
    assert {pair.kind for pair in found} == {"option", "tool"}
    assert any(pair.text.startswith("keep the connection open") for pair in found)
    assert any("list_runs" in pair.text or "list runs" in pair.query for pair in found)


def test_documentation_asks_for_its_rest() -> None:
    code = f'def renew(token: str) -> None:\n    """Renew a session that has ended.\n\n    {SAID}\n    {MORE}\n    """\n'
    [pair] = pairs_of_documentation(SourceFile("a.py", code.encode()), random.Random(0))
    assert "session" in pair.query.lower()
    assert SAID in pair.text
    assert "Renew a session that has ended" not in pair.text


def test_services_describe_tools() -> None:
    told = {
        "operations": {
            "ListRuns": {"documentation": f"<p>Lists the runs of a pipeline that has ended.</p> {MORE}", "input": {"shape": "In"}},
            "Silent": {},
        },
        "shapes": {"In": {"members": {"limit": {"documentation": "How many at most."}}}},
    }  # fmt: skip
    [pair] = pairs_of_service(gzip.compress(json.dumps(told).encode()), random.Random(0))
    assert pair.text.startswith("ListRuns: ")
    assert "limit: How many at most." in pair.text
    assert list(pairs_of_service(b"no service", random.Random(0))) == []


def test_subjects_of_commits_ask_for_their_bodies(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        settings = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
        command = ["git", "-C", str(tmp_path), *settings, *arguments]
        subprocess.run(command, check=True, capture_output=True)

    git("init", "-q")
    body = f"{SAID} {MORE}\n\nSigned-off-by: A <a@b>"
    for message in (
        f"fix(auth): renew sessions that ended (#12)\n\n{body}",
        f"Bump the version\n\n{body}",
    ):
        git("commit", "-q", "--allow-empty", "-m", message)
    [pair] = pairs_of_history(tmp_path, random.Random(3))
    assert "sessions that ended" in pair.query.lower()
    assert pair.text == f"{SAID} {MORE}".rstrip()


def test_nothing_is_kept_twice_nor_what_must_not_be() -> None:
    kept = Kept(frozenset())
    pairs = [Pair("end of sessions", SAID, "section"), Pair("another question", SAID, "section")]
    assert [record["query"] for record in kept.records("a", pairs)] == ["end of sessions"]
    same = [Pair("how", f"{SAID} {number}", "section") for number in range(4)]
    assert len(list(kept.records("a", same))) == 2
    assert kept.counts == {"section": 3}


def test_a_whole_source_without_what_is_kept_out(tmp_path: Path) -> None:
    project, measured = tmp_path / "project", tmp_path / "measured"
    for path, text in {
        project / "docs/guide.md": GUIDE,
        project / "flask/README.md": GUIDE.replace("session", "cookie"),
        project / "docs/CHANGES.md": GUIDE.replace("session", "change"),
        measured / "README.md": GUIDE,
    }.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    found = pairs_of_source(project, "project", NOTHING)
    assert found
    assert not [pair for pair in found if "cookie" in pair.text or "change" in pair.text]
    hashes, out = tmp_path / "hashes", tmp_path / "out.xz"
    hashes.write_bytes(bytes(8))
    given = [str(project), "--out", str(out), "--exclude", str(hashes), "--processes", "1"]
    assert main(given) == 0
    lines = [json.loads(line) for line in lzma.decompress(out.read_bytes()).splitlines()]
    assert {line["language"] for line in lines} == {"english"}
    assert {line["source"] for line in lines} == {"project"}
    assert said_in([measured])
    main([*given, "--without", str(measured)])
    left = [json.loads(line)["text"] for line in lzma.decompress(out.read_bytes()).splitlines()]
    assert f"{SAID}\n{MORE}" not in left
