"""Numbers for the words in usages, so that a usage's row holds no text."""

from asterism.store.database import Database

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
        """Get ready for so many rows."""
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
