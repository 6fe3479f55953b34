"""Do the parts that need torch learn, choose and write what they should? Skipped without it."""

import json
import pickle
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

torch: Any = pytest.importorskip("torch", reason="only training needs it")

from tokenizers import Tokenizer, models, pre_tokenizers, processors  # noqa: E402

from asterism.models.embed.provider import unit  # noqa: E402
from asterism.models.embed.static import TextTokens, pooled  # noqa: E402
from training.examples.prepare import Examples  # noqa: E402
from training.examples.queries import KINDS  # noqa: E402
from training.models import (  # noqa: E402
    average,
    byte_graph,
    encoder,
    negatives,
    refinement,
    reranker,
    static,
)
from training.models.encoder import (  # noqa: E402
    Course,
    Held,
    Teacher,
    all_vectors,
    save,
    train,
    vectors,
)
from training.models.negatives import Owners  # noqa: E402
from training.models.static import bags, whole_numbers  # noqa: E402
from training.models.tokens import Padded, train_words  # noqa: E402
from training.models.transformer import Shape, build, joined, keeping_words, loaded  # noqa: E402

SHAPE = Shape(vocabulary=60, width=16, heads=2, inner=32, layers=2, padding=1)
WORDS = [f"word{number}" for number in range(40)]
SPECIAL = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3}


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(0)


def tokenizer() -> Tokenizer:
    vocabulary = {**SPECIAL, **{word: n + 4 for n, word in enumerate(WORDS)}}
    found = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    found.pre_tokenizer = pre_tokenizers.Whitespace()
    found.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    return found


