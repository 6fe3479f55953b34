"""Every setting there is: its default, what it allows, and what it is for."""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple


class Setting(NamedTuple):
    """One setting, as the reference in `docs/settings.md` lists it."""

    section: str
    name: str
    default: int
    minimum: int
    maximum: int | None
    purpose: str

    @property
    def key(self) -> str:
        """How files spell it: `discovery.max_file_bytes`."""
        return f"{self.section}.{self.name}"

    @property
    def variable(self) -> str:
        """How the environment spells it."""
        return f"ASTERISM_{self.section}_{self.name}".upper()

    @property
    def allowed(self) -> str:
        """What a value may be, in words."""
        if self.maximum is None:
            return f"a whole number of {self.minimum:,} or more"
        return f"a whole number from {self.minimum:,} to {self.maximum:,}"


def _setting(default: int, purpose: str, minimum: int, maximum: int | None = None) -> Any:
    return field(
        default=default, metadata={"purpose": purpose, "minimum": minimum, "maximum": maximum}
    )


@dataclass(frozen=True, slots=True)
class DiscoverySettings:
    """Which files count."""

    max_file_bytes: int = _setting(
        1_000_000, "Larger files are skipped: they are data or bundles, not source.", minimum=1
    )


@dataclass(frozen=True, slots=True)
class ChunkSettings:
    """How files are cut."""

    max_tokens: int = _setting(
        32_000,
        "The longest text given to a model; a longer body is split at its statements.",
        minimum=200,
        maximum=32_000,
    )


@dataclass(frozen=True, slots=True)
class WorkSettings:
    """How much of the machine is used."""

    jobs: int = _setting(0, "Processes that read files; 0 means one per core.", minimum=0)


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings, resolved."""

    discovery: DiscoverySettings = DiscoverySettings()
    chunks: ChunkSettings = ChunkSettings()
    work: WorkSettings = WorkSettings()


def all_settings() -> Iterator[Setting]:
    """Every setting in the order of its section."""
    defaults = Settings()
    for section in fields(Settings):
        part = getattr(defaults, section.name)
        for entry in fields(part):
            yield Setting(
                section.name,
                entry.name,
                getattr(part, entry.name),
                entry.metadata["minimum"],
                entry.metadata["maximum"],
                entry.metadata["purpose"],
            )
