"""Which names are suggested for a misspelt one?"""

import pytest

from asterism.store.catalogue.symbols import closest

NAMES = ["parse", "parse_config", "parseConfig", "Parser", "sparse", "render", "x", "getUser"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("parsee", ["parse", "Parser", "sparse"]),
        ("parse_confg", ["parse_config", "parseConfig"]),
        ("PARSE_CONFIG", ["parse_config", "parseConfig"]),
        ("getUesr", ["getUser"]),
        ("parse", ["sparse", "Parser"]),
        ("unheard_of", []),
        ("X", ["x"]),
        ("y", []),
        ("", []),
    ],
)
def test_closest(name: str, expected: list[str]) -> None:
    assert closest(name, NAMES, 5) == expected


def test_at_most_so_many() -> None:
    assert closest("parsee", NAMES, 1) == ["parse"]
