"""Conversations on SQLite and PostgreSQL: listed, searched, put away, brought back, removed."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from asterism.records.conversations import Conversations
from asterism.records.database import RecordsDatabase
from asterism.records.turns import Begun, NewTurn, Turns
from asterism.types.chat import Shelf, TurnStatus
from asterism.types.errors import (
    ConversationArchived,
    ConversationMissing,
    TurnRunning,
    UsageError,
)


class Clock:
    """A clock that advances by a second with each look."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def turns(database: RecordsDatabase, clock: Clock) -> Turns:
    return Turns(database, clock)


@pytest.fixture
def conversations(database: RecordsDatabase, clock: Clock) -> Conversations:
    return Conversations(database, clock)


Ask = Callable[..., Begun]


@pytest.fixture
def ask(turns: Turns) -> Ask:
    def asked(question: str, answer: str = "It does.", **more: str) -> Begun:
        begun = turns.begin(NewTurn(question, **more))
        assert isinstance(begun, Begun)
        turns.finish(replace(begun.recorded.turn, status=TurnStatus.done, answer=answer))
        return begun

    return asked


def test_the_one_used_last_comes_first(conversations: Conversations, ask: Ask) -> None:
    first = ask("how are lamps lit", repository="harbor").conversation.id
    second = ask("who rings the bell", repository="quay").conversation.id
    ask("and at night?", conversation=first)
    found = conversations.page()
    assert [(one.id, one.title, one.turns) for one in found.conversations] == [
        (first, "how are lamps lit", 2),
        (second, "who rings the bell", 1),
    ]
    assert (found.total, found.cursor) == (2, None)
    assert [one.id for one in conversations.page(repository="quay").conversations] == [second]


def test_a_long_list_in_pages(conversations: Conversations, ask: Ask) -> None:
    ids = [ask(f"question {number}").conversation.id for number in range(7)]
    seen: list[str] = []
    cursor = None
    while True:
        page = conversations.page(limit=3, cursor=cursor)
        assert page.total == 7
        seen += [one.id for one in page.conversations]
        cursor = page.cursor
        if cursor is None:
            break
    assert seen == ids[::-1]


@pytest.mark.parametrize("cursor", ["", "x", "1.0", "~a", "zero~a"])
def test_a_foreign_cursor(conversations: Conversations, cursor: str) -> None:
    with pytest.raises(UsageError, match="cursor"):
        conversations.page(cursor=cursor)


@pytest.mark.parametrize("limit", [0, -1, 201])
def test_a_limit_that_makes_no_sense(conversations: Conversations, limit: int) -> None:
    with pytest.raises(UsageError, match="limit"):
        conversations.page(limit=limit)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("LAMPS", [("question", "How are the Lamps lit?")]),
        ("keeper lamps", [("answer", "The lamp Keeper lights all lamps; 100% of ÄPFEL too.")]),
        ("äpfel", [("answer", "The lamp Keeper lights all lamps; 100% of ÄPFEL too.")]),
        ("100%", [("answer", "The lamp Keeper lights all lamps; 100% of ÄPFEL too.")]),
        ("100_", []),
        ("nothing-of-it", []),
        ("bell", [("question", "Who rings the bell?")]),
    ],
)
def test_searching(
    conversations: Conversations, ask: Ask, words: str, expected: list[tuple[str, str]]
) -> None:
    ask("How are the Lamps lit?", "The lamp Keeper lights all lamps; 100% of ÄPFEL too.")
    ask("Who rings the bell?", "The clerk.")
    found = conversations.search(words)
    assert [(match.where, match.excerpt) for match in found.matches] == expected
    assert found.total == len(expected)


def test_matches_in_pages_the_latest_first(conversations: Conversations, ask: Ask) -> None:
    one = ask("lamp 0").conversation.id
    for number in range(1, 5):
        ask(f"lamp {number}", conversation=one)
    first = conversations.search("lamp", limit=3)
    rest = conversations.search("lamp", limit=3, cursor=first.cursor)
    numbers = [match.number for match in (*first.matches, *rest.matches)]
    assert (numbers, first.total, rest.cursor) == ([5, 4, 3, 2, 1], 5, None)


