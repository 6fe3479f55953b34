"""Asterism answers one question about a repository: what code do I need for this?

import asterism

with asterism.open("path/to/repository") as code:
    for hit in code.search("how are failed requests retried"):
        print(f"{hit.file_path}:{hit.start_line}  {hit.qualified_name}")
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # Importing the package costs next to nothing; what is behind a name comes with its first use.
    from asterism.api.codebase import Codebase, open
    from asterism.api.replies import Answer, Cited, Context, IndexStatus, Relations, Reply, Symbols
    from asterism.api.requests import CodePart, ContextItem, context_for
    from asterism.api.requests import GivenContext as RequestContext
    from asterism.api.requests import LeftOutItem as LeftOut
    from asterism.engine.relations import RelatedSymbol as Related
    from asterism.indexing.report import Progress, SyncReport, UpgradeReport
    from asterism.operations.limits import TextPart as Part
    from asterism.operations.search_reply import SearchRow as Hit
    from asterism.operations.symbols import LookupRow as Symbol
    from asterism.types.errors import AsterismError
    from asterism.types.search import Filters

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
    "Answer": "asterism.api.replies",
    "AsterismError": "asterism.types.errors",
    "Cited": "asterism.api.replies",
    "CodePart": "asterism.api.requests",
    "Codebase": "asterism.api.codebase",
    "Context": "asterism.api.replies",
    "ContextItem": "asterism.api.requests",
    "Filters": "asterism.types.search",
    "Hit": "asterism.operations.search_reply.SearchRow",
    "IndexStatus": "asterism.api.replies",
    "LeftOut": "asterism.api.requests.LeftOutItem",
    "Part": "asterism.operations.limits.TextPart",
    "Progress": "asterism.indexing.report",
    "Related": "asterism.engine.relations.RelatedSymbol",
    "Relations": "asterism.api.replies",
    "Reply": "asterism.api.replies",
    "RequestContext": "asterism.api.requests.GivenContext",
    "Symbol": "asterism.operations.symbols.LookupRow",
    "Symbols": "asterism.api.replies",
    "SyncReport": "asterism.indexing.report",
    "UpgradeReport": "asterism.indexing.report",
    "context_for": "asterism.api.requests",
    "open": "asterism.api.codebase",
}


if not TYPE_CHECKING:
    # Hidden from type checkers, which would take any name for a public one.
    def __getattr__(name: str) -> object:
        """A public name, from its home at its first use."""
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        home, own = _HOMES[name], name
        # A record of an operation has a name of its own.
        if home.rpartition(".")[2][0].isupper():
            home, _, own = home.rpartition(".")
        return getattr(import_module(home), own)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
