"""Of code that does opposite things, or the same in two places, a query finds what it asks for.

Twins share nearly all of their words, so that only the direction or the place tells them apart.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from asterism.engine.engine import Engine
from asterism.engine.search import SearchRequest
from asterism.engine.stores import DataDirectories
from asterism.store.registry import Registered
from asterism.types.search import Hit, Mode
from tests.engine.conftest import SETTINGS

FILES = {
    "wire/base85.py": '''"""Text for bytes and back."""

ALPHABET = "0123456789abcdef"


def encode(data):
    """Turn bytes into text that can be decoded, four bytes at a time, digit by digit."""
    digits = []
    for block in blocks(data, 4):
        value = int.from_bytes(block, "big")
        digits.extend(ALPHABET[value // 85**place % 85] for place in range(5))
    return "".join(digits)


def decode(text):
    """The bytes."""
    found = bytearray()
    for block in blocks(text, 5):
        found += value_of(block).to_bytes(4, "big")
    return bytes(found)
''',
    "wire/frames.py": '''def read_frame(stream):
    """One frame of the stream: its length, then its payload; written by the other side."""
    length = int.from_bytes(stream.take(4), "big")
    return stream.take(length)


def write_frame(stream, payload):
    """One frame."""
    stream.put(len(payload).to_bytes(4, "big"))
    stream.put(payload)


def serialize_message(message):
    """A message as lines of text, so that it can be deserialized on the other side later."""
    return "\\n".join(f"{key}: {value}" for key, value in message.items())


def deserialize_message(lines):
    """A message."""
    return dict(line.split(": ", 1) for line in lines.split("\\n"))
''',
    "storage/pool.go": """package storage

// Open makes a connection to the database ready, to be closed when the caller is done with it.
func (p *Pool) Open(address string) (*Connection, error) {
	connection, err := dial(address)
	if err != nil {
		return nil, err
	}
	p.connections = append(p.connections, connection)
	return connection, nil
}

// Close ends it.
func (p *Pool) Close(connection *Connection) error {
	p.forget(connection)
	return connection.hangUp()
}

// Acquire takes a permit of the semaphore, waiting until another one is released.
func (s *Semaphore) Acquire() {
	s.permits <- struct{}{}
}

// Release gives it back.
func (s *Semaphore) Release() {
	<-s.permits
}
""",
    "shop/cart.ts": """export class Cart {
  private items: Item[] = [];

  /** Adds an article to the cart, in front of those that were removed from it before. */
  addItem(article: Article, amount: number): void {
    this.items.unshift({ article, amount });
    this.changed("cart", article, amount);
  }

  /** Takes it out. */
  removeItem(article: Article): void {
    this.items = this.items.filter((item) => item.article !== article);
  }
}

/** Locks the account of a customer after three attempts, until it is unlocked by hand. */
export function lockAccount(account: Account): void {
  account.state = State.Locked;
  account.lockedAt = Date.now();
}

export function unlockAccount(account: Account): void {
  account.state = State.Open;
  account.attempts = 0;
}

export enum State {
  Open,
  Locked,
  Closed,
}
""",
    "shop/dates.ts": """/** Formats a date of an invoice in the way that parseDate parses it: year, month and day. */
export function formatDate(date: Day): string {
  return [date.year, date.month, date.day].map(pad).join("-");
}

export function parseDate(text: string): Day {
  const [year, month, day] = text.split("-").map(Number);
  return { year, month, day };
}

/** Enables an experiment for a customer who is in the group, unless it was disabled. */
export function enableExperiment(customer: Customer, name: string): void {
  customer.experiments.add(name);
}

export function disableExperiment(customer: Customer, name: string): void {
  customer.experiments.delete(name);
}
""",
    "jobs/worker.py": '''class Worker:
    """Runs jobs in a thread."""

    def start(self):
        """Start the worker thread; it runs jobs until the worker is stopped."""
        self.thread = Thread(target=self._run, name="worker")
        self.thread.start()

    def stop(self):
        """End it."""
        self.stopping = True
        self.thread.join()

    def push_job(self, job):
        """Put a job at the end of the queue of the worker, to be popped by its thread."""
        self.queue.append(job)

    def pop_job(self):
        return self.queue.popleft()


def compress_log(path):
    """Compress the log of a job, to be decompressed when a person wants to read the log."""
    return pack(path.read_bytes(), level=9)


def decompress_log(path):
    return unpack(path.read_bytes())
''',
    "packages/redis/src/store.ts": """/** Keeps sessions. */
export class SessionStore {
  /** Saves a session with the time at which it expires. */
  async save(session: Session, seconds: number): Promise<void> {
    await this.client.set(session.id, JSON.stringify(session), { EX: seconds });
  }

  /** Removes the sessions that have expired. */
  async sweep(): Promise<number> {
    return this.client.eval(SWEEP);
  }
}
""",
    "packages/postgres/src/store.ts": """/** Keeps sessions. */
export class SessionStore {
  /** Saves a session with the time at which it expires, in the table of sessions. */
  async save(session: Session, seconds: number): Promise<void> {
    await this.pool.query(INSERT, [session.id, JSON.stringify(session), seconds]);
  }

