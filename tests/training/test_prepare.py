"""Do rows become the same examples with any number of processes, and repeated ones only once?"""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tests.training.source_trees import LANGUAGES, run, write_tree
from training.examples import prepare
from training.examples.mine import rows_of_source
from training.examples.prepare import SAME_DOC_AT_MOST, balanced, kept_rows, load
from training.examples.queries import KINDS
from training.examples.rows import Row, hashed, write
from training.sources.exclusions import Exclusions

NOTHING = Exclusions(frozenset(), frozenset())


def row(name: str, **more: object) -> Row:
    found = Row("shop", "python", "a.py", "function", name, f"[Python] a.py > {name}", "",
                f"def {name}(cart): return cart.{name}", (), "", 0)  # fmt: skip
    return found._replace(**more)  # type: ignore[arg-type]


def kept(*rows: Row, exclusions: Exclusions = NOTHING) -> tuple[list[Row], Counter[str]]:
    counts: Counter[str] = Counter()
    return kept_rows(iter(rows), exclusions, counts), counts


def test_repeated_code() -> None:
    found, counts = kept(row("pay"), row("pay", source="copy", path="b.py"), row("check"))
    assert [one.name for one in found] == ["pay", "check"]
    assert counts == {"mined": 3, "repeated code": 1}


def test_repeated_documentation() -> None:
    rows = [row(f"pay{n}", doc="Does what it says.") for n in range(SAME_DOC_AT_MOST + 2)]
    found, counts = kept(*rows)
    assert [bool(one.doc) for one in found] == [True] * SAME_DOC_AT_MOST + [False] * 2
    assert counts["repeated documentation"] == 2


def test_what_is_held_back() -> None:
    symbols = frozenset([hashed(row("pay").code)])
    found, counts = kept(row("pay"), row("check"), exclusions=Exclusions(frozenset(), symbols))
    assert [one.name for one in found] == ["check"]
    assert counts["kept out"] == 1


def test_no_language_drowns_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepare, "ROWS_PER_LANGUAGE", 5)
    rows = [row(f"pay{n}", doc="It pays." if n % 4 == 0 else "") for n in range(20)]
    rows.append(row("once", language="lua", source="a"))
    found = balanced(rows)
    assert Counter(one.language for one in found) == {"python": 5, "lua": 1}
    assert sum(bool(one.doc) for one in found) == 5
    assert [one.source for one in found] == sorted(one.source for one in found)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows of two sources, made into examples by one process and by two."""
    folder = tmp_path_factory.mktemp("prepared")
    (folder / "rows").mkdir()
    rows = rows_of_source(write_tree(folder / "shop"), "shop", NOTHING)
    write(folder / "rows" / "shop.jsonl", rows)
    other = [
        row(f"take_order_{n}", source="more", path=f"m{n % 5}.py", doc=f"Takes order number {n} from a cart.")
        for n in range(60)
    ]  # fmt: skip
    write(folder / "rows" / "more.jsonl", other)
    (folder / "none.bin").write_bytes((0).to_bytes(8, "little"))
    for processes in (1, 2):
        done = run(
            "examples.prepare", folder / "rows", "--out", folder / str(processes), "--exclude",
            folder / "none.bin", "--processes", processes,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    return folder


def test_any_number_of_processes(folder: Path) -> None:
    one, two = load(folder / "1"), load(folder / "2")
    assert len(one.queries) > 60
    for first, second in zip(one, two, strict=True):
        assert (np.asarray(first) == np.asarray(second)).all()


def test_columns_belong_together(folder: Path) -> None:
    made = load(folder / "1")
    assert len({len(column) for column in made[:-1]}) == 1
    assert made.spoken == tuple(sorted(set(made.spoken)))
    assert made.languages.max() < len(made.spoken)
    assert (np.diff(made.sources) >= 0).all()
    assert made.kinds.max() < len(KINDS)
    for query, text, name in zip(made.queries, made.texts, made.names, strict=True):
        assert query
        assert text
        assert "#" in name
    some = made.some(np.array([5, 2], dtype=np.int64))
    assert some.queries == [made.queries[5], made.queries[2]]
    assert some.sources.tolist() == [made.sources[5], made.sources[2]]


def test_counts(folder: Path) -> None:
    counts = json.loads((folder / "1" / "counts.json").read_text("utf-8"))
    made = load(folder / "1")
    assert counts["examples"] == len(made.queries) == sum(counts["kinds"].values())
    assert counts["examples"] == sum(counts["examples by language"].values())
    assert sorted(counts["languages"]) == sorted(LANGUAGES)
    assert counts["rows"] == sum(counts["sources"].values())
    assert set(counts["sources"]) == {"shop", "more"}
