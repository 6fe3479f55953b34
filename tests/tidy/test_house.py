"""What does one query load, and does the table of targets print it?"""

from scripts.house.table import Row, files_with, markdown, traced_query

# Modules that `search --format context` loads on two files. The number may only fall.
LOADED = 220


def test_one_query() -> None:
    query = traced_query()
    assert query.imported <= LOADED
    assert query.opens == 1
    assert query.steps[0].module == "cli.main"


def test_files_that_name_something() -> None:
    assert files_with("has_docstring") == [
        "src/asterism/store/filters.py",
        "src/asterism/types/search.py",
    ]
    assert files_with("no such name") == []


def test_markdown() -> None:
    assert markdown([Row("lines", "3", "2", "1")]).splitlines() == [
        "| measure | before | today | target |",
        "| --- | --- | --- | --- |",
        "| lines | 3 | 2 | 1 |",
    ]
