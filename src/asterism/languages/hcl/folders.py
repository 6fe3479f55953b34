"""Which folder the `source` of a module means."""

from collections.abc import Callable
from posixpath import dirname, join, normpath


def module_folder(
    importer: str, module: str, _text_of: Callable[[str], bytes | None]
) -> str | None:
    """The folder of a module of the repository; None for one from a registry."""
    if not module.startswith(("./", "../")) and module not in (".", ".."):
        return None
    # Terragrunt writes two slashes where the module begins inside of what is fetched.
    path = normpath(join(dirname(importer), module.replace("//", "/")))
    return None if path.startswith("..") else path.removeprefix(".")