def examples(count: int = 64) -> Examples:
    """A question shares a word with its answer; symbols come twice, files have four."""
    chance = random.Random(0)
    numbers = np.arange(count, dtype=np.int64)
    queries = [f"{WORDS[n % 32]} {chance.choice(WORDS)}" for n in range(count)]
    texts = [f"{WORDS[n % 32]} {' '.join(chance.choices(WORDS, k=n % 9))}" for n in range(count)]
    kinds = np.array([KINDS.index("heading" if n % 8 == 0 else "doc") for n in range(count)])
    names = [f"s{n // 32} f.py#{n // 2}" for n in range(count)]
    return Examples(queries, texts, numbers // 32, numbers // 32, names, kinds, numbers // 4)


def held(texts: list[str], longest: int = 12) -> Held:
    return Held.of(Padded(tokenizer(), texts, longest), 1, "cpu")


def test_padding_does_not_matter() -> None:
    module = build(SHAPE).eval()
    texts = held([" ".join(WORDS[:n]) for n in (1, 9, 4, 0)])
    together = module(*texts.some(torch.arange(4)))
    alone = torch.cat([module(*texts.some(torch.tensor([n]))) for n in range(4)])
    torch.testing.assert_close(together, alone, atol=1e-5, rtol=0)
    torch.testing.assert_close(together.norm(dim=1), torch.ones(4))


def test_order_does_not_matter() -> None:
    module = build(SHAPE).eval()
    texts = held(examples().texts)
    chosen = torch.tensor([5, 1, 60, 33, 8])
    expected = torch.cat([module(*texts.some(chosen[n : n + 1])) for n in range(5)])
    torch.testing.assert_close(vectors(module, texts, chosen, 3), expected, atol=1e-5, rtol=0)
    everything = all_vectors(module, texts).float()
    assert (everything[chosen] * expected).sum(dim=1).min() > 0.99


def test_weights_come_back(tmp_path: Path) -> None:
    for scores in (False, True):
        module = build(SHAPE, scores).eval()
        save(tmp_path, module, SHAPE)
        again, shape, is_scoring = loaded(tmp_path)
        assert (shape, is_scoring) == (SHAPE, scores)
        given = held(["word1 word2"]).some(torch.tensor([0]))
        torch.testing.assert_close(again(*given), module(*given), atol=1e-2, rtol=0)


def test_words_are_kept_from_nothing_on() -> None:
    module = build(SHAPE).eval()
    given = held(examples().texts).some(torch.arange(64))
    wider, shape = keeping_words(module, SHAPE)
    assert shape.keeps_words
    torch.testing.assert_close(wider.eval()(*given), module(*given))
    wider.kept.weight.data += torch.eye(SHAPE.width)
    assert (wider(*given) * module(*given)).sum(dim=1).min() < 0.99


def test_layers_are_joined() -> None:
    module = build(SHAPE).eval()
    wider, shape = joined(module, SHAPE, 2)
    assert (shape.layers, shape.inner) == (1, 64)
    first, second = module.layers
    [one] = wider.eval().layers
    given = torch.randn(1, 3, SHAPE.width)
    both = [layer.outer(torch.nn.functional.gelu(layer.inner(given))) for layer in (first, second)]
    torch.testing.assert_close(
        one.outer(torch.nn.functional.gelu(one.inner(given))), both[0] + both[1]
    )
    torch.testing.assert_close(one.query(given), first.query(given))
    torch.testing.assert_close(wider.words.weight, module.words.weight)
    with pytest.raises(ValueError, match="2 layers cannot be joined by 3"):
        joined(module, SHAPE, 3)


@pytest.mark.parametrize("scores", [False, True])
@pytest.mark.parametrize("words", [False, True])
def test_products_of_bytes(tmp_path: Path, scores: bool, words: bool) -> None:
    pytest.importorskip("onnx")
    from onnxruntime import InferenceSession

    shape = SHAPE._replace(keeps_words=words)
    module = build(shape, scores).eval()
    if words:
        torch.nn.init.normal_(module.worth.weight)
        torch.nn.init.normal_(module.kept.weight)
    texts = held(examples().texts)
    every = [texts.some(torch.tensor([number])) for number in range(64)]
    byte_graph.write(
        module, shape, scores, [ids[0].tolist() for ids, _mask in every], tmp_path / "m"
    )
    session = InferenceSession(str(tmp_path / "m"), providers=["CPUExecutionProvider"])

    def run(ids: Any, mask: Any) -> Any:
        given = {"input_ids": ids.numpy(), "attention_mask": mask.numpy()}
        return torch.from_numpy(session.run(None, given)[0])

    together = run(*texts.some(torch.arange(64)))
    alone = torch.cat([run(*one) for one in every])
    torch.testing.assert_close(together, alone, atol=1e-4, rtol=0)
    exact = module(*texts.some(torch.arange(64)))
    if scores:
        assert torch.corrcoef(torch.stack((together, exact)))[0, 1] > 0.99
    else:
        assert (together * exact).sum(dim=1).min() > 0.995
        weights, read = byte_graph.read(tmp_path / "m", shape.padding)
        again = build(read)
        again.load_state_dict({name: torch.from_numpy(some) for name, some in weights.items()})
        assert read == shape
        assert (again(*texts.some(torch.arange(64))) * exact).sum(dim=1).min() > 0.995


def test_a_refined_encoder_tells_neighbours_apart(tmp_path: Path) -> None:
    """Two words ask; the first is in all functions of a file, the second in one."""
    asked: list[tuple[str, str, list[int], list[int]]] = []
    texts: list[str] = []
    for file in range(16):
        first = len(texts)
        texts += [f"{WORDS[file]} {WORDS[16 + n]} {WORDS[(file + n) % 40]}" for n in range(8)]
        for n in range(8):
            others = [first + other for other in range(8) if other != n]
            asked.append((f"{WORDS[file]} {WORDS[16 + n]}", "commit", [first + n], others))
    folder = tmp_path / "functions"
    folder.mkdir()
    told = {"source": "shop", "texts": texts, "asked": asked}
    (folder / "shop.json").write_text(json.dumps(told))
    start = tmp_path / "start"
    start.mkdir()
    save(start, build(SHAPE), SHAPE)
    tokenizer().save(str(start / "tokenizer.json"))
    given = [str(folder), "--start", str(start), "--out", str(tmp_path / "out")]
    options = ["--device", "cpu", "--rate", "3e-3", "--epochs", "15"]
    assert refinement.main([*given, *options]) == 0

    def right(folder: Path) -> float:
        module = loaded(folder)[0]
        queries = all_vectors(module, held([query for query, *_ in asked]))
        alike = queries.float() @ all_vectors(module, held(texts)).float().T
        return float((alike.argmax(1) == torch.arange(len(texts))).float().mean())

    assert right(start) < 0.5 < right(tmp_path / "out")


def test_the_mean_of_two(tmp_path: Path) -> None:
    for name, words in (("one", True), ("two", False)):
        folder = tmp_path / name
        folder.mkdir()
        save(folder, build(SHAPE._replace(keeps_words=words)), SHAPE._replace(keeps_words=words))
        tokenizer().save(str(folder / "tokenizer.json"))
    assert (
        average.main([*map(str, (tmp_path / "one", tmp_path / "two")), "--out", str(tmp_path)]) == 0
    )
    one, two, both = (loaded(tmp_path / name)[0] for name in ("one", "two", "."))
    mean = (one.words.weight + two.words.weight) / 2
    torch.testing.assert_close(both.words.weight, mean, atol=1e-3, rtol=0)
    assert (tmp_path / "tokenizer.json").is_file()


def test_a_mean_of_different_shapes_is_refused(tmp_path: Path) -> None:
    for name, layers in (("one", 1), ("two", 2)):
        (tmp_path / name).mkdir()
        shape = SHAPE._replace(layers=layers)
        save(tmp_path / name, build(shape), shape)
    with pytest.raises(SystemExit):
        average.main([str(tmp_path / "one"), str(tmp_path / "two"), "--out", str(tmp_path / "out")])
    assert not (tmp_path / "out").exists()


def test_a_teacher_is_heard() -> None:
    """It holds another answer to be right than the examples say."""
    made = examples()
    owners = Owners.of(made, "cpu")
    queries, texts = held(made.queries), held(made.texts)
    asked = torch.nn.functional.normalize(torch.randn(64, 16), dim=1)
    teacher = Teacher(asked, asked.roll(7, 0))
    told = teacher.opinion(torch.arange(64), torch.arange(64))
    torch.testing.assert_close(told.sum(1), torch.ones(64))
    assert (told.argmax(1) == (torch.arange(64) + 7) % 64).all()
    module = build(SHAPE)
    course = Course(made, queries, texts, owners, 1e-2, 0.2, 0, teacher)

    def agreement() -> float:
        alike = all_vectors(module, queries).float() @ all_vectors(module, texts).float().T
        return float((alike.softmax(1).log() * told).sum(1).mean())

    before = agreement()
    train(module, course, encoder._wrong(module, course))
    assert agreement() > before


def test_two_teachers_say_what_they_say_in_the_mean(tmp_path: Path) -> None:
    every = [torch.nn.functional.normalize(torch.randn(2, 8, 4), dim=2) for _ in range(2)]
    for number, vectors_of in enumerate(every):
        (tmp_path / str(number)).mkdir()
        torch.save(tuple(vectors_of), tmp_path / str(number) / encoder.VECTORS)
    teacher = Teacher.of([tmp_path / "0", tmp_path / "1"], "cpu")
    alike = [queries @ texts.T for queries, texts in every]
    torch.testing.assert_close(teacher.queries @ teacher.texts.T, sum(alike) / 2)


def test_wrong_answers() -> None:
    made = examples()
    owners = Owners.of(made, "cpu")
    texts = torch.nn.functional.normalize(torch.randn(64, 16), dim=1)
    found = negatives.nearest(made, owners, texts, texts)
    assert found.shape == (64, negatives.KEPT)
    for number, wrong in enumerate(found.tolist()):
        chosen = [place for place in wrong if place >= 0]
        assert chosen
        assert wrong == [*chosen, *[-1] * (len(wrong) - len(chosen))]
        for place in chosen:
            assert made.sources[place] == made.sources[number]
            assert made.names[place] != made.names[number]
            if KINDS[made.kinds[number]] == "heading":
                assert made.files[place] != made.files[number]
        alike = [float(texts[number] @ texts[place]) for place in chosen]
        assert alike == sorted(alike, reverse=True)


def test_twins_are_no_wrong_answers() -> None:
    made = examples(8)
    texts = torch.eye(8, 16)
    texts[5] = texts[2]
    found = negatives.nearest(made, Owners.of(made, "cpu"), texts, texts)
    assert 5 not in found[2].tolist()
    assert 2 not in found[5].tolist()


def test_whose_answer_it_is() -> None:
    owners = Owners.of(examples(8), "cpu")
    right = owners.also_right(torch.tensor([0, 1]), torch.arange(8))
    # The first asks about its file of four, the second about its symbol of two.
    assert right.tolist() == [[True] * 4 + [False] * 4, [True] * 2 + [False] * 6]


def test_pooling_is_the_product_s(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [*examples().texts, "", "word1 word1 word1 unseen"]
    words = train_words(texts * 9, 60)
    table = torch.randint(-127, 127, (words.get_vocab_size(), 8), dtype=torch.int8)
    found = bags(Padded(words, texts, 512, False), len(table), "cpu").all(table.float())
    ids = [words.encode(text).ids for text in texts]
    owners = [number for number, some in enumerate(ids) for _ in some]
    tokens = TextTokens(np.array(owners, dtype=np.int32), np.array(sum(ids, []), dtype=np.int32))  # noqa: RUF017
    expected = unit(pooled(tokens, table.numpy(), len(texts)))
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-5)


def test_whole_numbers() -> None:
    table = torch.randn(300, 16)
    small = whole_numbers(table)
    assert small.dtype == torch.int8
    assert int(small.abs().max()) == 127
    cosine = torch.nn.functional.cosine_similarity(table, small.float())
    assert cosine.min() > 0.99


@pytest.fixture
def small_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(static, "VOCABULARY", 80)
    monkeypatch.setattr(static, "WIDTH", 16)


@pytest.mark.usefixtures("small_table")
def test_static_learns(tmp_path: Path) -> None:
    """From the command to files."""
    made = examples(256)
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "examples.pickle").write_bytes(pickle.dumps(tuple(made)))
    asked = [
        {"id": str(n), "repo": "r", "query": word, "targets": [{"path": f"{n}.py"}]}
        for n, word in enumerate(WORDS[:32])
    ]
    chunks = ("python", [(f"{n}.py", 1, 2) for n in range(32)], made.texts[:32])
    (tmp_path / "bench.pickle").write_bytes(pickle.dumps((asked, {"r": chunks})))
    out = tmp_path / "out"
    done = static.main(
        [
            str(tmp_path / "examples"), "--epochs", "20", "--device", "cpu", "--out", str(out),
            "--questions", str(tmp_path / "bench.pickle"),
        ]
    )  # fmt: skip
    assert done == 0
    assert np.load(out / "embeddings.int8.0.npy").dtype == np.int8
    [told] = (out / "figures.jsonl").read_text("utf-8").splitlines()
    assert json.loads(told)["bench"]["files"] > 0.4
    queries, texts = torch.load(out / "vectors.pt")
    assert queries.shape == texts.shape == (256, 16)


