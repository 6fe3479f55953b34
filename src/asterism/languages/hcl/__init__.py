"""HCL, the language of Terraform and its relatives: what sets it apart, as data."""

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
    aliases=("terraform", "opentofu"),
    dialects=(
        Dialect(
            key="hcl",
            rules="hcl.rules:HCL",
            extensions=(".tf", ".hcl", ".tofu", ".tfvars"),
        ),
    ),
    display=DisplayFacets(path_line="# {}", comments="hash"),
    # A folder is a module; `var.size` is the variable of that name in it.
    scopes=ScopeFacets(reach=frozenset({"folder"}), namespaced=True),
    imports=ImportFacets(folder="hcl.folders:module_folder", joint="/"),
    traces=TraceFacets(
        frames=(
            r"{margin}[│|]?[^\S\n]*on {path} line (?P<line>\d+)"
            r"(?:, in \w+(?: \"[\w-]+\")*? \"(?P<name>[\w-]+)\")?",
        )
    ),
)

LANGUAGES = (HCL,)
