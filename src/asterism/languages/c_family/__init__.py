"""C and C++: what sets it apart, as data."""

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
    dialects=(
        Dialect(
            key="c",
            rules="c_family.c:C",
            extensions=(".c", ".h"),
        ),
    ),
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
            claims="c_family.headers:is_cpp_header",
        ),
    ),
    scopes=_SCOPES._replace(
        namespaced=True,
        implicit_members=True,
        open_types="yes",
        named_constructors=True,
    ),
    types=_TYPES,
    bases=BaseFacets(mark=rb":(?!:)"),
    calls=CallFacets(by_declaration=True),
)

LANGUAGES = (
    C,
    CPP,
)
