"""Which package does a file outside of the repository belong to?"""

import pytest

from asterism.structure.servers.names import module_of

CASES = [
    (
        "go",
        "file:///go/pkg/mod/github.com/spf13/pflag%40v1.0/flag.go",
        "github.com/spf13/pflag",
    ),
    ("go", "file:///usr/lib/go-1.24/src/net/http/server.go", "net/http"),
    ("go", "file:///somewhere/else.go", None),
    ("rust", "file:///h/.cargo/registry/src/index.io-1/serde-1.0.2/src/lib.rs", "serde"),
    ("rust", "file:///h/lib/rustlib/src/rust/library/alloc/src/vec/mod.rs", "alloc"),
    ("java", "jdt://contents/java.base/java.util/ArrayList.class?=x", "java.util"),
    ("c", "file:///usr/include/stdio.h", "stdio.h"),
    ("cpp", "file:///usr/include/c++/12/vector", "vector"),
]


@pytest.mark.parametrize(("language", "uri", "expected"), CASES)
def test_module(language: str, uri: str, expected: str | None) -> None:
    assert module_of(uri, language) == expected
