"""What is written down, and whom the user trusts."""

from dataclasses import dataclass

from asterism.config.described import described
from asterism.config.setting import Kind, Voice


@dataclass(frozen=True, slots=True)
class LogSettings:
    """What is written down of what happens."""

    level: str = described(
        Kind.text,
        "auto",
        "How much is logged; `auto` means `info` for servers and for whoever names a file, and "
        "nothing for commands.",
        choices=("auto", "off", "error", "warning", "info", "debug"),
        voice=Voice.user,
    )
    format: str = described(
        Kind.text,
        "plain",
        "How a line of the log looks: for people, or as JSON for programs.",
        choices=("plain", "json"),
        voice=Voice.user,
    )
    file: str = described(
        Kind.text,
        "",
        "The file for the log, an absolute path, `~/` allowed; nothing means standard error. It is "
        "set aside at 10 MB, and three older ones are kept.",
        voice=Voice.user,
    )


@dataclass(frozen=True, slots=True)
class MaskingSettings:
    """What is reported of tokens that were masked in texts for models."""

    report: str = described(
        Kind.text,
        "counts",
        "What notes of searches and answers, reports of indexing and `status` say of tokens that "
        "were masked in texts sent to models: how many of each kind, also in which lines of which "
        "files, or nothing.",
        choices=("counts", "places", "none"),
        voice=Voice.user,
    )


@dataclass(frozen=True, slots=True)
class TrustSettings:
    """Whose files may decide where code goes, and which programs start."""

    repositories: tuple[str, ...] = described(
        Kind.paths,
        (),
        "Repositories that you trust: their `asterism.toml` may set everything, language servers "
        "start for them, and their agents may start tool servers. Absolute paths without links, "
        "`~/` allowed; `asterism trust` edits this list.",
        voice=Voice.user,
    )
