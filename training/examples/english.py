"""Mine English: `python -m training.examples.english ARCHIVE... --out FILE --exclude HASHES`.

Code is not all that is asked about. Rules, references and descriptions of tools are short English
texts, and so is documentation. A pair is a heading and what stands below it, a sentence and the
rest of its paragraph, an option and its description, the subject of a commit and its body. What
the documentation of `--without CHECKOUT...` says is left out, too.
"""

import argparse
import json
import lzma
import random
import re
import sys
import tarfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from multiprocessing import Pool
from pathlib import Path
from subprocess import CalledProcessError
from typing import TypeAlias, TypeVar

from asterism.analysis.source.text import decode
from training.sources.archives import (
    PASSED_OVER,
    SMALLEST_BYTES,
    SourceFile,
    git_directory,
    source_files,
    wanted,
)
from training.sources.exclusions import Exclusions, named_like_excluded
from training.inputs import present
from training.examples.mine import TEST, source_name
from training.examples.pairs import (
    QUERY_CHARS,
    TEXT_CHARS,
    Pair,
    pairs_of_code,
    pairs_of_document,
    pairs_of_documentation,
    pairs_of_history,
    pairs_of_service,
)
from training.examples.prose import sections
from training.examples.rows import hashed

LARGEST_BYTES = 700_000
# So that no source and no kind drowns the others.
PER_SOURCE = 3_000
PER_KIND_AND_SOURCE = 1_000
PER_FILE = 40
# Parsing is the dear part, and documentation with several sentences is in a few files of many.
PARSED_FILES = 12
# One question for more texts than this asks for none of them.
SAME_QUERY_AT_MOST = 2

# Code with fewer comments of several lines is not parsed for them.
LONG_COMMENTS = 5

T = TypeVar("T")

_Task: TypeAlias = tuple[str, str, str]
"""An archive, what its source is called, and the file of hashes."""
_Mined: TypeAlias = tuple[str, list[Pair], str]
"""A source, its pairs, and what went wrong."""

_SERVICE = "service-2.json.gz"
_MARKED_UP = (
    "md",
    "markdown",
    "mdx",
    "rst",
    "adoc",
    "asciidoc",
    "html",
    "htm",
    "sgml",
    "xml",
    "texi",
)
DOCUMENTS = frozenset((*_MARKED_UP, *"12345678"))
_PASSED_DOCUMENT = re.compile(
    r"change|news|history|rel(?:ease)?.?notes|upgrad|migrat|whatsnew|todo|licen[sc]e|authors"
    r"|code_of_conduct|copying|thanks|credits|sponsor|i18n|l10n|javadoc/|apidocs"
    r"|(^|[/._-])(zh|ja|de|fr|es|ru|ko|pt|it|pl|tr|uk|cs|fa|vi|id|sv|da|ro|hu)([-_][a-z]{2,4})?[/.]",
    re.IGNORECASE,
)
# Some projects write theirs in lightly marked text.
_TEXT_DOCUMENT = re.compile(r"(^|/)(docs?|documentation|manual|guides?)/.*\.txt$", re.IGNORECASE)
_LONG_COMMENT = re.compile(rb'/\*\*|///|"""|^\s*-- \||^\s*##? ', re.MULTILINE)


def _is_document(path: str, size: int) -> bool:
    name = path.rsplit("/", 1)[-1]
    suffix = name.rsplit(".", 1)[-1].lower()
    named = suffix in DOCUMENTS or name in {"METADATA", "AGENTS", ".cursorrules", "HACKING"}
    if not named and not (suffix == "txt" and _TEXT_DOCUMENT.search(path)):
        return False
    passed = PASSED_OVER.search(path) or _PASSED_DOCUMENT.search(path) or TEST.search(path)
    return not passed and SMALLEST_BYTES <= size <= LARGEST_BYTES


def _is_wanted(path: str, size: int) -> bool:
    return wanted(path, size) or path.endswith(_SERVICE) or _is_document(path, size)


def pairs_of_source(archive: Path, source: str, exclusions: Exclusions) -> list[Pair]:
    """The pairs of one source, at most so many of each kind."""
    chance = random.Random(source)
    pairs: list[Pair] = []
    documented: list[SourceFile] = []
    for file in source_files(archive, _is_wanted):
        if named_like_excluded(file.path) or exclusions.has_file(file.data):
            continue
        if wanted(file.path, len(file.data)) and _is_documented(file):
            documented.append(SourceFile(file.path, zlib.compress(file.data, 1)))
        pairs += _some(filter(_is_good, _pairs_of_file(file, chance)), PER_FILE, chance)
    for packed in _some(documented, PARSED_FILES, chance):
        file = SourceFile(packed.path, zlib.decompress(packed.data))
        pairs += filter(_is_good, pairs_of_documentation(file, chance))
    if archive.is_dir() and (git_directory(archive) / "HEAD").is_file():
        pairs += filter(_is_good, pairs_of_history(archive, chance))
    by_kind: dict[str, list[Pair]] = {}
    for pair in pairs:
        by_kind.setdefault(pair.kind, []).append(pair)
    kept = [_some(of_kind, PER_KIND_AND_SOURCE, chance) for of_kind in by_kind.values()]
    return _some(chain.from_iterable(kept), PER_SOURCE, chance)


