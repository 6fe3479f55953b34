"""What a plan leaves alone: files that do not parse, what is not ours, what others share."""

from datetime import date

import pytest

from asterism.install.clients import ClientPlaces
from asterism.install.pieces import is_ours, is_server_of_ours, is_unedited, marked
from asterism.install.plan import InstallPlan, plan_install, plan_uninstall
from asterism.install.targets import InstallScope, skill
from asterism.install.write import Reader, write
from tests.install.conftest import put, setup, setups, tree

TODAY = date(2026, 5, 1)


def do(plan: InstallPlan) -> InstallPlan:
    write(plan.changes, TODAY)
    return plan


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b'{"mcpServers": {', "it ends too early"),
        (b'{"mcpServers": []}', '"mcpServers" is not an object there'),
        (b"\xff\xfe{\x00}\x00", "it is not UTF-8"),
        (b"[]", "the file is not an object there"),
    ],
)
def test_a_broken_file_is_never_touched(
    places: ClientPlaces, content: bytes, complaint: str
) -> None:
    put(places.home / ".cursor/mcp.json", content)
    for plan in (
        plan_install([setup("cursor", places), setup("cline", places)], Reader()),
        plan_uninstall([setup("cursor", places)], [], Reader()),
    ):
        (problem,) = plan.problems
        assert problem.startswith(f"cursor: {places.home / '.cursor/mcp.json'} was not touched")
        assert complaint in problem
        do(plan)
    assert (places.home / ".cursor/mcp.json").read_bytes() == content
    # Others are set up all the same, and the broken one is not set up by half.
    assert set(tree(places.home)) == {
        ".cursor/mcp.json",
        ".cline/data/settings/cline_mcp_settings.json",
    }


def test_a_server_of_the_same_name_that_is_not_ours(places: ClientPlaces) -> None:
    text = '{"mcpServers": {"asterism": {"command": "npx", "args": ["star-map"]}}}'
    put(places.home / ".cursor/mcp.json", text)
    one = setup("cursor", places)
    plan = plan_install([one], Reader())
    assert plan.changes == ()
    assert "another server called `asterism`" in plan.problems[0]
    plan = plan_uninstall([one], [], Reader())
    assert plan.changes == ()
    assert "not ours; it stays" in plan.left[0]


@pytest.mark.parametrize(
    ("entry", "ours"),
    [
        ({"command": "/x/asterism", "args": ["mcp"]}, True),
        ({"command": "C:\\x\\asterism.exe"}, True),
        ({"command": ["/x/asterism", "mcp"]}, True),
        ({"command": "uvx", "args": ["asterism", "mcp"]}, True),
        ({"command": "python", "args": ["-m", "asterism.cli", "mcp"]}, True),
        ({"command": "asterism-map"}, False),
        ({"url": "http://asterism"}, False),
        ({"args": [1, None]}, False),
        ("asterism", False),
    ],
)
def test_which_server_is_ours(entry: object, ours: bool) -> None:
    assert is_server_of_ours(entry) is ours


def test_what_the_user_added_to_our_entry_stays(places: ClientPlaces) -> None:
    text = '{"mcpServers": {"asterism": {"command": "/old/asterism", "env": {"A": "b"}}}}'
    file = put(places.home / ".cursor/mcp.json", text)
    do(plan_install([setup("cursor", places)], Reader()))
    assert '"env": {"A": "b"}' in file.read_text()


def test_edits_of_others_stay_after_uninstall(places: ClientPlaces) -> None:
    file = put(places.home / ".cursor/mcp.json", '{\n  "a": 1\n}\n')
    one = setup("cursor", places)
    do(plan_install([one], Reader()))
    file.write_text(
        file.read_text().replace('"a": 1', '"a": 2').replace("{\n", "{\n  // mine\n", 1)
    )
    plan = do(plan_uninstall([one], [], Reader()))
    assert file.read_text() == '{\n  // mine\n  "a": 2\n}\n'
    assert plan.changes[0].keeps_copy


