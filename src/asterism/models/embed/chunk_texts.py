"""What a model reads of a chunk's text: where it stands in few words, then its code."""

import re
from collections.abc import Callable, Mapping

from asterism.models.weights.folder import Reads

# Words of a path that stand before the code.
PATH_WORDS = 5

# Of the names of what a chunk stands in; some are whole lines.
PLACE_CHARS = 80

# A word in camelCase, an acronym, a number.
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def path_and_code(text: str) -> str:
    """Of a chunk's text, the last words of its path and its code; other texts stay as they are.

    A model that was trained on such texts finds less in the long ones: cosines alone order the
    candidates of 210 questions with an NDCG@10 of 0.72 by this, 0.67 by the whole text.
    """
    crumb, code = _parted(text)
    if not crumb:
        return text
    return f"{_path_words(crumb.partition(' > ')[0])}\n{code}"


def place_and_code(text: str) -> str:
    """The same with the names of what the chunk stands in, like a method's class."""
    crumb, code = _parted(text)
    if not crumb:
        return text
    path, _mark, names = crumb.partition(" > ")
    around = names.rpartition(" > ")[0].replace(" > ", " ")[:PLACE_CHARS]
    return f"{_path_words(path)} {around}".rstrip() + f"\n{code}"


def path_and_text(text: str) -> str:
    """All of it, after the last words of its path.

    They stand in the text already, once among many. Where words are only counted, saying them
    again raises the NDCG@10 of the built-in model's vectors alone from 0.67 to 0.70.
    """
    crumb, _code = _parted(text)
    return f"{_path_words(crumb.partition(' > ')[0])}\n{text}" if crumb else text


READ_AS: Mapping[Reads, Callable[[str], str]] = {
    "text": str,
    "path_and_text": path_and_text,
    "path_and_code": path_and_code,
    "place_and_code": place_and_code,
}


def _parted(text: str) -> tuple[str, str]:
    """The breadcrumb without its language, and the code; nothing for a text that is no chunk's."""
    head, rule, code = text.partition("\n---\n")
    if not (rule and head.startswith("[")):
        return "", text
    return head.partition("\n")[0].partition("] ")[2], code


def _path_words(path: str) -> str:
    stem = path.rpartition(".")[0] or path
    return " ".join(_WORD.findall(stem)[-PATH_WORDS:])
