"""Every kind of file damage on every kind of file: reported, and repaired by the command that is named."""

import shutil
from pathlib import Path
from random import Random

from tests.faults.campaign.forks import in_child
from tests.faults.campaign.ground import (
    SEARCH,
    Examiner,
    Ground,
    expected,
    hits_in,
    make_ground,
    remove,
)
from tests.faults.campaign.keeping import ASK, UPGRADE
from tests.faults.campaign.results import Result
from tests.faults.damage import DAMAGES, PARTS, Earlier, apply, combinations, remember
from tests.faults.generated_repository import change, files_of
from tests.models.weights.tiny_models import make_encoder

FILES = 30
# Commands that need a file which is not part of the index, after it was damaged.
BESIDE = {"conversations": ASK, "encoder vectors": UPGRADE}


def run_damages(home: Path, share: float, seed: int) -> Result:
    """A share of all combinations of a damage with a part of the index; 1 is all."""
    result = Result("damaged files")
    ground = make_ground(home, FILES)
    chance = Random(seed)
    assert ground.do(("index",)).code == 0
    earlier = _earlier(ground)
    for _ in range(3):
        change(ground.root, chance)
        assert ground.do(("index",)).code == 0
    first = files_of(ground.root)[0]
    first.write_text(first.read_text() + "\n# the last change\n", encoding="utf-8")
    make_encoder(ground.encoder)
    for words in (("index", "--upgrade"), ASK):
        assert ground.do(words).code == 0
    kept = home / "kept"
    for name, place in (("data", ground.data), ("cache", ground.cache)):
        shutil.copytree(place, kept / name, symlinks=True)
    wanted = expected(ground)
    examiner = Examiner(ground, result)
    found = combinations(ground.data, ground.cache)
    if share < 1:
        found = sorted(chance.sample(found, max(1, round(len(found) * share))))
    ran: set[tuple[str, str]] = set()
    for part, damage in found:
        for name, place in (("data", ground.data), ("cache", ground.cache)):
            remove(place)
            shutil.copytree(kept / name, place, symlinks=True)
        ended = in_child(lambda: _damaged(ground, part, damage, earlier))  # noqa: B023
        if not ended.value:
            continue
        ran.add((part, damage))
        run = f"{damage} of {part}"
        searched = ground.do(SEARCH)
        examiner.note(run, searched)
        examiner.answers(run, hits_in(searched), wanted)
        status = ground.do(("status",))
        if status.has_traceback or status.late:
            result.complain(run, f"status: {status}")
        examiner.mend(run, wanted, advised=True)
        if part in BESIDE:
            beside = ground.do(BESIDE[part])
            if beside.code != 0 or beside.has_traceback or beside.late:
                result.not_mended += 1
                result.complain(run, f"{' '.join(BESIDE[part])}: {beside}")
    result.covered = _covered(ran)
    return result


def _covered(ran: set[tuple[str, str]]) -> str:
    parts, kinds = {part for part, _ in ran}, {damage for _, damage in ran}
    return (
        f"{len(kinds)} of {len(DAMAGES)} ways to damage a file, {len(parts)} of {len(PARTS)} kinds "
        f"of file, {len(ran)} combinations of the two"
    )


def _earlier(ground: Ground) -> Earlier:
    return remember(ground.data, ground.cache)


def _damaged(ground: Ground, part: str, damage: str, earlier: Earlier) -> bool:
    return apply(part, damage, ground.data, ground.cache, earlier) is not None
