"""Evidence from lists of matches, paths, forms of words and coverage."""

import pytest

from asterism.search.ranking.evidence import (
    Evidence,
    by_name,
    files_of,
    gather,
    log_odds,
    strengths_of,
)
from asterism.search.ranking.options import RankOptions, Weights
from asterism.search.ranking.words import (
    AskedWords,
    alike,
    asked_stems,
    is_short_for,
    names_file,
    path_words,
    rarity,
    said_by,
    said_by_path,
    share,
    stem_of,
)
from asterism.search.recall import FileKey, Pools
from asterism.store.chunk_table import ChunkKey, Match
from asterism.types.search import Question


def match(name: str, score: float, path: str = "") -> Match:
    return Match(ChunkKey("shop", name), path or f"{name}.py", score)


def gathered(question: Question, pools: Pools) -> dict[str, Evidence]:
    found = gather(question, pools, files_of(pools), strengths_of(pools), RankOptions())
    return {file.path: evidence for file, evidence in found.items()}


def test_each_list_is_between_0_and_1() -> None:
    pools = Pools(
        text=(match("a", 8.0), match("b", 2.0)),
        vector=(match("a", 0.5), match("b", 0.75), match("c", 1.0)),
    )
    strengths = strengths_of(pools)
    assert [*strengths.text.values()] == [1.0, 0.25]
    assert [*strengths.vector.values()] == [1.0, 0.5, 0.0]


def test_equal_distances_are_equally_near() -> None:
    strengths = strengths_of(Pools(vector=(match("a", 0.5), match("b", 0.5))))
    assert [*strengths.vector.values()] == [1.0, 1.0]


def test_several_chunks_of_a_file_add_up() -> None:
    pools = Pools(
        text=(match("a", 8.0, "one.py"), match("b", 6.0, "two.py"), match("c", 6.0, "two.py"))
    )
    found = gathered(Question(text="anything"), pools)
    assert found["one.py"]["text_sum"] == pytest.approx(8 / 12)
    assert found["two.py"]["text_sum"] == 1.0


FIVE = ("alpha", "beta", "gamma", "delta", "epsilon")


def test_a_file_that_the_question_names_is_known() -> None:
    pools = Pools(text=(match("a", 1.0, "src/cart.py"), match("b", 1.0, "src/shopping-cart.py")))
    question = Question(text="src/cart.py", paths=("cart.py",))
    found = gathered(question, pools)
    assert found["src/cart.py"]["named_path"] == 1.0
    assert "named_path" not in found["src/shopping-cart.py"]


def test_depth_is_measured_from_where_the_candidates_begin() -> None:
    deep = [match(f"deep{n}", 1.0, f"src/main/shop/{n}.py") for n in range(18)]
    stray, deeper = match("stray", 1.0, "setup.py"), match("deeper", 1.0, "src/main/shop/a/b.py")
    found = gathered(Question(text="", terms=FIVE), Pools(text=(*deep, stray, deeper)))
    assert found["src/main/shop/0.py"]["depth"] == found["setup.py"]["depth"] == 0.0
    assert found["src/main/shop/a/b.py"]["depth"] == pytest.approx(1 / 3)


@pytest.mark.parametrize(("words", "counts"), [(2, 1.3), (4, 1.1), (5, 1.0), (10, 0.5), (12, 0.5)])
def test_names_and_places_count_less_the_more_a_question_says(words: int, counts: float) -> None:
    terms = ("cart", *(f"word{'abcdefghijkl'[n]}" for n in range(words - 1)))
    pools = Pools(text=(match("a", 1.0, "shop/cart.py"), match("b", 1.0, "setup.py")))
    found = gathered(Question(text="", terms=terms), pools)["shop/cart.py"]
    assert found["stem_whole"] == pytest.approx(counts)
    assert found["depth"] == pytest.approx(counts / 3)


def test_a_page_at_the_root_is_as_deep_as_most_candidates() -> None:
    deep = [match(f"deep{n}", 1.0, f"src/shop/{n}.py") for n in range(5)]
    pools = Pools(text=(*deep, match("code", 1.0, "main.py"), match("page", 1.0, "README.md")))
    found = gathered(Question(text="anything"), pools)
    assert found["main.py"]["depth"] == 0.0
    assert found["README.md"]["depth"] == found["src/shop/0.py"]["depth"] > 0


def test_importers_count_where_the_question_is_one_name() -> None:
    pools = Pools(
        text=(match("a", 1.0, "a.py"), match("b", 1.0, "b.py")),
        importers={FileKey("shop", "a.py"): {"b.py", "c.py"}},
    )
    assert gathered(Question(text="Token"), pools)["a.py"]["importers_alone"] == 1.0
    assert "importers_alone" not in gathered(Question(text="a token"), pools)["a.py"]


