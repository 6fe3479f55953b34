"""Directions of actions: symbols that are named for the opposite of what a query says."""

from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from asterism.analysis.terms import terms_of
from asterism.search.ranking.words import stem_of
from asterism.types.index import Chunk

OPPOSITE = -2.6
"""Added to the log-odds of a symbol that is named for the opposite. Of 5,862 functions that commits
of 48 repositories changed, 13 times as many are named for the direction that the commit's title
says (1,073) as for the opposite (84), and the logarithm of 13 is 2.6."""

# `-` holds in both directions. With `>` the right side is a noun as often, so that only the left
# one says a direction: who asks how a lock is released may well mean `unlock`.
_TABLE = """
    accept - reject refuse deny, acquire - release, activate - deactivate,
    add append - remove delete drop, allocate alloc - deallocate dealloc free,
    allow - deny forbid disallow, attach - detach, compress - decompress uncompress,
    connect - disconnect, create - destroy delete, decrypt - encrypt, encode - decode,
    enable - disable, enqueue - dequeue, expand - collapse, grow - shrink,
    hide hid hidden - show shown, import - export, increase - decrease, increment - decrement,
    indent - dedent unindent, inflate - deflate, insert - delete remove, install - uninstall,
    load - unload save, login - logout, marshal - unmarshal, maximum - minimum, open - close,
    pause - resume, push - pop pull, read - write wrote written, register - unregister deregister,
    save - restore, send sent - receive, serialize - deserialize, start - stop,
    subscribe - unsubscribe, upload - download, parse > format stringify, rollback > commit,
    unblock > block, unescape > escape, unfreeze > freeze frozen froze, unlock > lock,
    unmount > mount, unpack > pack, unquote > quote, unset > set, unwrap > wrap, unzip > zip
"""


class Direction(NamedTuple):
    """The actions that a query names, as stems."""

    said: frozenset[str] = frozenset()
    opposites: frozenset[str] = frozenset()


@cache
def _opposites() -> dict[str, frozenset[str]]:
    """For each stem the stems of its opposites."""
    found: dict[str, frozenset[str]] = {}
    for line in _TABLE.split(","):
        both = " - " in line
        left, right = (
            frozenset(map(_stem, side.split())) for side in line.split(" - " if both else " > ")
        )
        for stems, others in ((left, right), (right, left if both else frozenset())):
            for stem in stems:
                found[stem] = found.get(stem, frozenset()) | others
    return found


# Words with the stem of an action that name none.
_NO_ACTIONS = frozenset({"already", "connection", "connections", "ready"})


def _stem(word: str) -> str:
    """What the forms of a verb have in common: `popped` and `pop` as well."""
    stem = stem_of(word.lower())
    return stem[:-1] if len(stem) > 2 and stem[-1] == stem[-2] else stem


def _actions(terms: Iterable[str]) -> frozenset[str]:
    """The stems of the words that the table has."""
    return frozenset(_stem(term) for term in terms if term not in _NO_ACTIONS) & _opposites().keys()


def direction_of(terms: Iterable[str]) -> Direction:
    """The actions among the terms of a query, and the opposites that it does not say as well."""
    said = _actions(terms)
    opposites = frozenset[str]().union(*(_opposites()[stem] for stem in said))
    return Direction(said, opposites - said)


def is_opposite(chunk: Chunk, direction: Direction) -> bool:
    """Whether a symbol is named for an opposite.

    Its own name decides, else its parent's, else its file's: the first with an action of the table.
    """
    parent = (chunk.parent_name or "").rpartition(".")[2]
    for name in (chunk.name, parent, chunk.filename.partition(".")[0]):
        actions = _actions(terms_of(name))
        if actions:
            return bool(actions & direction.opposites) and not actions & direction.said
    return False
