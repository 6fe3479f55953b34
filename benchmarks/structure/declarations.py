"""Counts the declarations of TypeScript and JavaScript that outlines lack, by the compiler's trees.

    python -m benchmarks.structure.declarations REPOSITORY

Compared are functions, classes, interfaces, types and enumerations at the top of a file, and the
members of classes, interfaces and enumerations: the outline must have an item with the same lines.
Variables are left out, because one that takes a value apart has the lines of its statement.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from asterism.analysis.contents import read_outline
from asterism.analysis.source.discovery import discover
from asterism.structure.positions import SymbolTarget
from asterism.structure.typescript.config import is_source
from asterism.structure.typescript.project import TypeScriptProject, require_compiler
from asterism.structure.typescript.session import CompilerSession
from asterism.structure.typescript.tree import SyntaxKind, Tree
from asterism.types.outline import Outline
from asterism.types.structure import Connections

_CONTAINERS = frozenset(
    {
        SyntaxKind.class_declaration,
        SyntaxKind.interface_declaration,
        SyntaxKind.enum_declaration,
    }
)
_DECLARATIONS = _CONTAINERS | {SyntaxKind.function_declaration, SyntaxKind.type_alias}
_MEMBERS = frozenset(
    {
        SyntaxKind.property_signature,
        SyntaxKind.property_declaration,
        SyntaxKind.method_signature,
        SyntaxKind.method_declaration,
        SyntaxKind.constructor,
        SyntaxKind.get_accessor,
        SyntaxKind.set_accessor,
        SyntaxKind.call_signature,
        SyntaxKind.construct_signature,
        SyntaxKind.index_signature,
        SyntaxKind.enum_member,
    }
)

Lines = tuple[int, int]


class CompilerTrees(TypeScriptProject):
    """The compiler, and its trees of the files that it was asked about."""

    def __init__(self, root: str, cache: str) -> None:
        compiler = require_compiler(os.environ.get("ASTERISM_TYPESCRIPT_COMPILER"))
        super().__init__(compiler, root, cache)
        self.trees: dict[str, Tree] = {}

    def _answer(
        self, session: CompilerSession, targets: Sequence[SymbolTarget]
    ) -> tuple[Connections, ...]:
        found = super()._answer(session, targets)
        for target in targets:
            path = f"{self._root}/{target.path}"
            files = (session.file(project, path) for project in session.projects)
            file = next((each for each in files if each is not None), None)
            if file is not None:
                self.trees[target.path] = file.tree
        return found


def trees_of(root: str) -> dict[str, Tree]:
    """The compiler's tree of every file that it reads in a repository."""
    files = discover(root).files
    with TemporaryDirectory() as cache:
        compiler = CompilerTrees(root, cache)
        try:
            targets = [SymbolTarget(each.path, "", 1) for each in files if is_source(each.path)]
            for at in range(0, len(targets), 50):
                compiler.connections(targets[at : at + 50], files)
        finally:
            compiler.close()
    return compiler.trees


def declared(tree: Tree) -> Iterator[Lines]:
    """First and last line of every declaration at the top of a file and of every member."""
    for node in tree.children(1):
        if tree.kind(node) in _DECLARATIONS:
            yield _lines(tree, node)
        for member in tree.children(node) if tree.kind(node) in _CONTAINERS else ():
            if tree.kind(member) in _MEMBERS:
                yield _lines(tree, member)


def missing(tree: Tree, outline: Outline) -> list[Lines]:
    """The lines of declarations that an outline lacks."""
    known = {(item.start_line, item.end_line) for item in outline.items}
    return sorted(set(declared(tree)) - known)


def _lines(tree: Tree, node: int) -> Lines:
    return tree.line(node), tree.source.line_of(tree.end(node) - 1)


def main(root: str) -> None:
    """Print each file that lacks something, and the counts."""
    count = lacking = damaged = 0
    trees = trees_of(root)
    for path, tree in sorted(trees.items()):
        outline = read_outline(f"{root}/{path}", path)
        lacks = missing(tree, outline)
        count += len(set(declared(tree)))
        lacking += len(lacks)
        damaged += bool(outline.problems)
        if lacks:
            print(f"{path}: lines {', '.join(str(first) for first, _ in lacks)}")
    print(f"{len(trees)} files, {count} declarations, {lacking} missing, {damaged} with problems")


if __name__ == "__main__":
    main(str(Path(sys.argv[1]).resolve()))
