"""Whether a `.h` or `.m` file is Objective-C: the extension does not say, the text does."""

import re

# Lines that are an error in C and in MATLAB.
_ONLY_HERE = re.compile(
    rb"""^[ \t]*(?:
        @(?:interface|implementation|protocol|class|import|end|property|compatibility_alias)\b
      | \#[ \t]*import\b
      | NS_ASSUME_NONNULL_BEGIN\b
      | typedef[ \t]+NS_(?:ENUM|OPTIONS)\b
      | (?:FOUNDATION|UIKIT)_EXPORT\b
    )""",
    re.MULTILINE | re.VERBOSE,
)


def is_objective_c(source: bytes) -> bool:
    """Whether a file holds a line that only Objective-C allows."""
    return _ONLY_HERE.search(source) is not None
