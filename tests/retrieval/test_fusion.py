"""Evidence from lists of matches, paths, forms of words and coverage."""

import pytest

from asterism.backends.store.chunk_table import ChunkKey, Match
from asterism.domain.search import Question
from asterism.retrieval.calibration import logistic, probabilities
from asterism.retrieval.coverage import asked_stems, rarity, said_by_chunk, said_by_path, share
from asterism.retrieval.fusion import files_of, gather, log_odds, strengths_of
from asterism.retrieval.options import RankOptions, Weights
from asterism.retrieval.order import Standing, in_order
from asterism.retrieval.paths import alike, path_words, share_asked, share_named
from asterism.retrieval.recall import FileKey, Pools
from asterism.retrieval.variants import stem_of
from tests.retrieval.selection_hits import hit


def match(name: str, score: float, path: str = "") -> Match:
    return Match(ChunkKey("shop", name), path or f"{name}.py", score)


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
    question = Question(text="anything")
    found = gather(question, pools, files_of(pools), RankOptions())
    assert found[FileKey("shop", "one.py")]["text_sum"] == pytest.approx(8 / 12)
    assert found[FileKey("shop", "two.py")]["text_sum"] == 1.0


def test_a_file_that_the_question_names_is_known() -> None:
    pools = Pools(text=(match("a", 1.0, "src/cart.py"), match("b", 1.0, "src/shopping-cart.py")))
    question = Question(text="src/cart.py", paths=("cart.py",))
    found = gather(question, pools, files_of(pools), RankOptions())
    assert found[FileKey("shop", "src/cart.py")]["named_path"] == 1.0
    assert found[FileKey("shop", "src/shopping-cart.py")]["named_path"] == 0.0


def test_evidence_is_weighed_by_name() -> None:
    assert log_odds({"text": 0.5, "stem": 1.0}, Weights(text=2.0, stem=0.5)) == 1.5


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


def test_shares() -> None:
    assert share_named(("token", "service"), {"token"}) == 0.5
    assert share_named((), {"token"}) == 0.0
    assert share_asked({"token": 3.0, "cart": 1.0}, ("token",)) == 0.75


def test_coverage_finds_words_in_any_form_and_rare_ones_count_more() -> None:
    stems = asked_stems(Question(text="", terms=("validate", "tokens", "of")))
    chunk = hit("check", text="def check(token): return validated(token)").chunk
    assert said_by_chunk(chunk, stems) == stems
    assert said_by_path("src/token.py", stems) == {"token"}
    worth = rarity({"rare", "common"}, [{"common"}, {"common"}, {"rare", "common"}])
    assert share({"rare"}, worth) > share({"common"}, worth)
    assert share({"rare", "common"}, worth) == pytest.approx(1.0)


def test_a_class_and_its_methods_do_not_take_every_place() -> None:
    parent = hit("Token", file="token.py").chunk._replace(child_chunk_ids=("check", "issue"))
    children = [
        hit(name, file="token.py").chunk._replace(parent_chunk_id="Token")
        for name in ("check", "issue")
    ]
    other = hit("cart", file="cart.py").chunk
    standing = [
        Standing(parent, FileKey("shop", "token.py"), 1.0),
        *(Standing(child, FileKey("shop", "token.py"), 0.9) for child in children),
        Standing(other, FileKey("shop", "cart.py"), 0.1),
    ]
    odds = {FileKey("shop", "token.py"): 2.0, FileKey("shop", "cart.py"): 1.0}
    ordered = in_order(standing, odds.__getitem__, RankOptions())
    assert [place.chunk.name for place in ordered] == ["Token", "cart", "check", "issue"]
    assert {"prior:same_file", "prior:same_family"} == {signal.name for signal in ordered[2].priors}


def test_probabilities_keep_the_order_and_even_odds_are_a_half() -> None:
    options = RankOptions()
    even = -options.by_words.offset / options.by_words.slope
    found = probabilities([even, even - 1, even - 2], Pools(), options)
    assert found[0] == pytest.approx(0.5)
    assert found == sorted(found, reverse=True)


def test_a_hit_far_behind_the_first_is_less_likely() -> None:
    options = RankOptions()
    first, second = probabilities([9.0, 6.0], Pools(), options)
    assert second < probabilities([6.0], Pools(), options)[0] < first


def test_a_near_vector_makes_every_hit_likelier() -> None:
    options = RankOptions()
    near, far = (
        probabilities([6.0], Pools(text=(match("a", 1.0),), vector=(match("a", d),)), options)
        for d in (0.4, 1.6)
    )
    assert near[0] > far[0]


@pytest.mark.parametrize("value", [-1e4, -1.0, 0.0, 1.0, 1e4])
def test_the_logistic_curve_never_overflows(value: float) -> None:
    assert logistic(value) + logistic(-value) == pytest.approx(1.0)