  /** Removes the sessions that have expired from the table of sessions. */
  async sweep(): Promise<number> {
    return this.pool.query(SWEEP);
  }
}
""",
    "packages/memory/src/store.ts": """/** Keeps sessions. */
export class SessionStore {
  /** Saves a session with the time at which it expires: sessions are kept in a map. */
  async save(session: Session, seconds: number): Promise<void> {
    this.sessions.set(session.id, { session, expires: now() + seconds });
  }

  /** Removes the sessions that have expired: sessions are deleted from the map. */
  async sweep(): Promise<number> {
    return this.drop((one) => one.expires < now());
  }
}
""",
}

CASES = [
    ("how is text decoded into bytes", "decode"),
    ("how are bytes encoded as text", "encode"),
    ("decode digits of four bytes at a time", "decode"),
    ("where is a frame written to the stream", "write_frame"),
    ("where is the length of a frame read", "read_frame"),
    ("how is a message deserialized from lines of text", "deserialize_message"),
    ("where is a database connection closed", "Pool.Close"),
    ("how is a permit of the semaphore released", "Semaphore.Release"),
    ("what happens when an article is removed from the cart", "Cart.removeItem"),
    ("how is the account of a customer unlocked", "unlockAccount"),
    ("where is the date of an invoice parsed", "parseDate"),
    ("how is an experiment disabled for a customer", "disableExperiment"),
    ("how does the worker thread stop", "Worker.stop"),
    ("where is the next job popped from the queue", "Worker.pop_job"),
    ("where is the log of a job decompressed", "decompress_log"),
    ("where does the redis package save a session", "packages/redis SessionStore.save"),
    ("how are expired sessions removed in postgres", "packages/postgres SessionStore.sweep"),
    ("save a session in memory", "packages/memory SessionStore.save"),
]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Engine, Registered]]:
    base = tmp_path_factory.mktemp("twins")
    for name, text in FILES.items():
        path = base / "shop" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    engine = Engine(DataDirectories(base / "data", base / "cache"), lambda _root: SETTINGS)
    registered = engine.register(base / "shop")
    engine.index(registered)
    yield engine, registered
    engine.close()


def found(shop: tuple[Engine, Registered], query: str) -> list[Hit]:
    engine, registered = shop
    reply = engine.search(registered, SearchRequest(text=query))
    return [one.hit for one in reply.selection.kept]


@pytest.mark.parametrize(("query", "wanted"), CASES)
def test_the_twin_that_is_asked_for(
    shop: tuple[Engine, Registered], query: str, wanted: str
) -> None:
    place, _, name = wanted.rpartition(" ")
    hits = found(shop, query)
    assert hits[0].chunk.qualified_name == name
    assert hits[0].chunk.relative_path.startswith(place)
    # Full text matches are summed up in any order, which moves the last digits.
    assert scores(found(shop, f"{query}?")) == scores(hits)


def scores(hits: list[Hit]) -> list[tuple[str, float]]:
    return [(hit.chunk.id, round(hit.score, 4)) for hit in hits]


def test_the_opposite_is_explained(shop: tuple[Engine, Registered]) -> None:
    why = {
        hit.chunk.name: {signal.name for signal in hit.why}
        for hit in found(shop, "how is the account of a customer unlocked")
    }
    assert "prior:opposite" in why["lockAccount"]
    assert "prior:opposite" not in why["unlockAccount"]


@pytest.mark.parametrize(
    ("query", "is_likely"),
    [
        ('"Locks the account of a customer after three attempts"', True),
        ('"the account of the customer has no such card"', False),
    ],
)
def test_a_quoted_message_that_is_nowhere_is_no_answer(
    shop: tuple[Engine, Registered], query: str, is_likely: bool
) -> None:
    engine, registered = shop
    best = found(shop, query)[0]
    assert any(signal.name == "prior:not_quoted" for signal in best.why) is not is_likely
    assert bool(engine.context(registered, SearchRequest(text=query)).results) is is_likely


# Queries in other languages find what they name in code or in words of the code.
@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("wo wird parseDate aufgerufen", "parseDate"),
        ("comment unlockAccount remet les tentatives à zéro", "unlockAccount"),
        ("deserialize_message はどこですか？", "deserialize_message"),
        ("где вызывается decompress_log", "decompress_log"),
    ],
)
def test_names_in_queries_of_other_languages(
    shop: tuple[Engine, Registered], query: str, name: str
) -> None:
    assert found(shop, query)[0].chunk.name == name


@pytest.mark.parametrize(
    ("path", "line", "first"),
    [("wire/base85.py", 16, "encode"), ("shop/cart.ts", 22, "lockAccount")],
)
def test_code_like_a_function_does_something(
    shop: tuple[Engine, Registered], path: str, line: int, first: str
) -> None:
    engine, registered = shop
    place = Path(registered.repository.root) / path
    request = SearchRequest(mode=Mode.similar, limit=20)
    hits = [
        one.hit for one in engine.similar(registered, request, place, (line, None)).selection.kept
    ]
    kinds = {hit.chunk.node_kind for hit in hits}
    assert kinds <= {"function", "method", "constructor", "class"}
    assert hits[0].chunk.name == first
