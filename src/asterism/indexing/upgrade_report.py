"""What making second vectors did, in numbers and in a sentence."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class UpgradeReport:
    """What was done."""

    model: str
    texts: int = 0
    """Different texts that the index has."""
    embedded: int = 0
    cached: int = 0
    """Vectors found in the user's cache."""
    dropped: int = 0
    """Vectors of texts that are no longer there."""
    too_large: int = 0
    """How many chunks the index has, where they are too many."""
    cancelled: bool = False
    warnings: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def sentence(self) -> str:
        """What happened."""
        if self.too_large:
            return (
                f"No vectors of {self.model} were made: {self.too_large:,} chunks are more than "
                "can be compared in memory; the built-in model goes on answering."
            )
        if self.cancelled:
            return f"Stopped: vectors of {self.model} that were made are kept; run it again."
        how = [f"{self.embedded:,} made"] if self.embedded else []
        how += [f"{self.cached:,} from the cache"] if self.cached else []
        made = f" ({', '.join(how)})" if how else ""
        return f"All {self.texts:,} texts have vectors of {self.model}{made}."
