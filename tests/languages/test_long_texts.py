"""What is read without a grammar takes time that grows with the text, not with its square.

Each case is read in a process that is ended after minutes: linear time needs well under a second
of them, the square of the length would need hours.
"""

import json

import pytest

from tests.test_hostile_texts import long, run_python

RUNNER = """if True:
    import json, sys
    from asterism.analysis.syntax.outlines import outline_bytes

    for path, text in json.load(sys.stdin):
        outline_bytes(path, text.encode())
    print("done")
"""

# Characters of a text; what takes the square of it needs minutes for each.
SIZE = 100_000
PUMPS = [
    *("a", ";", "'", '"', "`", "{", "(", "<", "#", " ", "\n"),
    *("{{", "{#each ", " as ", "<a ", "a;", "BEGIN ", "COPY a FROM stdin;\n", '"""', '\\"', "## "),
]
BEFORE = {
    "a.vue": ("<template>", '<template><a v-for="'),
    "a.svelte": ("<p>{#each", "<p>{`"),
    "a.sql": ("", "CREATE FUNCTION f() IS "),
    "a.graphql": ("", "query A {"),
    "a.ipynb": ("# %% [markdown] cell 1\n", '{"cells": [{"source": ["'),
}


@pytest.mark.parametrize("path", BEFORE)
def test_time_is_linear(path: str) -> None:
    texts = [long(pump, before, size=SIZE) for before in BEFORE[path] for pump in PUMPS]
    assert run_python(RUNNER, json.dumps([(path, text) for text in texts])) == "done\n"
