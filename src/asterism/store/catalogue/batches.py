"""How a batch of changed files becomes rows of the catalogue."""

import json
from collections.abc import Iterable, Sequence

from asterism.store.catalogue.schema import FILE_TABLES
from asterism.store.database import Database, Row, clean, stored_id, stored_path
from asterism.types.index import Batch, FileUpdate, Link, Role, SymbolRow

# From so many rows on, reading the whole table is quicker than asking for each word: a word costs
# 4 µs to ask for and 0.4 µs to read, and one row in eight brings a word not met before.
WHOLE_FROM = 2000


class Words(dict[str, int]):
    """The number of each word met so far; a word not met gets its number by being asked for."""

    def __init__(self, database: Database) -> None:
        super().__init__()
        self._database = database
        self._whole = False
        self._new: list[tuple[int, str]] = []
        self._last: int | None = None

    def expect(self, rows: int) -> None:
        """Prepare for `rows` rows."""
        if rows >= WHOLE_FROM and not self._whole:
            self.update(self._database.rows("SELECT word, number FROM words"))
            self.update({word: number for number, word in self._new})
            self._whole = True

    def save(self) -> None:
        """Write down the new words; before the transaction ends."""
        self._database.many("INSERT INTO words (number, word) VALUES (?, ?)", self._new)
        self._new = []

    def forget(self) -> None:
        """After a transaction that came to nothing, new numbers are not in the table."""
        self.clear()
        self._whole = False
        self._new = []
        self._last = None

    def __missing__(self, word: str) -> int:
        if not self._whole:
            row = self._database.one("SELECT number FROM words WHERE word = ?", (word,))
            if row is not None:
                number: int = row[0]
                self[word] = number
                return number
        if self._last is None:
            row = self._database.one("SELECT max(number) FROM words")
            self._last = (row[0] if row else None) or 0
        self._last += 1
        self._new.append((self._last, word))
        self[word] = self._last
        return self._last


ROLES = tuple(Role)
"""A role's place is its number in the tables, and the order in which rows are listed."""
_NUMBERS = {role: number for number, role in enumerate(ROLES)}
_PACK = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def write_batch(database: Database, repo: int, batch: Batch, words: Words) -> None:
    """Put the batch into the tables; the caller holds the transaction."""
    database.run("SAVEPOINT batch")
    try:
        _write(database, repo, batch, words)
    except UnicodeEncodeError:
        # Half a surrogate is too rare to look for: it is found by failing.
        database.run("ROLLBACK TO batch")
        words.forget()
        _write(database, repo, _cleaned(batch), words)


def remove_files(database: Database, numbers: Iterable[int]) -> None:
    """Delete files with all their rows."""
    files = [(number,) for number in numbers]
    _remove_rows(database, files)
    database.many("DELETE FROM files WHERE number = ?", files)


def _write(database: Database, repo: int, batch: Batch, words: Words) -> None:
    remove_files(database, _known(database, repo, batch.removed).values())
    # Of two updates of one path the later counts.
    updates = {update.state.path: update for update in batch.updates}
    known = _known(database, repo, updates)
    _remove_rows(database, [(number,) for number in known.values()])
    numbered = _numbered(database, known, updates)
    database.many(
        "INSERT INTO chunks VALUES (?, ?, ?, ?)",
        [
            (file, n, stored_id(chunk_id), text_hash)
            for file, update in numbered
            for n, (chunk_id, text_hash) in enumerate(update.chunks)
        ],
    )
    counts = _write_symbols(database, numbered, words)
    database.many(
        "INSERT INTO links VALUES (?, ?, ?, ?, ?, ?)",
        [_link(file, n, link) for file, update in numbered for n, link in enumerate(update.links)],
    )
    database.many(
        "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            _file(file, repo, update, by_role)
            for (file, update), by_role in zip(numbered, counts, strict=True)
        ],
    )
    database.many(
        "UPDATE files SET size = ?, mtime_ns = ?, ctime_ns = ?, scanned_ns = ?"
        " WHERE repo = ? AND path = ?",
        [
            (
                state.size,
                state.mtime_ns,
                state.ctime_ns,
                state.scanned_ns,
                repo,
                stored_path(state.path),
            )
            for state in batch.touched
        ],
    )


