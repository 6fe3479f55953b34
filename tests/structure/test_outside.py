"""Does nothing outside the repository show in a reply, whatever the repository's files ask for?"""

import json
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from asterism.analysis.source.discovery import discover
from asterism.backends.lsp.keeper import KeeperOptions
from asterism.domain.errors import ServerMissing
from asterism.programs.fences import fences
from asterism.structure.python import PythonOptions, PythonProject
from asterism.structure.python_binary import find_environment, require_checker
from asterism.structure.server_binary import require_server
from asterism.structure.servers import CLANGD
from asterism.structure.targets import Target
from asterism.structure.typescript import TypeScriptOptions, TypeScriptProject
from asterism.structure.typescript_binary import require_compiler
from asterism.structure.typescript_config import MOST_EXTENDED, scopes
from tests.structure.compilers import CHECKER, TYPESCRIPT, needs_checker, needs_typescript
from tests.structure.descriptions import described
from tests.structure.scripts import written

needs_fence = pytest.mark.skipif(
    not fences().files, reason="this kernel has no Landlock; docs/security.md says what that means"
)
PATIENT = KeeperOptions(wait_seconds=120.0)
TREASURE = "hidden-treasure"
OUTSIDE = {
    "secret.ts": f'export function reveal(): "{TREASURE}" {{ return "{TREASURE}"; }}\n',
    "secret.d.ts": f'declare function globally(): "{TREASURE}";\n',
    "secret.js": f'export function reveal() {{ return "{TREASURE}"; }}\n',
    "secret.json": f'{{"reveal": "{TREASURE}"}}\n',
    "base.json": '{"compilerOptions": {"paths": {"@base": ["./secret.ts"]}}}\n',
    "pkg/package.json": '{"name": "pkg", "types": "index.d.ts"}\n',
    "pkg/index.d.ts": f'export declare function reveal(): "{TREASURE}";\n',
    "@types/evil/index.d.ts": f'declare function globally(): "{TREASURE}";\n',
    "treasury/__init__.py": "from typing import Literal\n\n\ndef reveal() -> "
    f'Literal["{TREASURE}"]:\n    """{TREASURE}."""\n    return "{TREASURE}"\n',
}
ASKS = "export function asked() {\n  return reveal();\n}\n"
CONFIG = "tsconfig.json"

TYPESCRIPT_ATTACKS: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    # Files of the repository, and links in it with where they lead.
    "relative import": ({"a.ts": f'import {{ reveal }} from "../outside/secret";\n{ASKS}'}, {}),
    "absolute import": ({"a.ts": f'import {{ reveal }} from "{{outside}}/secret";\n{ASKS}'}, {}),
    "import of JavaScript": (
        {"a.ts": f'import {{ reveal }} from "../outside/secret.js";\n{ASKS}'},
        {},
    ),
    "import of JSON": (
        {
            "a.ts": 'import data from "../outside/secret.json";\nexport function asked() {\n  return data.reveal;\n}\n'
        },
        {},
    ),
    "paths": (
        {
            "a.ts": f'import {{ reveal }} from "@up/secret";\n{ASKS}',
            CONFIG: '{"compilerOptions": {"baseUrl": "..", "paths": {"@up/*": ["outside/*"]}}}',
        },
        {},
    ),
    "baseUrl": (
        {
            "a.ts": f'import {{ reveal }} from "outside/secret";\n{ASKS}',
            CONFIG: '{"compilerOptions": {"baseUrl": ".."}}',
        },
        {},
    ),
    "extends": (
        {
            "a.ts": f'import {{ reveal }} from "@base";\n{ASKS}',
            CONFIG: '{"extends": "../outside/base.json"}',
        },
        {},
    ),
    "files, include, references and plugins": (
        {
            "a.ts": "export function asked() {\n  return globally();\n}\n",
            CONFIG: '{"files": ["../outside/secret.d.ts"], "include": ["../outside/**/*"], '
            '"references": [{"path": "../outside"}], '
            '"compilerOptions": {"plugins": [{"name": "../outside/pkg"}]}}',
        },
        {},
    ),
    "typeRoots": (
        {
            "a.ts": "export function asked() {\n  return globally();\n}\n",
            CONFIG: '{"compilerOptions": {"typeRoots": ["../outside/@types"], "types": ["evil"]}}',
        },
        {},
    ),
    "reference comments": (
        {
            "a.ts": '/// <reference path="../outside/secret.d.ts" />\n'
            '/// <reference types="../outside/@types/evil" />\n'
            "export function asked() {\n  return globally();\n}\n"
        },
        {},
    ),
    "a link to a file": (
        {"a.ts": f'import {{ reveal }} from "./linked";\n{ASKS}'},
        {"linked.ts": "../outside/secret.ts"},
    ),
    "a link to a folder": (
        {"a.ts": f'import {{ reveal }} from "./linked/secret";\n{ASKS}'},
        {"linked": "../outside"},
    ),
    "a linked package": (
        {"a.ts": f'import {{ reveal }} from "pkg";\n{ASKS}', "node_modules/x/package.json": "{}"},
        {"node_modules/pkg": "../../outside/pkg"},
    ),
    "linked types of node": (
        {
            "a.ts": "export function asked() {\n  return globally();\n}\n",
            "node_modules/x/package.json": "{}",
        },
        {"node_modules/@types": "../../outside/@types"},
    ),
}


