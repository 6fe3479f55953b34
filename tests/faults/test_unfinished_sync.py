"""A sync that is cut short owes what it had not written yet, though no file changes any more."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from asterism.indexing.report import Listener, Progress, SyncStage
from tests.indexing.workshop import Workshop, workshop

PROVIDER = "def price(item: int) -> int:\n    return item\n"
CHANGED = PROVIDER.replace("item: int", "item: int, tax: float")
USER = "from shop.prices import price\n\n\ndef total(a):\n    return price(a)\n"


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Workshop]:
    """A file that quotes another; batches of one packet, so that the two are written apart."""
    with workshop(tmp_path) as made:
        made.options = replace(made.options, batch_bytes=1)
        made.put("shop/prices.py", PROVIDER)
        made.put("shop/orders.py", USER)
        made.sync()
        yield made


def cut_short(shop: Workshop) -> None:
    """Sync until the first batch is committed."""
    written: list[Progress] = []

    def hear(progress: Progress) -> None:
        if progress.stage is SyncStage.writing:
            written.append(progress)

    assert shop.sync(Listener(hear, lambda: bool(written))).cancelled


def quoting(shop: Workshop) -> str:
    (chunk,) = (chunk for chunk in shop.chunks() if chunk.name == "total")
    return chunk.embedding_text


def test_a_signature_that_changed(shop: Workshop) -> None:
    assert "tax: float" not in quoting(shop)
    shop.put("shop/prices.py", CHANGED)
    cut_short(shop)
    shop.sync()
    assert "tax: float" in quoting(shop)
    assert not shop.sync().did_something


def test_a_signature_that_changed_back(shop: Workshop) -> None:
    # Both files change, and the one that quotes is written first.
    for number in range(40):
        shop.put(f"a/m{number}.py", USER)
    shop.sync()
    for number in range(40):
        shop.put(f"a/m{number}.py", f"{USER}\n\nMORE = {number}\n")
    shop.put("shop/prices.py", CHANGED)
    cut_short(shop)
    shop.put("shop/prices.py", PROVIDER)
    shop.sync()
    quotes = [chunk.embedding_text for chunk in shop.chunks() if chunk.name == "total"]
    assert len(quotes) == 41
    assert not any("tax: float" in quote for quote in quotes)


def test_a_file_that_went(shop: Workshop) -> None:
    before = shop.index.catalogue.links("repository", "shop/orders.py")
    assert before[0].target == "shop/prices.py"
    (shop.root / "shop/prices.py").unlink()
    for number in range(3):
        shop.put(f"a/m{number}.py", f"NUMBER = {number}\n")
    cut_short(shop)
    shop.sync()
    after = shop.index.catalogue.links("repository", "shop/orders.py")
    assert after[0].target is None
