"""Mine documented symbols: `python -m training.examples.mine ARCHIVE... --out FOLDER --exclude HASHES`."""

import argparse
import hashlib
import random
import re
import sys
import tarfile
import zipfile
from collections.abc import Iterator, Sequence
from multiprocessing import Pool
from pathlib import Path
from subprocess import CalledProcessError

from asterism.analysis.chunks.chunker import FileOrigin, chunk_file
from asterism.analysis.chunks.embedding_text import RULE
from asterism.analysis.source.text import decode, is_binary
from asterism.analysis.syntax.outlines import outline
from asterism.types.index import Chunk
from asterism.types.outline import Outline
from training.sources.archives import SourceFile, source_files
from training.examples.documentation import MARKERS, first_sentences, without_documentation
from training.sources.exclusions import Exclusions, named_like_excluded
from training.inputs import present
from training.examples.rows import Row, hashed, write

# A source of a hundred thousand symbols must not drown the others.
ROWS_PER_SOURCE = 15_000
ROWS_PER_FILE = 60
CODE_CHARS = 1_300
HEAD_CHARS = 700
SHORTEST_CODE = 60
# A comment further down is not about the file.
HEADING_WITHIN = 3_000
# Tests are documented little and named alike; enough of them to be known.
TESTS_KEPT = 0.25
# Symbols without documentation still pair their names with their bodies.
UNDOCUMENTED_KEPT = 0.5
# Longer lines on average mean data or minified code.
LINE_CHARS = 160

