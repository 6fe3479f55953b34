"""Are means over languages right, their intervals honest, and tables complete?"""

import pytest

from training.evaluation.figures import Row, Scored, by_language, over_languages, overview


def scored(repo: str, language: str, *values: float, category: str = "") -> list[Scored]:
    return [
        Scored(f"{repo}-{category}-{number}", repo, language, category, value, value)
        for number, value in enumerate(values)
    ]


FEW = [*scored("a", "go", 1.0, 0.0), *scored("b", "go", 1.0), *scored("c", "lua", 0.25)]


def test_languages_count_the_same() -> None:
    assert over_languages(FEW).mean == pytest.approx(((0.5 + 1) / 2 + 0.25) / 2)
    assert over_languages([]) == (0, 0, 0)


def test_a_repository_of_two_languages() -> None:
    mixed = [*scored("a", "go", 1.0), *scored("a", "lua", 0.0, 0.0, 0.0)]
    assert over_languages(mixed).mean == 0.5


def test_intervals() -> None:
    same = [one for name in "abcdef" for one in scored(name, name, 0.5, 0.5)]
    assert over_languages(same) == (0.5, 0.5, 0.5)
    apart = [one for n, name in enumerate("abcdef") for one in scored(name, name, n % 2, n % 2)]
    found = over_languages(apart)
    # Six coins: the root of 1/24 on both sides, twice.
    assert found.low == pytest.approx(1 / 6, abs=0.01)
    assert found.high == pytest.approx(5 / 6, abs=0.01)
    assert over_languages(apart) == found
    # With few repositories questions are drawn: one alone says nothing about how sure it is.
    few = over_languages(FEW)
    assert few.low < few.mean < few.high


def test_overview() -> None:
    base = [one for name in "abcdef" for one in scored(name, name, 0.25, 0.5, category="symbol")]
    better = [one._replace(value=one.value + 0.25, by_file=1.0) for one in base]
    lines = overview([Row("static", base), Row("encoder", better, base)])
    assert "by file" in lines[0]
    assert "symbol" in lines[0]
    assert "0.375 (0.375 to 0.375)" in lines[2]
    assert "+0.250 (+0.250 to +0.250)" in lines[3]
    assert lines[3].count("1.000") == 1
    plain = overview([Row("static", base)])
    assert "by file" not in plain[0]


def test_by_language() -> None:
    lines = by_language([Row("static", FEW), Row("encoder", scored("a", "go", 1.0))])
    assert [line.split("|")[1].strip() for line in lines[2:]] == ["go", "lua"]
    assert "0.750" in lines[2]
    assert "–" in lines[3]
