"""Do replies show content from outside the repository, with or without fences?"""

import json
import os
import tomllib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from asterism.analysis.source.discovery import discover
from asterism.lsp.keeper import KeeperOptions
from asterism.programs import start
from asterism.programs.start import fences
from asterism.structure.positions import SymbolTarget
from asterism.structure.python.paths import write_configuration
from asterism.structure.python.project import (
    PythonOptions,
    PythonProject,
    find_environment,
    require_checker,
)
from asterism.structure.servers.catalogue import CLANGD, require_server
from asterism.structure.typescript.config import MOST_EXTENDED, scopes
from asterism.structure.typescript.project import (
    TypeScriptOptions,
    TypeScriptProject,
    require_compiler,
)
from asterism.types.errors import ServerMissing
from tests.structure.compilers import CHECKER, TYPESCRIPT, needs_checker, needs_typescript
from tests.structure.descriptions import described
from tests.structure.scripts import written

needs_fence = pytest.mark.skipif(not fences().files, reason="this kernel has no Landlock")
FENCES = [pytest.param(True, marks=needs_fence, id="fenced"), pytest.param(False, id="not fenced")]
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
    "ty.toml": '[environment]\nextra-paths = ["../outside"]\n',
    "z.pth": "../../../../../outside\n",
    "lib/python3.11/site-packages/treasury.py": f'reveal = "{TREASURE}"\n',
    "treasury/__init__.py": "from typing import Literal\n\n\ndef reveal() -> "
    f'Literal["{TREASURE}"]:\n    """{TREASURE}."""\n    return "{TREASURE}"\n\n\n'
    f'def chest() -> list[Literal["{TREASURE}"]]:\n    return []\n',
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
    values = {"{outside}": str(outside), "{base}": str(base)}
    for key, value in values.items():
        files = {name: text.replace(key, value) for name, text in files.items()}
    written(root, files)
    for name, target in links.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).symlink_to(target)
    return root


