"""JSON with comments and trailing commas, as configuration files of TypeScript are written."""

import json
import re
from typing import Any

# A string is matched first, so that what looks like a comment inside of one stays.
_TOKEN = re.compile(
    r'"(?:\\.|[^"\\])*+(?:"|\Z)|//[^\n\r]*|/\*.*?(?:\*/|\Z)|,(?=\s*[}\]])', re.DOTALL
)


def loads(text: str) -> Any:
    """The value; raises ValueError where even that leniency does not help."""
    # Twice, because a comment may stand between a trailing comma and its bracket.
    return json.loads(_TOKEN.sub(_kept, _TOKEN.sub(_kept, text.removeprefix("\ufeff"))))


def _kept(found: re.Match[str]) -> str:
    text = found.group()
    return text if text.startswith('"') else " "
