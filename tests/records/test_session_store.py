"""Are sessions, requests and uses the same when they are read back, and gone when deleted?"""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import create_engine, inspect

from asterism.records.database import open_database
from asterism.records.options import RecordsOptions
from asterism.records.rows import METADATA, SESSIONS
from asterism.records.sessions import SessionStore
from asterism.types.context import ReferenceKey, RequestMode, RuleKey, SessionItem, ToolKey
from asterism.types.errors import UsageError
from asterism.types.sessions import ItemUse, Session, StoredRequest

SESSION = Session(
    id="abcd1234",
    agent="guide",
    title="Refunds",
    created=1.5,
    updated=2.5,
    items=(
        SessionItem(ToolKey("web", "fetch"), RequestMode.always),
        SessionItem(RuleKey("Ä rule"), RequestMode.manual),
        SessionItem(ReferenceKey("Ä rule"), RequestMode.manual),
    ),
    inherited={"contextTopN": 4},
    settings={"contextTopN": 3, "temperature": 0.25, "preset": "normal"},
    contents={ToolKey("web", "fetch"): "1", RuleKey("Ä rule"): "2", ReferenceKey("Ä rule"): "3"},
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SessionStore]:
    with closing(open_database(RecordsOptions(tmp_path))) as database:
        yield SessionStore(database)


def request(number: int, session: str = SESSION.id) -> StoredRequest:
    return StoredRequest(f"request{number}", session, "guide", "why?", "{}", float(number))


def use(number: int) -> ItemUse:
    return ItemUse(
        f"request{number}", SESSION.id, "guide", RuleKey("A"), RequestMode.agent, 0.5, 12
    )


def test_a_session_is_read_back_in_its_order(store: SessionStore) -> None:
    store.save(SESSION)
    assert store.get("abcd1234") == SESSION


def test_a_changed_session_replaces_what_was_kept(store: SessionStore) -> None:
    store.save(SESSION)
    changed = replace(SESSION, items=SESSION.items[1:2], contents={RuleKey("Ä rule"): "2"})
    store.save(changed)
    assert store.get(SESSION.id) == changed


def test_another_process_finds_it(tmp_path: Path) -> None:
    for session in (SESSION, replace(SESSION, title="Later")):
        with closing(open_database(RecordsOptions(tmp_path))) as database:
            SessionStore(database).save(session)
    with closing(open_database(RecordsOptions(tmp_path))) as database:
        assert SessionStore(database).get(SESSION.id).title == "Later"


def test_the_beginning_of_an_id_is_enough_where_one_begins_so(store: SessionStore) -> None:
    store.save(SESSION)
    assert store.get("abcd").id == "abcd1234"
    store.save(replace(SESSION, id="abcd9999"))
    with pytest.raises(UsageError, match="Several sessions"):
        store.get("abcd")
    for unknown in ("abc", "zzzz", "", "%%%%"):
        with pytest.raises(UsageError, match="no session"):
            store.get(unknown)


def test_sessions_are_listed_the_last_used_first(store: SessionStore) -> None:
    store.save(SESSION)
    store.save(replace(SESSION, id="later", agent="other", updated=9.0, items=(), contents={}))
    assert [(entry.id, entry.items) for entry in store.sessions()] == [
        ("later", 0),
        ("abcd1234", 3),
    ]
    assert [entry.id for entry in store.sessions("guide")] == ["abcd1234"]


def test_requests_and_uses_are_kept_and_marked(store: SessionStore) -> None:
    store.save(SESSION)
    for number in (1, 2):
        store.add_request(request(number), [use(number)])
    store.mark("request2", RuleKey("A"), cited=True)
    store.mark("request2", RuleKey("A"), calls=2)
    store.mark("request2", RuleKey("unknown"), cited=True)
    assert [entry.id for entry in store.requests(SESSION.id)] == ["request2", "request1"]
    assert store.request("request1") == request(1)
    assert [(one.cited, one.called) for one in store.uses("guide")] == [(False, 0), (True, 2)]
    assert list(store.uses("unknown")) == []


def test_a_request_that_is_repeated_is_kept_once(store: SessionStore) -> None:
    store.add_request(request(1), [use(1)])
    store.add_request(request(1)._replace(message="again"), [])
    assert store.request("request1").message == "again"
    assert list(store.uses()) == []


def test_a_deleted_session_leaves_nothing(store: SessionStore) -> None:
    store.save(SESSION)
    store.add_request(request(1), [use(1)])
    assert store.delete("abcd") == SESSION.id
    assert (store.sessions(), store.requests(SESSION.id), list(store.uses())) == ((), (), [])
    with pytest.raises(UsageError):
        store.delete(SESSION.id)


def test_the_tables_are_those_that_migrations_make(tmp_path: Path) -> None:
    options = RecordsOptions(tmp_path)
    open_database(options).close()
    engine = create_engine(f"sqlite:///{options.file}")
    try:
        made = inspect(engine)
        for name in (SESSIONS.name, "session_items", "requests", "item_uses"):
            wanted = {column.name for column in METADATA.tables[name].columns}
            assert {column["name"] for column in made.get_columns(name)} == wanted
            indexes = {index.name for index in METADATA.tables[name].indexes}
            assert {index["name"] for index in made.get_indexes(name)} == indexes
    finally:
        engine.dispose()
