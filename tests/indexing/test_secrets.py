"""What a sync does with files that are secrets, or have become some."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from asterism.indexing.plan import options_hash
from tests.disclosure.examples import KEY_BODY, private_key
from tests.indexing.workshop import Workshop, workshop

KEY = f"key = '''\n{private_key()}\n'''\n"
HARMLESS = ("a = 1\n" * len(KEY))[: len(KEY) - 1] + "\n"


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Workshop]:
    """A file of settings and one of code, indexed."""
    with workshop(tmp_path) as made:
        made.put("app.conf", HARMLESS)
        made.put("keys.py", KEY)
        made.first = made.sync()
        yield made


def paths(shop: Workshop) -> set[str]:
    """Of all that readers see."""
    return {chunk.relative_path for chunk in shop.chunks()}


def skipped(shop: Workshop) -> list[tuple[str, str, str | None]]:
    """What the index says of what it leaves out."""
    return [tuple(entry) for entry in shop.index.catalogue.skipped(shop.repository.name)]  # type: ignore[misc]


def test_code_that_holds_a_key_is_indexed(shop: Workshop) -> None:
    assert paths(shop) == {"app.conf", "keys.py"}
    assert skipped(shop) == []


def test_a_file_that_becomes_a_secret_leaves_the_index(shop: Workshop) -> None:
    shop.put("app.conf", KEY)
    report = shop.sync()
    assert (report.removed, report.skipped) == (1, {"secret": 1})
    assert paths(shop) == {"keys.py"}
    assert skipped(shop) == [("app.conf", "secret", "a private key")]
    assert not shop.sync().did_something


def test_an_index_of_an_earlier_version_loses_it_with_the_next_sync(shop: Workshop) -> None:
    """The file is as it was: only the rule is new."""
    file = shop.root / "app.conf"
    facts = file.stat()
    assert len(KEY) == facts.st_size
    file.write_text(KEY)
    os.utime(file, ns=(facts.st_mtime_ns, facts.st_mtime_ns))
    shop.index.catalogue.set_options_hash(shop.repository.name, "of another version")
    shop.sync()
    assert paths(shop) == {"keys.py"}
    assert [entry[:2] for entry in skipped(shop)] == [("app.conf", "secret")]
    assert shop.index.catalogue.options_hash(shop.repository.name) == options_hash(shop.options)
    held = [chunk for chunk in shop.chunks() if KEY_BODY[0] in chunk.full_source]
    assert {chunk.relative_path for chunk in held} == {"keys.py"}
    again = shop.sync()
    assert (again.did_something, skipped(shop)) == (
        False,
        [("app.conf", "secret", "a private key")],
    )
