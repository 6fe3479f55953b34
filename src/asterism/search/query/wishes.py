"""Whether a question words a change that somebody wishes, rather than a topic."""

from collections.abc import Iterable
from itertools import dropwhile

from asterism.search.query.text import words

# What a wish begins with. Verbs that as often say what code does already, as in `send a message` or
# `verify a signature`, are not among them.
_VERBS = words("""
    add adjust allow avoid change clarify consolidate correct deprecate disable disallow don't drop
    enable ensure expose extend fix ignore implement improve include introduce keep make migrate
    move omit optimize preserve prevent propagate reduce refactor reject remove rename replace
    restore rewrite simplify skip stop support switch unify update upgrade use
    """)
_OTHER_FORMS = words("dropped fixes kept made rewritten skipped stopped switches")
# Things, where several are meant.
_THINGS = words("changes drops moves stops supports updates upgrades uses")
_FORMS = (
    _VERBS
    | _OTHER_FORMS
    | {f"{verb}s" for verb in _VERBS} - _THINGS
    | {f"{verb}d" if verb.endswith("e") else f"{verb}ed" for verb in _VERBS}
)
# `Could you please add ...`, `we need to add ...`.
_BEFORE = words("""
    also and can could help i i'd instead just let let's like me must need now please should then to
    us want we we'd would you
    """)
# Behind these the verb was a noun: `support for proxies`, `use of locks`.
_BEHIND_NOUNS = words("by for in of")
# Fewer may name a thing: `use cases`.
_FEWEST_WORDS = 3
_AROUND = ".,:;!?()[]{}<>\"'`“”‘’*-•"


def is_wish(sentences: Iterable[str]) -> bool:
    """Whether one of the sentences begins with a verb of change: `Fix a leak in uploads`."""
    return any(map(_wishes, sentences))


def _wishes(sentence: str) -> bool:
    said = [word.strip(_AROUND) for word in sentence.lower().replace("’", "'").split()]
    said = [*dropwhile(lambda word: not word or word in _BEFORE, said)]
    return len(said) >= _FEWEST_WORDS and said[0] in _FORMS and said[1] not in _BEHIND_NOUNS