def test_an_excerpt_of_a_long_answer(conversations: Conversations, ask: Ask) -> None:
    ask("q", f"{'before ' * 100}the needle {'after ' * 100}")
    (match,) = conversations.search("needle").matches
    assert "the needle after" in match.excerpt
    assert match.excerpt.startswith("…")
    assert match.excerpt.endswith("…")


def test_searching_for_nothing(conversations: Conversations) -> None:
    with pytest.raises(UsageError, match="look for"):
        conversations.search("  ")


def test_archived_is_out_of_the_way_and_takes_no_question(
    conversations: Conversations, turns: Turns, ask: Ask
) -> None:
    id_ = ask("how are lamps lit").conversation.id
    put_away = conversations.archive(id_)
    assert put_away.archived is not None
    assert conversations.archive(id_).archived == put_away.archived
    assert conversations.page().conversations == ()
    assert [one.id for one in conversations.page(Shelf.archived).conversations] == [id_]
    assert [one.id for one in conversations.page(Shelf.all).conversations] == [id_]
    assert conversations.search("lamps", Shelf.open).matches == ()
    assert len(conversations.search("lamps").matches) == 1
    with pytest.raises(ConversationArchived, match="restore it"):
        turns.begin(NewTurn("and now?", id_))
    assert conversations.restore(id_).archived is None
    ask("and now?", conversation=id_)
    assert conversations.get(id_).turns == 2


def test_deleting_takes_everything_along(
    conversations: Conversations, turns: Turns, ask: Ask
) -> None:
    begun = ask("how are lamps lit")
    turns.record(begun.recorded.turn.id, "noted", {"text": "x"})
    other = ask("who rings the bell").conversation.id
    conversations.delete(begun.conversation.id)
    assert [one.id for one in conversations.page(Shelf.all).conversations] == [other]
    assert turns.events(begun.recorded.turn.id) == []
    for gone in (
        lambda: conversations.get(begun.conversation.id),
        lambda: conversations.delete(begun.conversation.id),
        lambda: conversations.archive(begun.conversation.id),
        lambda: turns.of(begun.conversation.id),
        lambda: turns.get(begun.recorded.turn.id),
        lambda: turns.begin(NewTurn("and?", begun.conversation.id)),
    ):
        with pytest.raises(ConversationMissing):
            gone()


def test_one_that_is_being_answered_is_not_deleted(
    conversations: Conversations, turns: Turns
) -> None:
    begun = turns.begin(NewTurn("how are lamps lit"))
    assert isinstance(begun, Begun)
    with pytest.raises(TurnRunning, match="stop it first"):
        conversations.delete(begun.conversation.id)


def test_found_by_the_start_of_its_id(conversations: Conversations, ask: Ask) -> None:
    with pytest.raises(ConversationMissing, match="no conversation yet"):
        conversations.find("last")
    first = ask("one").conversation.id
    second = ask("two").conversation.id
    assert conversations.find(first[:12]).id == first
    assert conversations.find(first).id == first
    assert conversations.find("last").id == second
    with pytest.raises(UsageError, match="Several"):
        conversations.find("")
    for start in ("zzz", "%", "_"):
        with pytest.raises(ConversationMissing):
            conversations.find(start)


def test_renamed_and_placed(conversations: Conversations, ask: Ask) -> None:
    id_ = ask("  how are\tlamps lit?\nmore").conversation.id
    assert conversations.get(id_).title == "how are lamps lit?"
    assert conversations.rename(id_, "x" * 100).title == "x" * 79 + "…"
    placed = conversations.place(id_, "reviewer", "session-1")
    assert (placed.agent, placed.session) == ("reviewer", "session-1")