def _is_documented(file: SourceFile) -> bool:
    return len(_LONG_COMMENT.findall(file.data)) > LONG_COMMENTS and not TEST.search(file.path)


def _pairs_of_file(file: SourceFile, chance: random.Random) -> Iterator[Pair]:
    if file.path.endswith(_SERVICE):
        return pairs_of_service(file.data, chance)
    if wanted(file.path, len(file.data)):
        return pairs_of_code(file, chance)
    # What a wheel says of itself is its project's front page.
    path = file.path.replace("METADATA", "README.md")
    return pairs_of_document(SourceFile(path, file.data), chance)


def _some(of: Iterable[T], limit: int, chance: random.Random) -> list[T]:
    found = list(of)
    return chance.sample(found, limit) if len(found) > limit else found


def _is_good(pair: Pair) -> bool:
    """A question of two words or more, whose answer does not only repeat it."""
    query = pair.query.strip()
    if len(re.findall(r"[A-Za-z]{2,}", query)) < 2 or len(query) > QUERY_CHARS:
        return False
    letters = sum(sign.isalpha() or sign == " " for sign in query)
    return letters > 0.75 * len(query) and hashed(query) != hashed(pair.text)


def _mine(task: _Task) -> _Mined:
    archive, source, hashes = task
    try:
        return source, pairs_of_source(Path(archive), source, Exclusions.load(Path(hashes))), ""
    except (OSError, EOFError, tarfile.TarError, zipfile.BadZipFile, CalledProcessError) as error:
        return source, [], str(error)


def said_in(checkouts: Iterable[Path]) -> frozenset[bytes]:
    """Hashes of what the documentation of repositories says, section by section and in parts."""
    found: set[bytes] = set()
    for checkout in checkouts:
        for file in source_files(checkout, _is_document):
            for section in sections(file.path, decode(file.data).decode("utf-8", "replace")):
                found.add(hashed("\n".join(section.paragraphs)[:TEXT_CHARS]))
                found.update(hashed(paragraph[:TEXT_CHARS]) for paragraph in section.paragraphs)
    return frozenset(found)


class Kept:
    """Tells pairs that are new from those that were there, or must not be."""

    def __init__(self, without: frozenset[bytes]) -> None:
        """`without` are the hashes of texts that must not be."""
        self._texts = set(without)
        self._queries: Counter[bytes] = Counter()
        self.counts: Counter[str] = Counter()

    def records(self, source: str, pairs: Iterable[Pair]) -> Iterator[dict[str, str]]:
        """What is to be written of them."""
        for pair in pairs:
            query, text = pair.query.strip(), pair.text[:TEXT_CHARS].strip()
            asked, said = hashed(query), hashed(text)
            self._queries[asked] += 1
            if said in self._texts or self._queries[asked] > SAME_QUERY_AT_MOST:
                continue
            self._texts.add(said)
            self.counts[pair.kind] += 1
            yield {"query": query, "text": text, "kind": pair.kind, "source": source}


def _mined(tasks: list[_Task], processes: int) -> Iterator[_Mined]:
    """The results of all tasks in order of completion; one process needs no workers."""
    if processes == 1:
        yield from map(_mine, tasks)
        return
    with Pool(processes) as pool:
        yield from pool.imap_unordered(_mine, tasks)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write every archive's pairs into one compressed file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("archives", nargs="+", type=present)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--exclude", type=present, required=True)
    parser.add_argument("--without", type=present, nargs="*", default=[])
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args(arguments)
    tasks = [(str(path), source_name(path), str(options.exclude)) for path in options.archives]
    tasks = [task for task in tasks if not named_like_excluded(f"{task[1]}/")]
    kept = Kept(said_in(options.without))
    with lzma.open(options.out, "wt", encoding="utf-8", preset=2) as out:
        mined = _mined(tasks, options.processes)
        for number, (source, pairs, problem) in enumerate(mined, 1):
            for record in kept.records(source, pairs):
                line = json.dumps({**record, "language": "english"}, ensure_ascii=False)
                out.write(f"{line}\n")
            sys.stderr.write(f"{number}/{len(tasks)} {source}: {len(pairs)} {problem}\n")
    sys.stderr.write(json.dumps({"pairs": sum(kept.counts.values()), **kept.counts}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
