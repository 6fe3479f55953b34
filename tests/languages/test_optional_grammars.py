"""Is a file whose grammar is not installed read as text, and does the doctor name the extra?"""

import pytest

from asterism.analysis.syntax import language
from asterism.analysis.syntax.language import TABLE, DialectEntry, has_grammar, missing_grammars
from asterism.analysis.syntax.outlines import NOT_INSTALLED, outline
from asterism.engine.doctor.machine import grammar_findings
from asterism.indexing.plan import SyncOptions, options_hash
from tests.analysis.syntax.material import name_in

OPTIONAL = [entry for entry in TABLE if entry.optional is not None]


@pytest.fixture
def _none_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language, "_is_installed", lambda _package: False)


def test_every_grammar_is_installed_for_the_tests() -> None:
    assert missing_grammars() == ()


@pytest.mark.usefixtures("_none_is_installed")
@pytest.mark.parametrize("entry", OPTIONAL, ids=lambda entry: entry.key)
def test_files_are_text_without_the_grammar(entry: DialectEntry) -> None:
    assert entry.optional is not None
    found = outline(name_in(entry), b"one\ntwo\n")
    assert [item.kind for item in found.items] == ["text"]
    assert [each.message for each in found.problems] == [NOT_INSTALLED.format(entry.optional.extra)]
    assert not has_grammar(entry)


@pytest.mark.usefixtures("_none_is_installed")
def test_the_doctor_names_the_extra() -> None:
    (found,) = grammar_findings()
    assert "install `asterism[languages]`" in found.message
    assert [entry.title for entry in OPTIONAL if entry.title not in found.message] == []


def test_the_doctor_says_that_nothing_is_missing() -> None:
    (found,) = grammar_findings()
    assert found.message == "all are installed"


def test_an_installed_grammar_changes_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    before = options_hash(SyncOptions())
    monkeypatch.setattr(language, "_is_installed", lambda _package: False)
    assert options_hash(SyncOptions()) != before
