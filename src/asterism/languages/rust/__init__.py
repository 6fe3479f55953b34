"""Rust: what sets it apart, as data."""

from asterism.languages.facets import (
    BaseFacets,
    Dialect,
    Facets,
    ImportFacets,
    ScopeFacets,
    TraceFacets,
    TypeFacets,
)

RUST = Facets(
    name="rust",
    title="Rust",
    order=60,
    visibility="`pub` in any form; variants and trait members like what they belong to; "
    "macros with `#[macro_export]`",
    dialects=(
        Dialect(
            key="rust", rules="rust.rules:RUST", extensions=(".rs",), interpreters=("rust-script",)
        ),
    ),
    outside_packages=(
        r"/registry/src/[^/]+/(.+?)-\d",
        r"/git/checkouts/([^/]+)-[0-9a-f]+/",
        r"/library/(core|alloc|std|proc_macro|test)/",
    ),
    scopes=ScopeFacets(
        reach=frozenset({"loose"}),
        own_type_words=True,
        macros_by_sign=True,
        prelude=frozenset({"Box", "Option", "Result", "String", "Vec"}),
    ),
    imports=ImportFacets(
        form="path",
        file="rust.files:module_file",
        other_file="rust.files:crate_file",
        roots="rust.files:crate_roots",
        joint="::",
        submodule="self::{}",
        relative_words=frozenset({"crate", "super", "self"}),
        passes_stars=True,
    ),
    types=TypeFacets(declarations="words", fixed=True, result_wrappers=True, declared_modules=True),
    bases=BaseFacets(mark=rb":(?!:)"),
    traces=TraceFacets(
        frames=(
            # Where it panicked, and the functions of its backtrace.
            r"panicked at (?:'[^\n]*', )?{path}:(?P<line>\d+):\d+",
            r"{margin}\d+:\s+(?:0x[0-9a-f]+ - )?(?P<name>[A-Za-z_][\w:<>{}]*::[\w:<>{}]+)"
            r"[^\S\n]*$",
        )
    ),
)

LANGUAGES = (RUST,)
