"""Does the doctor find what is wrong, go on whatever is broken, and keep secrets?"""

import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from asterism.config.model_sections import EmbeddingSettings, ModelSettings, RerankSettings
from asterism.config.sections import StructureSettings
from asterism.config.settings import Settings
from asterism.engine.doctor.checks import index_findings, settings_findings, structure_findings
from asterism.engine.doctor.machine import (
    Finding,
    Severity,
    ok,
    part_findings,
    place_findings,
    watch_findings,
)
from asterism.engine.doctor.models import (
    MODEL_FOLDER,
    answering_findings,
    embedding_findings,
    model_file_findings,
    rerank_findings,
)
from asterism.engine.doctor.probe import main as probe
from asterism.engine.doctor.report import carried_out, checks, examine, is_healthy
from asterism.engine.engine import Engine
from asterism.engine.stores import DataDirectories
from asterism.types.errors import StorageFailed
from tests.engine.conftest import SETTINGS, make
from tests.llm.fake_openai import FakeOpenAI
from tests.llm.loopback import Say
from tests.models.http.misbehaving_server import failing, serving
from tests.models.weights.tiny_models import make_encoder, make_reranker

SECRET = "a-key-that-is-nobodys-business"


@pytest.fixture(autouse=True)
def _own_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, places: DataDirectories
) -> None:
    """Only what a test sets is set."""
    for variable in list(os.environ):
        if variable.startswith(("ASTERISM_", "CODEINFO_", "XDG_")) or variable.endswith("_API_KEY"):
            monkeypatch.delenv(variable)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("ASTERISM_DATA_DIR", str(places.data))
    monkeypatch.setenv("ASTERISM_CACHE_DIR", str(places.cache))


def told(findings: Iterable[Finding]) -> list[tuple[str, str]]:
    """Check and verdict."""
    return [(finding.check, finding.verdict.value) for finding in findings]


def only(findings: Iterable[Finding]) -> Finding:
    (finding,) = findings
    return finding


def indexes(places: DataDirectories) -> list[Finding]:
    return [
        *carried_out([("Repositories", lambda: index_findings(places.data, lambda _: SETTINGS))])
    ]


def test_an_installation_that_works(engine: Engine, tmp_path: Path) -> None:
    engine.index(engine.register(make(tmp_path / "shop", one="def f():\n    return 1\n")))
    found = [*examine(tmp_path)]
    assert [finding for finding in found if finding.verdict is Severity.problem] == []
    assert is_healthy(found)
    said = {finding.check: finding.message for finding in found}
    assert said["Parser"] == "reads source code"
    assert said["Built-in model"] == "makes vectors of 256 numbers"
    assert said["Store"].startswith("writes and reads a table")
    assert "1 files, 1 chunks" in said["shop"]
    assert len({name for name, _ in checks(tmp_path)}) == len(checks(tmp_path))


def test_a_check_that_fails_does_not_hide_the_next() -> None:
    def refused() -> Iterator[Finding]:
        yield ok("A", "so far")
        raise StorageFailed("It cannot be used; permit it.")

    def broken() -> Iterator[Finding]:
        raise PermissionError(13, "Permission denied", "/some/where")

    found = [*carried_out([("A", refused), ("B", broken), ("C", lambda: [ok("C", "fine")])])]
    assert told(found) == [("A", "ok"), ("A", "problem"), ("B", "problem"), ("C", "ok")]
    assert found[1].message == "It cannot be used; permit it."
    assert found[2].message == "/some/where: Permission denied"
    assert not is_healthy(found)


