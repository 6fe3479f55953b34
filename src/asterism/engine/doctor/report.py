"""Checks the whole installation, on request every stored byte; one failure stops no other check."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TypeAlias

from asterism.config.environment import cache_directory, data_directory
from asterism.config.options import records_options
from asterism.config.settings import Settings
from asterism.engine.doctor import machine
from asterism.engine.doctor.machine import Finding, Severity, ok, problem
from asterism.engine.status import ListedState, list_repositories
from asterism.store.catalogue import sums
from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.catalogue.schema import CATALOGUE
from asterism.store.encoder_vectors import FILE_NAME, look_deep_second
from asterism.store.registry import Project, Registry
from asterism.store.registry_file import is_whole
from asterism.store.table_files import damage_sentence, look_deep
from asterism.types.errors import AsterismError, IndexCorrupt, StorageFailed
from asterism.types.files import display_path
from asterism.types.index_states import damaged, without_advice

CHECK = "Every byte"
# States of an index that the check of the repositories names.
_NAMED = (ListedState.damaged, ListedState.unreadable, ListedState.newer, ListedState.unindexed)
_ROWS_AT_ONCE = 5_000
_BITS = 2**64
# Opening the index does not find what only reading every byte finds, and so neither does a plain
# `asterism index`.
_INDEX = "Run `asterism index --force {}`: it is built again from the files."
_VECTORS = "The next upgrade makes them again."


def deep_findings(data: Path, settings: Settings) -> Iterator[Finding]:
    """Each project's index, the cache, the conversations; nothing is repaired.

    An index that cannot be opened is left out: the check of the repositories names it.
    """
    if is_whole(data):
        registry = Registry(data)
        named = {
            entry.registered.project.id
            for entry in list_repositories(registry)
            if entry.state in _NAMED
        }
        for project in registry.projects():
            known = registry.repositories(project.id)
            if known and project.id not in named:
                root = display_path(known[0].repository.root)
                yield _finding(project.name, partial(_index, project), _INDEX.format(root))
                if (project.directory / FILE_NAME).exists():
                    yield _finding(
                        f"{project.name}: encoder vectors", partial(_vectors, project), _VECTORS
                    )
    yield _finding(f"{CHECK}: cache", lambda: _cache(cache_directory()), "")
    yield _finding(f"{CHECK}: chats", lambda: _deep_records(settings, data), "")


def _finding(name: str, look: Callable[[], str], advice: str) -> Finding:
    try:
        return ok(name, look())
    except StorageFailed as error:
        return problem(name, str(error))
    except AsterismError as error:
        message = without_advice(str(error)) if advice else str(error)
        return problem(name, message, advice)


def _index(project: Project) -> str:
    """How much was found whole; an error where something is not."""
    directory = project.directory
    with Catalogue.open(directory) as catalogue, catalogue.snapshot():
        if wrong := sums.look_deep(directory / CATALOGUE):
            raise IndexCorrupt(damaged(directory, wrong, force=True))
        table, files = directory / catalogue.table.name, catalogue.table.files()
        if found := look_deep(table, files):
            raise IndexCorrupt(damage_sentence(directory, found, force=True))
        rows = _compared(directory, catalogue)
    size = sum(file.stamp.size for file in files) / 1e6
    return f"every byte of {len(files):,} files ({size:,.1f} MB) and {rows:,} chunks agree"


def _vectors(project: Project) -> str:
    return f"{look_deep_second(project.directory):,} are what was written"


def _compared(directory: Path, catalogue: Catalogue) -> int:
    """How many chunks there are; an error where catalogue and chunk table disagree."""
    from asterism.store.lance.table import LanceTable

    version = catalogue.chunks_version()
    told = _summed(
        (repository.name, chunk, state.version, text_hash)
        for repository in catalogue.repositories()
        for path, state in catalogue.files(repository.name).items()
        for chunk, text_hash in catalogue.chunk_keys(repository.name, path)
    )
    if not version:
        return told[0]
    snapshot = LanceTable.open(directory, name=catalogue.table.name).snapshot(version)
    held = _summed(
        (entry.chunk.repo, entry.chunk.id, entry.file_version, entry.text_hash)
        for entries in snapshot.entries(_ROWS_AT_ONCE)
        for entry in entries
    )
    if told != held:
        what = f"its catalogue names {told[0]:,} chunks, its chunk table {held[0]:,} or others"
        raise IndexCorrupt(damaged(directory, what, force=True))
    return told[0]


def _summed(rows: Iterable[tuple[str, str, int, bytes]]) -> tuple[int, int]:
    """The number of rows and a checksum of them that does not depend on their order."""
    count = total = 0
    for row in rows:
        content = repr(row).encode("utf-8", "surrogatepass")
        total += int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "big")
        count += 1
    return count, total % _BITS


def _cache(directory: Path) -> str:
    from asterism.models.embed.cache import FILE
    from asterism.models.embed.cache_file import look_deep

    place = directory / FILE
    if not place.exists():
        return "none yet"
    whole, hurt, failure = look_deep(place)
    if failure:
        raise AsterismError(
            f"{display_path(str(place))} cannot be read ({failure}); the next command that needs "
            "it renames it and begins a new one."
        )
    if hurt:
        raise AsterismError(
            f"{hurt:,} of {whole + hurt:,} cached vectors are damaged; they are not used, and "
            "are computed again when they are needed."
        )
    return f"{whole:,} cached vectors are what was written"


def _deep_records(settings: Settings, data: Path) -> str:
    from asterism.records.database import look_into

    looked = look_into(records_options(settings, data))
    if looked is None:
        return "none yet"
    with closing(looked.database) as database:
        database.look_deep()
        return f"the conversations in {database.place} are well-formed"


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
    return all(finding.verdict is not Severity.problem for finding in findings)


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
    return deep_findings(data_directory(), _settings_of(where))


def _agents(where: Path) -> Iterator[Finding]:
    from asterism.engine.doctor.checks import agent_findings

    return agent_findings(where, _settings_of(where), data_directory())


def _server(where: Path) -> Iterator[Finding]:
    from asterism.engine.doctor.checks import server_findings

    return server_findings(_settings_of(where), data_directory())
