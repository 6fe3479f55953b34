"""Random damage to every file of an index: searched, looked at, synced, and built anew afterwards.

A case is a line for each damage: which file (a share of 1,000 of their list), what is done, where
(a share of 1,000 of its size), and a number.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from asterism.engine.engine import Engine
from asterism.operations.calls import Standpoint
from asterism.operations.dispatch.hidden_paths import hidden_places
from asterism.operations.dispatch.toolbox import Toolbox
from asterism.operations.json import compact
from asterism.operations.limits import written
from asterism.store.registry import Registered
from asterism.types.errors import AsterismError
from tests.fuzz.scene import OWN, engine_in, leaks, places_in, write_files
from tests.fuzz.target import Check, Target, mishap, one_by_one

SHARE = 1_000


def _flipped(path: Path, at: int, number: int) -> None:
    data = bytearray(path.read_bytes())
    if data:
        data[at % len(data)] ^= 1 << number % 8
        path.write_bytes(data)


def _overwritten(path: Path, at: int, number: int) -> None:
    data = bytearray(path.read_bytes())
    piece = Random(number).randbytes(number % 200 + 1)
    data[at : at + len(piece)] = piece
    path.write_bytes(data)


def _zeroed(path: Path, at: int, number: int) -> None:
    data = bytearray(path.read_bytes())
    size = min(len(data) - at, number * 16)
    data[at : at + size] = bytes(max(0, size))
    path.write_bytes(data)


def _cut_off(path: Path, at: int, _number: int) -> None:
    os.truncate(path, at)


def _longer(path: Path, _at: int, number: int) -> None:
    with path.open("ab") as file:
        file.write(Random(number).randbytes(number % 5_000 + 1))


def _shifted(path: Path, at: int, number: int) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:at] + Random(number).randbytes(number % 9 + 1) + data[at:])


def _removed(path: Path, _at: int, _number: int) -> None:
    path.unlink()


def _emptied(path: Path, _at: int, _number: int) -> None:
    path.write_bytes(b"")


def _made_a_folder(path: Path, _at: int, _number: int) -> None:
    path.unlink()
    path.mkdir()


def _left_beside(path: Path, _at: int, number: int) -> None:
    path.with_name(f"{path.name}-journal").write_bytes(Random(number).randbytes(number * 4 + 1))


DAMAGES: dict[str, Callable[[Path, int, int], None]] = {
    damage.__name__.strip("_"): damage
    for damage in (
        *(_flipped, _overwritten, _zeroed, _cut_off, _longer, _shifted, _removed, _emptied),
        *(_made_a_folder, _left_beside),
    )
}
QUERIES: tuple[tuple[str, dict[str, str]], ...] = (
    ("search_code", {"query": "how is a cart paid"}),
    ("search_code", {"query": '"card refused"', "mode": "exact"}),
    ("symbol_lookup", {"name": "Money"}),
    ("codebase_search", {"query": "symbol = Cart"}),
    ("index_status", {}),
    ("list_repositories", {}),
)


def _case(random: Random) -> bytes:
    lines = (
        f"{random.randrange(SHARE)} {random.choice([*DAMAGES])} {random.randrange(SHARE)} {random.randrange(1_000)}"
        for _ in range(random.choice((1, 1, 1, 2, 4)))
    )
    return "\n".join(lines).encode()


def hurt(data: Path, case: bytes) -> None:
    """Do what a case says to the files below a directory."""
    for line in case.decode("ascii", "replace").split("\n"):
        words = line.split()
        files = sorted(path for path in data.rglob("*") if path.is_file())
        if len(words) != 4 or words[1] not in DAMAGES or not files:
            continue
        if not all(word.isdecimal() for word in (words[0], *words[2:])):
            continue
        share, at, number = (int(word) for word in (words[0], *words[2:]))
        path = files[share % SHARE * len(files) // SHARE]
        DAMAGES[words[1]](path, path.stat().st_size * (at % SHARE) // SHARE, number)


@contextmanager
def _opened(place: Path) -> Iterator[Check]:
    root = write_files(place)
    engine = engine_in(place)
    engine.index(engine.register(root))
    # A second generation, so that rows were replaced and old versions lie about.
    (root / "cart.py").write_text(
        (root / "cart.py").read_text() + "\n\ndef more():\n    return 2\n"
    )
    engine.index(engine.register(root))
    engine.close()
    data, whole = places_in(place).data, place / "whole"
    shutil.copytree(data, whole)
    expected = ""

    def check(case: bytes) -> list[str]:
        shutil.rmtree(data, ignore_errors=True)
        shutil.copytree(whole, data)
        hurt(data, case)
        return _complaints(place, root, expected)

    expected = _answers(place, root)
    yield check


def _answers(place: Path, root: Path) -> str:
    """What a whole index answers, to compare with that of a repaired one."""
    engine = engine_in(place)
    try:
        registered = engine.register(root)
        return _found(engine, registered, place, root, [])
    finally:
        engine.close()


def _complaints(place: Path, root: Path, expected: str) -> list[str]:
    wrong: list[str] = []
    engine = engine_in(place)
    try:
        registered = _tried(lambda: engine.register(root), wrong)
        if registered is not None:
            _tried(lambda: engine.status(registered), wrong)
            _found(engine, registered, place, root, wrong)
            _tried(lambda: engine.index(registered), wrong)
            _found(engine, registered, place, root, wrong)
    finally:
        engine.close()
    return [*wrong, *_mended(place, root, expected)]


def _mended(place: Path, root: Path, expected: str) -> list[str]:
    """One command builds the index anew, and it answers as a whole one does."""
    engine = engine_in(place)
    try:
        registered = engine.register(root)
        engine.index(registered, force=True)
        wrong: list[str] = []
        answers = _found(engine, registered, place, root, wrong)
        if answers != expected:
            wrong.append(f"a rebuilt index answers otherwise: {answers[:300]}")
        return wrong
    except AsterismError as error:
        return [f"building anew fails: {type(error).__name__}: {error}"]
    finally:
        engine.close()


def _found(
    engine: Engine, registered: Registered, place: Path, root: Path, wrong: list[str]
) -> str:
    """The files that searches name; what is wrong with replies is added."""
    places = places_in(place)
    toolbox = Toolbox(engine, Standpoint(root), hidden_places((places.data, places.cache)))
    found = []
    for name, arguments in QUERIES:
        reply = toolbox.call(name, arguments)
        text = compact(written(reply))
        wrong.extend(f"{name}: {one}" for one in leaks(text))
        if reply.error == "internal_error":
            wrong.append(f"{name}: an internal error")
        rows = (reply.structured or {}).get("results") or []
        found.append(f"{name}: {[row.get('file_path') for row in rows if isinstance(row, dict)]}")
    return "; ".join(found)


def _tried(step: Callable[[], object], wrong: list[str]) -> Registered | None:
    try:
        done = step()
    except AsterismError as error:
        wrong.extend(leaks(str(error).replace(OWN, "")))
        return None
    except BaseException as error:  # noqa: BLE001 - panics of native code are no Exceptions
        wrong.append(mishap(error))
        return None
    return done if isinstance(done, Registered) else None


TARGET = Target(
    name="indexes",
    about="random damage to every file of an index",
    cases=one_by_one(_case),
    opened=_opened,
    batch=20,
    tries=20,
    deadline=240,
)
