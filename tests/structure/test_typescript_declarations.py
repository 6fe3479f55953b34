"""Outlines have every declaration that the TypeScript compiler's own syntax trees have."""

from pathlib import Path

from asterism.analysis.source.text import decode
from asterism.analysis.syntax.outlines import outline
from benchmarks.structure.declarations import declared, missing, trees_of
from tests.fixture_checks import FIXTURES
from tests.languages.misread import CASES
from tests.structure.compilers import needs_typescript


def texts() -> dict[str, bytes]:
    """The constructs that the grammars misread, and the fixtures that are valid."""
    found = {
        f"case{number}{Path(case.path).suffix}": case.text.encode()
        for number, case in enumerate(CASES.values())
    }
    for path in sorted(Path(FIXTURES, "typescript").iterdir()):
        source = decode(path.read_bytes()) if path.suffix in (".ts", ".tsx", ".mts") else b""
        if source and not outline(path.name, source).problems:
            found[path.name] = source
    return found


@needs_typescript
def test_no_declaration_is_missing(tmp_path: Path) -> None:
    written = texts()
    for name, source in written.items():
        (tmp_path / name).write_bytes(source)
    trees = trees_of(str(tmp_path))
    assert trees.keys() == written.keys()
    found = {name: missing(trees[name], outline(name, source)) for name, source in written.items()}
    assert {name: lines for name, lines in found.items() if lines} == {}
    assert sum(len(set(declared(tree))) for tree in trees.values()) > 200
