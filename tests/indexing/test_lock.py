"""One writer at a time, and a message for a writer that has to wait or give up."""

import os
from pathlib import Path
from threading import Event, Thread

import pytest

from asterism.indexing.lock import holder, writer
from asterism.types.errors import IndexBusy, StorageFailed


def test_the_second_writer_is_refused_and_told_who_writes(tmp_path: Path) -> None:
    refused = f"Another process \\(process {os.getpid()}\\) is writing"
    with writer(tmp_path):
        with pytest.raises(IndexBusy, match=refused), writer(tmp_path):
            pass
        with pytest.raises(IndexBusy, match=refused), writer(tmp_path, 0.01):
            pass
    with writer(tmp_path):
        pass


def test_the_lock_is_given_back_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), writer(tmp_path):
        raise ZeroDivisionError
    with writer(tmp_path):
        pass


def test_a_waiting_writer_is_told_the_holder_and_gets_its_turn(tmp_path: Path) -> None:
    held, heard = Event(), Event()

    def hold() -> None:
        with writer(tmp_path):
            held.set()
            heard.wait(10)

    def waiting(name: str) -> None:
        names.append(name)
        heard.set()

    names: list[str] = []
    thread = Thread(target=hold)
    thread.start()
    held.wait(10)
    with writer(tmp_path, -1, waiting):
        thread.join(10)
    assert names == [f"process {os.getpid()}"]


def test_a_directory_that_is_not_there_is_an_error_with_advice(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageFailed, match="cannot be locked"), writer(tmp_path / "file"):
        pass


@pytest.mark.parametrize("text", [None, "", "nonsense"])
def test_a_holder_that_left_no_number_has_no_name(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "writer.pid").write_text(text)
    assert holder(tmp_path) == "a process that did not leave its number"
