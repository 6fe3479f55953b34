"""Is the token of the user's servers private, and who is answered without it?"""

from collections.abc import Iterator
from pathlib import Path

from asterism.config.environment import server_token
from asterism.config.server_token import TokenFile
from asterism.config.settings import Settings
from asterism.engine.doctor.findings import Finding, ok, warning
from asterism.types.files import display_path

CHECK = "Server token"


def server_findings(settings: Settings, data_directory: Path) -> Iterator[Finding]:
    """What `asterism serve` would ask its clients for; the token itself is never shown."""
    if server_token():
        yield ok(CHECK, "your own, from ASTERISM_SERVER_TOKEN")
        return
    if settings.server.token_file:
        yield ok(CHECK, f"your own, from {display_path(settings.server.token_file)}")
        return
    if settings.server.access == "open":
        advice = "Take server.access = open out of your settings if others use this machine."
        yield warning(CHECK, "none: every user of this machine is answered", advice)
        return
    file = TokenFile(data_directory)
    shown = display_path(str(file.path))
    flaw = file.flaw()
    if flaw is not None:
        advice = "`asterism serve` replaces it when it starts; then give programs the new one."
        yield warning(CHECK, f"{shown} is not used: {flaw}", advice)
    elif file.path.exists():
        yield ok(CHECK, f"{shown}, for you alone")
    else:
        yield ok(CHECK, "`asterism serve` makes one when it starts")
