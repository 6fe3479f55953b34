"""The words of C#'s XML documentation, without its tags."""

import re

_NAMED = re.compile(
    r"<(?:param|typeparam|exception|permission)\s+(?:name|cref)\s*=\s*\"(?:[A-Z]:)?([^\"]*)\"\s*>"
)
_POINTER = re.compile(
    r"<(?:see|seealso|paramref|typeparamref|inheritdoc|include)\b[^>]*?"
    r"(?:name|cref|langword|href)\s*=\s*\"(?:[A-Z]:)?([^\"]*)\"\s*/>"
)
_RETURNS = re.compile(r"<returns>\s*")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_BLANK_LINES = re.compile(r"\n\s*\n\s*")
_ENTITIES = (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&"))


def plain(doc: str) -> str | None:
    """What the tags enclose; parameters by name, references by what they point to."""
    text = _NAMED.sub(r"\1: ", doc)
    text = _POINTER.sub(r"\1", text)
    text = _RETURNS.sub("Returns: ", text)
    text = _TAG.sub("", text)
    for entity, character in _ENTITIES:
        text = text.replace(entity, character)
    lines = "\n".join(line.strip() for line in text.split("\n"))
    return _BLANK_LINES.sub("\n\n", lines).strip() or None
