"""Print what the parser finds in a file, in the shape of a fixture's expectation."""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from tests.fixture_checks import _DEFAULTS, described  # noqa: E402


def main() -> None:
    """Write one expectation to standard output, one record a line."""
    found = described(Path(sys.argv[1]))
    for symbol in found["symbols"]:
        for key, default in _DEFAULTS.items():
            if symbol[key] == default:
                del symbol[key]
    for row in [*found["imports"], *found["chunks"]]:
        for key in ("flags", "collapsed", "imports"):
            if row.get(key) == []:
                del row[key]
    parts = []
    for key, value in found.items():
        if isinstance(value, list) and value:
            rows = ",\n".join("    " + json.dumps(row, ensure_ascii=False) for row in value)
            parts.append(f'  "{key}": [\n{rows}\n  ]')
        else:
            parts.append(f'  "{key}": {json.dumps(value)}')
    sys.stdout.write("{\n" + ",\n".join(parts) + "\n}\n")


if __name__ == "__main__":
    main()
