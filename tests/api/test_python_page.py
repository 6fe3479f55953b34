"""Do the examples of docs/python.md run, and do they print what the page says?"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import asterism

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
EXAMPLES = [text for language, text in BLOCKS if language == "python"]
SHOWN = [text for language, text in BLOCKS if not language]


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    base = tmp_path_factory.mktemp("page")
    return {
        "ASTERISM_DATA_DIR": str(base / "data"),
        "ASTERISM_CACHE_DIR": str(base / "cache"),
        "PYTHONPATH": str(ROOT / "src"),
    }


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_an_example(number: int, places: dict[str, str], tmp_path: Path) -> None:
    script = tmp_path / "example.py"
    script.write_text(EXAMPLES[number])
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        cwd=ROOT,
        env={**os.environ, **places},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout
    if number < len(SHOWN):
        # Which of a file's symbols comes first is for the golden ranks to say.
        wanted = {line.partition(":")[0] for line in SHOWN[number].splitlines() if line != "…"}
        assert wanted
        assert wanted <= {line.partition(":")[0] for line in done.stdout.splitlines()}


def test_there_are_examples() -> None:
    assert (len(EXAMPLES), len(SHOWN)) == (6, 1)


def test_the_example_of_the_package_is_that_of_the_page() -> None:
    first, own = EXAMPLES[0], asterism.__doc__ or ""
    for line in ("with asterism.open(", "    for hit in code.search("):
        assert line in first
        assert line in own


def test_the_page_names_every_method_and_argument() -> None:
    methods = [name for name in vars(asterism.Codebase) if not name.startswith("_")]
    assert [
        name for name in methods if name not in ("root", "name") and f"code.{name}(" not in PAGE
    ] == []
