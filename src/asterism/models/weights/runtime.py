"""Runs a model on the processor, one text at a time on several threads.

Where weights are whole numbers, most graphs round their inputs by everything in a run: two texts in
one run change each other's answer (in runs of 32, cosines to the answer alone go down to 0.955).
Our encoder's does not, a folder's may. Alone, a text is answered the same whatever is beside it;
nothing is padded either, so it is quicker as well (151 CPU ms for 40 texts, 189 in runs of 8).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias

from asterism.models.weights.folder import ModelFolder, check
from asterism.types.errors import ProviderRefused

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Answer: TypeAlias = "NDArray[np.float32]"
"""A vector, or one number."""

# More threads do not help texts of a hundred tokens, and other programs want to work too.
THREADS_AT_MOST = 8

# No token is longer in the mean over a text; what is behind cannot be among the tokens read.
CHARACTERS_PER_TOKEN = 32

# Processors without VNNI round differently: cosines of 0.987 and 0.991 to the usual answer were
# seen. A model that is damaged, or run by something that cannot run it, is far off.
LEAST_LIKENESS = 0.97


class Runtime:
    """A model that was loaded, checked, and asked what it has to answer."""

    def __init__(self, folder: ModelFolder) -> None:
        """Loads everything: 0.2 to 0.3 seconds, most of it the library."""
        check(folder)
        self.folder = folder
        self._tokenizer = _tokenizer(folder)
        self._session = _session(folder)
        self.threads = threads()
        self._check_probe()

    def tokens(self, texts: Sequence[str], at_most: int) -> list[list[int]]:
        """The first tokens of each text, with those that begin and end it."""
        cut = [_clean(text[: at_most * CHARACTERS_PER_TOKEN]) for text in texts]
        encodings = self._tokenizer.encode_batch_fast(cut)
        return [_cut(encoding.ids, at_most) for encoding in encodings]

    def answers(
        self, rows: Sequence[Sequence[int]], seconds: float | None = None
    ) -> list[Answer | None]:
        """What the model says to each row of tokens, in their order.

        The first ones are run first. With `seconds`, rows that were not begun in that time are
        left out; at least one is run.
        """
        found: list[Answer | None] = [None] * len(rows)
        until = None if seconds is None else time.monotonic() + seconds
        numbers, lock = iter(range(len(rows))), Lock()

        def work() -> None:
            for number in _taken(numbers, lock, until):
                found[number] = self._answer(rows[number])

        _on_threads(work, min(self.threads, len(rows)))
        return found

    def _answer(self, row: Sequence[int]) -> Answer:
        import numpy as np

        ids = np.array([row], dtype=np.int64)
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        try:
            [answer] = self._session.run(None, given)
        except _failures() as error:
            raise ProviderRefused(f"{self.folder.name} failed: {_first_line(error)}") from error
        values = np.asarray(answer, dtype=np.float32).reshape(-1)
        if values.size != self.folder.dimensions or not np.isfinite(values).all():
            raise ProviderRefused(
                f"{self.folder.name} gave {values.size} numbers, not all of them finite, where "
                f"{self.folder.dimensions} were expected. Install Asterism again."
            )
        return values

    def pairs(self, query: str, documents: Sequence[str]) -> list[list[int]]:
        """The tokens of the question together with each document."""
        folder = self.folder
        [asked] = self.tokens([query], folder.query_tokens)
        texts = self.tokens(documents, folder.max_tokens)
        # Both begin with the mark of a beginning; between the two stand two marks of an end.
        return [_cut([*asked, asked[-1], *text[1:]], folder.max_tokens) for text in texts]

    def _check_probe(self) -> None:
        import numpy as np

        for texts, expected in zip(*self.folder.probe, strict=True):
            [row] = (
                self.tokens(texts, self.folder.max_tokens)
                if len(texts) == 1
                else self.pairs(texts[0], texts[1:])
            )
            if not _is_like(self._answer(row), np.array(expected, dtype=np.float32)):
                raise ProviderRefused(
                    f"{self.folder.name} does not say on this processor what it should; its "
                    "answers would be wrong. Update onnxruntime, or use the built-in model: set "
                    "embedding.provider to local and rerank.provider to none."
                )


def threads() -> int:
    """How many texts run at once: the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return min(len(os.sched_getaffinity(0)), THREADS_AT_MOST)
    return min(os.cpu_count() or 1, THREADS_AT_MOST)


def _on_threads(work: Callable[[], None], count: int) -> None:
    """The same work on several threads; one is the caller's own."""
    if count < 2:
        work()
        return
    with ThreadPoolExecutor(count - 1) as pool:
        others = [pool.submit(work) for _ in range(count - 1)]
        work()
        for other in others:
            other.result()


def _taken(numbers: Iterator[int], lock: Lock, until: float | None) -> Iterator[int]:
    """Numbers for one of several workers, as long as there is time."""
    while True:
        with lock:
            number = next(numbers, None)
        late = until is not None and time.monotonic() >= until
        if number is None or (late and number > 0):
            return
        yield number


def _is_like(answer: Answer, expected: Answer) -> bool:
    import numpy as np

    if answer.size == 1:
        # Scores are logits: a difference of a half is a twelfth of a probability at most.
        return bool(abs(answer[0] - expected[0]) <= 0.5)
    part = answer[: expected.size]
    lengths = float(np.linalg.norm(part) * np.linalg.norm(expected))
    return lengths > 0 and float(part @ expected) / lengths >= LEAST_LIKENESS


def _cut(ids: list[int], at_most: int) -> list[int]:
    """The first tokens, and the one that ends a text."""
    return ids if len(ids) <= at_most else [*ids[: at_most - 1], ids[-1]]


def _clean(text: str) -> str:
    """Without the lone halves of surrogate pairs, which no tokenizer reads."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _tokenizer(folder: ModelFolder) -> Any:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder.path / folder.tokenizer))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _session(folder: ModelFolder) -> Any:
    try:
        onnxruntime = import_module("onnxruntime")
    except ImportError as error:
        raise ProviderRefused(
            f"{folder.name} needs onnxruntime, which cannot be loaded ({_first_line(error)}). Run "
            "`pip install onnxruntime`, or use the built-in model: set embedding.provider to "
            "local and rerank.provider to none."
        ) from error
    options = onnxruntime.SessionOptions()
    # Texts run beside each other, each on one thread.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    # Errors come as errors; warnings would be written over whatever the command line shows.
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(
            str(folder.path / folder.weights), options, providers=["CPUExecutionProvider"]
        )
    except _failures() as error:
        raise ProviderRefused(
            f"onnxruntime {onnxruntime.__version__} cannot load {folder.name}: "
            f"{_first_line(error)}. Update onnxruntime."
        ) from error


def _failures() -> tuple[type[Exception], ...]:
    """What the library raises: its own errors have no class in common but these."""
    state = import_module("onnxruntime.capi.onnxruntime_pybind11_state")
    own = (
        state.Fail,
        state.InvalidArgument,
        state.InvalidGraph,
        state.InvalidProtobuf,
        state.NoSuchFile,
        state.NotImplemented,
        state.RuntimeException,
    )
    return (*own, RuntimeError, ValueError)


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
