"""Fuzzes a target led by coverage: atheris keeps the cases that reach new code, and changes those.

For targets that are pure Python behind the grammar; others take their cases from seeds alone.
"""

import argparse
import hashlib
import importlib
import pkgutil
import sys
import tempfile
from pathlib import Path
from random import Random
from typing import Any

LED = ("sources", "agents", "configs", "ignores", "manifests")
"""Targets whose cases are bytes, and whose code can be watched."""
FIRST_CASES = 400
LARGEST = 6_000
MEMORY_MB = 3_000


def main() -> int:
    """Run until so many cases are done; libFuzzer ends the process by itself."""
    given = _arguments()
    import atheris

    with atheris.instrument_imports(
        include=["asterism.analysis", "asterism.languages", "asterism.context", "asterism.config"]
    ):
        from asterism import languages
        from tests.fuzz.target import target_of

        target = target_of(given.target)
        # Languages are imported at their first use, when nothing would watch them any more.
        for found in pkgutil.walk_packages(languages.__path__, f"{languages.__name__}."):
            importlib.import_module(found.name)
    from tests.fuzz.mutations import damaged
    from tests.fuzz.target import signature_of
    from tests.fuzz.worker import complaints_of

    home = Path(given.folder) / given.target
    corpus, findings = home / "corpus", home / "findings"
    for folder in (corpus, findings):
        folder.mkdir(parents=True, exist_ok=True)
    for data in target.cases(f"guided-{given.seed}", FIRST_CASES):
        (corpus / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data[:LARGEST])

    def mutated(data: bytes, most: int, seed: int) -> bytes:
        """Half of the changes are libFuzzer's, half know what files look like."""
        random = Random(seed)
        if random.random() < 0.5:
            changed: bytes = atheris.Mutate(data, most)
            return changed
        head, newline, body = data.partition(b"\n")
        return (head + newline + damaged(body, random))[:most]

    with tempfile.TemporaryDirectory() as place, target.opened(Path(place)) as check:

        def one(data: bytes) -> None:
            complaints = complaints_of(check, data)
            if complaints:
                name = hashlib.sha256(signature_of(complaints[0]).encode()).hexdigest()[:10]
                path = findings / f"guided-{name}.input"
                if not path.exists():
                    path.write_bytes(data)
                    path.with_suffix(".txt").write_text("\n".join(complaints), errors="replace")
                    sys.stderr.write(f"found: {complaints[0]}\n")

        options = (
            f"-runs={given.runs}",
            f"-seed={int(hashlib.sha256(given.seed.encode()).hexdigest()[:7], 16)}",
            f"-max_len={LARGEST}",
            f"-timeout={int(target.deadline)}",
            f"-rss_limit_mb={MEMORY_MB}",
            f"-artifact_prefix={findings}/guided-",
            "-print_final_stats=1",
            str(corpus),
        )
        setup: Any = atheris.Setup
        setup([sys.argv[0], *options], one, custom_mutator=mutated)
        atheris.Fuzz()
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.guided", description=__doc__)
    parser.add_argument("target", choices=LED)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--folder", default="build/fuzz")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