def laid_out(base: Path, files: dict[str, str], links: dict[str, str]) -> Path:
    outside = written(base / "outside", OUTSIDE)
    (base / "node_modules").symlink_to(outside)
    root = base / "repository"
    written(root, {name: text.replace("{outside}", str(outside)) for name, text in files.items()})
    for name, target in links.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).symlink_to(target)
    return root


@needs_typescript
@needs_fence
@pytest.mark.parametrize("attack", TYPESCRIPT_ATTACKS)
def test_typescript(tmp_path: Path, attack: str) -> None:
    root = laid_out(tmp_path, *TYPESCRIPT_ATTACKS[attack])
    assert TYPESCRIPT is not None
    options = TypeScriptOptions(keeper=PATIENT)
    project = TypeScriptProject(TYPESCRIPT, str(root), str(tmp_path / "cache"), options)
    try:
        found = project.connections([Target("a.ts", "asked", 1)], discover(str(root)).files)
    finally:
        project.close()
    told = json.dumps(described(found[0]))
    assert "asked" in told
    assert TREASURE not in told


@needs_typescript
def test_the_treasure_would_be_seen(tmp_path: Path) -> None:
    """The same import inside of the repository shows its type."""
    root = written(
        tmp_path / "repository",
        {**OUTSIDE, "a.ts": f'import {{ reveal }} from "./secret";\n{ASKS}'},
    )
    assert TYPESCRIPT is not None
    options = TypeScriptOptions(keeper=PATIENT)
    project = TypeScriptProject(TYPESCRIPT, str(root), str(tmp_path / "cache"), options)
    try:
        found = project.connections([Target("a.ts", "asked", 2)], discover(str(root)).files)
    finally:
        project.close()
    assert TREASURE in json.dumps(described(found[0]))


BODY = "import treasury\nfrom treasury import reveal\n\n\ndef asked():\n    return reveal()\n"
SITE = ".venv/lib/python3.11/site-packages"
VENV = {".venv/pyvenv.cfg": "home = {outside}\nversion = 3.11.7\n", f"{SITE}/x.py": ""}
PYTHON_ATTACKS: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "extra paths": (
        {"a.py": BODY, "pyproject.toml": '[tool.ty.environment]\nextra-paths = ["../outside"]\n'},
        {},
    ),
    "roots": ({"a.py": BODY, "ty.toml": '[environment]\nroot = [".", "../outside"]\n'}, {}),
    "an environment elsewhere": (
        {"a.py": BODY, "ty.toml": '[environment]\npython = "../outside"\n'},
        {},
    ),
    "an interpreter elsewhere": (
        {"a.py": BODY, "ty.toml": '[environment]\npython = "{outside}/bin/python"\n'},
        {},
    ),
    "other declarations": (
        {"a.py": BODY, "ty.toml": '[environment]\ntypeshed = "../outside"\n'},
        {},
    ),
    "a path file": (
        {"a.py": BODY, **VENV, f"{SITE}/x.pth": "{outside}\n../../../../../outside\n"},
        {},
    ),
    "linked packages": (
        {"a.py": BODY, **VENV},
        {f"{SITE}/treasury": "../../../../../outside/treasury"},
    ),
    "a linked environment": ({"a.py": BODY}, {".venv": "../environment"}),
    "a linked module": ({"a.py": BODY}, {"treasury": "../outside/treasury"}),
    "sources elsewhere": (
        {"a.py": BODY, "ty.toml": '[src]\ninclude = ["../outside"]\nroot = "../outside"\n'},
        {},
    ),
}


