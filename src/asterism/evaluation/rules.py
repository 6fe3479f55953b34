"""Do the ten rules hold over whole repositories, and how big do things get?"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from asterism.analysis.chunks.units import ChunkOptions
from asterism.analysis.chunks.validation import Violation, uncovered, violations
from asterism.analysis.contents import read_chunks
from asterism.analysis.parallel import in_parallel
from asterism.types.errors import InputError, NotText


class CheckedFile(NamedTuple):
    """A file to validate."""

    path: str
    relative_path: str
    repo: str
    options: ChunkOptions = ChunkOptions()


class Extreme(NamedTuple):
    """A largest value and where it was seen."""

    value: int
    place: str


NOTHING = Extreme(0, "")


@dataclass
class Summary:
    """What was seen; grows file by file, and summaries of batches add up."""

    passed: int = 0
    failed: int = 0
    unread: list[str] = field(default_factory=list)
    crashes: list[str] = field(default_factory=list)
    symbols: int = 0
    root_items: int = 0
    references: int = 0
    chunks: int = 0
    lines: int = 0
    uncovered: int = 0
    with_problems: int = 0
    largest: Extreme = NOTHING
    deepest: Extreme = NOTHING
    nondeterministic: int = 0
    languages: Counter[str] = field(default_factory=Counter)
    violations: list[Violation] = field(default_factory=list)

    @property
    def coverage(self) -> float:
        """The share of lines with text that are in a chunk."""
        return 1.0 if not self.lines else 1 - self.uncovered / self.lines

    def add(self, other: "Summary") -> None:
        """Take in the summary of another batch."""
        for name in _COUNTS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.largest = max(self.largest, other.largest)
        self.deepest = max(self.deepest, other.deepest)
        self.languages.update(other.languages)


_COUNTS = (
    *("passed", "failed", "unread", "crashes", "symbols", "root_items", "references"),
    *("chunks", "lines", "uncovered", "with_problems", "nondeterministic", "violations"),
)


def validate(
    targets: Sequence[CheckedFile], workers: int, progress: Callable[[int], None]
) -> Summary:
    """Check every file, in parallel; `progress` hears how many files each batch had."""
    total = Summary()
    for size, summary in in_parallel(_batch, targets, min(workers, len(targets) or 1)):
        total.add(summary)
        progress(size)
    return total


def _batch(targets: Sequence[CheckedFile]) -> tuple[int, Summary]:
    summary = Summary()
    for target in targets:
        try:
            _check(target, summary)
        except InputError as error:
            if not isinstance(error, NotText):
                summary.unread.append(str(error))
        except Exception as error:  # noqa: BLE001 - a crash of the parser is what we look for
            summary.crashes.append(f"{target.path}: {type(error).__name__}: {error}")
    return len(targets), summary


def _check(target: CheckedFile, summary: Summary) -> None:
    options = target.options
    reading = read_chunks(target.path, target.relative_path, target.repo, options)
    outline, chunks = reading.outline, reading.chunks
    lines = reading.source.decode("utf-8", "replace").split("\n")
    broken = violations(outline, reading.source, chunks, options)
    summary.passed += not broken
    summary.failed += bool(broken)
    summary.violations.extend(broken)
    summary.nondeterministic += any(violation.rule == 8 for violation in broken)
    summary.symbols += sum(1 for _ in outline.symbols())
    summary.root_items += sum(1 for _ in outline.root_items())
    summary.references += len(outline.references)
    summary.chunks += len(chunks)
    summary.lines += sum(1 for line in lines if line.strip())
    summary.uncovered += len(uncovered(lines, chunks))
    summary.with_problems += bool(outline.problems)
    summary.languages[outline.language] += 1
    for chunk in chunks:
        place = f"{target.relative_path} > {chunk.qualified_name}"
        tokens = len(chunk.embedding_text) // options.chars_per_token
        if tokens > summary.largest.value:
            summary.largest = Extreme(tokens, place)
        if chunk.depth > summary.deepest.value:
            summary.deepest = Extreme(chunk.depth, place)
