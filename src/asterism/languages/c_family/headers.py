"""Whether a `.h` file is C or C++: the extension does not say, the text does."""

import re

# Only C++ compilers see this, so it says nothing about the rest: `#ifdef __cplusplus extern "C" {`.
_GUARDED = re.compile(
    rb"^[ \t]*#[ \t]*if(?:def)?\b[^\n]*\b__cplusplus\b.*?^[ \t]*#[ \t]*(?:endif|else)\b",
    re.MULTILINE | re.DOTALL,
)

# Lines that are a syntax error in C: namespaces, templates, classes, aliases, access labels.
_CPP_ONLY = re.compile(
    rb"""^[ \t]*(?:
        namespace(?:[ \t]+[\w:]+)*[ \t]*(?:\{|$)
      | template[ \t]*<
      | class[ \t]+(?:\w+[ \t]+)*\w+[ \t]*(?:final[ \t]*)?(?::[^:]|\{|;|$)
      | using[ \t]+(?:namespace[ \t]+\w|\w+[ \t]*=|\w+::)
      | (?:public|private|protected)[ \t]*:
      | (?:static[ \t]+)?constexpr[ \t]
    )""",
    re.MULTILINE | re.VERBOSE,
)


def is_cpp_header(source: bytes) -> bool:
    """Whether a header holds a line that only C++ allows, comments and guards aside."""
    if _CPP_ONLY.search(source) is None:
        return False
    return _CPP_ONLY.search(_COMMENT.sub(b"", _GUARDED.sub(b"", source))) is not None


# Prose in a licence or manual may well start a line with "using the" or "class of".
_COMMENT = re.compile(rb"/\*.*?\*/", re.DOTALL)
