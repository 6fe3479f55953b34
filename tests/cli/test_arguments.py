"""Are options taken wherever they stand among the arguments of a command?"""

import pytest

from asterism.cli.parser import build_parser
from tests.cli.conftest import Run

ORDERS = [
    ["search --format context webhook src", "search webhook --format context src"],
    ["search --json --limit 3 webhook src", "search --json webhook --limit 3 src"],
    ["similar --json a.py:3 src", "similar a.py:3 --json src"],
    ["callers --depth 2 settle src", "callers settle --depth 2 src"],
    ["session --json set one key=value", "session set --json one key=value"],
    ["repos add --name shop src", "repos --name shop add src", "repos add src --name shop"],
    ["validate a b --jobs 2", "validate a --jobs 2 b"],
    ["agent --json show helper", "agent show --json helper"],
    ["search --json webhook -- --src", "search webhook --json -- --src"],
]


@pytest.mark.parametrize("lines", ORDERS, ids=lambda lines: lines[0])
def test_the_order_of_options_means_nothing(lines: list[str]) -> None:
    first, *others = [vars(build_parser().parse_args(line.split())) for line in lines]
    assert all(other == first for other in others)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("search webhook --nosuch src", "unrecognized arguments: --nosuch"),
        ("search webhook --json src other", "unrecognized arguments: other"),
        ("search --json", "required: QUERY"),
        ("search webhook --limit many src", "invalid int value: 'many'"),
    ],
)
def test_what_means_nothing_is_said(run: Run, line: str, said: str) -> None:
    done = run(*line.split())
    assert done.code == 2
    assert said in done.err
