"""`asterism symbols`: where a name is defined, exported, imported and used."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run, spawn

USES = """\
import { TokenService } from "./src/tokens";

export function check(token: string) {
  const service = new TokenService();
  service.validate(token);
  return service.validate(token);
}

export const validate = 1;
"""


@pytest.fixture
def uses(indexed: Path, run: Run) -> Path:
    """A second file that uses what the first one defines."""
    (indexed / "check.ts").write_text(USES)
    assert run("index").code == 0
    return indexed


def test_definitions_come_first_and_everything_is_counted(run: Run, uses: Path) -> None:
    done = run("symbols", "validate")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "2 definitions",
        "  check.ts:9  const  validate  export const validate = 1",
        "  src/tokens.ts:7  method  TokenService.validate  "
        "async validate(token: string): Promise<Key>",
        "1 export",
        "  check.ts:9  export  validate",
        "2 usages",
        "  check.ts:5  usage  service.validate",
        "  check.ts:6  usage  service.validate",
        "validate: 2 definitions, 1 export, 2 usages.",
    ]


def test_an_import_names_its_module(run: Run, uses: Path) -> None:
    lines = run("symbols", "TokenService", "--role", "import").out.splitlines()
    assert lines[0] == "1 import"
    assert lines[1].startswith("  check.ts:1  ")
    assert lines[1].endswith("  from ./src/tokens")


@pytest.mark.parametrize(
    "name",
    [
        "TokenService.validate",
        "TokenService::validate",
        "TokenService > validate",
        "src/tokens.ts > TokenService > validate",
        "tokens.ts > TokenService.validate",
        " TokenService.validate ",
    ],
)
def test_a_qualified_name(run: Run, uses: Path, name: str) -> None:
    found = json.loads(run("symbols", name, "--role", "definition", "--json").out)
    assert [entry["qualified_name"] for entry in found["symbols"]] == ["TokenService.validate"]


def test_what_is_left_out_is_said(run: Run, uses: Path) -> None:
    lines = run("symbols", "validate", "--limit", "1").out.splitlines()
    assert lines[0] == "2 definitions"
    assert lines[1].startswith("  check.ts:9")
    assert lines[2:] == [
        "validate: 2 definitions, 1 export, 2 usages.",
        "… and 4 more (--limit 5)",
    ]
    found = json.loads(run("symbols", "validate", "--limit", "1", "--json").out)
    assert (found["total_count"], len(found["symbols"])) == (5, 1)
    assert "more" not in run("symbols", "validate", "--limit", "5").out
    assert run("symbols", "validate", "--limit", "0").out.splitlines()[0].startswith("validate: 2")


def test_roles_and_kinds(run: Run, uses: Path) -> None:
    def found(*options: str) -> list[tuple[str, str]]:
        answer = json.loads(run("symbols", "validate", "--json", *options).out)
        assert answer["total_count"] == len(answer["symbols"])
        return [(entry["role"], entry["kind"]) for entry in answer["symbols"]]

    assert found("--role", "usage", "--role", "definition") == [
        ("definition", "const"),
        ("definition", "method"),
        ("usage", "usage"),
        ("usage", "usage"),
    ]
    assert found("--kind", "method") == [("definition", "method")]
    assert found("--kind", "class") == []


def test_json(run: Run, uses: Path) -> None:
    done = run("symbols", "TokenService", "--role", "definition", "--json")
    answer = json.loads(done.out)
    assert answer["counts"] == {"definition": 1}
    assert answer["index_state"] == {"message": "", "behind": 0}
    assert (answer["name"], answer["total_count"], answer["did_you_mean"]) == (
        "TokenService",
        1,
        [],
    )
    (entry,) = answer["symbols"]
    assert len(entry.pop("chunk_id")) == 32
    assert entry == {
        "name": "TokenService",
        "qualified_name": "TokenService",
        "kind": "class",
        "role": "definition",
        "file_path": "src/tokens.ts",
        "line": 5,
        "is_exported": True,
        "signature": "export class TokenService",
        "repo": "shop",
    }


def test_nothing_found(run: Run, uses: Path) -> None:
    done = run("symbols", "validat")
    assert (done.code, done.err) == (1, "")
    assert done.out == "No symbol validat in shop.\nDid you mean validate?\n"
    done = run("symbols", "validat", "--json")
    assert done.code == 1
    answer = json.loads(done.out)
    assert (answer["name"], answer["total_count"], answer["symbols"]) == ("validat", 0, [])
    assert answer["did_you_mean"] == ["validate"]
    assert answer["index_state"] == {"message": "", "behind": 0}
    assert run("symbols", "zzzzzzzzzzzz").out == "No symbol zzzzzzzzzzzz in shop.\n"


@pytest.mark.parametrize("path", [".", "src", "main.py", "src/tokens.ts"])
def test_any_path_in_the_repository_means_all_of_it(run: Run, uses: Path, path: str) -> None:
    assert "src/tokens.ts:7" in run("symbols", "validate", path).out


def test_another_repository_of_the_project_is_not_meant(
    run: Run, indexed: Path, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.py").write_text(f"def in_{name}(): ...\n")
        assert run("index", str(tmp_path / name), "--project", "both").code == 0
    assert run("symbols", "in_one", str(tmp_path / "one")).code == 0
    assert run("symbols", "in_one", str(tmp_path / "two")).code == 1


WRONG = {
    "missing path": (["x", "no"], "no does not exist"),
    "impossible path": (["x", "a\0b"], "a\\x00b does not exist"),
    "outside of every index": (["x", ".."], "is in no index yet; run `asterism index"),
    "unknown role": (["x", "--role", "caller"], "invalid choice: 'caller'"),
    "no number": (["x", "--limit", "many"], "invalid int value: 'many'"),
    "negative number": (["x", "--limit", "-1"], "--limit -1 is not allowed"),
    "no name": ([], "required: NAME"),
    "empty name": (["  "], "The name is empty"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_input_is_one_line(run: Run, indexed: Path, case: str) -> None:
    arguments, expected = WRONG[case]
    done = run("symbols", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1
    assert expected in done.err


def test_no_index_at_all(run: Run, repository: Path, places: Path) -> None:
    done = run("symbols", "main")
    assert (done.code, done.out) == (2, "")
    assert f"{repository} is in no index yet; run `asterism index {repository}`" in done.err
    assert not (places / "data").exists()


def test_registered_and_never_indexed(run: Run, repository: Path, places: Path) -> None:
    assert run("repos", "add", ".").code == 0
    done = run("symbols", "main")
    assert (done.code, done.out) == (2, "")
    assert "asterism index" in done.err


def test_added_to_a_project_that_has_an_index(run: Run, indexed: Path, tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    assert run("repos", "add", str(tmp_path / "more"), "--project", "shop").code == 0
    done = run("symbols", "main", str(tmp_path / "more"))
    assert (done.code, done.out) == (2, "")
    assert f"{tmp_path / 'more'} is not indexed yet; run `asterism index" in done.err


def test_a_damaged_catalogue(run: Run, indexed: Path, places: Path) -> None:
    (catalogue,) = (places / "data").rglob("catalogue.sqlite")
    catalogue.write_bytes(b"no database at all" * 100)
    done = run("symbols", "main")
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1
    assert "damaged" in done.err
    assert "run `asterism index` to build it again" in done.err


def test_a_file_name_that_is_not_utf8(run: Run, indexed: Path) -> None:
    name = "caf\udce9.py"
    (indexed / name).write_text("def espresso(): ...\n")
    assert spawn(["index"], indexed).code == 0
    done = spawn(["symbols", "espresso"], indexed)
    assert (done.code, done.err) == (0, "")
    assert "  caf\\xe9.py:1  function  espresso" in done.out
    answer = json.loads(spawn(["symbols", "espresso", "--json"], indexed).out)
    assert answer["symbols"][0]["file_path"] == "caf\\xe9.py"


def test_the_index_is_brought_up_to_date_before_it_answers(run: Run, uses: Path) -> None:
    (uses / "src" / "late.py").write_text("def late_comer():\n    return 1\n")
    done = run("symbols", "late_comer", "--json")
    answer = json.loads(done.out)
    assert (done.code, answer["symbols"][0]["file_path"]) == (0, "src/late.py")
    assert answer["index_state"] == {"message": "", "behind": 0}


def test_what_is_not_brought_up_to_date_is_said(
    run: Run, uses: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (uses / "src" / "late.py").write_text("def late_comer():\n    return 1\n")
    monkeypatch.setenv("ASTERISM_INDEX_SYNC_SECONDS", "0")
    done = run("symbols", "TokenService")
    assert done.code == 0
    assert done.err == "asterism: 1 file is behind (1 new); run `asterism index`.\n"
    monkeypatch.setenv("ASTERISM_CHUNKS_MAX_TOKENS", "900")
    done = run("symbols", "TokenService", "--json")
    assert "made with other settings" in json.loads(done.out)["index_state"]["message"]
