"""Does one command measure every model it is given, and go on without those that it cannot use?"""

import json
import re
from pathlib import Path

import pytest

from asterism.evaluation.datasets import load_dataset
from asterism.types.errors import AsterismError
from tests.models.weights.tiny_models import make_encoder, make_reranker
from tests.training.source_trees import FILES, write_tree
from training.evaluation import evaluate
from training.evaluation.contenders import Contender, shipped
from training.evaluation.costs import Costs, measured
from training.evaluation.questions import Texts, collection, main
from training.evaluation.scoring import load

QUESTIONS = [
    ("renew", "how the end of a session is moved", "src/sessions.py", "semantic"),
    ("expired", "expired_sessions", "src/sessions.py", "symbol"),
    ("total", "add up the prices of a cart", "web/cart.ts", "semantic"),
    ("take", "TakeJob", "queue/queue.go", "symbol"),
]


@pytest.fixture
def queries(tmp_path: Path) -> Path:
    write_tree(tmp_path / "repos" / "shop")
    lines = [
        {"id": name, "query": query, "repo": "shop", "language": "python", "category": category,
         "targets": [{"path": path}]}
        for name, query, path, category in QUESTIONS
    ]  # fmt: skip
    lines.append({"id": "none", "query": "play chess", "repo": "shop", "targets": []})
    path = tmp_path / "shop.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


def measure(queries: Path, *more: object) -> int:
    repos = queries.parent / "repos"
    return evaluate.main(["--queries", str(queries), "--repos-dir", str(repos), *map(str, more)])


def figures_of(out: str, row: str) -> list[str]:
    lines = ([cell.strip() for cell in line.strip("|").split("|")] for line in out.splitlines())
    [found] = [cells for cells in lines if cells[0] == row]
    return found


