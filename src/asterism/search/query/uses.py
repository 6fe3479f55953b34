"""Does a question ask where something is used? Then the name, not the words around it, counts."""

import re

_NAME = r"[`'\"]?(?P<name>[^\W\d][\w.:$#]*\w|\w)(?:\(\))?[`'\"]?"
_USED = r"(?:used|called|invoked|referenced|imported|instantiated)"
# Whole questions only: "where is the cache used for sessions" asks something else.
_FORMS = tuple(
    re.compile(rf"\s*+{form}\s*+(?:\?\s*+)?", re.IGNORECASE)
    for form in (
        rf"(?:find |show |list )?(?:all )?(?:places )?where (?:is|are) {_NAME} (?:being )?{_USED}",
        rf"(?:find |show |list )?where {_NAME} (?:is|are) (?:being )?{_USED}",
        rf"(?:who|what|which \w+) (?:uses?|calls?|invokes?|references?|imports?) {_NAME}",
        rf"(?:find |show |list )?(?:all )?(?:the )?"
        rf"(?:usages?|uses|callers|calls|references|call sites) (?:of|to) {_NAME}",
    )
)


def used_name(text: str) -> str | None:
    """The name whose uses are asked for, as it is written; its owner and calls are left out."""
    for form in _FORMS:
        found = form.fullmatch(text)
        if found is not None:
            return re.split(r"[.:#]+", found["name"])[-1] or None
    return None