def _known(database: Database, repo: int, paths: Iterable[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for path in paths:
        row = database.one(
            "SELECT number FROM files WHERE repo = ? AND path = ?", (repo, stored_path(path))
        )
        if row is not None:
            found[path] = row[0]
    return found


def _remove_rows(database: Database, files: list[tuple[int]]) -> None:
    for table in FILE_TABLES:
        database.many(f"DELETE FROM {table} WHERE file = ?", files)


def _numbered(
    database: Database, known: dict[str, int], updates: dict[str, FileUpdate]
) -> list[tuple[int, FileUpdate]]:
    last = database.one("SELECT max(number) FROM files")
    following = (last[0] or 0) + 1 if last else 1
    numbered: list[tuple[int, FileUpdate]] = []
    for path, update in updates.items():
        number = known.get(path)
        if number is None:
            number = following
            following += 1
        numbered.append((number, update))
    return numbered


def _write_symbols(
    database: Database, numbered: Sequence[tuple[int, FileUpdate]], words: Words
) -> list[list[int]]:
    """How many rows of each role every file has."""
    words.expect(sum(len(update.symbols) for _, update in numbered))
    declared: list[Row] = []
    used: list[Row] = []
    counts = [_split(file, update, words, declared, used) for file, update in numbered]
    words.save()
    database.many("INSERT INTO declarations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", declared)
    database.many("INSERT INTO usages VALUES (?, ?, ?, ?)", used)
    return counts


def _split(
    file: int, update: FileUpdate, words: Words, declared: list[Row], used: list[Row]
) -> list[int]:
    """Add the file's rows to the two lists: usages by name, the rest as they are."""
    usage = Role.USAGE
    chunks: dict[str | None, int] = {chunk_id: n for n, (chunk_id, _) in enumerate(update.chunks)}
    counts = [0] * len(ROLES)
    places: dict[str, list[str]] = {}
    # This loop is a third of what storing symbols costs: 0.7 microseconds for a usage.
    for n, row in enumerate(update.symbols):
        name, qualified, kind, role, _, line, exported, chunk, ordinal, signature, module = row
        if role is usage and kind == "usage":
            receiver = None if qualified == name else qualified.removesuffix(f".{name}")
            # A qualified name of another form stays as it is, among the declarations.
            if receiver is None or (receiver and receiver != qualified):
                word = "null" if receiver is None else words[receiver]
                at = f"[{line},{chunks.get(chunk, 'null')},{word},{ordinal}]"
                if name in places:
                    places[name].append(at)
                else:
                    places[name] = [at]
                continue
        number = _NUMBERS[role]
        counts[number] += 1
        other = None if qualified == name else qualified
        place = (line, exported, chunks.get(chunk), ordinal)
        declared.append((file, n, number, name, other, kind, *place, signature, module))
    counts[_NUMBERS[usage]] += len(update.symbols) - sum(counts)
    used += [(file, words[name], len(at), f"[{','.join(at)}]") for name, at in places.items()]
    return counts


def _file(number: int, repo: int, update: FileUpdate, by_role: Sequence[int]) -> Row:
    state = update.state
    return (
        number,
        repo,
        stored_path(state.path),
        state.size,
        state.mtime_ns,
        state.content_hash,
        state.version,
        state.scanned_ns,
        state.language,
        len(update.chunks),
        state.problems,
        *by_role,
        state.ctime_ns,
    )


def _link(file: int, n: int, link: Link) -> Row:
    target = None if link.target is None else stored_path(link.target)
    return file, n, link.module, target, _PACK(link.names), link.reexports


def _cleaned(batch: Batch) -> Batch:
    """The batch with only such text as SQLite takes; paths are stored in their own way."""
    updates = [
        FileUpdate(
            update.state,
            update.chunks,
            [_cleaned_row(row) for row in update.symbols],
            [
                link._replace(module=clean(link.module), names=tuple(map(clean, link.names)))
                for link in update.links
            ],
        )
        for update in batch.updates
    ]
    return Batch(batch.repo, batch.chunks_version, updates, batch.removed, batch.touched)


def _cleaned_row(row: SymbolRow) -> SymbolRow:
    return row._replace(
        name=clean(row.name),
        qualified_name=clean(row.qualified_name),
        kind=clean(row.kind),
        signature=None if row.signature is None else clean(row.signature),
        module=None if row.module is None else clean(row.module),
    )