TEST = re.compile(
    r"(^|/)(tests?|specs?|examples?|bench(marks?)?|samples?|e2e|__tests__|testing)/|_test\.|\.test\.|\.spec\."
    r"|(^|/)test_|Tests?\.(java|kt|cs|scala|swift)$|_spec\.rb",
    re.IGNORECASE,
)
_TOLD = re.compile(
    r"(?:raise|throw|panic|error|errorf|warn\w*|fatal\w*|log\w*|info|debug|fail\w*|abort|die|print\w*|echo|assert\w*"
    r"|exception|bail|err)\b[^\"'`\n]{0,60}([\"'])((?:(?!\1)[^\n\\]|\\.){14,120})\1",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(r"%[-+0-9.]*[a-zA-Z]|\{[^}]*\}|\$\{?\w+\}?|#\{[^}]*\}|\\[nt]|\\\([^)]*\)")


def rows_of_file(file: SourceFile, source: str) -> Iterator[Row]:
    """The rows of one file."""
    if is_binary(file.data):
        return
    text = decode(file.data)
    if len(text) > LINE_CHARS * (text.count(b"\n") + 1):
        return
    try:
        found = outline(file.path, text)
    except (IndexError, RecursionError):
        # A file that breaks the parser is a bug to report, not a reason to stop after an hour.
        sys.stderr.write(f"{source}: {file.path} breaks the parser\n")
        return
    chunks = chunk_file(found, text, FileOrigin(source, file.path, file.path))
    heading = _heading(found, text)
    for chunk in chunks:
        row = _row(chunk, source, heading)
        if row is not None:
            yield row


def _heading(found: Outline, text: bytes) -> str:
    """What the comment at the top of a file says, unless it is about rights."""
    tops = [item for item in found.items if item.kind in {"comment", "docstring", "package"}]
    for item in sorted(tops, key=lambda item: item.span)[:3]:
        start, end = (0, item.span.start) if item.kind == "package" else item.span
        raw = text[start:end].decode("utf-8", "replace")
        lines = (line.strip(MARKERS) for line in raw.split("\n") if not line.startswith("#!"))
        said = first_sentences("\n".join(lines)) if start < HEADING_WITHIN else None
        if said:
            return said
    return ""


def _row(chunk: Chunk, source: str, heading: str) -> Row | None:
    head, rule, code = chunk.embedding_text.partition(f"\n{RULE}\n")
    if not rule or not chunk.signature:
        return None
    doc = chunk.docstring or ""
    sentences = first_sentences(doc) if doc else None
    if doc:
        code = without_documentation(code, doc)
        head = "\n".join(line for line in head.split("\n") if not line.startswith("Purpose: "))
    if len(code) < SHORTEST_CODE:
        return None
    return Row(
        source,
        chunk.language,
        chunk.relative_path,
        chunk.node_kind,
        chunk.name,
        head[:HEAD_CHARS],
        sentences or "",
        code[:CODE_CHARS],
        tuple(_told(code)),
        heading,
        len(chunk.child_chunk_ids),
    )


def _told(code: str) -> Iterator[str]:
    found = 0
    for match in _TOLD.finditer(code[:3_000]):
        text = " ".join(_PLACEHOLDER.sub(" ", match[2]).split())
        if len(re.findall(r"[A-Za-z]{2,}", text)) >= 3 and found < 2:
            found += 1
            yield text


def rows_of_source(archive: Path, source: str, exclusions: Exclusions) -> list[Row]:
    """The rows of one source, without anything that is to be kept out."""
    chance = random.Random(source)
    seen: set[bytes] = set()
    rows: list[Row] = []
    for file in source_files(archive):
        if named_like_excluded(file.path) or exclusions.has_file(file.data):
            continue
        if TEST.search(file.path) and chance.random() > TESTS_KEPT:
            continue
        digest = hashlib.blake2b(file.data, digest_size=8).digest()
        if digest in seen:
            continue
        seen.add(digest)
        kept = [row for row in rows_of_file(file, source) if _chosen(row, chance)]
        rows += chance.sample(kept, ROWS_PER_FILE) if len(kept) > ROWS_PER_FILE else kept
    rows = [row for row in rows if hashed(row.code) not in exclusions.symbols]
    return _at_most(rows, ROWS_PER_SOURCE, chance)


def _chosen(row: Row, chance: random.Random) -> bool:
    if row.doc or row.said:
        return True
    names = re.findall(r"[A-Z]?[a-z]+|[A-Z]+|\d+", row.name)
    return len(names) > 1 and len(row.code) > 150 and chance.random() < UNDOCUMENTED_KEPT


def _at_most(rows: list[Row], limit: int, chance: random.Random) -> list[Row]:
    if len(rows) <= limit:
        return rows
    documented = [row for row in rows if row.doc]
    others = [row for row in rows if not row.doc]
    chance.shuffle(documented)
    chance.shuffle(others)
    share = max(limit - len(documented), limit // 5)
    return documented[: limit - min(share, len(others))] + others[:share]


def _mine(task: tuple[str, str, str, str]) -> tuple[str, int, str]:
    archive, source, out, hashes = task
    target = Path(out) / f"{source}.jsonl"
    try:
        rows = rows_of_source(Path(archive), source, Exclusions.load(Path(hashes)))
    except (OSError, EOFError, tarfile.TarError, zipfile.BadZipFile, CalledProcessError) as error:
        return source, 0, str(error)
    return source, write(target, rows), ""


def source_name(archive: Path) -> str:
    """What a source is called: owner+name of a clone, name of a package."""
    if archive.is_dir():
        return archive.parent.name if archive.name == "repo" else archive.name
    return re.split(r"[_-]\d|\.orig|\.tgz|\.tar\.", archive.name)[0]


def main(arguments: Sequence[str] | None = None) -> int:
    """Mine every archive that has not been mined yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("archives", nargs="+", type=present)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--exclude", type=present, required=True)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    tasks = [
        (str(archive), source_name(archive), str(options.out), str(options.exclude))
        for archive in options.archives
        if not (options.out / f"{source_name(archive)}.jsonl").exists()
    ]
    total = 0
    with Pool(options.processes, maxtasksperchild=20) as pool:
        for number, (source, count, problem) in enumerate(pool.imap_unordered(_mine, tasks), 1):
            total += count
            sys.stderr.write(f"{number}/{len(tasks)} {source}: {count} {problem} (all {total})\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