@pytest.fixture
def canary(tmp_path: Path) -> Iterator[Path]:
    """What programs of the environments would make; nothing may."""
    place = tmp_path / "canary"
    yield place
    assert not place.exists()


@needs_checker
@needs_fence
@pytest.mark.parametrize("attack", PYTHON_ATTACKS)
def test_python(tmp_path: Path, attack: str, canary: Path) -> None:
    files, links = PYTHON_ATTACKS[attack]
    root = laid_out(tmp_path, files, links)
    environment = written(tmp_path / "environment", {"pyvenv.cfg": "home = /usr/bin\n"})
    packages = environment / "lib/python3.11/site-packages"
    packages.mkdir(parents=True)
    (packages / "treasury").symlink_to(tmp_path / "outside/treasury")
    for place in (root / ".venv", tmp_path / "outside"):
        for name in ("python", "python3"):
            script = f"#!/bin/sh\ntouch {canary}\necho '{{}}'\n"
            written(place, {f"bin/{name}": script})
            (place / "bin" / name).chmod(0o755)
    assert CHECKER is not None
    found_environment = find_environment(str(root))
    assert found_environment in (None, str(root / ".venv"))
    assert (found_environment is None) == (".venv/pyvenv.cfg" not in files)
    cache = str(tmp_path / "cache")
    options = PythonOptions(cache=cache, environment=found_environment, keeper=PATIENT)
    project = PythonProject(CHECKER, str(root), options)
    try:
        found = project.connections([Target("a.py", "asked", 5)], discover(str(root)).files)
    finally:
        project.close()
    told = json.dumps(described(found[0]))
    assert "asked" in told
    assert TREASURE not in told
    # `~` marks what only the import says; the checker itself did not find the module.
    calls = [call for call in described(found[0]).get("calls", []) if "treasury" in call]
    assert [call for call in calls if "~" not in call] == []


def test_a_program_is_named_by_its_absolute_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A relative one would be the repository's."""
    written(tmp_path, {"bin/x": "#!/bin/sh\n", "bin/lib.es5.d.ts": ""})
    (tmp_path / "bin/x").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    for require in (require_compiler, require_checker, partial(require_server, CLANGD)):
        assert require(f"{tmp_path}/bin/x") == f"{tmp_path}/bin/x"
        with pytest.raises(ServerMissing, match="absolute"):
            require("bin/x")


def test_an_active_environment_may_be_linked(tmp_path: Path) -> None:
    """Only the user can activate one."""
    environment = written(tmp_path / "environment", {"pyvenv.cfg": ""})
    root = tmp_path / "repository"
    root.mkdir()
    (root / ".venv").symlink_to(environment)
    assert find_environment(str(root)) is None
    assert find_environment(str(root), str(environment)) == f"{root}/.venv"


def test_configurations_that_extend_each_other(tmp_path: Path) -> None:
    """Thirty that each extend thirty, themselves too: read a limited number of times."""
    names = [f"tsconfig.{number}.json" for number in range(30)]
    content = json.dumps({"extends": [f"./{name}" for name in names]})
    root = written(tmp_path, dict.fromkeys(names, content))
    assert MOST_EXTENDED < 30**2
    assert scopes(str(root), names) == []


@pytest.mark.parametrize("value", ["../outside/*", "/etc/*", "linked/*", "src/../../outside/x"])
def test_aliases_that_lead_outside(tmp_path: Path, value: str) -> None:
    paths = {"@out/*": [value], "@in/*": ["src/*"]}
    config = json.dumps({"compilerOptions": {"paths": paths}})
    root = written(tmp_path / "repository", {CONFIG: config, "src/a.ts": ""})
    written(tmp_path / "outside", OUTSIDE)
    (root / "linked").symlink_to(tmp_path / "outside")
    (scope,) = scopes(str(root), [CONFIG, "src/a.ts"])
    assert scope.aliases == {"@in/*": [f"{root}/src/*"]}
    assert os.path.isdir(root / "linked")  # noqa: PTH112
