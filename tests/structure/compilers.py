"""The real compilers that tests ask, where they are installed."""

import os

import pytest

from asterism.structure.python.project import find_checker
from asterism.structure.typescript.project import find_compiler

TYPESCRIPT = find_compiler(os.environ.get("ASTERISM_TYPESCRIPT_COMPILER"))

needs_typescript = pytest.mark.skipif(
    TYPESCRIPT is None,
    reason="the TypeScript compiler is not shipped here; ASTERISM_TYPESCRIPT_COMPILER may name one",
)

CHECKER = find_checker(os.environ.get("ASTERISM_PYTHON_CHECKER"))

needs_checker = pytest.mark.skipif(
    CHECKER is None,
    reason="the type checker ty is not installed; ASTERISM_PYTHON_CHECKER may name one",
)
