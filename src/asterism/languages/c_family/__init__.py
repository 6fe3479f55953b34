"""C and C++: what sets it apart, as data."""

import re

from asterism.languages.facets import (
    BaseFacets,
    CallFacets,
    Dialect,
    Facets,
    ScopeFacets,
    TypeFacets,
)

_SCOPES = ScopeFacets(
    family="c",
    reach=frozenset({"global"}),
    one_symbol="header",
    headers=(".h", ".hh", ".hpp", ".hxx", ".h++", ".inl", ".inc"),
    free_members=("enum_member",),
    lifted=("enum",),
    global_members=("enum_member",),
)
_TYPES = TypeFacets(
    place="before", returns_first=True, declarations="first", fixed=True, typedefs=True
)

C = Facets(
    name="c",
    title="C",
    order=70,
    visibility="not `static`, and not inside a function",
    server="cpp",
    outside_headers=True,
    dialects=(Dialect(key="c", rules="c_family.c:C", extensions=(".c", ".h")),),
    scopes=_SCOPES,
    types=_TYPES,
)
CPP = Facets(
    name="cpp",
    title="C++",
    order=80,
    visibility="not private, not `static` outside classes, not in a nameless namespace",
    outside_headers=True,
    dialects=(
        Dialect(
            key="cpp",
            rules="c_family.cpp:CPP",
            extensions=(
                *(".cpp", ".cc", ".cxx", ".c++", ".hpp", ".hh", ".hxx", ".h++"),
                *(".ipp", ".tpp", ".inl"),
            ),
            shared=(".h",),
            claims="c_family:is_cpp_header",
        ),
    ),
    scopes=_SCOPES._replace(
        namespaced=True, implicit_members=True, open_types="yes", named_constructors=True
    ),
    types=_TYPES,
    bases=BaseFacets(mark=rb":(?!:)"),
    calls=CallFacets(by_declaration=True),
)

LANGUAGES = (C, CPP)


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