def test_an_empty_object_that_was_there_stays(places: ClientPlaces) -> None:
    file = put(places.home / ".cursor/mcp.json", '{\n  "mcpServers": {},\n  "a": 1\n}\n')
    one = setup("cursor", places)
    do(plan_install([one], Reader()))
    file.write_text(file.read_text().replace('"a": 1', '"a": 2'))
    do(plan_uninstall([one], [], Reader()))
    assert file.read_text() == '{\n  "mcpServers": {},\n  "a": 2\n}\n'


def test_what_others_share_stays(places: ClientPlaces) -> None:
    both = [
        setup("cursor", places, InstallScope.project),
        setup("codex", places, InstallScope.project),
    ]
    read = Reader(places.project)
    do(plan_install(both, read))
    plan = do(plan_uninstall(both[:1], both[1:], Reader(places.project)))
    assert sorted(plan.left) == [
        f"{places.project / '.agents/skills/asterism/SKILL.md'} stays: codex uses it too.",
        f"{places.project / 'AGENTS.md'} stays: codex uses it too.",
    ]
    assert set(tree(places.project)) == {
        ".codex/config.toml",
        "AGENTS.md",
        ".agents/skills/asterism/SKILL.md",
    }
    do(plan_uninstall(both[1:], both[:1], Reader(places.project)))
    assert list(places.project.iterdir()) == []


def test_one_file_under_two_names_gets_one_block(places: ClientPlaces) -> None:
    agents = put(places.project / "AGENTS.md", "# Notes\n")
    (places.project / "CLAUDE.md").symlink_to("AGENTS.md")
    two = [setup(name, places, InstallScope.project) for name in ("claude-code", "cursor")]
    plan = do(plan_install(two, Reader(places.project)))
    assert agents.read_text().count("asterism:begin") == 1
    (change,) = (change for change in plan.changes if change.real == agents)
    assert change.clients == ("claude-code", "cursor")
    do(plan_uninstall(setups(places, InstallScope.project), [], Reader(places.project)))
    assert agents.read_text() == "# Notes\n"
    assert (places.project / "CLAUDE.md").is_symlink()


def test_a_skill_that_was_edited_stays(places: ClientPlaces) -> None:
    one = setup("claude-code", places)
    do(plan_install([one], Reader()))
    file = places.claude / "skills/asterism/SKILL.md"
    assert is_unedited(file.read_text())
    file.write_text(file.read_text() + "\nMore.\n")
    assert is_ours(file.read_text())
    for plan in (plan_install([one], Reader()), plan_uninstall([one], [], Reader())):
        assert "edited by hand" in plan.left[0]
        assert file not in [change.path for change in plan.changes]


def test_a_skill_of_an_older_version_is_replaced_and_removed(places: ClientPlaces) -> None:
    older = marked("---\nname: asterism\n---\n\n<!-- {{mark}} -->\n\nold\n")
    file = put(places.claude / "skills/asterism/SKILL.md", older)
    one = setup("claude-code", places)
    plan = plan_uninstall([one], [], Reader())
    assert [change.after for change in plan.changes] == [None]
    do(plan_install([one], Reader()))
    assert file.read_text() == skill()
    assert set(tree(places.claude)) == {"CLAUDE.md", "skills/asterism/SKILL.md"}


def test_a_foreign_skill_is_a_problem(places: ClientPlaces) -> None:
    put(places.claude / "skills/asterism/SKILL.md", "---\nname: asterism\n---\nstars\n")
    one = setup("claude-code", places)
    (problem,) = plan_install([one], Reader()).problems
    assert "there already and not ours" in problem
    assert plan_uninstall([one], [], Reader()).changes == ()


def test_a_project_cannot_lead_out_of_itself(places: ClientPlaces) -> None:
    outside = put(places.home / ".profile", "export A=1\n")
    (places.project / "AGENTS.md").symlink_to(outside)
    plan = plan_install([setup("cursor", places, InstallScope.project)], Reader(places.project))
    assert f"leads out of the project, to {outside}" in plan.problems[0]
    assert outside not in [change.real for change in plan.changes]