def test_what_is_near_speaks_for_what_it_imports_and_for_what_is_beside_it() -> None:
    near = match("near", 0.5, "src/cart/near.py")
    beside, far = match("beside", 1.0, "src/cart/beside.py"), match("far", 1.5, "lib/far.py")
    test = match("test", 0.5, "tests/test_far.py")
    importing = {"src/cart/near.py", "tests/test_far.py", "elsewhere.py", "lib/far.py"}
    pools = Pools(
        vector=(near, test, beside, far), importers={FileKey("shop", "lib/far.py"): importing}
    )
    found = gathered(Question(text="anything"), pools)
    assert {path: own["importer_near"] for path, own in found.items()} == {
        "src/cart/near.py": 0.0,
        "tests/test_far.py": 0.0,
        "src/cart/beside.py": 0.0,
        "lib/far.py": 1.0,
    }
    assert found["src/cart/beside.py"]["folder_near"] == 1.0
    assert found["src/cart/near.py"]["folder_near"] == 0.5
    assert found["lib/far.py"]["folder_near"] == 0.0


def test_tests_are_neither_neighbours_nor_importers() -> None:
    test = match("test", 0.5, "src/test_a.py")
    pools = Pools(
        text=(match("a", 1.0, "src/a.py"),),
        vector=(test,),
        importers={FileKey("shop", "src/a.py"): {"src/test_a.py"}},
    )
    own = gathered(Question(text="anything"), pools)["src/a.py"]
    assert not {"importer_near", "folder_near"} & own.keys()


def test_evidence_is_weighed_by_name() -> None:
    assert log_odds({"text": 0.5, "name": 1.0}, by_name(Weights(text=2.0, name=0.5))) == 1.5


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("routing", "routes"),
        ("serialization", "serializer"),
        ("dependencies", "dependency"),
        ("dispatching", "dispatcher"),
    ],
)
def test_forms_of_a_word_have_one_stem(one: str, other: str) -> None:
    assert stem_of(one) == stem_of(other)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("token", "token", 1.0),
        ("tokens", "token", 0.9),
        ("auth", "authentication", 0.9),
        ("in", "integer", 0.0),
        ("msg", "message", 0.9),
        ("database", "db", 0.9),
        ("cart", "price", 0.0),
    ],
)
def test_words_that_are_alike(one: str, other: str, expected: float) -> None:
    assert alike(one, other) == alike(other, one) == expected


def test_words_of_a_path() -> None:
    words = path_words("src/userAuth/token_service.spec.ts")
    assert words.stem == ("token", "service", "spec")
    assert words.folder == ("user", "auth")
    assert words.joined == "tokenservicespec"


@pytest.mark.parametrize(
    ("short", "word", "expected"),
    [
        ("msg", "messages", True),
        ("utils", "helpers", True),
        ("dirs", "directories", True),
        ("message", "msg", False),
        ("tok", "take", False),
    ],
)
def test_abbreviations(short: str, word: str, expected: bool) -> None:
    assert is_short_for(short, word) is expected


@pytest.mark.parametrize(
    ("named", "path", "expected"),
    [
        ("cart.py", "src/cart.py", True),
        ("./src/cart.py", "src/cart.py", True),
        ("/home/me/shop/src/cart.py", "src/cart.py", True),
        ("cart.py", "src/shopping-cart.py", False),
        ("lib/cart.py", "src/cart.py", False),
    ],
)
def test_a_path_of_a_question_may_be_short_or_of_another_machine(
    named: str, path: str, expected: bool
) -> None:
    assert names_file(named, path) is expected


def test_how_much_of_a_name_is_said() -> None:
    asked = AskedWords(("token", "of"))
    assert asked.share_named(("token", "service")) == 0.5
    assert asked.share_named(()) == 0.0
    assert asked.share_named(("of",)) == 0.0


def test_coverage_finds_words_in_any_form_and_rare_ones_count_more() -> None:
    stems = asked_stems(Question(text="", terms=("validate", "tokens", "of")))
    assert said_by("def check(token): return validated(token)", stems) == stems
    assert said_by_path("src/token.py", stems) == {"token"}
    worth = rarity({"rare", "common"}, [{"common"}, {"common"}, {"rare", "common"}])
    assert share({"rare"}, worth) > share({"common"}, worth)
    assert share({"rare", "common"}, worth) == pytest.approx(1.0)
