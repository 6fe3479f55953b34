"""Each reason for which an index is stale, the gravest first, with what to do about it."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from asterism.indexing.plan import IndexVerdict, index_verdict, shape_verdict
from asterism.store.catalogue.schema import SCHEMA_VERSION
from asterism.types.index import Pending, Staleness
from tests.indexing.workshop import Workshop, workshop


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Workshop]:
    """Three files, indexed."""
    with workshop(tmp_path) as made:
        for name in "abc":
            made.put(f"{name}.py", f"def {name}():\n    return 1\n")
        made.sync()
        yield made


def judged(shop: Workshop) -> IndexVerdict:
    return index_verdict(shop.index.catalogue, shop.repository, shop.options, shop.index.identity)


def test_fresh(shop: Workshop) -> None:
    assert judged(shop) == (Staleness.equal, "The index is up to date.", 0)
    shop.touch("a.py")
    assert judged(shop).staleness is Staleness.equal


def test_files_behind_are_counted(shop: Workshop) -> None:
    shop.put("a.py", "def a():\n    return 2\n")
    message = "1 file is behind (1 changed); run `asterism index`."
    assert judged(shop) == (Staleness.content, message, 1)
    shop.put("d.py", "")
    (shop.root / "b.py").unlink()
    message = "3 files are behind (1 new, 1 changed, 1 removed); run `asterism index`."
    assert judged(shop) == (Staleness.content, message, 3)
    shape = shape_verdict(shop.index.catalogue, shop.repository, shop.options, shop.index.identity)
    assert shape.staleness is Staleness.equal


def test_an_unfinished_run(shop: Workshop) -> None:
    shop.index.catalogue.set_pending("repository", [Pending("a.py", b"", 1)])
    message = "The last run did not finish; run `asterism index` to go on."
    assert judged(shop) == (Staleness.content, message, 0)
    shop.put("a.py", "")
    shop.put("b.py", "")
    message = "The last run did not finish: 2 files are behind; run `asterism index` to go on."
    assert judged(shop) == (Staleness.content, message, 2)


def test_graver_reasons_come_first(shop: Workshop) -> None:
    catalogue = shop.index.catalogue
    shop.put("a.py", "")
    manifest = catalogue.manifest()
    catalogue.set_manifest(manifest._replace(model=manifest.model._replace(model="other")))
    found = judged(shop)
    assert found.staleness is Staleness.model
    assert "are of fake/other, 8 dimensions; the settings ask for fake/fake, 8 " in found.message
    shop.options = replace(shop.options, chunks=replace(shop.options.chunks, max_tokens=99))
    assert judged(shop).staleness is Staleness.options
    catalogue.set_manifest(catalogue.manifest()._replace(schema_version=SCHEMA_VERSION - 2))
    found = judged(shop)
    assert found.staleness is Staleness.schema
    assert f"has schema {SCHEMA_VERSION - 2}, this version writes {SCHEMA_VERSION}" in found.message
    catalogue.remove_repository("repository")
    assert judged(shop) == (
        Staleness.missing,
        f"{shop.root} is not indexed yet; run `asterism index {shop.root}`.",
        0,
    )
