"""The example repository with its index, as the servers' tests have it."""

from tests.servers.conftest import engine, harbor, indexed_base, toolbox

__all__ = ["engine", "harbor", "indexed_base", "toolbox"]
