"""Where the TypeScript compiler is: given by a setting, or shipped with this package."""

import os
from pathlib import Path

from asterism.types.errors import ServerMissing

# The one version whose protocol these modules speak.
COMPILER_VERSION = "7.0.2"

# Filled when the package is built; the compiler reads its `lib.*.d.ts` from beside itself.
SHIPPED = Path(__file__).parents[1] / "typescript_compiler" / "tsc"


def find_compiler(given: str | None = None) -> str | None:
    """The compiler's program; None where there is none."""
    place = Path(given) if given else SHIPPED
    # A relative path could name a file of the repository.
    is_there = place.is_absolute() and place.is_file() and os.access(place, os.X_OK)
    return str(place) if is_there and (place.parent / "lib.es5.d.ts").is_file() else None


def require_compiler(given: str | None = None) -> str:
    """The compiler's program, or an error that says what to do."""
    found = find_compiler(given)
    if found is not None:
        return found
    if given:
        raise ServerMissing(
            f"There is no TypeScript compiler at {given}: the setting must name, by its absolute "
            f"path, the `tsc` of version {COMPILER_VERSION}'s platform package, with its "
            "`lib.*.d.ts` beside it."
        )
    raise ServerMissing(
        "The TypeScript compiler was not shipped with this installation; install Asterism again "
        "with npm at hand, or name the compiler's `tsc` in the settings."
    )
