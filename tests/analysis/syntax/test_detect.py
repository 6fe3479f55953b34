"""Which language a file is in: by extension, by name, by its first line."""

import pytest

from asterism.analysis.syntax.language import TABLE, detect, entry_of, titles
from asterism.analysis.syntax.outlines import language_of


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("a.ts", "typescript"),
        ("a.mts", "typescript"),
        ("a.cts", "typescript"),
        ("a.d.ts", "typescript"),
        ("a.tsx", "tsx"),
        ("a.js", "javascript"),
        ("a.jsx", "javascript"),
        ("a.mjs", "javascript"),
        ("a.cjs", "javascript"),
        ("a.py", "python"),
        ("a.pyi", "python"),
        ("src/deep/a.go", "go"),
        ("a.PY", "python"),
        ("README.MD", "markdown"),
        ("a.test.ts", "typescript"),
        ("Rakefile", "ruby"),
        ("src/Rakefile", "ruby"),
        (".bashrc", "bash"),
        ("LICENSE", "plain"),
        ("a.unknown", "text"),
        ("a", "text"),
        ("", "text"),
        (".ts", "text"),
        ("a.", "text"),
        ("py", "text"),
        ("weird\udcff.py", "python"),
    ],
)
def test_by_name(path: str, key: str) -> None:
    assert detect(path).key == key


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("#!/usr/bin/python", "python"),
        ("#!/usr/bin/python3", "python"),
        ("#!/usr/bin/python3.11", "python"),
        ("#! /usr/bin/env python3", "python"),
        ("#!/usr/bin/env -S python3 -u", "python"),
        ("#!/usr/bin/env -S PYTHONPATH=. python3", "python"),
        ("#!/usr/bin/env node", "javascript"),
        ("#!/usr/bin/env -S deno run", "typescript"),
        ("#!/bin/sh", "bash"),
        ("#!/bin/bash -eu", "bash"),
        ("#!/usr/bin/env ruby", "ruby"),
        ("#!/usr/bin/perl -w", "perl"),
        ("#!", "text"),
        ("#!/usr/bin/env", "text"),
        (" #!/bin/sh", "text"),
        ("python", "text"),
    ],
)
def test_by_shebang(line: str, key: str) -> None:
    assert detect("tool", f"{line}\nx = 1\n".encode()).key == key


def test_an_extension_outranks_the_shebang() -> None:
    assert detect("tool.rb", b"#!/bin/sh\n").key == "ruby"
    assert detect("tool.conf", b"#!/bin/sh\n").key == "text"


def test_only_the_first_line_counts() -> None:
    assert language_of("tool", b"\n#!/bin/sh\n").key == "text"


def test_no_extension_belongs_to_two_languages() -> None:
    every = [extension for entry in TABLE for extension in entry.extensions]
    assert len(set(every)) == len(every)


def test_every_row_can_be_found_and_named() -> None:
    for entry in TABLE:
        assert entry_of(entry.key) is entry
        assert titles()[entry.language]


@pytest.mark.parametrize(
    ("path", "text", "key"),
    [
        ("a.h", b"int x;\n", "c"),
        ("a.h", b"namespace x {\n", "cpp"),
        ("a.h", b"#import <x.h>\n", "objective_c"),
        ("a.h", b"@interface A\n@end\n", "objective_c"),
        ("a.m", b"@implementation A\n@end\n", "objective_c"),
        ("a.m", b"function y = f(x)\n% MATLAB\nend\n", "text"),
        ("a.mm", b"int x;\n", "objective_c"),
        ("a.pl", b"use strict;\n", "perl"),
        ("a.pl", b"lid(X) :- jar(X).\n", "text"),
        ("a.t", b"  $ dune build\n  $ use it\n", "text"),
    ],
)
def test_by_text(path: str, text: bytes, key: str) -> None:
    assert language_of(path, text).key == key
