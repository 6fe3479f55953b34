"""What is shown of a notebook: the lines of its cells, each where the file has it."""

import json

import pytest

from asterism.languages.jupyter.view import view


def notebook(*cells: tuple[str, str | list[str]], language: str = "python", indent: int = 1) -> str:
    content = {
        "cells": [
            {"cell_type": kind, "outputs": [{"text": ["an output\n"]}], "source": source}
            for kind, source in cells
        ],
        "metadata": {"kernelspec": {"language": language}},
    }
    return json.dumps(content, indent=indent, ensure_ascii=False)


ESCAPED = ['a = "\\t\\"é"\n', "\tb\n", "c\r\n", "d\u2028e"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (notebook(("code", ["a\n", "b"])), ["# %% cell 1", "a", "b"]),
        (notebook(("code", ["a"]), ("markdown", ["# b"])), ["# %% cell 1", "a", "# %% [markdown] cell 2", "# b"]),
        (notebook(("code", []), ("code", ["a"])), ["# %% cell 2", "a"]),
        (notebook(("code", "a")), ["# %% cell 1", "a"]),
        (notebook(("code", "a\nb")), ["# %% cell 1", "a\\nb"]),
        (notebook(("code", ["a"]), language="R"), ["# %% [r] cell 1", "a"]),
        (notebook(("code", ["a"]), indent=4), ["# %% cell 1", "a"]),
        (notebook(("code", ESCAPED)), ["# %% cell 1", 'a = "\\t\\"é"', "\tb", "c", "d e"]),
        (notebook(), []),
    ],
)  # fmt: skip
def test_cells(text: str, shown: list[str]) -> None:
    found = view(text.encode()).decode().split("\n")
    assert [line for line in found if line.strip()] == shown
    rows = text.split("\n")
    assert len(found) == len(rows)
    for row, line in zip(rows, found, strict=True):
        code = line.strip() and not line.startswith("# %%")
        assert not code or json.dumps(line.strip(), ensure_ascii=False)[1:-1][:1] in row


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not JSON",
        "[]",
        "{}",
        '{"cells": 3}',
        '{"cells": [3]}',
        notebook(("code", ["a\n", "b"]))[:-20],
        # Lines that share a line of the file cannot be shown where they are.
        json.dumps(json.loads(notebook(("code", ["a\n", "b"])))),
    ],
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert view(text.encode()) == text.encode()
