"""The one module that reads the environment."""

import os

from asterism.analysis.source.checkouts import global_excludes
from asterism.analysis.source.discovery import DiscoveryOptions


def discovery_options() -> DiscoveryOptions:
    """Discovery with the user's own excludes, as git would find them."""
    home = os.environ.get("HOME") or None
    if home is None:
        return DiscoveryOptions()
    excludes = global_excludes(home, os.environ.get("XDG_CONFIG_HOME") or None)
    return DiscoveryOptions(global_excludes=excludes, home=home)


def cores() -> int:
    """How many processes can run at once here."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
