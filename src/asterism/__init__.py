"""Asterism answers one question about a repository: what code do I need for this?

import asterism

with asterism.open("path/to/repository") as code:
    for hit in code.search("how are failed requests retried"):
        print(f"{hit.path}:{hit.start_line}  {hit.score:.2f}  {hit.name}")
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # Importing the package costs next to nothing; what is behind a name comes with its first use.
    from asterism.domain.errors import AsterismError
    from asterism.facade.answers import Answer, Cited
    from asterism.facade.arguments import Filters
    from asterism.facade.codebase import Codebase
    from asterism.facade.connections import Context, Part, Related, Relations
    from asterism.facade.opening import open
    from asterism.facade.replies import Hit, IndexStatus, Reply, Symbol, Symbols
    from asterism.facade.requests import CodePart, ContextItem, LeftOut, RequestContext, context_for
    from asterism.indexing.progress import Progress
    from asterism.indexing.report import SyncReport
    from asterism.indexing.upgrade_report import UpgradeReport

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "AsterismError",
    "Cited",
    "CodePart",
    "Codebase",
    "Context",
    "ContextItem",
    "Filters",
    "Hit",
    "IndexStatus",
    "LeftOut",
    "Part",
    "Progress",
    "Related",
    "Relations",
    "Reply",
    "RequestContext",
    "Symbol",
    "Symbols",
    "SyncReport",
    "UpgradeReport",
    "__version__",
    "context_for",
    "open",
]

_HOMES = {
    "Answer": "asterism.facade.answers",
    "AsterismError": "asterism.domain.errors",
    "Cited": "asterism.facade.answers",
    "CodePart": "asterism.facade.requests",
    "Codebase": "asterism.facade.codebase",
    "Context": "asterism.facade.connections",
    "ContextItem": "asterism.facade.requests",
    "Filters": "asterism.facade.arguments",
    "Hit": "asterism.facade.replies",
    "IndexStatus": "asterism.facade.replies",
    "LeftOut": "asterism.facade.requests",
    "Part": "asterism.facade.connections",
    "Progress": "asterism.indexing.progress",
    "Related": "asterism.facade.connections",
    "Relations": "asterism.facade.connections",
    "Reply": "asterism.facade.replies",
    "RequestContext": "asterism.facade.requests",
    "Symbol": "asterism.facade.replies",
    "Symbols": "asterism.facade.replies",
    "SyncReport": "asterism.indexing.report",
    "UpgradeReport": "asterism.indexing.upgrade_report",
    "context_for": "asterism.facade.requests",
    "open": "asterism.facade.opening",
}


if not TYPE_CHECKING:
    # Hidden from type checkers, which would take any name for a public one.
    def __getattr__(name: str) -> object:
        """A public name, from its home at its first use."""
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
