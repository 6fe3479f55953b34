"""Has every error a code of its own, and does a caller read what to do next?"""

import inspect
import re

import pytest

from asterism.operations.error_codes import CODES, INTERNAL, LONGEST_SENTENCE, code_of, sentence_of
from asterism.types import errors
from asterism.types.errors import AsterismError, IndexMissing, UsageError

KINDS = [kind for _, kind in inspect.getmembers(errors, inspect.isclass)]


def test_every_error_has_its_own_code() -> None:
    assert {*CODES} == {kind for kind in KINDS if issubclass(kind, AsterismError)}
    names = [code.name for code in CODES.values()]
    assert len({*names, INTERNAL.name}) == len(CODES) + 1
    assert all(re.fullmatch(r"[a-z_]+", name) for name in names)


def test_an_error_without_a_code_has_that_of_its_kind() -> None:
    class Unheard(IndexMissing):
        pass

    assert code_of(Unheard("x")).name == "index_missing"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (UsageError("Give a name."), "Give a name. [invalid_argument]"),
        (
            IndexMissing("No index."),
            "No index. Call index_codebase, then ask again. [index_missing]",
        ),
        (UsageError("\udcff"), "\\udcff [invalid_argument]"),
    ],
)
def test_the_sentence_ends_with_the_code(error: AsterismError, said: str) -> None:
    assert sentence_of(error) == said


def test_a_long_message_is_cut() -> None:
    assert len(sentence_of(UsageError("x" * 50_000))) < LONGEST_SENTENCE + 100
