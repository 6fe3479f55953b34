"""What a reranking service's answer means: scores, or which failure."""

import math
from typing import Any

from asterism.models.http.answers import Answer, content_of
from asterism.models.http.service import ServiceName
from asterism.types.errors import BadScores

# Scores are computed with few digits; one so little outside of 0 to 1 is rounding.
ROUNDING = 0.001


def scores_of(answer: Answer, count: int, service: ServiceName) -> list[float]:
    """The scores of an answer, in the order of the request's documents; it comes best first."""
    content = content_of(answer, service)
    try:
        rows = [(row["index"], row["relevance_score"]) for row in content["data"]]
        by_index = dict(rows)
    except (TypeError, KeyError) as error:
        raise BadScores(f"{service} answered without scores; check rerank.url.") from error
    if len(rows) != count or by_index.keys() != set(range(count)):
        raise BadScores(
            f"{service.name} gave {len(rows)} scores for {count} texts. If it happens again, set "
            "another rerank.model."
        )
    return [_checked(by_index[index], service) for index in range(count)]


def _checked(score: Any, service: ServiceName) -> float:
    if isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
        raise BadScores(f"{service.name} gave scores that are no numbers; check rerank.model.")
    if not -ROUNDING <= score <= 1 + ROUNDING:
        raise BadScores(
            f"{service.name} gave a score of {score:.4g}, and not one from 0 to 1; check "
            "rerank.url and rerank.model."
        )
    return min(max(float(score), 0.0), 1.0)
