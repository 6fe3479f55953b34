"""Questions that a repository cannot answer, since it says none of their words."""

from collections.abc import Iterable
from pathlib import Path

from asterism.evaluation.drawing import rank_of
from asterism.evaluation.labels import Query
from asterism.evaluation.texts import texts_of
from asterism.evaluation.topics import TOPICS, Topic

CATEGORY = "unanswerable"


def unanswerable_queries(
    repo: str, root: Path, files: Iterable[str], size: int, seed: int
) -> list[Query]:
    """Some topics of which nothing stands in the files, as questions without targets."""
    left = dict.fromkeys(TOPICS)
    for text in texts_of(root, files):
        lowered = text.lower()
        for topic in [topic for topic in left if _is_about(lowered, topic)]:
            del left[topic]
    drawn = sorted(left, key=lambda topic: rank_of(f"{seed}/{CATEGORY}", topic.question))
    return [
        Query(f"{repo}-{CATEGORY}-{number:02}", topic.question, repo, (), category=CATEGORY)
        for number, topic in enumerate(drawn[:size], 1)
    ]


def _is_about(lowered: str, topic: Topic) -> bool:
    return any(word in lowered for word in topic.words)
