"""Files are replaced whole or not at all; links, modes and concurrent changes are respected."""

import os
import subprocess
import sys
import textwrap
import threading
from datetime import date
from pathlib import Path

import pytest

from asterism.install.clients import ClientPlaces
from asterism.install.plan import InstallPlan, plan_install, plan_uninstall
from asterism.install.write import Reader, write
from asterism.types.errors import InputError, PathUnreadable
from tests.install.conftest import put, setup, tree

TODAY = date(2026, 5, 1)
ROOT = Path(__file__).resolve().parents[2]


def install(places: ClientPlaces, name: str = "cline") -> InstallPlan:
    return plan_install([setup(name, places)], Reader())


def config(places: ClientPlaces, content: str = "{}\n") -> Path:
    return put(places.home / ".cline/data/settings/cline_mcp_settings.json", content)


@pytest.mark.parametrize("mode", [0o600, 0o666])
def test_modes_and_links_stay(places: ClientPlaces, mode: int) -> None:
    real = put(places.home / "dotfiles/mcp.json", "{}\n")
    real.chmod(mode)
    link = places.home / ".cline/data/settings/cline_mcp_settings.json"
    link.parent.mkdir(parents=True)
    link.symlink_to(os.path.relpath(real, link.parent))
    (written,) = write(install(places).changes, TODAY)
    assert link.is_symlink()
    assert "asterism" in real.read_text()
    assert real.stat().st_mode & 0o777 == mode
    assert written.backup is not None
    assert written.backup.parent == real.parent
    assert written.backup.stat().st_mode & 0o777 == mode
    write(plan_uninstall([setup("cline", places)], [], Reader()).changes, TODAY)
    assert link.is_symlink()
    assert tree(real.parent) == {"mcp.json": b"{}\n"}


def test_a_link_to_nothing_is_filled(places: ClientPlaces) -> None:
    link = places.home / ".cline/data/settings/cline_mcp_settings.json"
    link.parent.mkdir(parents=True)
    link.symlink_to("elsewhere.json")
    write(install(places).changes, TODAY)
    assert link.is_symlink()
    assert "asterism" in link.with_name("elsewhere.json").read_text()


def test_copies_do_not_pile_up(places: ClientPlaces) -> None:
    file = config(places)
    for day in range(1, 5):
        write(install(places).changes, date(2026, 5, day))
        file.write_text("{}\n")
    names = sorted(path.name for path in file.parent.iterdir())
    assert names == [
        "cline_mcp_settings.json",
        "cline_mcp_settings.json.asterism-backup-20260501-ca3d163bab05",
    ]


def test_without_its_copy_a_file_loses_only_what_was_added(places: ClientPlaces) -> None:
    file = config(places, '{"a": 1}\n')
    (written,) = write(install(places).changes, TODAY)
    assert written.backup is not None
    written.backup.write_text("")
    write(plan_uninstall([setup("cline", places)], [], Reader()).changes, TODAY)
    assert file.read_text() == '{"a": 1}\n'


def test_a_read_only_file_is_not_replaced(places: ClientPlaces) -> None:
    file = config(places)
    file.chmod(0o444)
    with pytest.raises(InputError, match="is read-only and was not changed"):
        write(install(places).changes, TODAY)
    assert tree(file.parent) == {"cline_mcp_settings.json": b"{}\n"}


def test_a_directory_in_the_place_of_a_file(places: ClientPlaces) -> None:
    (places.home / ".cline/data/settings/cline_mcp_settings.json").mkdir(parents=True)
    with pytest.raises(PathUnreadable, match="is not a file"):
        Reader()(places.home / ".cline/data/settings/cline_mcp_settings.json")
    assert "is not a file" in install(places).problems[0]


def test_a_file_in_the_place_of_a_directory(places: ClientPlaces) -> None:
    put(places.home / ".cline", "a file")
    with pytest.raises(Exception, match=r"was not changed: .*Nothing was written"):
        write(install(places).changes, TODAY)


def test_a_change_after_the_plan_is_not_overwritten(places: ClientPlaces) -> None:
    file = config(places)
    plan = install(places)
    file.write_text('{"mine": 1}\n')
    with pytest.raises(InputError, match="has changed since the plan was made"):
        write(plan.changes, TODAY)
    assert file.read_text() == '{"mine": 1}\n'


def test_another_run_that_was_quicker_is_no_trouble(places: ClientPlaces) -> None:
    file = config(places)
    plans = [install(places), install(places)]
    write(plans[0].changes, TODAY)
    (written,) = write(plans[1].changes, TODAY)
    assert written.backup is None
    assert file.read_bytes() == plans[0].changes[0].after


def test_a_copy_of_what_is_to_be_written_is_no_copy_of_what_is_there(places: ClientPlaces) -> None:
    file = config(places)
    (first,) = install(places).changes
    assert first.after is not None
    copy = put(file.with_name(f"{file.name}.asterism-backup-20260401-0123456789ab"), first.after)
    (change,) = install(places).changes
    assert (change.keeps_copy, change.needless) == (True, ())
    (written,) = write([change], TODAY)
    assert written.backup is not None
    assert written.backup.read_bytes() == b"{}\n"
    assert copy.exists()


def test_two_runs_at_once(places: ClientPlaces) -> None:
    """Both made the same plan; the second one finds it done."""
    file = config(places)
    plans = [install(places) for _ in range(8)]
    gate = threading.Barrier(len(plans))
    failures: list[BaseException] = []

    def carry_out(plan: InstallPlan) -> None:
        gate.wait()
        try:
            write(plan.changes, TODAY)
        except BaseException as error:  # noqa: BLE001 - whatever it is, the test reports it
            failures.append(error)

    threads = [threading.Thread(target=carry_out, args=(plan,)) for plan in plans]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert file.read_bytes() == plans[0].changes[0].after
    assert len(tree(file.parent)) == 2


def test_what_was_written_before_a_failure_is_named(places: ClientPlaces) -> None:
    agents = put(places.codex / "AGENTS.md", "mine\n")
    agents.chmod(0o444)
    plan = install(places, "codex")
    with pytest.raises(InputError) as caught:
        write(plan.changes, TODAY)
    assert f"Changed before that: {places.codex / 'config.toml'}." in str(caught.value)


def test_a_full_disk_leaves_the_file_as_it_was(places: ClientPlaces) -> None:
    """A limit on the size of files fails a write halfway, as a full disk does."""
    file = config(places, '{"a": "' + "x" * 5000 + '"}\n')
    before = tree(places.home)
    script = f"""
        import resource
        from datetime import date
        from pathlib import Path
        from asterism.types.errors import StorageFailed
        from asterism.install.write import Reader, write
        from asterism.install.plan import plan_install
        from tests.install.conftest import places_in, setup

        places = places_in(Path({str(places.home.parent)!r}))
        plan = plan_install([setup("cline", places)], Reader())
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        try:
            write(plan.changes, date(2026, 5, 1))
        except StorageFailed as error:
            print(error)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"{file} was not changed: File too large. Nothing was written.\n"
    assert tree(places.home) == before
