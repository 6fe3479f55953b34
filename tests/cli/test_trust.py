"""`asterism trust`: what it writes, what it refuses, and who cannot use it."""

import json
import stat
from pathlib import Path

import pytest

from asterism.cli.setup import _said
from asterism.operations.registry import OPERATIONS, TOOLS
from asterism.servers.http.openapi import openapi
from tests.cli.conftest import Outcome, Run

FILE = ".config/asterism/config.toml"


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user at home, with a checkout of a shop."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    git = tmp_path / "shop/.git"
    git.mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    monkeypatch.chdir(tmp_path / "shop")
    return tmp_path


def listed(run: Run) -> list[tuple[str, str]]:
    done = run("trust", "--list", "--json")
    return [(one["path"], one["state"]) for one in json.loads(done.out)["repositories"]]


def test_trust_and_untrust(user: Path, run: Run) -> None:
    shop = str(user / "shop")
    assert run("trust", "--list").out == (
        "No repository is trusted. `asterism trust PATH` adds one.\n"
    )
    done = run("trust", ".")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"{shop} is trusted. Language servers that are installed")
    assert (user / FILE).read_text() == f'[trust]\nrepositories = ["{shop}"]\n'
    assert listed(run) == [(shop, "trusted")]
    assert run("trust", shop).out == f"{shop} is trusted already.\n"
    assert run("untrust", ".").out == f"{shop} is no longer trusted.\n"
    assert listed(run) == []
    assert run("untrust", ".").out == f"{shop} was not trusted.\n"


def test_json(user: Path, run: Run) -> None:
    shop, file = str(user / "shop"), str(user / FILE)
    for changed in (True, False):
        assert json.loads(run("trust", shop, "--json").out) == {
            "repository": shop,
            "trusted": True,
            "changed": changed,
            "file": file,
        }
    assert json.loads(run("untrust", shop, "--json").out)["changed"] is True


def test_comments_and_other_settings_stay(user: Path, run: Run) -> None:
    file = user / FILE
    file.parent.mkdir(parents=True)
    before = (
        '# mine\n[trust] # few\nrepositories = [\n  "~/code", # work\n]\n\n[log]\nlevel = "off"\n'
    )
    file.write_text(before)
    file.chmod(0o600)
    run("trust", ".")
    assert file.read_text() == before.replace("work\n]", f'work\n  "{user}/shop",\n]')
    assert file.stat().st_mode & 0o777 == 0o600
    assert [place.name for place in file.parent.iterdir()] == ["config.toml"]
    run("untrust", ".")
    assert file.read_text() == before


def test_an_entry_of_the_home_directory_can_be_taken_out(user: Path, run: Run) -> None:
    file = user / FILE
    file.parent.mkdir(parents=True)
    file.write_text('[trust]\nrepositories = ["~/shop"]\n')
    assert listed(run) == [(f"{user}/shop", "trusted")]
    run("untrust", ".")
    assert listed(run) == []


def test_one_that_is_gone_can_be_taken_out(user: Path, run: Run) -> None:
    (user / "old").mkdir()
    run("trust", str(user / "old"))
    (user / "old").rmdir()
    assert listed(run) == [(f"{user}/old", "missing")]
    assert "does not exist" in run("trust", "--list").out
    run("untrust", str(user / "old"))
    assert listed(run) == []


def test_what_is_still_trusted_below_is_said(user: Path, run: Run) -> None:
    (user / "shop/part").mkdir()
    run("trust", ".")
    run("trust", "part")
    said = run("untrust", ".").out
    assert f"{user}/shop/part is below it and still trusted." in said


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("link",), "leads through a link"),
        (("vendor",), "is part of the checkout"),
        (("gone",), "There is no directory"),
        ((), "Give either a PATH or --list"),
        ((".", "--list"), "Give either a PATH or --list"),
    ],
)
def test_refused(user: Path, run: Run, arguments: tuple[str, ...], why: str) -> None:
    (user / "evil").mkdir()
    (user / "shop/link").symlink_to(user / "evil")
    (user / "shop/vendor").mkdir()
    done = run("trust", *arguments)
    assert done.code == 2
    assert why in done.err
    assert not (user / FILE).exists()


def test_a_list_of_the_environment_is_not_replaced(
    user: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASTERISM_TRUST_REPOSITORIES", str(user))
    done = run("trust", ".")
    assert (done.code, "ASTERISM_TRUST_REPOSITORIES" in done.err) == (2, True)
    assert not (user / FILE).exists()


def test_the_repositorys_file_says_nothing(user: Path, run: Run) -> None:
    (user / "shop/asterism.toml").write_text('[trust]\nrepositories = ["/"]\n')
    assert listed(run) == []
    outcome: Outcome = run("trust", ".")
    assert outcome.code == 0
    assert listed(run) == [(f"{user}/shop", "trusted")]


def test_what_does_not_count_is_said_once_for_each_change(
    user: Path, places: Path, run: Run
) -> None:
    """Each command is a process of its own; `doctor` says it whenever it is asked."""
    file = user / "shop/asterism.toml"
    file.write_text("[work]\njobs = 300\n")

    def warned(*arguments: str) -> bool:
        _said.clear()
        return "may only lower work.jobs" in run(*arguments).err

    assert [warned("files", "."), warned("files", "."), warned("index")] == [True, False, False]
    file.write_text("[work]\njobs = 301 # more\n")
    assert [warned("files", "."), warned("files", ".")] == [True, False]
    assert "may only lower work.jobs = 301" in run("doctor").out
    (places / "cache" / "warned").rename(places / "cache" / "other")
    (places / "cache" / "warned").write_text("in the way")
    assert [warned("files", "."), warned("files", ".")] == [True, True]


def test_a_new_settings_file_is_for_the_user_alone(user: Path, run: Run) -> None:
    file = user / FILE
    assert run("trust", ".").code == 0
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.chmod(0o640)
    assert run("untrust", ".").code == 0
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_a_broken_file_is_not_touched(user: Path, run: Run) -> None:
    file = user / FILE
    file.parent.mkdir(parents=True)
    file.write_text("[trust\n")
    done = run("trust", ".")
    assert (done.code, file.read_text()) == (2, "[trust\n")


def test_clients_cannot_trust_anything() -> None:
    """Neither a tool, nor a route, nor an argument of one has to do with trust."""
    for name, tool in TOOLS.items():
        assert "trust" not in name
        assert [key for key in tool.parameters if "trust" in key] == []
    described = openapi(OPERATIONS)
    assert described["paths"]
    assert [path for path in described["paths"] if "trust" in path] == []
