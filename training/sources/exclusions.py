"""What must not be trained on: `python -m training.sources.exclusions CHECKOUT... --out HASHES`.

The repositories that retrieval is measured on are kept out by their names, by the hash of every
file and by the hash of every symbol's code, so that copies inside other packages are found, too.
"""

import argparse
import hashlib
import re
import sys
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from training.examples.rows import hashed
from training.inputs import present
from training.sources.archives import source_files

HASH_BYTES = 8

# Folders and modules of the repositories, as they appear in the packages of others.
_NAMED = re.compile(
    r"(^|/)(aiohttp|fastapi|flask|httpx|model2vec|pydantic|requests|starlette|axios|express|redux|gin|cobra|chi|gson"
    r"|guzzle(http)?|monolog|illuminate|sinatra|rack|active(record|support|model|job|storage)"
    r"|action(pack|view|mailer|cable)|railties|tokio[^/]*|axum[^/]*|serde[^/]*|trpc|messagepack|ktor[^/]*|alamofire|click"
    r"|zod|nlohmann|phoenix|vitest|newtonsoft[^/]*|dapper|exposed|circe|http4s|vapor|snapkit|plug|ecto|absl|abseil[^/]*"
    r"|fmt|curl|libcurl|redis|hiredis|libuv|uv|bats[^/]*|aeson|telescope|pandoc|xmonad|nvm|jackson[^/]*|databind"
    r"|commons/lang\d?|cats)(/|\.(py|hpp?|rb|js|ts|rs|go|lua)$)",
    re.IGNORECASE,
)


class Exclusions(NamedTuple):
    """Hashes of whole files and of symbols' code."""

    files: frozenset[bytes]
    symbols: frozenset[bytes]

    @classmethod
    def load(cls, path: Path) -> "Exclusions":
        """Read what `main` wrote."""
        return _loaded(str(path))

    def has_file(self, data: bytes) -> bool:
        """Whether this very file is to be kept out."""
        return _file_hash(data) in self.files


@lru_cache(maxsize=1)
def _loaded(path: str) -> Exclusions:
    data = Path(path).read_bytes()
    count = int.from_bytes(data[:8], "little")
    hashes = [data[start : start + HASH_BYTES] for start in range(8, len(data), HASH_BYTES)]
    return Exclusions(frozenset(hashes[:count]), frozenset(hashes[count:]))


def named_like_excluded(path: str) -> bool:
    """Whether a path looks like a copy of one of the repositories."""
    return _NAMED.search(path) is not None


def _file_hash(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=HASH_BYTES).digest()


def main(arguments: Sequence[str] | None = None) -> int:
    """Hash checkouts and bare clones."""
    # Imported here, because mining needs this module.
    from training.examples.mine import rows_of_file

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkouts", nargs="+", type=present)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args(arguments)
    files: set[bytes] = set()
    symbols: set[bytes] = set()
    for root in options.checkouts:
        for file in source_files(root):
            files.add(_file_hash(file.data))
            symbols.update(hashed(row.code) for row in rows_of_file(file, root.name))
        sys.stderr.write(f"{root}: {len(files)} files, {len(symbols)} symbols\n")
    count = len(files).to_bytes(8, "little")
    options.out.write_bytes(count + b"".join(sorted(files)) + b"".join(sorted(symbols)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
