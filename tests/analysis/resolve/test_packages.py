"""Which file does a module mean where folders are not called like modules?"""

from collections.abc import Mapping

import pytest

from asterism.analysis.resolve.offers import module_file, package_roots
from asterism.languages.facets import FileSet

CRATES = {
    "Cargo.toml": '[workspace]\nmembers = ["crates/*"]\n',
    "crates/core/Cargo.toml": '[package]\nname = "harbor-core"\n',
    "crates/core/src/lib.rs": "",
    "crates/core/src/lids.rs": "",
    "crates/paint/Cargo.toml": '[package]\nname = "p"\n[lib]\nname = "colours"\npath = "lib.rs"\n',
    "crates/paint/lib.rs": "",
    "crates/tool/Cargo.toml": '[package]\nname = "tool"\n',
    "crates/tool/src/main.rs": "",
    "broken/Cargo.toml": "name = = ",
    "odd/Cargo.toml": "lib = 3\npackage = []\n",
    "ropes/src/lib.rs": "",
}


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        ("harbor_core", "crates/core/src/lib.rs"),
        ("harbor_core::lids", "crates/core/src/lids.rs"),
        ("harbor_core::gone", None),
        ("colours", "crates/paint/lib.rs"),
        ("p", None),
        ("tool", None),
        ("ropes", "ropes/src/lib.rs"),
        ("serde", None),
        ("std", None),
    ],
)
def test_crates_by_their_manifests(module: str, expected: str | None) -> None:
    files = FileSet(CRATES)

    def crates() -> Mapping[str, str]:
        return package_roots("rust", files, lambda path: CRATES[path].encode())

    assert module_file("crates/tool/src/main.rs", "rust", module, files, crates) == expected