def test_nowhere_to_put_anything(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("HOME")
    monkeypatch.delenv("ASTERISM_DATA_DIR")
    found = [*examine(tmp_path)]
    assert not is_healthy(found)
    broken = {one.check: one.message for one in found if one.verdict is Severity.problem}
    places = {"Directories", "Repositories", "Conversations", "Agents", "Server token"}
    assert set(broken) == places
    assert "HOME is not set" in broken["Repositories"]


def test_a_directory_that_is_a_file(places: DataDirectories) -> None:
    places.data.write_text("")
    data, cache = place_findings()
    assert (data.check, data.verdict) == ("Data directory", Severity.problem)
    assert data.advice == "Fix the permissions, or set ASTERISM_DATA_DIR to another directory."
    assert cache.verdict is Severity.ok
    assert not places.cache.exists()


def test_a_directory_that_others_may_look_into(places: DataDirectories) -> None:
    places.data.mkdir(mode=0o755)
    data, _ = place_findings()
    assert data.verdict is Severity.warning
    assert data.advice == f"It holds text of your code: `chmod 700 {places.data}`."


def test_a_list_of_repositories_that_is_damaged(engine: Engine, places: DataDirectories) -> None:
    engine.register(make(places.data.parent / "shop"))
    (places.data / "registry.sqlite").write_bytes(b"no database at all" * 100)
    finding = only(indexes(places))
    assert finding.verdict is Severity.problem
    assert finding.message == "the list of repositories is damaged or missing"
    assert (places.data / "registry.sqlite").read_bytes() == b"no database at all" * 100


def test_repositories_of_every_kind(
    engine: Engine, places: DataDirectories, tmp_path: Path
) -> None:
    for name in ("whole", "behind", "gone", "renamed", "damaged", "lost"):
        engine.index(engine.register(make(tmp_path / name, one="x = 1\n")))
    engine.register(make(tmp_path / "new"))
    (tmp_path / "behind" / "two.py").write_text("y = 1\n")
    shutil.rmtree(tmp_path / "gone")
    (tmp_path / "renamed").rename(tmp_path / "elsewhere")
    projects = {
        one.repository.name: one.project.directory for one in engine.registry.repositories()
    }
    (projects["damaged"] / "catalogue.sqlite").write_bytes(b"nonsense" * 1000)
    shutil.rmtree(projects["lost"] / "chunks.lance")
    (places.data / "projects" / "orphan").mkdir()

    found = indexes(places)

    assert told(found) == [
        ("Repositories", "ok"),
        ("whole", "ok"),
        ("behind", "ok"),
        ("gone", "warning"),
        ("renamed", "warning"),
        ("damaged", "problem"),
        ("lost", "problem"),
        ("new", "warning"),
        ("Repositories", "warning"),
    ]
    said = {finding.check: finding for finding in found[1:-1]}
    assert "1 file" in said["behind"].message
    assert "asterism repos remove gone" in said["gone"].message
    assert said["renamed"].advice == f"Run `asterism index {tmp_path / 'elsewhere'}`."
    assert said["damaged"].advice == f"Run `asterism index {tmp_path / 'damaged'}`."
    assert "has lost its chunks" in said["lost"].message
    assert said["new"].advice == f"Run `asterism index {tmp_path / 'new'}`."
    assert found[-1].advice == "Run `asterism clean` to remove them."


def test_an_index_of_another_model(engine: Engine, places: DataDirectories, tmp_path: Path) -> None:
    engine.index(engine.register(make(tmp_path / "shop", one="x = 1\n")))
    other = Settings(embedding=EmbeddingSettings(provider="voyage"))
    _, finding = index_findings(places.data, lambda _: other)
    assert finding.verdict is Severity.warning
    assert finding.advice == f"Run `asterism index {tmp_path / 'shop'}`."


def test_the_files_of_the_model(tmp_path: Path) -> None:
    assert only(model_file_findings()).verdict is Severity.ok
    folder = tmp_path / "model"
    finding = only(model_file_findings(folder))
    assert finding.verdict is Severity.problem
    assert "it has no model.json" in finding.message
    shutil.copytree(MODEL_FOLDER, folder)
    (folder / "tokenizer.json").unlink()
    rows = folder / "embeddings.int8.npy"
    rows.write_bytes(rows.read_bytes()[:-1] + b"\x55")
    finding = only(model_file_findings(folder))
    assert finding.message == (
        "embeddings.int8.npy is not what it should be; tokenizer.json is missing"
    )
    assert finding.advice == "Install Asterism again."
    settings = Settings(embedding=EmbeddingSettings(model=str(folder)))
    assert only(embedding_findings(settings, online=False)) == finding


def test_a_part_that_does_not_work(capsys: pytest.CaptureFixture[str]) -> None:
    assert probe("no such part") == 1
    assert capsys.readouterr().out == "KeyError: 'no such part'\n"
    assert only(part_findings("parser")).verdict is Severity.ok


@pytest.mark.parametrize(
    ("chosen", "variables", "verdict", "words"),
    [
        ({"provider": "local"}, {}, "ok", "nothing leaves this machine"),
        ({"provider": "voyage"}, {}, "problem", "there is no key"),
        ({"provider": "voyage"}, {"VOYAGE_API_KEY": SECRET}, "ok", "a key is set"),
        (
            {"provider": "openai", "url": "http://localhost:1/v1", "model": "bge-m3"},
            {},
            "ok",
            "at localhost; no key is sent",
        ),
        (
            {"provider": "openai", "url": "http://far.example/v1", "model": "bge-m3"},
            {"ASTERISM_EMBEDDING_API_KEY": SECRET},
            "warning",
            "code and key travel unencrypted",
        ),
        ({"provider": "openai", "model": "unheard-of"}, {}, "problem", "size of the vectors"),
        ({"provider": "minilm"}, {}, None, "minilm/all-MiniLM-L6-v2"),
    ],
)
def test_the_embedding_provider(
    monkeypatch: pytest.MonkeyPatch,
    chosen: dict[str, str],
    variables: dict[str, str],
    verdict: str | None,
    words: str,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    settings = Settings(embedding=EmbeddingSettings(**chosen))  # type: ignore[arg-type]
    finding = only(carried_out([("Embeddings", lambda: embedding_findings(settings, False))]))
    assert verdict in (None, finding.verdict.value)
    assert words in finding.message
    assert SECRET not in "".join(finding)


def test_a_reranker(monkeypatch: pytest.MonkeyPatch) -> None:
    assert only(rerank_findings(Settings(), online=True)).verdict is Severity.ok
    settings = Settings(rerank=RerankSettings(provider="voyage"))
    finding = only(rerank_findings(settings, online=True))
    assert finding.verdict is Severity.problem
    assert finding.advice == "Set VOYAGE_API_KEY or ASTERISM_RERANK_API_KEY."
    monkeypatch.setenv("VOYAGE_API_KEY", SECRET)
    finding = only(rerank_findings(settings, online=False))
    assert finding.message == "voyage/rerank-2.5 at api.voyageai.com; a key is set"


def test_a_language_model(monkeypatch: pytest.MonkeyPatch) -> None:
    assert only(answering_findings(Settings(), online=True)).verdict is Severity.ok
    vendor = Settings(model=ModelSettings(provider="openai"))
    finding = only(answering_findings(vendor, online=True))
    assert finding.advice == "Set OPENAI_API_KEY or ASTERISM_MODEL_API_KEY."
    monkeypatch.setenv("ASTERISM_MODEL_API_KEY", SECRET)
    with FakeOpenAI([Say("yes"), Say(status=401)]) as server:
        settings = Settings(model=ModelSettings(provider="openai", url=server.url, name="m"))
        found = [*answering_findings(settings, online=True)]
        assert [one.verdict for one in found] == [Severity.ok, Severity.ok]
        refused = [*answering_findings(settings, online=True)][1]
    assert refused.verdict is Severity.problem
    assert SECRET not in "".join(map(str, [*found, refused]))


def test_models_of_our_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder, reranker = make_encoder(tmp_path / "encoder"), make_reranker(tmp_path / "reranker")
    settings = Settings(
        embedding=EmbeddingSettings(provider="encoder", model=str(encoder)),
        rerank=RerankSettings(provider="local", model=str(reranker)),
    )
    finding = only(embedding_findings(settings, online=True))
    assert finding.verdict is Severity.ok
    assert "nothing leaves this machine" in finding.message
    assert told(rerank_findings(settings, online=True)) == [("Reranker", "ok")]
    judged = Settings(rerank=RerankSettings(provider="encoder", model=str(encoder)))
    assert told(rerank_findings(judged, online=False)) == [("Reranker", "ok")]
    (reranker / "model.onnx").write_bytes(b"")
    finding = only(rerank_findings(settings, online=False))
    assert finding.verdict is Severity.problem
    assert "model.onnx has 0 bytes" in finding.message
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    finding = only(embedding_findings(settings, online=False))
    assert finding.verdict is Severity.problem
    assert "pip install onnxruntime" in finding.message


def test_providers_are_asked_only_online(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASTERISM_EMBEDDING_API_KEY", SECRET)
    monkeypatch.setenv("ASTERISM_RERANK_API_KEY", SECRET)
    with serving() as server:
        settings = Settings(
            embedding=EmbeddingSettings(
                provider="openai", url=server.url, model="mine", dimensions=8
            ),
            rerank=RerankSettings(provider="voyage", url=server.url),
        )
        assert told(embedding_findings(settings, online=False)) == [("Embeddings", "ok")]
        assert told(rerank_findings(settings, online=False)) == [("Reranker", "ok")]
        assert server.requests == []
        assert told(embedding_findings(settings, online=True)) == [("Embeddings", "ok")] * 2
        assert told(rerank_findings(settings, online=True)) == [("Reranker", "ok")] * 2
        assert len(server.requests) == 2
        server.script = [failing(401)]
        _, finding = embedding_findings(settings, online=True)
    assert finding.verdict is Severity.problem
    assert "does not accept the key" in finding.message
    assert SECRET not in "".join(finding)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[index]\nsync_seconds = 1\n", "is valid"),
        ("[index\n", "is not valid TOML"),
        ("[index]\nsync_second = 1\n", "did you mean index.sync_seconds?"),
        ("[index]\nsync_seconds = 'x'\n", "is not allowed"),
        (f"[embedding]\napi_key = '{SECRET}'\n", "is a secret and does not belong here"),
    ],
)
def test_the_users_own_file(tmp_path: Path, text: str, expected: str) -> None:
    file = tmp_path / "home/.config/asterism/config.toml"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    finding = only(settings_findings(tmp_path))
    assert expected in finding.message
    assert str(file) in finding.message
    assert finding.verdict is (Severity.ok if expected == "is valid" else Severity.problem)
    assert SECRET not in "".join(finding)


def test_what_goes_unheard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "asterism.toml").write_text('[embedding]\nprovider = "voyage"\n')
    monkeypatch.setenv("ASTERISM_INDEX_SYNC_SECOND", "1")
    monkeypatch.setenv("ASTERISM_TRUST_REPOSITORIES", "/no/such/place")
    monkeypatch.setenv("ASTERISM_LOG_FILE", "/dev/null/log")
    found = [*settings_findings(tmp_path)]
    assert told(found) == [
        ("Settings", "ok"),
        ("Settings", "warning"),
        ("Settings", "warning"),
        ("Trust", "warning"),
        ("Log", "problem"),
    ]
    assert "a repository may not set embedding.provider = " in found[1].message
    assert "ASTERISM_INDEX_SYNC_SECOND is ignored" in found[2].message
    assert "/no/such/place" in found[3].message


