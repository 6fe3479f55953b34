"""Damaged manifests that code about structure reads: tsconfig, package, go.mod, Cargo, clangd's.

A case is a file name, a newline, and the file's bytes.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from asterism.analysis.resolve.offers import module_file
from asterism.languages.facets import FileSet
from asterism.languages.go import import_folder
from asterism.languages.rust import crate_roots
from asterism.structure.servers.catalogue import include_folders, made_up, own_commands
from asterism.structure.typescript.config import plan
from tests.fuzz.mutations import crossed, damaged
from tests.fuzz.target import Check, Target, one_by_one

SAMPLES: dict[str, tuple[bytes, ...]] = {
    "tsconfig.json": (
        b'{ // paths\n "extends": "./base.json", "compilerOptions": { "baseUrl": ".",'
        b' "paths": { "@/*": ["src/*"], "~lib": ["lib/index"] }, }, "references": [{"path": "app"}] }',
        b'{"extends": ["@org/x", "../../../../../etc/passwd"], "compilerOptions": null}',
    ),
    "base.json": (b'{"extends": "./tsconfig.json", "compilerOptions": {"paths": {"*": [1, {}]}}}',),
    "package.json": (
        b'{"name": "@org/app", "main": "dist/index.js", "types": 3, "workspaces": ["packages/*"],'
        b' "exports": {".": {"import": "./src/index.ts"}, "./sub/*": ["./a", null]}}',
        b'{"name": "../..", "exports": "./../../../x", "main": "/etc/passwd"}',
    ),
    "go.mod": (b"module example.org/shop/v2\n\ngo 1.22\n\nreplace x => ../../..\n", b'module "'),
    "Cargo.toml": (
        b'[package]\nname = "shop-core"\n[lib]\npath = "src/lib.rs"\n[workspace]\nmembers = ["*"]\n',
        b'lib = 3\npackage = [1]\n[[lib]]\npath = "../../x"\n',
    ),
    "compile_commands.json": (
        b'[{"directory": ".", "file": "src/a.c", "command": "cc -Iinclude -include /etc/passwd -c a.c"}]',
        b'[{"directory": 1, "arguments": ["cc", null]}, 3]',
    ),
    "compile_flags.txt": (b"-Iinclude\n-include\n/etc/passwd\n",),
}
PIECES = (
    b'"a\\u0000b"',
    *(
        b"{}",
        b"[]",
        b"null",
        b"1",
        b'"',
        b'"*"',
        b'"../../.."',
        b'"\\ud800"',
        b"//",
        b"/*",
        b",",
        b"1e999",
    ),
    *(
        b"[" * 2_000,
        b'{"a":' * 2_000,
        b"[a." * 900,
        b'"extends": "./tsconfig.json",',
        b'"**/*": ["*"],',
    ),
)
FILES = ("src/index.ts", "src/lib.rs", "src/a.c", "app/main.ts", "include/a.h", "lib/index.ts")
WANTED = (("a.go", "go", "example.org/shop/v2/src"), ("src/lib.rs", "rust", "shop_core::x"))


def _case(random: Random) -> bytes:
    name = random.choice([*SAMPLES])
    data = random.choice(SAMPLES[name])
    if random.random() < 0.3:
        other = random.choice([one for samples in SAMPLES.values() for one in samples])
        data = crossed(data, other, random)
    for _ in range(random.randrange(3)):
        at = random.randrange(len(data) + 1)
        data = data[:at] + random.choice(PIECES) + data[at:]
    return name.encode() + b"\n" + damaged(data, random)


@contextmanager
def _opened(place: Path) -> Iterator[Check]:
    root = place / "repository"
    for name in FILES:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")

    def check(case: bytes) -> list[str]:
        head, _, data = case.partition(b"\n")
        name = head.decode("utf-8", "replace")
        if name not in SAMPLES:
            return []
        for other in SAMPLES:
            (root / other).write_bytes(data if other == name else SAMPLES[other][0])
        paths = [*FILES, *SAMPLES]
        files = FileSet(paths)

        def text_of(path: str) -> bytes | None:
            found = root / path
            return found.read_bytes() if found.is_file() else None

        json.dumps([one.configuration for one in plan(str(root), paths)])
        crates = crate_roots(files, text_of)
        wrong = [f"crate {one!r} is no file" for one in crates.values() if one not in files]
        import_folder("src/a.go", "example.org/shop/v2/src", text_of)
        for importer, language, module in WANTED:
            found = module_file(importer, language, module, files, lambda: crates)
            if found is not None and found not in files:
                wrong.append(f"module {found!r} is no file")
        json.dumps([own_commands(str(root)), made_up(str(root), paths)])
        include_folders(str(root), paths)
        return wrong

    yield check


TARGET = Target(
    name="manifests",
    about="damaged manifests that code about structure reads",
    cases=one_by_one(_case),
    opened=_opened,
)