def test_everything(queries: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    encoder = make_encoder(tmp_path / "tiny-encoder")
    reranker = make_reranker(tmp_path / "tiny-reranker", best=1.0, score_slope=1.0)
    damaged = make_encoder(tmp_path / "damaged")
    (damaged / "model.onnx").write_bytes(b"half of it")
    done = measure(
        queries, "--encoder", damaged, "--encoder", tmp_path / "nowhere", "--encoder", encoder,
        "--reranker", reranker, "--index-dir", tmp_path / "kept", "--runs", tmp_path / "runs",
    )  # fmt: skip
    assert done == 0
    out = capsys.readouterr().out
    assert out.startswith("5 questions, 1 repositories, ")
    name, count, everything, *rest = figures_of(out, "asterism-static-2, vectors alone, files")
    assert (name, count) == ("asterism-static-2, vectors alone, files", "4")
    assert float(everything.split()[0]) > 0.8
    assert rest[-1] == "–"
    assert float(figures_of(out, "hybrid, default settings")[2].split()[0]) == 1.0
    for row in (
        "tiny-encoder, vectors alone, files",
        "tiny-reranker on the 40 nearest, files",
        "words by BM25",
        "hybrid with tiny-encoder",
        "hybrid reranked by tiny-reranker",
    ):
        found = figures_of(out, row)
        assert found[1] == "4"
        assert re.fullmatch(r"[+-]\d\.\d{3} \(.*\)|–", found[-1])
    assert figures_of(out, "tiny-encoder")[1:3] == ["encoder", "0.0"]
    assert re.search(r"Not measured: damaged\. .*model\.onnx has 10 bytes instead of", out)
    assert re.search(r"Not measured: nowhere\. .*it has no model\.json", out)
    assert (tmp_path / "runs" / "hybrid, default settings.json").is_file()


def test_only_given(queries: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    encoder = make_encoder(tmp_path / "tiny")
    assert measure(queries, "--only-given", "--encoder", encoder, "--no-hybrid") == 0
    out = capsys.readouterr().out
    assert "tiny, vectors alone" in out
    assert "asterism-static" not in out
    assert "hybrid" not in out


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--only-given"], "No model that makes vectors was given"),
        (["--repo", "other"], "No question is left"),
        (["--category", "other"], "No question is left"),
        (["--chunks-at-most", "1"], "No question is left"),
        (["--only-given", "--static", "nowhere"], "it has no model.json"),
    ],
)
def test_nothing_to_measure(
    queries: Path, more: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert measure(queries, *more) == 1
    assert words in capsys.readouterr().err


def test_no_checkout(queries: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (queries.parent / "repos").rename(queries.parent / "elsewhere")
    assert measure(queries) == 1
    assert "check shop out there" in capsys.readouterr().err


def test_a_reranker_without_numbers(
    queries: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is measured alone; in the product's search its weight is unknown."""
    reranker = make_reranker(tmp_path / "plain")
    assert measure(queries, "--reranker", reranker) == 0
    out = capsys.readouterr().out
    assert "plain on the 40 nearest" in out
    assert "Not measured: plain in the hybrid." in out


def test_variants(queries: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert measure(queries, "--variant", "fewer tokens", "chunks.max_tokens=200") == 0
    assert float(figures_of(capsys.readouterr().out, "fewer tokens")[2].split()[0]) > 0.5
    assert measure(queries, "--variant", "wrong", "chunks.max_tokens") == 1


def test_what_comes_with_the_package() -> None:
    found = list(shipped())
    assert (found[0].name, found[0].kind) == ("asterism-static-2", "static")
    for contender in found:
        assert contender.described().size > 1_000_000


@pytest.mark.parametrize("kind", ["static", "encoder", "reranker"])
def test_costs(tmp_path: Path, kind: str) -> None:
    folders = {"encoder": make_encoder, "reranker": make_reranker}
    contender = (
        Contender("tiny", kind, folders[kind](tmp_path / "tiny"))  # type: ignore[arg-type]
        if kind in folders
        else next(shipped())
    )
    found = measured(contender, list(FILES.values()) * 4, ["pay cart", "check token"])
    assert isinstance(found, Costs)
    assert found.load_cpu_s > 0
    assert found.texts_per_cpu_s > 0
    assert 0 < found.query_cpu_ms < 1_000
    assert found.memory_mb > 1


def test_costs_of_nothing(tmp_path: Path) -> None:
    with pytest.raises(AsterismError, match=r"it has no model\.json"):
        measured(Contender("none", "encoder", tmp_path), ["text"], ["question"])


def test_questions_with_their_chunks(queries: Path, tmp_path: Path) -> None:
    """What is written for another machine is what is read here."""
    out = tmp_path / "bench.pickle"
    repos = queries.parent / "repos"
    assert main([str(queries), "--repos-dir", str(repos), "--out", str(out)]) == 0
    asked, collections = load(out)
    assert [question["id"] for question in asked] == [
        query.id for query in load_dataset(queries).queries
    ]
    found = collections["shop"]
    assert found.language == "python"
    assert {place.path for place in found.places} == FILES.keys()
    assert found.texts == collection(repos / "shop", "python").texts
    assert any(text.startswith("[Go] queue/queue.go") for text in found.texts)


def test_code_without_its_documentation(queries: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shop = queries.parent / "repos" / "shop"
    whole = collection(shop, "python", Texts(None))
    bare = collection(shop, "python", Texts(None, documented=False))
    assert bare.places == whole.places
    assert any("Moves the end of a session" in text for text in whole.texts)
    renew = next(n for n, text in enumerate(whole.texts) if "> renew_session" in text)
    assert "Purpose: Moves the end" in whole.texts[renew]
    assert "Moves the end" not in bare.texts[renew]
    assert "self.kept[token] = time.time() + self.seconds" in bare.texts[renew]
    assert [len(text) for text in collection(shop, "python", Texts(9)).texts] == [9] * len(
        bare.texts
    )
    assert measure(queries, "--undocumented") == 0
    assert "hybrid" not in capsys.readouterr().out


def test_only_the_part_that_a_benchmark_names(queries: Path, tmp_path: Path) -> None:
    folder = tmp_path / "bench"
    folder.mkdir()
    (folder / "queries.jsonl").write_text(queries.read_text("utf-8").splitlines()[0] + "\n")
    listed = [{"name": "shop", "language": "python", "benchmark_root": "src"}]
    (folder / "repos.json").write_text(json.dumps(listed))
    out = tmp_path / "bench.pickle"
    repos = queries.parent / "repos"
    assert main([str(folder), "--repos-dir", str(repos), "--out", str(out)]) == 0
    _asked, collections = load(out)
    assert {place.path for place in collections["shop"].places} == {"sessions.py", "settings.rs"}


def test_by_meaning_alone(queries: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert measure(queries, "--mode", "semantic") == 0
    out = capsys.readouterr().out
    assert float(figures_of(out, "by meaning alone, default settings")[2].split()[0]) > 0.5
    assert "hybrid, default settings" not in out.partition("- words")[0]
