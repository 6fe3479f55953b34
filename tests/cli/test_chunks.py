"""`asterism chunks`: a tree, the texts, or JSON."""

import json
from pathlib import Path

from tests.cli.conftest import Run

FIELDS = """
    chunk_id file_path absolute_path kind name parent_name parent_chunk_id child_chunk_ids depth
    signature full_source start_line end_line jsdoc relevant_imports embedding_text vector
    content_hash last_modified repo language extension filename docstring is_exported
    decorator_names
    """


def test_fields_of_a_chunk(run: Run, repository: Path) -> None:
    done = run("chunks", "src/tokens.ts", "--json")
    assert (done.code, done.err) == (0, "")
    chunks = json.loads(done.out)
    assert isinstance(chunks, list)
    assert all(set(FIELDS.split()) <= set(chunk) for chunk in chunks)
    validate = next(chunk for chunk in chunks if chunk["name"] == "validate")
    service = next(chunk for chunk in chunks if chunk["name"] == "TokenService")
    assert validate["parent_chunk_id"] == service["chunk_id"]
    assert validate["chunk_id"] in service["child_chunk_ids"]
    assert validate["parent_name"] == "TokenService"
    assert validate["jsdoc"] == validate["docstring"] == "Validates one."
    assert validate["decorator_names"] == ["traced"]
    assert validate["vector"] is None
    assert validate["repo"] == "shop"
    assert validate["absolute_path"] == str(repository / "src" / "tokens.ts")
    assert validate["file_path"] == "src/tokens.ts"
    assert (validate["start_line"], validate["end_line"]) == (6, 10)


def test_a_tree_for_people(run: Run, repository: Path) -> None:
    done = run("chunks", "src/tokens.ts")
    assert done.code == 0
    assert done.out.startswith("src/tokens.ts  6 chunks\n")
    assert "method validate  6–10" in done.out


def test_sources(run: Run, repository: Path) -> None:
    done = run("chunks", "main.py", "--show", "source")
    head, text = done.out.split("\n", 1)
    assert head.startswith("── function main  1–2  ")
    assert text == "def main():\n    return 1\n\n"


def test_embedding_texts(run: Run, repository: Path) -> None:
    done = run("chunks", "main.py", "--show", "embedding")
    text = done.out.split("\n", 1)[1]
    expected = "[Python] main.py > main\nSignature: def main()\n---\ndef main():\n    return 1\n\n"
    assert text == expected


def test_code_cannot_speak_to_the_terminal(run: Run, repository: Path) -> None:
    (repository / "rude.py").write_text('x = "\x1b[2J"\n')
    for arguments in (["outline"], ["chunks"], ["chunks", "--show", "source"]):
        done = run(*arguments, "rude.py")
        assert done.code == 0
        assert "\x1b" not in done.out