def test_a_repositorys_broken_file(tmp_path: Path) -> None:
    (tmp_path / "asterism.toml").write_text("no toml")
    assert told(settings_findings(tmp_path)) == [("Settings", "ok"), ("Settings", "problem")]
    assert told(checked for checked in examine(tmp_path) if checked.check == "Embeddings")


def test_programs_that_connect_symbols(tmp_path: Path) -> None:
    broken = tmp_path / "ty"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o755)
    chosen = StructureSettings(typescript="/no/such/tsc", python=str(broken))
    typescript, python, *others = structure_findings(Settings(structure=chosen))
    assert typescript.verdict is python.verdict is Severity.warning
    assert "There is no TypeScript compiler at /no/such/tsc" in typescript.message
    assert "cannot be started" in python.message
    assert {other.verdict for other in others} == {Severity.ok}
    off = StructureSettings("off", "off", "off", "off", "off", "off")
    assert {one.verdict for one in structure_findings(Settings(structure=off))} == {Severity.ok}


def test_language_servers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, code in (("gopls", 0), ("rust-analyzer", 1), ("mine", 1)):
        (tmp_path / name).write_text(f"#!/bin/sh\nexit {code}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    chosen = StructureSettings("off", "off", java="/nowhere/jdtls")
    cpp, go, rust, java = [*structure_findings(Settings(structure=chosen))][2:6]
    assert cpp.message == "clangd is not installed; connected by name"
    assert go.message == f"{tmp_path}/gopls, for repositories that you trust"
    # A toolchain may have a program of that name that only says what to install.
    assert rust.message == "rust-analyzer is not installed; connected by name"
    assert {one.verdict for one in (cpp, go, rust)} == {Severity.ok}
    assert (java.verdict, "/nowhere/jdtls" in java.message) == (Severity.warning, True)
    named = StructureSettings(rust=str(tmp_path / "mine"))
    rust = [*structure_findings(Settings(structure=named))][4]
    assert (rust.verdict, "cannot be started" in rust.message) == (Severity.warning, True)


def test_a_compiler_of_another_version(tmp_path: Path) -> None:
    compiler = tmp_path / "tsc"
    compiler.write_text("#!/bin/sh\necho Version 5.0.0\n")
    compiler.chmod(0o755)
    (tmp_path / "lib.es5.d.ts").write_text("")
    chosen = StructureSettings(typescript=str(compiler), python="off")
    typescript, *_ = structure_findings(Settings(structure=chosen))
    assert (typescript.verdict, typescript.message) == (Severity.warning, "Version 5.0.0")


@pytest.mark.parametrize(
    ("watches", "instances", "verdict"),
    [
        ("524288", "128", "ok"),
        ("8192", "128", "warning"),
        ("524288", "4", "warning"),
        ("?", "4", "ok"),
    ],
)
def test_limits_of_watching(tmp_path: Path, watches: str, instances: str, verdict: str) -> None:
    (tmp_path / "max_user_watches").write_text(f"{watches}\n")
    (tmp_path / "max_user_instances").write_text(f"{instances}\n")
    assert only(watch_findings(tmp_path)).verdict.value == verdict
