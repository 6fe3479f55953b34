"""Bash: what sets it apart, as data."""

from asterism.languages.facets import CallFacets, Dialect, DisplayFacets, Facets, ScopeFacets

BASH = Facets(
    name="bash",
    title="Bash",
    order=200,
    visibility="what the file defines, save tests and what stands inside functions",
    aliases=("shell",),
    dialects=(
        Dialect(
            key="bash",
            rules="bash.rules:BASH",
            extensions=(".sh", ".bash", ".bats", ".ksh", ".zsh"),
            filenames=(".bashrc", ".bash_profile", ".profile", ".zshrc", "PKGBUILD"),
            interpreters=("bash", "sh", "dash", "zsh", "ksh", "ash", "bats"),
        ),
    ),
    display=DisplayFacets(path_line="# {}", comments="hash"),
    scopes=ScopeFacets(reach=frozenset({"global"})),
    calls=CallFacets(bare=True, of_types=False),
)

LANGUAGES = (BASH,)
