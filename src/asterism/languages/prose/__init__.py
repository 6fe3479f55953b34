"""Prose and plain text: what sets it apart, as data."""

from asterism.languages.facets import Dialect, DisplayFacets, Facets

MARKDOWN = Facets(
    name="markdown",
    title="Markdown",
    order=210,
    visibility="never",
    dialects=(
        Dialect(key="markdown", rules="prose", extensions=(".md", ".markdown", ".mdx", ".mkd")),
    ),
    display=DisplayFacets(path_line="<!-- {} -->", headings="marked"),
)
RST = Facets(
    name="rst",
    title="reStructuredText",
    order=220,
    visibility="never",
    dialects=(Dialect(key="rst", rules="prose", extensions=(".rst", ".rest")),),
    display=DisplayFacets(path_line=".. {}", headings="underlined"),
)
PLAIN = Facets(
    name="plain",
    title="Text",
    order=230,
    visibility="never",
    dialects=(
        Dialect(
            key="plain",
            rules="prose",
            extensions=(".txt", ".adoc", ".asciidoc", ".org"),
            filenames=(
                *("README", "LICENSE", "COPYING", "NOTICE", "AUTHORS", "CHANGES", "NEWS"),
                *("INSTALL", "TODO"),
            ),
        ),
    ),
    display=DisplayFacets(path_line="{}", headings="underlined"),
)
TEXT = Facets(
    name="text",
    title="Text",
    order=240,
    visibility="never",
    dialects=(Dialect(key="text", rules="text"),),
    display=DisplayFacets(path_line="{}"),
)

LANGUAGES = (MARKDOWN, RST, PLAIN, TEXT)
