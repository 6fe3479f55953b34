"""Ruby: what sets it apart, as data."""

from asterism.languages.facets import (
    BaseFacets,
    CallFacets,
    Dialect,
    DisplayFacets,
    Facets,
    ScopeFacets,
    TraceFacets,
    TypeFacets,
)

RUBY = Facets(
    name="ruby",
    title="Ruby",
    order=100,
    visibility="unless private, or inside a method, a block or a private constant",
    dialects=(
        Dialect(
            key="ruby",
            rules="ruby.rules:RUBY",
            extensions=(".rb", ".rake", ".gemspec", ".ru", ".podspec"),
            filenames=(
                *("Rakefile", "Gemfile", "Guardfile", "Podfile"),
                *("Vagrantfile", "Brewfile", "Fastfile"),
            ),
            interpreters=("ruby", "jruby"),
        ),
    ),
    display=DisplayFacets(path_line="# {}", comments="hash"),
    scopes=ScopeFacets(
        reach=frozenset({"loose"}),
        global_types=True,
        one_symbol="reopened",
        namespaced=True,
        implicit_members=True,
        open_types="yes",
        added_members=True,
    ),
    types=TypeFacets(attribute_set=r"(?=@\w+\s*=(?!=))"),
    bases=BaseFacets(
        mark=rb"<", depth=1, mixins=rb"^[^\S\n]*(?:include|prepend|extend)[^\S\n]++[\w:, ]*$"
    ),
    calls=CallFacets(by_block=True, bare=True),
    traces=TraceFacets(
        frames=(
            r"{margin}(?:from )?{path}:(?P<line>\d+):in [`'](?:block in )?(?P<name>[\w.#?!:]+)'",
        )
    ),
)

LANGUAGES = (RUBY,)
