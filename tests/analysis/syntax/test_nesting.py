"""Do items of damaged code lie within their parents, and does deep nesting stay small?"""

import subprocess
import sys
from pathlib import Path

import pytest

from asterism.analysis.chunks.chunker import FileOrigin, chunk_file
from asterism.analysis.source.text import decode
from asterism.analysis.syntax.outlines import DEEPEST_ITEM, TOO_DEEP, outline
from tests.analysis.chunks.invariants import complaints


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        # The comment stands before the struct and is not taken by its member.
        ("a.c", b"/**/#0)/**/struct s{t n();}", ["s", "s.n"]),
        # What follows an enum's members is no member, for all that the grammar says.
        ("a.cpp", b"enum:unsigned{}\xdf", ["(anonymous enum)", "\xdf"]),
        # A scope that is missing has no place in a name.
        ("a.cpp", b"T d{<>::m(){", ["(unnamed).m"]),
        ("a.js", b"c>{}.=function t(){", ["{}.(unnamed).t"]),
    ],
)
def test_what_belongs_to_what_in_damaged_code(name: str, data: bytes, expected: list[str]) -> None:
    found = outline(name, decode(data))
    assert {item.qualified_name for _, item in found.symbols()} >= {*expected}
    assert complaints(name, data) == []


@pytest.mark.parametrize(
    ("name", "start", "end"),
    [
        ("a.ts", "namespace a {\n", "}\n"),
        ("a.js", "f(() => {\n", "})\n"),
        ("a.java", "class A {\n", "}\n"),
        ("a.rs", "mod a {\n", "}\n"),
        ("a.cpp", "namespace a {\n", "}\n"),
        ("a.cs", "class A {\n", "}\n"),
        ("a.rb", "module A\n", "end\n"),
    ],
)
def test_deep_nesting_stays_small(name: str, start: str, end: str) -> None:
    """Each level holds all levels below: without an end to that, memory grows with the square."""
    data = (start * 3_000 + end * 3_000).encode()
    found = outline(name, data)
    chunks = chunk_file(found, data, FileOrigin("repo", name, name))
    assert max(item.depth for item in found.items) == DEEPEST_ITEM
    assert TOO_DEEP in found.problems
    assert sum(len(chunk.full_source) for chunk in chunks) < 2 * DEEPEST_ITEM * len(data)
    assert complaints(name, data) == []


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell")
def test_a_small_file_never_takes_the_memory_of_a_large_one() -> None:
    """The grammar's recovery is broken off sooner in a small file, which would fill memory."""
    case = Path(__file__).parents[2] / "fuzz/findings/sources/kotlin-recovery-goes-astray.case"
    name, _, data = case.read_bytes().partition(b"\n")
    # Unlike the figure of `getrusage`, this one begins anew with the program; the trial is a child.
    code = "import sys; from asterism.analysis.syntax.outlines import outline_bytes; "
    code += "outline_bytes(sys.argv[1], sys.stdin.buffer.read()); "
    code += "from resource import *; own = open('/proc/self/status').read().split('VmHWM:')[1]; "
    code += "print(max(int(own.split()[0]), getrusage(RUSAGE_CHILDREN).ru_maxrss))"
    command = [sys.executable, "-c", code, name.decode()]
    done = subprocess.run(command, input=data, capture_output=True, check=True)
    # Some 300 MB in a second of CPU time; without the limit of a small file it takes ten.
    assert int(done.stdout) < 1_500_000


def test_code_as_people_write_it_is_whole() -> None:
    depth = DEEPEST_ITEM // 2
    data = b"namespace a {\n" * depth + b"const b = 1;\n" + b"}\n" * depth
    found = outline("a.ts", data)
    assert found.problems == ()
    assert max(item.depth for item in found.items) == depth
