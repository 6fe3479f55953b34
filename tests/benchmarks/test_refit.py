"""Numbers for a model's vectors: from a set of questions to what its folder should say."""

import json
from pathlib import Path

import numpy as np
import pytest

from asterism.config.settings import Settings
from asterism.engine.engine import Engine
from asterism.engine.rerank import rank_options
from asterism.engine.stores import DataDirectories
from asterism.models.embed.options import EmbedOptions
from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.lance.table import LanceTable
from asterism.types.errors import UsageError
from benchmarks.ranking.refit import main
from tests.evaluation.ranked_repositories import REPOSITORIES
from tests.models.weights.tiny_models import make_encoder, rewrite

LINES: list[dict[str, object]] = [
    {
        "query": "check a token",
        "repo": "harbor",
        "language": "typescript",
        "category": "meaning",
    },
    {"query": "TokenService", "repo": "harbor", "language": "python", "category": "name"},
    {"query": "price of a cart", "repo": "harbor", "language": "go", "targets": []},
]
TARGET: dict[str, object] = {"targets": [{"path": "web/src/auth/tokenService.ts"}]}


@pytest.fixture
def given(tmp_path: Path) -> list[str]:
    lines = [json.dumps({"id": str(n), **TARGET, **line}) for n, line in enumerate(LINES)]
    (tmp_path / "set.jsonl").write_text("\n".join(lines))
    folder = make_encoder(tmp_path / "model")
    repos = ["--repos-dir", str(REPOSITORIES["harbor"].parent)]
    kept = ["--index-dir", str(tmp_path / "kept")]
    return [str(tmp_path / "set.jsonl"), *repos, *kept, "--model", str(folder)]


def test_from_a_dataset_to_numbers_that_the_ranking_reads(
    tmp_path: Path, given: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "numbers.json"
    weights = ["--weight", "vector", "--weight", "nearby", "--folds", "2"]
    assert main([*given, *weights, "-o", str(output)]) == 0
    numbers = json.loads(output.read_text())
    assert {"vectors.weights.vector", "vectors.weights.nearby"} < numbers.keys()
    printed = capsys.readouterr().out
    assert "answer, fitted" in printed
    assert all(word in printed for word in ("meaning", "name", "typescript", "python"))
    rewrite(tmp_path / "model", ranking=numbers)
    options = rank_options(EmbedOptions(provider="encoder", model=str(tmp_path / "model")))
    assert options.weights.vector == numbers["vectors.weights.vector"]
    assert options.by_meaning.slope == numbers["vectors.by_meaning.slope"]


def test_vectors_from_elsewhere_are_taken_by_the_chunks_ids(
    tmp_path: Path, given: list[str]
) -> None:
    engine = Engine(
        DataDirectories(tmp_path / "kept" / "data", tmp_path / "kept" / "cache"),
        lambda _root: Settings(),
    )
    registered = engine.register(REPOSITORIES["harbor"].resolve())
    engine.index(registered)
    directory = registered.project.directory
    with Catalogue.open(directory) as catalogue, catalogue.snapshot():
        snapshot = LanceTable.open(directory, name=catalogue.table.name).snapshot(
            catalogue.chunks_version()
        )
        ids = [key.id for key in snapshot.rows().keys]
    drawn = np.random.default_rng(3).normal(size=(len(ids), 4)).astype(np.float16)
    np.savez(tmp_path / "harbor.npz", ids=ids[1:], vectors=drawn[1:])
    with pytest.raises(UsageError, match="lacks 1 of"):
        main([*given, "--vectors", str(tmp_path)])
    np.savez(tmp_path / "harbor.npz", ids=ids, vectors=drawn)
    assert main([*given, "--vectors", str(tmp_path)]) == 0


def test_a_second_set_is_measured_and_has_its_share_in_the_weights(
    tmp_path: Path, given: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    other = {
        "id": "other",
        "query": "surcharges of a parcel by weight",
        "repo": "harbor",
        "language": "go",
        "targets": [{"path": "pricing/harbor_pricing/surcharges.py"}],
    }
    (tmp_path / "beside.jsonl").write_text(json.dumps(other))
    alone = [*given[: given.index("--model")], "--every", "--folds", "2"]
    beside = ["--beside", str(tmp_path / "beside.jsonl")]
    with pytest.raises(UsageError, match="belong together"):
        main([*alone, *beside])
    beside += ["--beside-repos-dir", str(REPOSITORIES["harbor"].parent)]
    found = []
    for share in ("0.1", "10"):
        output = tmp_path / f"{share}.json"
        assert main([*alone, *beside, "--share", share, "-o", str(output)]) == 0
        assert capsys.readouterr().out.count("answer, fitted") == 2
        found.append(json.loads(output.read_text()))
    assert {"vectors.weights.stem_whole", "vectors.weights.depth"} < found[0].keys()
    assert found[0] != found[1]


def test_weights_of_change_requests(
    tmp_path: Path, given: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [
        {"query": "Add tokens that end after an hour", "language": "typescript"},
        {"query": "Fix the signature of a token", "language": "go"},
        {"query": "price of carts", "language": "go"},
    ]
    told = [
        json.dumps({"id": str(n), "repo": "harbor", **TARGET, **line})
        for n, line in enumerate(lines)
    ]
    (tmp_path / "set.jsonl").write_text("\n".join(told))
    output = tmp_path / "numbers.json"
    arguments = [*given[: given.index("--model")], "--change-requests", "-o", str(output)]
    assert main(arguments) == 0
    numbers = json.loads(output.read_text())
    assert {"vectors.change_weights.said", "vectors.change_weights.vector"} < numbers.keys()
    assert "typescript" in capsys.readouterr().out
    (tmp_path / "set.jsonl").write_text(told[2])
    with pytest.raises(UsageError, match="No question"):
        main(arguments)
