"""HCL, the language of Terraform and its relatives: what sets it apart, as data."""

from collections.abc import Callable
from posixpath import dirname, join, normpath

from asterism.languages.facets import (
    Dialect,
    DisplayFacets,
    Facets,
    ImportFacets,
    ScopeFacets,
    TraceFacets,
)

HCL = Facets(
    name="hcl",
    title="HCL",
    order=155,
    visibility="variables and outputs",
    aliases=("terraform", "opentofu"),
    dialects=(
        Dialect(key="hcl", rules="hcl.rules:HCL", extensions=(".tf", ".hcl", ".tofu", ".tfvars")),
    ),
    display=DisplayFacets(path_line="# {}", comments="hash"),
    # A folder is a module; `var.size` is the variable of that name in it.
    scopes=ScopeFacets(reach=frozenset({"folder"}), namespaced=True),
    imports=ImportFacets(folder="hcl:module_folder", joint="/"),
    traces=TraceFacets(
        frames=(
            r"{margin}[│|]?[^\S\n]*on {path} line (?P<line>\d+)"
            r"(?:, in \w+(?: \"[\w-]+\")*? \"(?P<name>[\w-]+)\")?",
        )
    ),
)

LANGUAGES = (HCL,)


def module_folder(
    importer: str, module: str, _text_of: Callable[[str], bytes | None]
) -> str | None:
    """The folder of a module of the repository; None for one from a registry."""
    if not module.startswith(("./", "../")) and module not in (".", ".."):
        return None
    # Terragrunt writes two slashes where the module begins inside of what is fetched.
    path = normpath(join(dirname(importer), module.replace("//", "/")))
    return None if path.startswith("..") else path.removeprefix(".")
