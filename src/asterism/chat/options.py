"""How a turn goes about its answer."""

from dataclasses import dataclass

from asterism.disclosure.places import MaskingReport


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnOptions:
    """Every number of a turn."""

    max_turns: int = 20
    """How often the model is asked for one answer; at the last time it may call no more tools."""
    max_output_tokens: int = 4096
    temperature: float | None = None
    top_p: float | None = None
    retries: int = 0
    """How often the model may judge the hits and search again before it answers; 0 is off."""
    tool_chars: int = 40_000
    """Characters of a tool's result that the model is given; about 10,000 tokens."""
    data_chars: int = 200_000
    """Serialised characters of a result's rows that are kept under the turn: five searches'."""
    tool_seconds: float = 120.0
    """How long a tool may take before the model is told that it did not answer."""
    calls_at_once: int = 16
    """Calls of one reply that are carried out; a model that wants more is told to ask again."""
    repeats: int = 2
    """How often the same call may be asked for in vain before no more calls are taken."""
    broken_replies: int = 1
    """How often an answer that broke off is asked for anew."""
    masking_report: MaskingReport = MaskingReport.counts
    """What a note says of tokens that were masked in what the model was sent."""
