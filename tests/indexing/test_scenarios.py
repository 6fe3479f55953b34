"""The seven things that happen to a repository, with exact counts of parses and embeddings."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from asterism.indexing.report import SyncReport
from asterism.types.index import Staleness
from tests.indexing.workshop import Kind, Workshop, workshop

TOKEN = """\
export function verify(token: string): boolean {
  return token.length > 3;
}

export class TokenService {
  check(token: string) {
    return verify(token);
  }
}
"""
BARREL = 'export * from "./token";\n'
APP = """\
import { verify } from "./auth";

export function main() {
  return verify("secret");
}

export function other() {
  return 1;
}
"""
HELPER = """\
def helper():
    return 2
"""
README = "# Shop\n\nSells things.\n"

# Chunks of each file: functions, classes, methods, and one for each import or re-export.
CHUNKS = {"auth/token.ts": 3, "auth/index.ts": 1, "app.ts": 3, "helper.py": 1, "README.md": 1}
ALL = sum(CHUNKS.values())


@pytest.fixture(params=["memory", "lance"])
def shop(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Workshop]:
    """Five files, indexed once."""
    kind: Kind = request.param
    with workshop(tmp_path, kind) as made:
        made.put("auth/token.ts", TOKEN)
        made.put("auth/index.ts", BARREL)
        made.put("app.ts", APP)
        made.put("helper.py", HELPER)
        made.put("README.md", README)
        made.first = made.sync()
        yield made


def work(report: SyncReport) -> tuple[int, int, int]:
    """Files parsed, chunks written, texts embedded."""
    return report.parsed, report.chunks_written, report.embedded


def test_initial_build(shop: Workshop) -> None:
    assert shop.first is not None
    assert shop.first.before is Staleness.missing
    assert work(shop.first) == (5, ALL, ALL)
    assert (shop.first.files, shop.first.added) == (5, 5)
    counted = {path: len(shop.names(path)) for path in CHUNKS}
    assert counted == CHUNKS
    assert {state.chunks for state in shop.index.catalogue.files("repository").values()} == {1, 3}
    assert shop.first.sentence == "Indexed 5 files: 9 chunks written (9 embedded)."


def test_no_change(shop: Workshop) -> None:
    version = shop.index.catalogue.chunks_version()
    report = shop.sync()
    assert work(report) == (0, 0, 0)
    assert (report.unchanged, report.touched) == (5, 0)
    assert report.before is Staleness.equal
    assert report.sentence == "Nothing to do: all 5 files are as they were."
    assert shop.index.catalogue.chunks_version() == version


def test_mtime_only(shop: Workshop) -> None:
    shop.touch("app.ts")
    report = shop.sync()
    assert work(report) == (0, 0, 0)
    assert (report.unchanged, report.touched, report.changed) == (4, 1, 0)
    stored = shop.index.catalogue.files("repository")["app.ts"].mtime_ns
    assert stored == (shop.root / "app.ts").stat().st_mtime_ns
    assert shop.sync().touched == 0


def test_content_change(shop: Workshop) -> None:
    shop.put("app.ts", APP.replace("return 1;", "return 10;").replace("other", "another"))
    report = shop.sync()
    # The import and `main` are as they were, so only the renamed function is embedded.
    assert work(report) == (1, 3, 1)
    assert (report.changed, report.reused, report.reread) == (1, 2, 0)
    assert "another" in shop.names("app.ts")
    assert "other" not in shop.names("app.ts")
    assert len(shop.chunks()) == ALL


def test_lines_move_and_nothing_is_embedded(shop: Workshop) -> None:
    shop.put("helper.py", "\n\n" + HELPER)
    report = shop.sync()
    assert work(report) == (1, 1, 0)
    (chunk,) = [chunk for chunk in shop.chunks() if chunk.relative_path == "helper.py"]
    assert chunk.start_line == 3


def test_file_added(shop: Workshop) -> None:
    shop.put("lib/more.py", "def more():\n    return 3\n\n\nMORE = more()\n")
    report = shop.sync()
    assert work(report) == (1, 2, 2)
    assert (report.added, report.changed, report.unchanged) == (1, 0, 5)
    assert len(shop.chunks()) == ALL + 2


def test_file_removed(shop: Workshop) -> None:
    (shop.root / "helper.py").unlink()
    report = shop.sync()
    assert work(report) == (0, 0, 0)
    assert report.removed == 1
    assert shop.names("helper.py") == []
    assert len(shop.chunks()) == ALL - 1
    assert report.sentence == "Files: 1 removed."


def test_signature_cascade(shop: Workshop) -> None:
    shop.put("auth/token.ts", TOKEN.replace("token: string):", "token: string, hard: boolean):"))
    report = shop.sync()
    # `verify` itself, `check` in its file, and `main` in another file, through the barrel.
    assert report.embedded == 3
    assert {text.splitlines()[0].rsplit(" > ")[-1] for text in shop.embedder.documents} == {
        "verify",
        "check",
        "main",
    }
    # The changed file; the barrel and the app are read again because they may quote it.
    assert (report.changed, report.reread, report.parsed) == (1, 2, 3)
    # The barrel quotes nothing, so its rows stay where they are.
    assert report.chunks_written == CHUNKS["auth/token.ts"] + CHUNKS["app.ts"]
    (main,) = [chunk for chunk in shop.chunks() if chunk.name == "main"]
    assert "- verify: export function verify(token: string, hard: boolean)" in main.embedding_text


def test_a_change_that_is_no_signature_stays_at_home(shop: Workshop) -> None:
    shop.put("auth/token.ts", TOKEN.replace("> 3", "> 4"))
    report = shop.sync()
    assert (report.parsed, report.reread, report.embedded) == (1, 0, 1)


def test_the_target_of_an_import_comes_and_goes(shop: Workshop) -> None:
    (shop.root / "auth" / "token.ts").unlink()
    gone = shop.sync()
    assert "- verify:" not in next(c.embedding_text for c in shop.chunks() if c.name == "main")
    assert gone.removed == 1
    shop.put("auth/token.ts", TOKEN)
    back = shop.sync()
    assert "- verify:" in next(c.embedding_text for c in shop.chunks() if c.name == "main")
    assert back.added == 1


def test_rename_costs_only_the_file(shop: Workshop) -> None:
    (shop.root / "helper.py").rename(shop.root / "assistant.py")
    report = shop.sync()
    assert (report.parsed, report.added, report.removed, report.embedded) == (1, 1, 1, 1)
    assert shop.names("helper.py") == []
    assert shop.names("assistant.py") == ["helper"]


def test_there_and_back_is_where_it_began(shop: Workshop) -> None:
    before = shop.chunks()
    shop.put("app.ts", APP.replace("other", "another"))
    shop.sync()
    shop.put("app.ts", APP)
    shop.sync()
    after = shop.chunks()
    same = {chunk.id: chunk._replace(last_modified=0) for chunk in before}
    assert {chunk.id: chunk._replace(last_modified=0) for chunk in after} == same
