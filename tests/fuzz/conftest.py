"""Targets set variables of the process, as they do in a process of their own."""

import os
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _environment() -> Iterator[None]:
    """Other tests of the same process find the variables as they were."""
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)