@pytest.mark.usefixtures("small_table")
def test_the_same_seed_the_same_table() -> None:
    made = examples(64)
    words = train_words([*made.queries, *made.texts], 80)
    queries, texts = (
        bags(Padded(words, some, 512, False), 80, "cpu") for some in (made.queries, made.texts)
    )
    one, two, other = (static.train(queries, texts, made, 2, seed, "cpu") for seed in (3, 3, 4))
    torch.testing.assert_close(one, two)
    assert not torch.equal(one, other)


def test_encoder_learns(monkeypatch: pytest.MonkeyPatch) -> None:
    """So many steps, whatever the clock says."""
    seconds = iter(range(1_000_000))
    monkeypatch.setattr(encoder, "time", SimpleNamespace(time=lambda: next(seconds)))
    monkeypatch.setattr(encoder, "WARM_STEPS", 5)
    made = examples()
    queries, texts = held(made.queries), held(made.texts)
    module = build(SHAPE)
    owners = Owners.of(made, "cpu")
    known = torch.nn.functional.normalize(torch.randn(64, 8), dim=1)
    wrong = negatives.nearest(made, owners, known, known)

    def right() -> float:
        alike = all_vectors(module, queries).float() @ all_vectors(module, texts).float().T
        best = owners.symbols[alike.argmax(1)] == owners.symbols
        return float(best.float().mean())

    before = right()
    train(module, Course(made, queries, texts, owners, 1e-2, 0.7, 0), wrong)
    assert right() > before + 0.1


