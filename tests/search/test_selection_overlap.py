"""A parent and its child are both results, and the child's code is given once."""

from dataclasses import replace

import pytest

from asterism.search.selection.options import CHAT, CHUNKS, CONTEXT, SelectionOptions
from asterism.search.selection.select import select
from asterism.search.selection.sizes import Measure
from asterism.types.search import Hit, Reason
from tests.search.selection_hits import hit, names

FIELD = "    limit = 3"
METHOD = "    def total(self):\n        return " + "x" * 40
HEAD = "class Cart:"
CLASS = f"{HEAD}\n{FIELD}\n{METHOD}"
COLLAPSED = f"{HEAD}\n{FIELD}\n    def total(self)"


def cart(score: float) -> Hit:
    return hit("Cart", score, file="cart.py", lines=(1, 4), text=CLASS, collapsed=COLLAPSED, signature=HEAD)  # fmt: skip


def total(score: float) -> Hit:
    return hit("total", score, file="cart.py", lines=(3, 4), text=METHOD, signature="def total(self)")  # fmt: skip


def limit(score: float) -> Hit:
    return hit("limit", score, file="cart.py", lines=(2, 2), text=FIELD)


OTHER = hit("other", 0.6, file="other.py", lines=(3, 4), text="return 1")
ROOMY = replace(CONTEXT, token_budget=1_000)


@pytest.mark.parametrize(
    ("hits", "options", "expected"),
    [
        # Whichever is better, a whole parent holds the child.
        ([cart(0.9), total(0.8)], ROOMY, "Cart total:within"),
        ([cart(0.8), total(0.9)], ROOMY, "Cart total:within"),
        ([cart(0.8), total(0.9), limit(0.7), OTHER], ROOMY, "Cart limit:within total:within other"),
        # The same lines of another file, or of another repository, are other code.
        ([cart(0.9), OTHER], ROOMY, "Cart other"),
        # A child without its parent is by itself.
        ([total(0.9), limit(0.8)], ROOMY, "limit total"),
        # Surfaces that list rows give each its own text.
        ([cart(0.9), total(0.8)], CHUNKS, "Cart total"),
        ([h._replace(distance=0.1) for h in (cart(0.9), total(0.8))], CHAT, "Cart total"),
    ],
)
def test_no_code_twice(hits: list[Hit], options: SelectionOptions, expected: str) -> None:
    selection = select(hits, options, Measure())
    assert names(selection.kept) == expected
    texts = sum(len(one.text) for one in selection.kept)
    assert selection.account.truncation_info.estimated_chars == texts


def test_the_merged_child_says_where_it_is() -> None:
    selection = select([total(0.9), cart(0.8)], ROOMY, Measure())
    outer, inner = selection.kept
    assert (outer.within, inner.within) == (None, "Cart")
    assert (inner.text, inner.line_count) == ("", 0)
    assert selection.account.returned_count == 2
    assert selection.account.truncation_info.estimated_chars == len(CLASS)
    assert selection.files[0].line_count == 4


@pytest.mark.parametrize(
    ("max_chars", "expected"),
    [
        # The space of the child counts for the parent that takes it in.
        (len(CLASS), "Cart total:within"),
        # A collapsed parent has no bodies: the child keeps its text.
        (len(CLASS) - 1, "Cart:signature total"),
        # Not even the parent's name fits beside the child's body, so that goes first.
        (len(METHOD) + 11, "Cart:collapsed total:signature"),
    ],
)
def test_under_a_budget(max_chars: int, expected: str) -> None:
    options = SelectionOptions(max_chars=max_chars, merge_same_file=True)
    selection = select([total(0.9), cart(0.8)], options, Measure())
    assert names(selection.kept) == expected


def test_a_collapsed_parent_holds_fields_and_no_bodies() -> None:
    long = hit("Cart", 0.9, file="cart.py", lines=(1, 9), text=CLASS + "y" * 500, collapsed=COLLAPSED)  # fmt: skip
    options = SelectionOptions(max_chars=200, merge_same_file=True)
    selection = select([long, total(0.8), limit(0.7)], options, Measure())
    assert names(selection.kept) == "Cart:collapsed limit:within total"
    assert selection.account.truncation_info.reason is Reason.single_result_too_large


def test_nested_children_name_the_outermost_text() -> None:
    nest = [
        hit(name, score, file="n.py", lines=lines, text=name * 9)
        for name, score, lines in [("c", 0.9, (3, 4)), ("b", 0.8, (2, 5)), ("a", 0.7, (1, 6))]
    ]
    kept = select(nest, ROOMY, Measure()).kept
    assert [(one.hit.chunk.name, one.within) for one in kept] == [("a", None), ("b", "a"), ("c", "a")]  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ((4, 4), "outer inner:within"),
        ((1, 1), "outer inner:within"),
        ((1, 4), "outer inner:within"),
        ((4, 5), "outer inner"),
        ((5, 5), "outer inner"),
    ],
)
def test_inside_means_every_line(lines: tuple[int, int], expected: str) -> None:
    outer = hit("outer", 0.9, file="n.py", lines=(1, 4))
    inner = hit("inner", 0.8, file="n.py", lines=lines)
    assert names(select([outer, inner], ROOMY, Measure()).kept) == expected


def test_nothing_is_truncated_when_the_parent_brings_the_child_back() -> None:
    # Reserving names degrades nothing in the end.
    options = SelectionOptions(max_chars=len(CLASS) + 5, merge_same_file=True)
    account = select([total(0.9), cart(0.8), limit(0.7)], options, Measure()).account
    assert account.truncation_info.reason is None
