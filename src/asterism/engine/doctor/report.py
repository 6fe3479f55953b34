"""Checks the whole installation; one broken part does not stop the other checks."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TypeAlias

from asterism.config.environment import data_directory
from asterism.config.settings import Settings
from asterism.engine.doctor import machine
from asterism.engine.doctor.findings import Finding, Verdict, problem
from asterism.types.errors import AsterismError

EVERY_BYTE = "Every byte"
"""What `doctor --deep` adds."""

Check: TypeAlias = tuple[str, Callable[[], Iterable[Finding]]]


def examine(where: Path, online: bool = False, deep: bool = False) -> Iterator[Finding]:
    """Check everything, with the settings of a directory; findings come as they are made.

    Nothing is written or repaired. Providers are asked only with `online`. Every stored byte is
    read only with `deep`.
    """
    said: set[str] = set()
    for finding in carried_out(checks(where, online, deep)):
        # Damage that an earlier check has named is one finding.
        if not finding.check.startswith(EVERY_BYTE) or finding.message not in said:
            said.add(finding.message)
            yield finding


def checks(where: Path, online: bool = False, deep: bool = False) -> Sequence[Check]:
    """The checks in order, each with the name for its finding if the check itself fails.

    Each check imports its own libraries, so that a broken library is one finding of many.
    """
    return (
        ("Python", machine.program_findings),
        ("Libraries", machine.library_findings),
        ("Grammars", machine.grammar_findings),
        ("Parser", partial(machine.part_findings, "parser")),
        ("Store", partial(machine.part_findings, "store")),
        ("Settings", partial(_settings, where)),
        ("Directories", machine.place_findings),
        ("Model files", _model_files),
        ("Built-in model", partial(machine.part_findings, "model")),
        ("Embeddings", partial(_embedding, where, online)),
        ("Context", partial(_choosing, where)),
        ("Reranker", partial(_rerank, where, online)),
        ("Language model", partial(_answering, where, online)),
        ("Structure", partial(_structure, where)),
        ("File watching", machine.watch_findings),
        ("git", machine.git_findings),
        ("Repositories", _indexes),
        ("Conversations", partial(_records, where)),
        ("Agents", partial(_agents, where)),
        ("Server token", partial(_server, where)),
        *([(EVERY_BYTE, partial(_deep, where))] if deep else []),
    )


def carried_out(planned: Iterable[Check]) -> Iterator[Finding]:
    """The findings of each check; a check that fails is a finding."""
    for name, check in planned:
        try:
            yield from check()
        except AsterismError as error:
            yield problem(name, str(error))
        except ImportError as error:
            yield problem(name, f"cannot be checked: {error}", "Install Asterism again.")
        except OSError as error:
            place = f"{error.filename}: " if error.filename else ""
            yield problem(
                name, f"{place}{error.strerror or error}", "Fix the permissions, or check the disk."
            )


def is_healthy(findings: Iterable[Finding]) -> bool:
    """Whether there is no problem."""
    return all(finding.verdict is not Verdict.problem for finding in findings)


def _settings(where: Path) -> Iterator[Finding]:
    from asterism.engine.doctor.checks import settings_findings

    return settings_findings(where)


def _settings_of(where: Path) -> Settings:
    from asterism.engine.doctor.checks import settings_or_defaults

    return settings_or_defaults(where)


def _model_files() -> Iterator[Finding]:
    from asterism.engine.doctor.models import model_file_findings

    return model_file_findings()


def _embedding(where: Path, online: bool) -> Iterator[Finding]:
    from asterism.engine.doctor.models import embedding_findings, upgrade_findings

    settings = _settings_of(where)
    return chain(embedding_findings(settings, online), upgrade_findings(settings))


def _choosing(where: Path) -> Iterator[Finding]:
    from asterism.engine.doctor.models import choosing_findings

    return choosing_findings(_settings_of(where))


def _rerank(where: Path, online: bool) -> Iterator[Finding]:
    from asterism.engine.doctor.models import rerank_findings

    return rerank_findings(_settings_of(where), online)


def _answering(where: Path, online: bool) -> Iterator[Finding]:
    from asterism.engine.doctor.models import answering_findings

    return answering_findings(_settings_of(where), online)


def _structure(where: Path) -> Iterator[Finding]:
    from asterism.analysis.source.checkouts import enclosing_checkout
    from asterism.engine.doctor.checks import structure_findings

    checkout = enclosing_checkout(str(where.resolve()))
    root = str(where) if checkout is None else checkout.root
    return structure_findings(_settings_of(where), root)


def _indexes() -> Iterator[Finding]:
    from asterism.engine.doctor.checks import index_findings

    return index_findings(data_directory(), _settings_of)


def _records(where: Path) -> Iterator[Finding]:
    from asterism.engine.doctor.checks import record_findings

    return record_findings(_settings_of(where), data_directory())


def _deep(where: Path) -> Iterator[Finding]:
    from asterism.engine.doctor.deep import deep_findings

    return deep_findings(data_directory(), _settings_of(where))


def _agents(where: Path) -> Iterator[Finding]:
    from asterism.engine.doctor.checks import agent_findings

    return agent_findings(where, _settings_of(where), data_directory())


def _server(where: Path) -> Iterator[Finding]:
    from asterism.engine.doctor.checks import server_findings

    return server_findings(_settings_of(where), data_directory())
