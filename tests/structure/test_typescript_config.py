"""Does one configuration unite all that a repository has, broken ones included?"""

from pathlib import Path
from typing import Any

import pytest

from asterism.structure.typescript import config as jsonc
from asterism.structure.typescript.config import MOST_PROJECTS, plan


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ('\ufeff{"a": [1, 2,], }', {"a": [1, 2]}),
        ('// x\n{"a": "//no", /* b\n */ "c": "/*no*/"}', {"a": "//no", "c": "/*no*/"}),
        ('{"a": 1, // last\n}', {"a": 1}),
        (r'{"a": "\"//", "b": "\\"}', {"a": '"//', "b": "\\"}),
    ],
)
def test_lenient_json(text: str, value: Any) -> None:
    assert jsonc.loads(text) == value


@pytest.mark.parametrize("text", ["", "{", '{"a": }', "/* never closed", '{"a": "'])
def test_what_leniency_does_not_help(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        jsonc.loads(text)


def aliases(root: Path, files: dict[str, str]) -> list[dict[str, list[str]]]:
    for path, text in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    planned = plan(str(root), list(files))
    found = [project.configuration["compilerOptions"]["paths"] for project in planned]
    return [
        {key: [value.replace(str(root), "") for value in values] for key, values in one.items()}
        for one in found
    ]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"a.ts": ""}, {}),
        ({"tsconfig.json": "{"}, {}),
        ({"tsconfig.json": "[]"}, {}),
        (
            {
                "tsconfig.json": '{"compilerOptions": {"paths": {"a": "b", "c": [1], "d*": ["*/*"]}}}'
            },
            {},
        ),
        (
            {"tsconfig.json": '{"compilerOptions": {"paths": {"@/*": ["./src/*"]}}}'},
            {"@/*": ["/src/*"]},
        ),
        (
            {"p/jsconfig.json": '{"compilerOptions": {"baseUrl": "./src", "paths": {"~": ["x"]}}}'},
            {"~": ["/p/src/x"], "*": ["/p/src/*"]},
        ),
        (
            {
                "base.json": '{"compilerOptions": {"paths": {"b": ["lib/b"], "c": ["${configDir}/c"]}}}',
                "p/tsconfig.json": '{"extends": "../base"}',
            },
            {"b": ["/lib/b"], "c": ["/p/c"]},
        ),
        (
            {
                "tsconfig.json": '{"extends": "./tsconfig.json", "compilerOptions": {"paths": {"b": ["c"]}}}'
            },
            {"b": ["/c"]},
        ),
        (
            {
                "p/package.json": '{"name": "@a/p", "exports": {".": "./dist/index.js", "./x": "./dist/x.js"}}',
                "p/src/index.ts": "",
                "p/src/x/index.tsx": "",
            },
            {
                "@a/p": ["/p/src/index"],
                "@a/p/x": ["/p/src/x/index"],
                "@a/p/*": ["/p/src/*", "/p/lib/*", "/p/*"],
            },
        ),
        (
            {"package.json": '{"name": "q", "types": "build/esm/main.d.mts"}', "main.ts": ""},
            {"q": ["/main"], "q/*": ["/src/*", "/lib/*", "/*"]},
        ),
        ({"package.json": '{"name": 3}'}, {}),
    ],
)
def test_aliases(tmp_path: Path, files: dict[str, str], expected: dict[str, list[str]]) -> None:
    assert aliases(tmp_path, files) == [expected]


def test_one_alias_with_two_meanings_needs_two_projects(tmp_path: Path) -> None:
    config = '{"compilerOptions": {"paths": {"@/*": ["./*"]}}}'
    files = {
        "a/tsconfig.json": config,
        "b/tsconfig.json": config,
        "a/x.ts": "",
        "b/x.ts": "",
        "c.ts": "",
    }
    assert aliases(tmp_path, files) == [{"@/*": ["/a/*", "/b/*"]}, {"@/*": ["/b/*", "/a/*"]}]
    first, second = plan(str(tmp_path), list(files))
    assert first.right == {f"{tmp_path}/a/x.ts", f"{tmp_path}/c.ts"}
    assert second.right == {f"{tmp_path}/b/x.ts"}
    assert first.configuration["files"] == [f"{tmp_path}/a/x.ts", f"{tmp_path}/c.ts"]
    assert second.configuration["files"] == [f"{tmp_path}/b/x.ts"]


def test_projects_are_not_without_number(tmp_path: Path) -> None:
    config = '{"compilerOptions": {"paths": {"@/*": ["./*"]}}}'
    files = {f"{n}/{name}": config for n in range(30) for name in ("tsconfig.json", "x.ts")}
    assert len(aliases(tmp_path, files)) == MOST_PROJECTS
    right = [project.right for project in plan(str(tmp_path), list(files))]
    assert sum(len(members) for members in right) == 30
