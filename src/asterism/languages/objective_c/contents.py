"""What the text of a file tells: whether it is Objective-C, and the macros that a parser skips."""

import re

# Lines that are an error in C and in MATLAB.
_ONLY_HERE = re.compile(
    rb"""^[ \t]*(?:
        @(?:interface|implementation|protocol|class|import|end|property|compatibility_alias)\b
      | @(?:synthesize|dynamic|optional|required)\b
      | \#[ \t]*import\b
      | NS_HEADER_AUDIT_BEGIN\b
      | NS_ASSUME_NONNULL_BEGIN\b
      | typedef[ \t]+NS_(?:ENUM|OPTIONS)\b
      | (?:FOUNDATION|UIKIT)_EXPORT\b
    )""",
    re.MULTILINE | re.VERBOSE,
)


def is_objective_c(source: bytes) -> bool:
    """Whether a file holds a line that only Objective-C allows."""
    return _ONLY_HERE.search(source) is not None


_ARGUMENTS = rb"(?:\((?:[^()\n]|\([^()\n]*\))*\))?"
_NOTES = re.compile(
    rb"\b(?:NS|CF|UI|API|AF|SD|UIKIT|FOUNDATION|OBJC|__OSX|__IOS)_(?:[A-Z]+_)*"
    rb"(?:BEGIN|DESIGNATED_INITIALIZER|UNAVAILABLE|REQUIRES_SUPER|EXTERN|EXPORT|NOESCAPE"
    rb"|FORMAT_FUNCTION|REFINED_FOR_SWIFT|NAME|NONISOLATED|SENDABLE|AVAILABLE|DEPRECATED|RETAINED"
    rb"|TYPED_ENUM|EXTENSIBLE_ENUM|STRING_ENUM|ROOT_CLASS|CLASS|UI_ACTOR)\w*\b"
    + _ARGUMENTS
    + rb"|\b__attribute__\s?\(\((?:[^()\n]|\([^()\n]*\))*\)\)"
    rb"|\b__(?:kindof|unused|autoreleasing|unsafe_unretained|covariant|contravariant)\b"
)
# `typedef NS_ENUM(NSInteger, Mode) {` declares the enumeration `Mode`.
_ENUMS = re.compile(
    rb"\b(?:typedef[ \t]+)?(?:NS|CF)_(?:CLOSED_|ERROR_)?(?:ENUM|OPTIONS)"
    rb"(\([^(),\n]*,[ \t]*)(\w+)[ \t]*(\))"
)
# A line of its own becomes a comment, so that it is in the tree with its whole text.
_REGIONS = re.compile(rb"^NS(_(?:ASSUME_NONNULL|HEADER_AUDIT)_(?:BEGIN|END)\b.*)$", re.MULTILINE)
# Whole lines of `#define` say what such macros are and stay.
_DEFINE = re.compile(rb"^[ \t]*#[ \t]*(?:define|if|undef)", re.MULTILINE)


def masked(source: bytes) -> bytes:
    """The source with annotations blanked and enumerations in the form that C has for them."""
    if b"_" not in source:
        return source
    source = _REGIONS.sub(rb"//\1", source)
    return _ENUMS.sub(_enum, _NOTES.sub(_blank, source))


def _blank(found: "re.Match[bytes]") -> bytes:
    line = found.string.rfind(b"\n", 0, found.start()) + 1
    if _DEFINE.match(found.string, line):
        return found.group()
    return re.sub(rb"[^\n]", b" ", found.group())


def _enum(found: "re.Match[bytes]") -> bytes:
    head = found.start(2) - found.start()
    rest = found.end() - found.end(2)
    return b"enum".ljust(head) + found.group(2) + b" " * rest
