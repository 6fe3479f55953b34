"""Is any call, however wrong, answered with a reply or with an error that has a code?"""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from asterism.operations.calls import Standpoint
from asterism.operations.dispatch.toolbox import Toolbox
from asterism.operations.error_codes import CODES
from asterism.operations.limits import measured, written
from asterism.operations.registry import TOOLS
from asterism.operations.schema import Json
from tests.servers.conftest import make_engine

FOUL = st.sampled_from(
    [
        *("", " ", "\0", "a\0b", "\ud800", "\n", "..", "../../etc/passwd", "/etc/passwd", "/"),
        *("~", "C:\\Windows", "//host/share", "link", "file:///etc/passwd", "%2e%2e/", "a" * 5_000),
        *("regex:(", "regex:(a+)+$", "regex:[", "symbol = ", "symbol = >", "*", "**/*", "[", '"'),
        *("'; DROP TABLE files; --", "\u202e", "\U0001f600" * 50, "harbor", "x" * 100_001),
    ]
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=30),
    FOUL,
    st.sampled_from([10**400, -(10**400), float("inf")]),
)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)
FILTERS = st.dictionaries(
    st.sampled_from(
        [
            *("path", "path_prefix", "path_contains", "path_not_contains", "path_glob", "type"),
            *("extension", "languages", "is_exported", "decorator_contains", "has_docstring"),
            *("context_filepaths", "context_path_prefix", "repo", "nonsense"),
        ]
    ),
    ANYTHING,
    max_size=3,
)


def fitting(name: str, schema: Json) -> st.SearchStrategy[Any]:
    """A value that the parameter allows, so that calls get past the first check."""
    words = st.text(max_size=20) | FOUL
    if name == "filters":
        return FILTERS
    if "anyOf" in schema:
        one = fitting(name, schema["anyOf"][0])
        return one | st.lists(one, max_size=3)
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if schema["type"] == "integer":
        return st.integers(schema["minimum"], schema["maximum"])
    if schema["type"] == "number":
        return st.floats(0, 1)
    return st.booleans() if schema["type"] == "boolean" else words


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """A tool with arguments that fit, that do not, or that it does not have."""
    name = draw(st.sampled_from([*TOOLS]))
    parameters = TOOLS[name].parameters
    arguments = {
        parameter: draw(st.one_of(fitting(parameter, schema), fitting(parameter, schema), ANYTHING))
        for parameter, schema in parameters.items()
        if parameter in TOOLS[name].required or draw(st.integers(0, 2)) == 0
    }
    if draw(st.integers(0, 9)) == 0:
        arguments.pop(next(iter(arguments), ""), None)
    if draw(st.integers(0, 9)) == 0:
        arguments[draw(st.text(max_size=8))] = draw(ANYTHING)
    return name, arguments


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Toolbox:
    """Tools over a repository of a few lines, with a link that leads out of it."""
    base = tmp_path_factory.mktemp("fuzzed")
    root = base / "shop"
    root.mkdir()
    (root / "cart.py").write_text("class Cart:\n    def total(self):\n        return 1\n")
    (root / "app.js").write_text("export function pay(cart) { return cart.total(); }\n")
    (base / "outside.txt").write_text("a secret of another\n")
    (root / "link").symlink_to(base / "outside.txt")
    engine = make_engine(base)
    engine.index(engine.register(root))
    return Toolbox(engine, Standpoint(Path(os.path.realpath(root))))


CODE_NAMES = {code.name for code in CODES.values()}


@settings(
    max_examples=300,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(call=calls())
def test_every_call_is_answered(small: Toolbox, call: tuple[str, dict[str, Any]]) -> None:
    name, arguments = call
    reply = small.call(name, arguments)
    # `internal_error` is not among the codes: it would be a defect.
    assert reply.error is None or reply.error in CODE_NAMES
    assert measured(reply) <= 100_000
    sent = json.dumps(written(reply), ensure_ascii=False, allow_nan=False)
    sent.encode()
    assert "a secret of another" not in sent
    assert "Traceback" not in sent
    if reply.error is not None:
        assert reply.parts[0].text.endswith(f"[{reply.error}]")
