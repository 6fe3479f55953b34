"""Exports of languages where each declaration says itself who may use it."""

from collections.abc import Callable

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Draft, Level

# What only groups declarations: what stands in it is still at the top.
_GROUPS = frozenset({"namespace", "extension"})


def declare_exports(exported: Callable[[Draft, Builder], bool]) -> Callable[[Builder], None]:
    """A finish that lists the exported declarations at the top of a file or namespace."""

    def finish(builder: Builder) -> None:
        for draft in builder.drafts:
            if draft.is_root or draft.kind in _GROUPS or not exported(draft, builder):
                continue
            if _at_top(builder, draft):
                builder.declare_export(draft.name, draft)
        builder.exports.sort(key=lambda export: export.line)

    return finish


def owner_kind(builder: Builder, draft: Draft) -> str | None:
    """The kind of the item a draft stands in, or None at the top."""
    return None if draft.parent is None else builder.drafts[draft.parent].kind


def is_local(builder: Builder, draft: Draft) -> bool:
    """Whether a draft stands inside a function or a value, where no other file can reach it."""
    while draft.parent is not None:
        draft = builder.drafts[draft.parent]
        if draft.is_root or draft.level is Level.FUNCTION:
            return True
    return False


def _at_top(builder: Builder, draft: Draft) -> bool:
    while draft.parent is not None:
        draft = builder.drafts[draft.parent]
        if draft.kind not in _GROUPS:
            return False
    return True
