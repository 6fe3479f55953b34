"""Names that only look bound, and names that are: per language, where the rules differ."""

import pytest

from asterism.analysis.syntax.outlines import outline

GO_TYPES = b"""package a
func f(url *url.URL, emit func(labels labels.Set)) { use(url, labels.Empty()) }
func g[T any](items []T) T { return items[0] }
"""

GO_KEYS = b"""package a
func f() {
	cases := []struct{ err error }{{err: nil}}
	err := run(cases)
	use(err)
}
"""

PHP_FILLED = b"""<?php
function f($text) {
    global $cache;
    preg_match('/x/', $text, $found);
    $list[] = $found;
    $cache = remember($cache, $_SESSION, $list);
}
"""

RUBY_BLOCK = b"""describe "x" do
  LIMIT = 3
  it { LIMIT + other }
end
"""


@pytest.mark.parametrize(
    ("path", "source", "bound", "free"),
    [
        ("a.go", GO_TYPES, {(2, "url"), (3, "T"), (3, "items")}, {(2, "url"), (2, "labels")}),
        ("a.go", GO_KEYS, {(4, "cases"), (5, "err")}, {(4, "run"), (5, "use")}),
        (
            "a.php",
            PHP_FILLED,
            {(4, "$text"), (4, "$found"), (5, "$list"), (5, "$found"), (6, "$list")},
            {(3, "$cache"), (6, "$cache"), (6, "$_SESSION"), (6, "remember"), (4, "preg_match")},
        ),
        ("a.rb", RUBY_BLOCK, {(3, "LIMIT")}, {(1, "describe"), (3, "it"), (3, "other")}),
    ],
)
def test_locals(path: str, source: bytes, bound: set[object], free: set[object]) -> None:
    """Every expected place is found, marked as it should be; types count as free."""
    plain = [use for use in outline(path, source).references if use.receiver is None]
    assert {(use.line, use.name) for use in plain if use.local} == bound
    others = {(use.line, use.name) for use in plain if not use.local}
    assert free <= others
    assert not {name for _, name in others} & {"items", "cases", "err", "$found", "$list", "LIMIT"}
