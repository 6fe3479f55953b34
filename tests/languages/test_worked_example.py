"""Is a folder all that a language needs? The one of docs/adding-a-language.md, as it stands there.

The folder is put on the path of the package in a process of its own, and every layer sees it.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "adding-a-language.md"

SCRIPT = """if True:
    import json, sys
    from asterism import languages
    languages.__path__.append(sys.argv[1])

    from asterism.analysis.chunks.chunker import FileOrigin, chunk_file
    from asterism.analysis.resolve.resolver import Resolver
    from asterism.analysis.resolve.scopes import FileScope
    from asterism.analysis.syntax.outlines import outline
    from asterism.reply.layout import path_line
    from asterism.search.filters import language
    from asterism.search.query.paths import frames_in
    from asterism.structure.uses import is_call
    from tests.analysis.resolve.in_memory_world import InMemoryWorld

    files = json.load(sys.stdin)
    found = outline("jar.moon", files["jar.moon"].encode())
    world = InMemoryWorld(files)
    scope = world.scope("jar.moon")
    resolver = Resolver(world)
    meanings, calls = {}, []
    for reference in found.references:
        meaning = resolver.resolve(scope, reference)
        if meaning is not None and meaning.declaration is not None:
            item = resolver.item(meaning.declaration)
            meanings[reference.name] = [meaning.declaration.path, item.name]
            if is_call(scope, reference, item):
                calls.append(reference.name)
    trace = frames_in("moon: jar.moon:4: in seal\\nmoon: lids.moon:2: in make\\n")
    chunks = chunk_file(found, files["jar.moon"].encode(), FileOrigin("r", "jar.moon", "jar.moon"))
    print(json.dumps({
        "language": found.language,
        "symbols": [[item.kind, item.name, item.doc] for _, item in found.symbols()],
        "imports": [entry.module for entry in found.imports],
        "meanings": meanings,
        "calls": calls,
        "trace": [[place.path, place.line] for place in trace.places],
        "names": [*trace.names],
        "first": path_line("jar.moon", found.language),
        "filters": [language("moonlight"), language("Moon"), language("moon")],
        "chunk": chunks[-1].embedding_text.splitlines()[0],
    }))
"""


def blocks(language: str) -> list[str]:
    """The page's code blocks in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)


def test_a_folder_is_all_that_a_language_needs(tmp_path: Path) -> None:
    folder = tmp_path / "moon"
    folder.mkdir()
    for name, text in zip(("rules.py", "files.py", "__init__.py"), blocks("python"), strict=True):
        (folder / name).write_text(text)
    sources = dict(zip(("lids.moon", "jar.moon"), blocks("lua"), strict=True))

    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path)],
        input=json.dumps(sources),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stderr == ""
    assert json.loads(done.stdout) == {
        "language": "moon",
        "symbols": [["function", "seal", "Closes a jar."]],
        "imports": ["lids"],
        "meanings": {"make": ["lids.moon", "make"]},
        "calls": ["make"],
        "trace": [["jar.moon", 4], ["lids.moon", 2]],
        "names": ["seal", "make"],
        "first": "-- jar.moon",
        "filters": ["moon", "moon", "moon"],
        "chunk": "[Moon] jar.moon > seal",
    }
