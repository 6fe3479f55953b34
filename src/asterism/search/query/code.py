"""Whether a question is code or an error message rather than prose."""

import re

_ERROR = re.compile(
    r"^[^\S\n]*(?:\S{1,300}:\d+(?::\d+)?:\s*)?(?:Caused by: |Uncaught |\[?ERROR\]?:? )?(?:"
    r"Traceback \(most recent call last\)"
    r"|(?:\w{1,100}\.){0,20}[A-Z]\w{0,100}?(?:Error|Exception|Failure|Fault)(?: \[\w+\])?: \S"
    r"|(?:fatal )?error(?:\[?[A-Z]+\d+\]?| [A-Z]+\d+)?: \S"
    r"|panic: \S|fatal: \S|goroutine \d+ \[|Exception in thread \"|thread '[^']*' panicked"
    r"|Segmentation fault|undefined reference to|ld: )",
    re.MULTILINE,
)
# Lines that are written in no language of people.
_CODE_LINE = re.compile(
    "|".join(
        (
            r"[;{]\s*(?://.*|#.*)?$",
            r"^\s*[})\]]+[;,)]*\s*$",
            r"^\s*(?:async )?(?:def|fn|func|function\*?|sub)\s+[\w.:<>~]+\s*[(<\[]",
            r"^\s*func \(\w+ \*?\w+\) \w+\(",
            r"^\s*(?:export |public |private |abstract |final |data |sealed )*"
            r"(?:class|interface|struct|enum|trait|impl|type|namespace)\s+[\w.<>]+\s*"
            r"(?:[({:=]|extends |implements |for )",
            r"^\s*(?:const|let|var|val|final|static|auto|mut)\s+[\w:<>, \[\]{}]+?\s*=",
            r"^\s*(?:from\s+[\w.]+\s+import\s+\S|import\s+[\w{}*, ]+\s+from\s+['\"])",
            r"^\s*(?:import\s+['\"({]|import \w+(?:\.\w+)+;?$|#include\s*[<\"])",
            r"^\s*use\s+\w+(?:::[\w{}*]+)+",
            r"\{[^{}]*[;,][^{}]*\}\s*$",
            r"^\s*(?:if|for|while|switch|match|elif|except|with)\b.*[:{]\s*$",
            r"^\s*(?:return|throw|raise|yield|await|print|assert)\b.*[()\[\]=;]",
            r"^\s*[\w.\[\]$]+\s*(?::\s*[\w\[\], |]+)?\s(?:[-+*/|&^]|:)?=\s+\S",
            r"^\s*[\w.$]+(?:\.|::|->)\w+\(.*\)\s*;?$",
            r"^\s*\w+\(.*\)\s*;?\s*$",
            r"=>\s*[{(\w]|\)\s*->\s*\w|:=",
            r"^\s*@\w+(?:\.\w+)*(?:\(.*\))?\s*$",
            r"^\s*</?[A-Za-z][\w.-]*(?:\s+[\w:-]+=[^>]*)?/?>",
            r"^\s*(?:SELECT .+ FROM|INSERT INTO|UPDATE .+ SET|CREATE TABLE|DELETE FROM)\b",
        )
    )
)
_COMMENT_LINE = re.compile(r"^\s*(?://|#|/\*|\*|--|<!--)\s?\S")
# A call without arguments or a decorator is as often a name as a piece of code.
_BARE_NAME = re.compile(r"^\s*(?:[\w.:>-]+\(\s*\)|@[\w.]+)\s*$")
_PROSE = re.compile(r"(?<![^\W\d_])[^\W\d_]{2,}+(?:\s++[^\W\d_]{2,}+){4,}")
# Characters of a line that are looked at: each pattern takes up to the square of them.
_LONGEST_LINE = 500


def is_error(text: str) -> bool:
    """Whether a text is what a program says when it fails."""
    return _ERROR.search(text) is not None


def is_snippet(text: str) -> bool:
    """Whether most lines of a text are code; of a single line, whether it can be nothing else."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) == 1:
        return _looks_like_code(text) and not _reads_as_prose(text)
    code = 0
    belongs = False
    for line in lines:
        # What is indented below a line of code belongs to it.
        belongs = (
            _looks_like_code(line)
            or _COMMENT_LINE.match(line) is not None
            or (belongs and line[0].isspace())
        )
        code += belongs
    return 2 * code >= len(lines) and code > 1


def _looks_like_code(line: str) -> bool:
    line = line[:_LONGEST_LINE]
    return _CODE_LINE.search(line) is not None and not _BARE_NAME.match(line)


def _reads_as_prose(line: str) -> bool:
    """Five words of letters in a row outside quotes are rare in code."""
    return _PROSE.search(re.sub(r"\"[^\"]*\"|'[^']*'|`[^`]*`", " ", line)) is not None