def test_pairs_are_those_of_the_tokenizer() -> None:
    made = examples()
    pairs = reranker.Pairs(held(made.queries), held(made.texts))
    asking, answers = torch.tensor([0, 3, 9]), torch.tensor([1, 8, 4])
    ids, mask = pairs.some(asking, answers)
    for row in range(3):
        expected = tokenizer().encode(made.queries[asking[row]], made.texts[answers[row]]).ids
        assert ids[row][mask[row].bool()].tolist() == expected


def test_candidates() -> None:
    wrong = torch.full((20, 4), -1, dtype=torch.int32)
    wrong[3] = torch.tensor([5, 6, 7, 8])
    asking = torch.arange(20)
    found = reranker.candidates(asking, [wrong, wrong])
    assert found.shape == (20, reranker.CANDIDATES)
    assert (found[:, 0] == asking).all()
    assert (found[:, 1:] != asking[:, None]).all()
    assert set(found[3, 1:].tolist()) <= {5, 6, 7, 8}


@pytest.mark.filterwarnings("ignore")
def test_export(tmp_path: Path) -> None:
    """The written graph says what the module says, and the product runs it."""
    pytest.importorskip("onnx")
    from asterism.models.embed.encoder import EncoderEmbedder
    from asterism.models.embed.options import EmbedOptions
    from scripts.describe_model import describe
    from training.models import export

    module = build(SHAPE).eval()
    trained, out = tmp_path / "trained", tmp_path / "out"
    trained.mkdir()
    save(trained, module, SHAPE)
    tokenizer().save(str(trained / "tokenizer.json"))
    (trained / "examples.pickle").write_bytes(pickle.dumps(tuple(examples())))
    arguments = [str(trained), "--examples", str(trained), "--name", "tiny", "--out", str(out)]
    assert export.main(arguments) == 0
    told = json.loads((out / "config.json").read_text("utf-8"))
    assert (told["name"], told["width"], told["pad_token_id"]) == ("tiny", 16, 1)
    about = {
        "name": "tiny",
        "kind": "encoder",
        "dimensions": 16,
        "max_tokens": 12,
        "query_tokens": 8,
    }
    (out / "model.json").write_text(json.dumps(describe(out, about)))
    texts = examples().texts[:8]
    found = EncoderEmbedder(EmbedOptions("encoder", str(out))).embed_documents(texts)
    expected = module(*held(texts).some(torch.arange(8))).detach().numpy()
    assert (found * expected).sum(axis=1).min() > 0.99