@pytest.fixture
def is_fenced(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the kernel restricts files; False simulates macOS."""
    if not request.param:
        # A fence that leaves everything open.
        monkeypatch.setattr(start, "SYSTEM_FILES", ("/",))
    return bool(request.param)


@needs_typescript
@pytest.mark.parametrize("is_fenced", FENCES, indirect=True)
@pytest.mark.parametrize("attack", TYPESCRIPT_ATTACKS)
def test_typescript(tmp_path: Path, attack: str, is_fenced: bool) -> None:
    root = laid_out(tmp_path, *TYPESCRIPT_ATTACKS[attack])
    assert TYPESCRIPT is not None
    options = TypeScriptOptions(keeper=PATIENT)
    project = TypeScriptProject(TYPESCRIPT, str(root), str(tmp_path / "cache"), options)
    try:
        found = project.connections([SymbolTarget("a.ts", "asked", 1)], discover(str(root)).files)
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
        found = project.connections([SymbolTarget("a.ts", "asked", 2)], discover(str(root)).files)
    finally:
        project.close()
    assert TREASURE in json.dumps(described(found[0]))


BODY = (
    "import treasury\nfrom treasury import chest, reveal\n\n\ndef asked():\n    return reveal()\n"
    "\n\nKEPT = chest()\n"
)
SCRIPT = """# /// script
# requires-python = ">=3.11"
# [tool.ty.environment]
# extra-paths = ["../outside"]
# ///
"""
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
    "settings of a script": ({"a.py": SCRIPT + BODY}, {}),
    "packages of the system": (
        {
            "a.py": BODY,
            ".venv/pyvenv.cfg": "home = {outside}/bin\ninclude-system-site-packages = true\n",
            f"{SITE}/x.py": "",
        },
        {},
    ),
    "a linked module in packages that are linked inside": (
        {"a.py": BODY, **VENV, "lib/more/x.py": "", f"{SITE}/y.pth": "{base}/repository/packages"},
        {"packages": "lib", "lib/treasury": "../../outside/treasury"},
    ),
    "a linked file": (
        {"a.py": BODY.replace("treasury", "linked")},
        {"linked.py": "../outside/treasury/__init__.py"},
    ),
    "linked settings": (
        {"a.py": BODY},
        {"ty.toml": "../outside/ty.toml"},
    ),
    "a linked path file": (
        {"a.py": BODY, **VENV},
        {f"{SITE}/z.pth": "../../../../../outside/z.pth"},
    ),
    "sources elsewhere": (
        {"a.py": BODY, "ty.toml": '[src]\ninclude = ["../outside"]\nroot = "../outside"\n'},
        {},
    ),
}


@pytest.fixture
def canary(tmp_path: Path) -> Iterator[Path]:
    """A file that the environments' programs would write; it must not exist."""
    place = tmp_path / "canary"
    yield place
    assert not place.exists()


def connected(
    base: Path, root: Path, is_fenced: bool, environment: str | None
) -> dict[str, dict[str, Any]]:
    """Connections of the symbols of `a.py`; empty if the checker may not start."""
    assert CHECKER is not None
    options = PythonOptions(
        cache=str(base / "cache"), environment=environment, keeper=PATIENT, is_fenced=is_fenced
    )
    project = PythonProject(CHECKER, str(root), options)
    targets = [SymbolTarget("a.py", "asked", 5), SymbolTarget("a.py", "KEPT", 9)]
    try:
        found = project.connections(targets, discover(str(root)).files)
    except ServerMissing as error:
        if is_fenced or "leads out of the repository" not in str(error):
            raise
        return {}
    finally:
        project.close()
    return {target.name: described(one) for target, one in zip(targets, found, strict=True)}


@needs_checker
@pytest.mark.parametrize("is_fenced", FENCES, indirect=True)
@pytest.mark.parametrize("attack", PYTHON_ATTACKS)
def test_python(tmp_path: Path, attack: str, canary: Path, is_fenced: bool) -> None:
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
    found_environment = find_environment(str(root))
    assert found_environment in (None, str(root / ".venv"))
    assert (found_environment is None) == (".venv/pyvenv.cfg" not in files)
    found = connected(tmp_path, root, is_fenced, found_environment)
    assert bool(found) or (links and not is_fenced)
    assert TREASURE not in json.dumps(found)
    # `~` marks what only the import says; the checker itself did not find the module.
    calls = [*found["asked"].get("calls", ())] if found else []
    assert [call for call in calls if "reveal" in call and "~" not in call] == []


TREASURY = OUTSIDE["treasury/__init__.py"]
FOUND: dict[str, tuple[dict[str, str], str]] = {
    "beside": ({"treasury/__init__.py": TREASURY}, "treasury/__init__.py"),
    "roots": (
        {"ty.toml": '[environment]\nroot = ["code", "."]\n', "code/treasury.py": TREASURY},
        "code/treasury.py",
    ),
    "extra paths": (
        {
            "pyproject.toml": '[tool.ty.environment]\nextra-paths = ["./more"]\n',
            "more/treasury.py": TREASURY,
        },
        "more/treasury.py",
    ),
    "sources": ({"src/treasury.py": TREASURY}, "src/treasury.py"),
    "a folder with the name of the project": (
        {
            "pyproject.toml": '[project]\nname = "harbor"\n',
            "harbor/harbor/__init__.py": "",
            "harbor/treasury.py": TREASURY,
        },
        "harbor/treasury.py",
    ),
    "packages": ({**VENV, f"{SITE}/treasury/__init__.py": TREASURY}, "treasury"),
    "an editable package": (
        {**VENV, f"{SITE}/x.pth": "../../../../lib\n", "lib/treasury.py": TREASURY},
        "lib/treasury.py",
    ),
    "an environment with another name": (
        {
            "ty.toml": '[environment]\npython = "./other"\n',
            **{name.replace(".venv", "other"): text for name, text in VENV.items()},
            f"{SITE.replace('.venv', 'other')}/treasury/__init__.py": TREASURY,
        },
        "treasury",
    ),
}


@needs_checker
@pytest.mark.parametrize("is_fenced", FENCES, indirect=True)
@pytest.mark.parametrize("layout", FOUND)
def test_modules_of_the_repository_are_found(tmp_path: Path, layout: str, is_fenced: bool) -> None:
    files, where = FOUND[layout]
    root = laid_out(tmp_path, {"a.py": BODY, **files}, {})
    found = connected(tmp_path, root, is_fenced, find_environment(str(root)))
    line = ":4" if where.endswith(".py") else ""
    assert found["asked"]["calls"] == [f"reveal {where}{line} <6>"]
    assert TREASURE in json.dumps(found["KEPT"])


@needs_checker
@pytest.mark.parametrize("is_fenced", FENCES, indirect=True)
def test_an_active_environment_outside_is_read(tmp_path: Path, is_fenced: bool) -> None:
    environment = written(
        tmp_path / "environment",
        {
            "pyvenv.cfg": f"home = {tmp_path}/environment/bin\n",
            "bin/x": "",
            "lib/python3.11/site-packages/treasury.py": TREASURY,
        },
    )
    root = laid_out(tmp_path, {"a.py": BODY}, {".venv": "../environment", "venv": "../environment"})
    for active in (str(environment), f"{root}/.venv"):
        chosen = find_environment(str(root), active)
        assert chosen == f"{root}/.venv"
        found = connected(tmp_path, root, is_fenced, chosen)
        assert found["asked"]["calls"] == ["reveal treasury <6>"]


@needs_checker
def test_settings_that_change(tmp_path: Path) -> None:
    """The checker is asked again by the settings as they are now."""
    root = laid_out(tmp_path, {"a.py": BODY, "more/treasury.py": TREASURY}, {})
    assert CHECKER is not None
    options = PythonOptions(cache=str(tmp_path / "cache"), keeper=PATIENT)
    project = PythonProject(CHECKER, str(root), options)
    target = SymbolTarget("a.py", "asked", 5)
    try:
        (before,) = project.connections([target], discover(str(root)).files)
        written(root, {"ty.toml": '[environment]\nextra-paths = ["more", "../outside"]\n'})
        (after,) = project.connections([target], discover(str(root)).files)
    finally:
        project.close()
    assert described(before)["calls"] == ["reveal treasury ~0.9 <6>"]
    assert described(after)["calls"] == ["reveal more/treasury.py:4 <6>"]


@needs_checker
@pytest.mark.parametrize("is_fenced", [False], indirect=True)
def test_a_link_that_comes_later(tmp_path: Path, is_fenced: bool) -> None:
    """The checker stays closed while there is one, and answers again when it is gone."""
    root = laid_out(tmp_path, {"a.py": BODY}, {})
    assert CHECKER is not None
    options = PythonOptions(cache=str(tmp_path / "cache"), keeper=PATIENT, is_fenced=is_fenced)
    project = PythonProject(CHECKER, str(root), options)
    target = SymbolTarget("a.py", "asked", 5)

    def calls() -> object:
        (found,) = project.connections([target], discover(str(root)).files)
        return described(found)["calls"]

    try:
        assert calls() == ["reveal treasury ~0.9 <6>"]
        (root / "treasury").symlink_to(tmp_path / "outside/treasury")
        written(root, {"b.py": ""})
        for _ in range(5):
            with pytest.raises(ServerMissing, match="treasury leads out of the repository"):
                calls()
        (root / "treasury").unlink()
        assert calls() == ["reveal treasury ~0.9 <6>"]
    finally:
        project.close()


def configuration(tmp_path: Path, files: dict[str, str], environment: str | None) -> Any:
    root = laid_out(tmp_path, files, {})
    place = f"{root}/{environment}" if environment else None
    written_to = write_configuration(str(root), f"{tmp_path}/cache", place)
    return tomllib.loads(written_to.read_text())["environment"]


VERSIONS: list[tuple[dict[str, str], str | None, str]] = [
    ({}, None, "3.14"),
    ({"pyproject.toml": '[project]\nrequires-python = ">=3.9,<4"\n'}, None, "3.9"),
    ({"pyproject.toml": '[project]\nrequires-python = ">=2.7"\n'}, None, "3.14"),
    ({"pyproject.toml": "[project]\nrequires-python = 3\n[tool]\nty = 3\n"}, None, "3.14"),
    ({"pyproject.toml": "not toml", **VENV}, ".venv", "3.11"),
    ({"ty.toml": '[environment]\npython-version = "3.10"\n', **VENV}, ".venv", "3.10"),
    ({"ty.toml": '[environment]\npython-version = "3.99"\n', **VENV}, ".venv", "3.11"),
]


@pytest.mark.parametrize(("files", "environment", "version"), VERSIONS)
def test_the_version_of_python(
    tmp_path: Path, files: dict[str, str], environment: str | None, version: str
) -> None:
    assert configuration(tmp_path, files, environment)["python-version"] == version


def test_nothing_outside_is_among_the_settings(tmp_path: Path) -> None:
    places = ["../outside", "{outside}", "more", "linked", "..", "more/../../outside", "\\u0000"]
    text = json.dumps(places)
    settings = f'[environment]\nroot = {text}\nextra-paths = {text}\ntypeshed = "more"\n'
    found = configuration(tmp_path, {"ty.toml": settings, "more/x.py": ""}, None)
    inside = [f"{tmp_path}/repository/more"]
    assert (found["root"], found["extra-paths"]) == (inside, inside)
    assert found["python"].startswith(f"{tmp_path}/cache/")
    assert "typeshed" not in found


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


@needs_checker
def test_a_folder_whose_name_has_a_line_break(tmp_path: Path) -> None:
    """Its second line would be another folder of packages."""
    site = f".venv/lib/python3\n{tmp_path.name}/site-packages"
    files = {"a.py": BODY, ".venv/pyvenv.cfg": "version = 3.11.7\n", f"{site}/x.py": "", **VENV}
    root = laid_out(tmp_path, files, {})
    place = write_configuration(str(root), str(tmp_path / "cache"), f"{root}/.venv")
    (written_to,) = place.parent.rglob("packages.pth")
    assert written_to.read_text().splitlines() == [f"{root}/{SITE}"]


def test_an_active_environment_keeps_its_version(tmp_path: Path) -> None:
    environment = written(tmp_path / "environment", {"pyvenv.cfg": "version = 3.9\n"})
    for settings, version in (("", None), ('requires-python = ">=3.12"', "3.12")):
        root = written(tmp_path / "repository", {"pyproject.toml": f"[project]\n{settings}\n"})
        place = write_configuration(str(root), str(tmp_path / "cache"), str(environment))
        found = tomllib.loads(place.read_text())["environment"]
        assert (found["python"], found.get("python-version")) == (str(environment), version)
