"""Presets have the promised values; limits and stages change what they should."""

from dataclasses import asdict

import pytest

from asterism.search.selection.options import (
    CEILING_CHARS,
    PRESETS,
    SelectionOptions,
    limited,
    preset,
    staged,
)
from asterism.types.errors import UsageError
from asterism.types.search import Stage


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("context", {"token_budget": 8_000, "merge_same_file": True}),
        ("chunks", {"max_results": 10, "max_chars": 80_000}),
        (
            "chat",
            {
                "rank_by": "distance",
                "distance_cutoff": 1.4,
                "min_keep": 2,
                "max_per_file": 2,
                "max_chunk_chars": 5_000,
                "max_chars": 40_000,
                "counted": "text",
                "overflow": "cut",
                "order": "store",
            },
        ),
        (
            "items",
            {
                "gate": 5e-324,
                "pool": 20,
                "max_results": 5,
                "always_include": 0.7,
                "max_per_file": 1,
            },
        ),
    ],
)
def test_presets(name: str, expected: dict[str, object]) -> None:
    plain = asdict(SelectionOptions())
    changed = {key: value for key, value in asdict(preset(name)).items() if value != plain[key]}
    assert changed == expected


def test_every_preset_is_known_by_name() -> None:
    assert list(PRESETS) == ["context", "chunks", "chat", "items"]
    with pytest.raises(UsageError, match="context, chunks, chat, items"):
        preset("everything")


def test_nothing_raises_the_ceiling() -> None:
    assert CEILING_CHARS == 100_000
    assert SelectionOptions(max_chars=10**9).limit_chars == CEILING_CHARS
    assert SelectionOptions(max_chars=10).limit_chars == 10


@pytest.mark.parametrize(("limit", "exhaustive"), [(1, False), (50, False), (100, True)])
def test_limits_in_range(limit: int, exhaustive: bool) -> None:
    assert limited(preset("chunks"), limit, exhaustive=exhaustive).max_results == limit


@pytest.mark.parametrize(
    ("limit", "exhaustive", "message"),
    [
        (0, False, "limit is 0; give 1 to 50, and ask exhaustively"),
        (-1, False, "limit is -1"),
        (51, False, "1 to 50"),
        (10**9, False, "1 to 50"),
        (101, True, "1 to 100, and page through the rest with the cursor"),
        (0, True, "1 to 100"),
    ],
)
def test_limits_out_of_range(limit: int, exhaustive: bool, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        limited(preset("chunks"), limit, exhaustive=exhaustive)


@pytest.mark.parametrize(
    "wrong",
    [
        {"min_keep": -1},
        {"token_budget": -1},
        {"max_chars": -1},
        {"max_results": 0},
        {"max_per_file": 0},
        {"max_chunk_chars": 0},
        {"pool": 0},
        {"gate": float("nan")},
        {"distance_cutoff": float("nan")},
        {"always_include": float("nan")},
    ],
)
def test_numbers_that_mean_nothing_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(UsageError, match=next(iter(wrong))):
        SelectionOptions(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "field", "plain", "discover", "refine"),
    [
        ("chunks", "max_results", 10, 20, 10),
        ("context", "max_results", None, None, None),
        ("context", "diverse", False, True, False),
        ("chat", "distance_cutoff", 1.4, 1.7, 1.4),
        ("chat", "min_keep", 2, 2, 0),
        ("items", "gate", 5e-324, 5e-324, 5e-324),
    ],
)
def test_stages(name: str, field: str, plain: object, discover: object, refine: object) -> None:
    options = preset(name)
    stages = (None, Stage.discover, Stage.refine)
    found = [getattr(staged(options, stage), field) for stage in stages]
    if isinstance(discover, float):
        discover = pytest.approx(discover, rel=1e-9, abs=0)
    assert found == [plain, discover, refine]
