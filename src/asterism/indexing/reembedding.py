"""Another model: every text of the index gets a new vector, and no file is read again."""

import time

from asterism import __version__
from asterism.analysis.chunks.options import RECIPE_VERSION
from asterism.indexing.index import Index
from asterism.indexing.progress import SILENT, Listener, Progress, Stage
from asterism.indexing.report import Account
from asterism.indexing.vectors import Text, VectorSource
from asterism.types.index import Entry, Manifest

# Rows embedded and written at once.
BATCH_ROWS = 4096


def reembed(index: Index, listener: Listener = SILENT) -> Account:
    """Write the table anew with vectors of the index's present model, then name it committed.

    Until that last step readers have the old vectors, and a crash leaves them in place; vectors
    made before a crash are in the cache.
    """
    account = Account()
    table = index.table()
    before = table.snapshot()
    total = before.count()
    source = VectorSource(
        index.identity, RECIPE_VERSION, index.cache(), index.table, index.embedder
    )
    table.reset(index.identity.dimensions)
    done = 0
    for entries in before.entries(BATCH_ROWS):
        table.append(entries, source.vectors(_texts(entries), {}, account))
        done += len(entries)
        listener.report(Progress(Stage.writing, 0, 0, done, f"{done:,} of {total:,} chunks"))
    table.maintain(thorough=True)
    manifest = index.catalogue.manifest()
    index.catalogue.set_manifest(
        Manifest(manifest.schema_version, index.identity, RECIPE_VERSION, __version__, time.time()),
        table.version,
        index.table_files(),
    )
    return account


def _texts(entries: list[Entry]) -> list[Text]:
    return [Text(entry.text_hash, entry.chunk.embedding_text, entry.chunk) for entry in entries]
