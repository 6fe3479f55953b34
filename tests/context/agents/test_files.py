"""A folder of agents' files: listing, creating, editing, importing, exporting."""

import os
from pathlib import Path

import pytest

from asterism.context.agents.edit import enable, new_agent_text, set_key
from asterism.context.agents.files import AgentFolder, import_agent, load_agent
from asterism.context.agents.nodes import LARGEST, AgentInvalid
from asterism.types.errors import AsterismError, InputError, PathMissing

TEXT = "# mine\ndescription: One  # said\nservers:\n- name: s\n  command: c\n  args: [env:TOK]\n"


def test_a_life(tmp_path: Path) -> None:
    folder = AgentFolder(tmp_path / "agents")
    assert folder.list() == ()
    folder.create("shop", new_agent_text("Shop", "Help."))
    assert folder.load("shop").description == "Shop"
    agent = folder.edit("shop", lambda text: enable(text, False))
    assert not agent.enabled
    assert not folder.load("shop").enabled
    assert [file.name for file in folder.list()] == ["shop"]
    assert sorted(path.name for path in folder.directory.iterdir()) == ["shop.yaml"]
    folder.remove("shop")
    assert folder.names() == ()


def test_export_and_import_keep_every_byte(tmp_path: Path) -> None:
    first, second = AgentFolder(tmp_path / "a"), AgentFolder(tmp_path / "b")
    first.create("one", TEXT)
    (tmp_path / "one.yaml").write_text(first.export("one"))
    agent = import_agent(second, tmp_path / "one.yaml", "other")
    assert agent.name == "other"
    assert second.text("other") == TEXT
    assert "env:TOK" in second.export("other")
    with pytest.raises(InputError, match="already"):
        import_agent(second, tmp_path / "one.yaml", "other")
    import_agent(second, tmp_path / "one.yaml", "other", replace=True)


def test_a_broken_file_is_listed_with_its_problems_and_the_others_work(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("rules: [\n")
    (tmp_path / "latin.yaml").write_bytes(b"a: x\ndescription: caf\xe9\n")
    (tmp_path / "huge.yaml").write_bytes(b"#" * (LARGEST + 1))
    (tmp_path / "good.yml").write_text(TEXT)
    (tmp_path / "notes.txt").write_text("no agent")
    (tmp_path / ".hidden.yaml").write_text("no agent")
    (tmp_path / "folder.yaml").mkdir()
    found = {file.name: file for file in AgentFolder(tmp_path).list()}
    assert sorted(found) == ["bad", "good", "huge", "latin"]
    assert found["good"].agent is not None
    assert [found[name].problems[0].line for name in ("bad", "latin")] == [2, 2]
    assert "larger than" in found["huge"].problems[0].message


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".x", "a b", "x" * 65, "ä"])
def test_names_that_lead_elsewhere_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError):
        AgentFolder(tmp_path).create(name, "")
    with pytest.raises(PathMissing):
        AgentFolder(tmp_path).load(name)


def test_an_edit_that_would_break_the_file_leaves_it(tmp_path: Path) -> None:
    folder = AgentFolder(tmp_path)
    folder.create("one", TEXT)
    for change in (
        lambda text: set_key(text, "version", 99),
        lambda _text: "rules: [",
    ):
        with pytest.raises(AgentInvalid):
            folder.edit("one", change)
    assert folder.text("one") == TEXT


def test_a_file_that_changes_during_an_edit_is_not_overwritten(tmp_path: Path) -> None:
    folder = AgentFolder(tmp_path)
    folder.create("one", TEXT)

    def slow(text: str) -> str:
        folder.path("one").write_text("description: by hand\n")
        return enable(text, False)

    with pytest.raises(InputError, match="meantime"):
        folder.edit("one", slow)
    assert folder.text("one") == "description: by hand\n"


def test_line_ends_mode_and_links_stay(tmp_path: Path) -> None:
    real = tmp_path / "real.yaml"
    real.write_bytes(TEXT.replace("\n", "\r\n").encode())
    real.chmod(0o600)
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "one.yaml").symlink_to(real)
    folder = AgentFolder(tmp_path / "agents")
    folder.edit("one", lambda text: set_key(text, "description", "Two"))
    assert real.read_bytes() == TEXT.replace("One", "Two").replace("\n", "\r\n").encode()
    assert (real.stat().st_mode & 0o777, (tmp_path / "agents" / "one.yaml").is_symlink()) == (
        0o600,
        True,
    )


def test_a_byte_order_mark_is_no_part_of_the_first_key(tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_bytes(b"\xef\xbb\xbfdescription: x\n")
    assert AgentFolder(tmp_path).load("one").description == "x"


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
def test_a_file_that_may_not_be_read_says_so(tmp_path: Path) -> None:
    path = tmp_path / "one.yaml"
    path.write_text(TEXT)
    path.chmod(0)
    with pytest.raises(AsterismError, match="cannot be read"):
        load_agent(path)


def test_a_missing_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(PathMissing):
        load_agent(tmp_path / "none.yaml")
