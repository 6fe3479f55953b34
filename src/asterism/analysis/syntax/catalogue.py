"""Which file is in which language: the table, and the look-up by extension, name and shebang."""

import re
from functools import cache
from posixpath import basename, splitext
from typing import NamedTuple


class Entry(NamedTuple):
    """One dialect: what its files are called, and where its data is."""

    key: str
    """Names the grammar; dialects of one language have different keys and one `language`."""
    language: str
    title: str
    home: str
    """`module:VARIABLE` under `languages`; `prose` and `text` need no grammar."""
    extensions: tuple[str, ...]
    filenames: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = ()
    """What a shebang may name, without version digits."""


TABLE = (
    Entry(
        "typescript",
        "typescript",
        "TypeScript",
        "ecmascript.rules:TYPESCRIPT",
        (".ts", ".mts", ".cts"),
        interpreters=("ts-node", "deno", "tsx"),
    ),
    Entry("tsx", "typescript", "TypeScript", "ecmascript.rules:TSX", (".tsx",)),
    Entry(
        "javascript",
        "javascript",
        "JavaScript",
        "ecmascript.rules:JAVASCRIPT",
        (".js", ".jsx", ".mjs", ".cjs"),
        interpreters=("node", "nodejs", "bun"),
    ),
    Entry(
        "python",
        "python",
        "Python",
        "python.rules:PYTHON",
        (".py", ".pyi", ".pyw"),
        ("SConstruct", "SConscript", "wscript"),
        ("python", "pypy"),
    ),
    Entry("go", "go", "Go", "go.rules:GO", (".go",)),
    Entry("java", "java", "Java", "java.rules:JAVA", (".java",)),
    Entry("rust", "rust", "Rust", "rust.rules:RUST", (".rs",), interpreters=("rust-script",)),
    Entry("c", "c", "C", "c_family.c:C", (".c", ".h")),
    Entry(
        "cpp",
        "cpp",
        "C++",
        "c_family.cpp:CPP",
        (".cpp", ".cc", ".cxx", ".c++", ".hpp", ".hh", ".hxx", ".h++", ".ipp", ".tpp", ".inl"),
    ),
    Entry("csharp", "csharp", "C#", "csharp.rules:CSHARP", (".cs", ".csx")),
    Entry(
        "ruby",
        "ruby",
        "Ruby",
        "ruby.rules:RUBY",
        (".rb", ".rake", ".gemspec", ".ru", ".podspec"),
        ("Rakefile", "Gemfile", "Guardfile", "Podfile", "Vagrantfile", "Brewfile", "Fastfile"),
        ("ruby", "jruby"),
    ),
    Entry("php", "php", "PHP", "php.rules:PHP", (".php", ".phtml", ".php5"), interpreters=("php",)),
    Entry(
        "kotlin",
        "kotlin",
        "Kotlin",
        "kotlin.rules:KOTLIN",
        (".kt", ".kts"),
        interpreters=("kotlin",),
    ),
    Entry("swift", "swift", "Swift", "swift.rules:SWIFT", (".swift",), interpreters=("swift",)),
    Entry("scala", "scala", "Scala", "scala.rules:SCALA", (".scala", ".sc", ".sbt", ".mill")),
    Entry(
        "elixir",
        "elixir",
        "Elixir",
        "elixir.rules:ELIXIR",
        (".ex", ".exs"),
        interpreters=("elixir",),
    ),
    Entry(
        "haskell",
        "haskell",
        "Haskell",
        "haskell.rules:HASKELL",
        (".hs",),
        interpreters=("runhaskell", "runghc", "stack", "cabal"),
    ),
    Entry(
        "lua", "lua", "Lua", "lua.rules:LUA", (".lua", ".rockspec"), interpreters=("lua", "luajit")
    ),
    Entry("zig", "zig", "Zig", "zig.rules:ZIG", (".zig", ".zon")),
    Entry(
        "bash",
        "bash",
        "Bash",
        "bash.rules:BASH",
        (".sh", ".bash", ".bats", ".ksh", ".zsh"),
        (".bashrc", ".bash_profile", ".profile", ".zshrc", "PKGBUILD"),
        ("bash", "sh", "dash", "zsh", "ksh", "ash", "bats"),
    ),
    Entry("markdown", "markdown", "Markdown", "prose", (".md", ".markdown", ".mdx", ".mkd")),
    Entry("rst", "rst", "reStructuredText", "prose", (".rst", ".rest")),
    Entry(
        "plain",
        "plain",
        "Text",
        "prose",
        (".txt", ".adoc", ".asciidoc", ".org"),
        ("README", "LICENSE", "COPYING", "NOTICE", "AUTHORS", "CHANGES", "NEWS", "INSTALL", "TODO"),
    ),
    Entry("text", "text", "Text", "text", ()),
)

TEXT = TABLE[-1]

_BY_KEY = {entry.key: entry for entry in TABLE}
_BY_EXTENSION = {extension: entry for entry in TABLE for extension in entry.extensions}
_BY_FILENAME = {name: entry for entry in TABLE for name in entry.filenames}
_BY_INTERPRETER = {name: entry for entry in TABLE for name in entry.interpreters}

_SHEBANG = re.compile(
    rb"^#![ \t]*(?:\S*/env(?:[ \t]+-\S+)*(?:[ \t]+\w+=\S*)*[ \t]+)?(\S+)", re.ASCII
)
_VERSION = re.compile(r"[\d.]+$")


def detect(path: str, head: bytes = b"") -> Entry:
    """The language of a file: by its extension, else its name, else its shebang, else text."""
    name = basename(path)
    extension = splitext(name)[1]
    entry = _BY_EXTENSION.get(extension) or _BY_EXTENSION.get(extension.lower())
    if entry is None:
        entry = _BY_FILENAME.get(name)
    if entry is None and not extension and head.startswith(b"#!"):
        entry = _by_shebang(head)
    return entry or TEXT


def entry_of(key: str) -> Entry:
    """The row of a dialect."""
    return _BY_KEY[key]


@cache
def titles() -> dict[str, str]:
    """How each language is written for people."""
    return {entry.language: entry.title for entry in TABLE}


def _by_shebang(head: bytes) -> Entry | None:
    found = _SHEBANG.match(head)
    if found is None:
        return None
    program = basename(found.group(1).decode("utf-8", "replace"))
    return _BY_INTERPRETER.get(program) or _BY_INTERPRETER.get(_VERSION.sub("", program))
