"""Are replies that lost something counted and told, and nearly full ones as well?"""

import logging

import pytest

from asterism.telemetry.exposition import summary
from asterism.telemetry.meters import (
    DROPPED,
    NEAR_LIMITS,
    REPLIES,
    TRUNCATIONS,
    UTILISATION,
)
from asterism.telemetry.operations import ReplySize, record_reply


def test_counts_rate_and_histogram(caplog: pytest.LogCaptureFixture) -> None:
    surface = "truncation-test"
    with caplog.at_level(logging.INFO, "asterism"):
        for used in (0.05, 0.7, 0.71):
            record_reply(ReplySize(surface=surface, utilisation=used))
        record_reply(
            ReplySize(
                surface=surface,
                utilisation=1.0,
                reason="token_budget",
                original_count=9,
                returned_count=5,
                dropped={"budget": 4, "duplicate": 0},
            )
        )
    assert REPLIES.value(surface) == 4
    assert TRUNCATIONS.value(surface, "token_budget") == 1
    assert NEAR_LIMITS.value(surface) == 1
    assert (DROPPED.value(surface, "budget"), DROPPED.value(surface, "duplicate")) == (4, 0)
    (reading,) = [one for one in UTILISATION.readings() if one.labels == (surface,)]
    assert reading.counts == (1, 0, 0, 1, 1, 0, 0, 1, 0)

    said = summary()["truncation"][surface]
    assert (said["replies"], said["truncated"], said["rate"]) == (4, 1, 0.25)
    assert (said["reasons"], said["near_limit"]) == ({"token_budget": 1}, 1)
    assert said["dropped"] == {"budget": 4}
    assert said["utilisation"] == {"mean": 0.615, "p90": 0.98}

    lines = [(record.levelname, record.getMessage().split()[0]) for record in caplog.records]
    assert lines == [("INFO", "near_limit"), ("WARNING", "truncated")]
    assert "surface=truncation-test reason=token_budget" in caplog.records[1].getMessage()
    assert "original_count=9 returned_count=5" in caplog.records[1].getMessage()
