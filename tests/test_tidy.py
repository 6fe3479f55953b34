"""Ratchets: what the code still has too much of, in numbers that may only fall.

The other checks of this kind are in `tests/tidy`, and the measures in `scripts/house`.
"""

import ast

import pytest

from asterism.languages.registry import languages
from scripts.house import layout, words
from scripts.house.files import OURS, SOURCE, text_of

TREES = layout.source_trees()

# How many findings each measure of the layout may still have. They may only become fewer.
LAYOUT_LEFT = {
    "modules in prefix families": 0,
    "gerund module names": 0,
    "small modules with one importer": 1,
    "class names in several packages": 0,
    "own modules imported for types alone": 57,
    "functions with more than six parameters": 0,
    "attributes found by a computed name": 31,
    "functions that resolve a repository twice": 1,
    "modules": 420,
}
LINES_LEFT = 97_062

# What a measure of the layout finds and must not count: the beginning of the finding, and why.
FINE: dict[str, dict[str, str]] = {
    "small modules with one importer": {
        "src/asterism/cli/main.py": "the entry point of the console script",
    },
    "own modules imported for types alone": {
        "src/asterism/__init__.py": "names for type checkers; each is loaded at its first use",
    },
}


@pytest.mark.parametrize("measure", LAYOUT_LEFT)
def test_layout(measure: str) -> None:
    fine = tuple(FINE.get(measure, ()))
    found = [
        each for each in layout.MEASURES[measure](TREES) if not each.startswith(fine or ("-",))
    ]
    assert len(found) <= LAYOUT_LEFT[measure], "\n".join(found)


def test_every_measure_of_the_layout_is_checked() -> None:
    assert LAYOUT_LEFT.keys() == layout.MEASURES.keys()


def test_lines() -> None:
    assert layout.lines(TREES) <= LINES_LEFT


def test_plain_words() -> None:
    assert [f"{name}:{line}: {word}" for name, line, word in words.found(OURS)] == []


# Modules that name a language outside of its folder, each with what it names and why.
MAY_NAME_LANGUAGES = {
    "lsp/connection.py": ({"markdown"}, "a format of the protocol"),
    "cli/commands/conversations.py": ({"markdown"}, "a format of exports"),
    "context/agents/nodes.py": ({"python"}, "a tag of YAML"),
    "engine/connector.py": ({"python", "typescript"}, "checkers with settings of their own"),
    "engine/doctor/report.py": ({"Python"}, "the interpreter that runs Asterism"),
    "engine/doctor/machine.py": ({"Python"}, "the interpreter that runs Asterism"),
    "engine/doctor/checks.py": ({"TypeScript"}, "the title of a check"),
    "operations/conversations.py": ({"markdown"}, "a format of exports"),
    "structure/python/paths.py": ({"python"}, "a setting of the type checker"),
    "structure/servers/catalogue.py": (
        {"Go", "Java", "Rust", "cpp", "go", "java", "rust"},
        "the options of language servers, by the names of their settings",
    ),
    "structure/typescript/project.py": ({"typescript"}, "a folder of the cache"),
    "telemetry/meters.py": ({"python"}, "the interpreter that runs Asterism"),
}


def test_languages_are_named_in_their_folders_alone() -> None:
    names = _language_names()
    found = {
        name.removeprefix("src/asterism/"): named
        for name in SOURCE
        if not name.startswith("src/asterism/languages/")
        and (named := _strings(text_of(name) or "") & names)
    }
    assert found == {name: named for name, (named, _) in MAY_NAME_LANGUAGES.items()}


def _language_names() -> set[str]:
    """Every name of a language, except words that name other things far more often."""
    names = {
        name
        for facets in languages()
        for name in (
            *(facets.name, facets.title, *facets.aliases),
            *(dialect.key for dialect in facets.dialects),
        )
    }
    return names - {"Text", "plain", "text"}


def _strings(source: str) -> set[str]:
    """The whole literals of a module, docs aside: no doc is one word."""
    return {
        node.value
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('x = language == "go"\n', {"go"}),
        ('x = {"go": 1}\n', {"go"}),
        ('match x:\n    case "go":\n        pass\n', {"go"}),
        ('x = "go on"\n', {"go on"}),
        ("go = 1  # go\n", set()),
    ],
)
def test_what_counts_as_a_literal(source: str, expected: set[str]) -> None:
    assert _strings(source) == expected


# The modules that open a catalogue, and how often. A query opens none: `engine/snapshot.py` does it
# once for it. The list may only become shorter.
OPENINGS = {
    "src/asterism/store/project_copy.py": 1,
    "src/asterism/engine/builds.py": 6,
    "src/asterism/engine/cleanup.py": 2,
    "src/asterism/engine/doctor/report.py": 1,
    "src/asterism/engine/engine.py": 1,
    "src/asterism/engine/inspection.py": 1,
    "src/asterism/engine/snapshot.py": 1,
    "src/asterism/engine/status.py": 3,
    "src/asterism/engine/upgrade.py": 2,
    "src/asterism/engine/stores.py": 1,
    "src/asterism/evaluation/adapters.py": 2,
    "src/asterism/evaluation/self_supervised.py": 1,
    "src/asterism/operations/files.py": 2,
}


def test_one_module_opens_the_catalogue_for_queries() -> None:
    texts = {name: text_of(name) or "" for name in SOURCE}
    found = {name: text.count("Catalogue.open(") for name, text in texts.items()}
    assert {name: count for name, count in found.items() if count} == OPENINGS
