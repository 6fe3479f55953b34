"""What models read of a chunk's text."""

from typing import get_args

import pytest

from asterism.models.embed.encoder import READ_AS
from asterism.models.weights.folder import Reads

METHOD = (
    "[Go] cmd/http/fileServer.go > Server > Serve\nSignature: func Serve()\n---\nfunc Serve() {}"
)


@pytest.mark.parametrize(
    ("reads", "text", "expected"),
    [
        ("text", METHOD, METHOD),
        ("path_and_text", METHOD, f"cmd http file Server\n{METHOD}"),
        ("path_and_code", METHOD, "cmd http file Server\nfunc Serve() {}"),
        ("place_and_code", METHOD, "cmd http file Server Server\nfunc Serve() {}"),
        ("place_and_code", "[Lua] a/b/c/d/e/f.lua > g\n---\nx", "b c d e f\nx"),
        ("place_and_code", f"[C] a.c > {'x' * 200} > y\n---\nz", f"a {'x' * 80}\nz"),
        ("path_and_code", "[Text] Makefile > all\n---\nall:\n---\nend", "Makefile\nall:\n---\nend"),
    ],
)
def test_a_chunk(reads: Reads, text: str, expected: str) -> None:
    assert READ_AS[reads](text) == expected


@pytest.mark.parametrize("reads", get_args(Reads))
@pytest.mark.parametrize("text", ["", "how is it retried", "a\n---\nb", "[x]", "[no rule] a > b"])
def test_what_is_no_chunk_stays_as_it_is(reads: Reads, text: str) -> None:
    assert READ_AS[reads](text) == text
