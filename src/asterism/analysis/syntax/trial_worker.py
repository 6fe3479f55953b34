"""A program of its own that parses texts and dies of those whose parse takes too much CPU time.

`trials.py` starts it by its path, without the site module. It reads marshalled attempts from its
input, and answers each with the CPU seconds that the parse took; a text that takes more than its
limit has no answer. It imports no other module of Asterism, so that it is ready within
milliseconds.
"""

import marshal
import signal
import sys
import time
from importlib import import_module
from typing import Any, BinaryIO

HAS_TIMER = hasattr(signal, "setitimer")
"""Whether the kernel can end a process after some CPU time. Windows cannot."""


def accept_death() -> None:
    """Have the kernel's timer end this process, whatever it inherited."""
    if HAS_TIMER:
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGPROF])


def parsed(parser: Any, text: bytes, seconds: float) -> Any:
    """The syntax tree; more CPU seconds than these end this process with SIGPROF."""
    if HAS_TIMER:
        signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        return parser.parse(text)
    finally:
        if HAS_TIMER:
            signal.setitimer(signal.ITIMER_PROF, 0)


def serve(source: BinaryIO, target: BinaryIO) -> None:
    """Answer until the input ends."""
    parsers: dict[tuple[str, str], Any] = {}
    while True:
        try:
            package, function, folders, text, seconds = marshal.load(source)
        except EOFError:
            return
        sys.path += [folder for folder in folders if folder not in sys.path]
        if (package, function) not in parsers:
            parsers[package, function] = _parser(package, function)
        began = time.process_time()
        parsed(parsers[package, function], text, seconds)
        marshal.dump(time.process_time() - began, target)
        target.flush()


def grammar_of(package: str, function: str) -> Any:
    """A grammar; bindings made for older versions of tree-sitter give a bare address."""
    tree_sitter = import_module("tree_sitter")
    pointer = getattr(import_module(package), function)()
    return tree_sitter.Language(_capsule(pointer) if isinstance(pointer, int) else pointer)


def _capsule(address: int) -> Any:
    import ctypes

    wrap = ctypes.pythonapi.PyCapsule_New
    wrap.restype, wrap.argtypes = (
        ctypes.py_object,
        (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p),
    )
    return wrap(address, b"tree_sitter.Language", None)


def _parser(package: str, function: str) -> Any:
    return import_module("tree_sitter").Parser(grammar_of(package, function))


if __name__ == "__main__":
    # Ctrl-C is for the parent to handle; this process ends when its input does.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    accept_death()
    serve(sys.stdin.buffer, sys.stdout.buffer)
