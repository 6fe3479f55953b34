"""What is particular to one language, as plain data for every layer that asks.

Each field has the value that most languages have, so a language states only where it differs.
Regular expressions are kept as text: the layer that needs one compiles it. Code is named as
`module:function` inside the language's folder and imported at its first use.
"""

from collections.abc import Callable, Iterable, Mapping
from posixpath import basename, dirname
from typing import Literal, NamedTuple, TypeAlias

NONE: frozenset[str] = frozenset()


class Dialect(NamedTuple):
    """Files that one grammar reads."""

    key: str
    """Names the grammar; dialects of one language have different keys."""
    rules: str = ""
    """`module:VARIABLE` with the rules of the walker; `prose` and `text` need no grammar. Empty
    where `parts` or `reader` makes the outline."""
    extensions: tuple[str, ...] = ()
    filenames: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = ()
    """What a shebang may name, without version digits."""
    shared: tuple[str, ...] = ()
    """Extensions that other languages have, too. One that is also in `extensions` is plain text
    where `claims` is false; another one is in the dialect that has it in `extensions`."""
    claims: str = ""
    """`module:function` that tells from the text whether a file of a shared extension is in this
    dialect."""
    parts: str = ""
    """`module:function` that divides a file into parts, each read by a dialect of its own: the
    scripts of a component, the cells of a notebook. `(path, text)` to a list of parts."""
    reader: str = ""
    """`module:function` that makes the outline without a grammar: `(path, language, text)`."""
    view: str = ""
    """`module:function` from a file's decoded text to the text that is read and shown instead,
    line for line: a notebook without the JSON around its cells."""


class OptionalGrammar(NamedTuple):
    """A grammar that not every installation has."""

    extra: str
    """The extra of Asterism that installs it."""
    package: str
    """The package that is imported."""


class DisplayFacets(NamedTuple):
    """How the language is shown to people and to models."""

    path_line: str = "// {}"
    """A path as a comment."""
    path_line_whole: str = ""
    """The same above a whole file, where that differs."""
    comments: Literal["slashes", "hash", "dashes"] = "slashes"
    """What begins a comment, for reading code without parsing it."""
    headings: Literal["", "marked", "underlined"] = ""
    """How prose marks its headings."""
    doc_is_jsdoc: bool = False
    """Whether the documentation of a chunk is also kept as JSDoc."""
    indented_conditions: bool = False
    """Whether the conditions around a declaration are the less indented lines above it."""
    answers_as: str = ""
    """Code of languages with the same value can name each other's symbols in an answer; empty for
    the language alone."""


class ScopeFacets(NamedTuple):
    """Which declarations a name in a file can mean."""

    family: str = ""
    """Languages of one family call each other in one program; empty for a family of its own."""
    reach: frozenset[Literal["folder", "package", "global", "loose"]] = frozenset()
    """What a bare name can mean that is neither declared around it nor imported: names of files
    in the same folder, of files that state the same package, every name that is not hidden. In
    a `loose` language it may come from anywhere: by a global, a macro, a mixin."""
    global_fallback: bool = False
    """Whether a name that its own package lacks is looked for outside of all packages."""
    global_types: bool = False
    """Whether every file sees every name with a capital initial."""
    builtin_members: frozenset[str] = NONE
    """Members of built-in types: more likely theirs than the repository's."""
    one_symbol: Literal["", "header", "reopened", "partial", "folder", "actual"] = ""
    """How several files declare one symbol: a header and its source; a type that any file may
    reopen; types marked `partial`; files of one folder for different systems; declarations
    marked `actual` for the one that other files see."""
    headers: tuple[str, ...] = ()
    """Extensions of the files that declare names for others."""
    package_line: bytes = b""
    """Matches the statement that names the package of the whole file."""
    package_in_names: bool = False
    """Whether a qualified name begins with the package."""
    namespaced: bool = False
    """Whether names are looked for with the namespaces around them and with imported ones."""
    implicit_members: bool = False
    """Whether a member is called without naming its object."""
    open_types: Literal["no", "body", "yes"] = "no"
    """Where one file's members are in scope without a receiver: nowhere, in the body of the type
    alone, or in its functions too."""
    free_members: tuple[str, ...] = ()
    """Kinds of members that are names of the file's own level."""
    global_members: tuple[str, ...] = ()
    """Kinds of members that a bare name can mean in every file."""
    lifted: tuple[str, ...] = ()
    """Kinds of types whose members are names of the place around the type."""
    values_named_as_types: bool = False
    """Whether a constructor with the name of its type is a value of its own."""
    named_constructors: bool = False
    """Whether a constructor has the name of its class."""
    own_type_words: bool = False
    """Whether words such as `Self` and `static` mean the type around them."""
    added_members: bool = False
    """Whether a repository adds members to types of others under the name of the type."""
    added_by_parameter: str = ""
    """Marks a function whose first parameter is the object that it is called on."""
    attributes_by_sign: str = ""
    """The receiver that outlines give to a name which is an attribute of the module."""
    macros_by_sign: bool = False
    """Whether `name!(…)` means a macro and nothing else."""
    prelude: frozenset[str] = NONE
    """Types that every file has without an import."""


class ImportFacets(NamedTuple):
    """How imports lead to files, and what importing files get."""

    form: Literal["module", "package", "namespace", "path"] = "module"
    """What an import names: a module; a type with its package, as in Java; a namespace with the
    types in it, as in PHP; a path whose first step may be relative or imported, as in Rust."""
    file: str = ""
    """`module:function` that finds the file a module means: `(importer, module, files)`."""
    other_file: str = ""
    """The same where that finds none, for what binds no plain names: `(importer, module, files,
    roots)`."""
    roots: str = ""
    """`module:function` that reads manifests: the first file of each package, by its name."""
    folder: str = ""
    """`module:function` that finds the folder a module means, where a module is a folder."""
    local_name: str = ""
    """`module:function`: the name that a module has in code when no other is given."""
    joint: str = "."
    """What joins a module and a module inside it."""
    submodule: str = ""
    """How a module names one inside it: `.{}`."""
    relative_words: frozenset[str] = NONE
    """First steps of a path that start from the importing file."""
    aliases_modules: bool = False
    """Whether modules are known by their whole names, which each file may shorten."""
    passes_stars: bool = False
    """Whether a module offers all that it imports as a whole."""
    whole_names: bool = False
    """Whether an import without names means every name."""
    returns_table: bool = False
    """Whether a file's importers see the members of what it returns."""
    only_exports: bool = False
    """Whether only exported names can be imported; elsewhere every top-level name can."""
    passing_files: str = ""
    """How the names of files begin whose imports are there to be imported again."""
    implicit: bool = False
    """Whether a module is known by its name in every file, without an import."""
    used_as_members: bool = False
    """Whether an imported function may be written as if it were the receiver's own."""


class TypeFacets(NamedTuple):
    """Where declarations name types, for finding the type of a receiver."""

    place: Literal["after_colon", "before", "behind"] = "after_colon"
    """Where the type of a parameter stands: `x: T`, `T x`, `x T`."""
    returns_first: bool = False
    """Whether the type that a function returns stands before its name."""
    bare_return: bool = False
    """Whether the returned type follows the parameters with no mark between them."""
    signature: Literal["brackets", "arrows"] = "brackets"
    """Whether a header has parameters in brackets or a row of types joined by arrows."""
    receiver_before_name: bool = False
    """Whether a method has its object in brackets before its name."""
    declarations: Literal["", "words", "line", "first", "var"] = ""
    """How a local variable names its type: `let x: T`, `x: T` at a line's beginning, `T x`,
    `var x T`."""
    fixed: bool = False
    """Whether a variable has one type from its declaration on."""
    error_results: bool = False
    """Whether the last of several results tells of an error: `x, err := …`."""
    several_results: bool = False
    """Whether a function may return several values in brackets, each perhaps with a name."""
    error_unions: bool = False
    """Whether the type behind `!` is what a function returns when it does not fail."""
    result_wrappers: bool = False
    """Whether `Result<T>` and `Option<T>` are unwrapped before they are used."""
    with_statements: bool = False
    """Whether `with f() as x` declares a variable."""
    header_constructors: bool = False
    """Whether a class has the parameters of its constructor in its own header."""
    attribute_set: str = ""
    """Matches where a method sets an attribute of its object."""
    typedefs: bool = False
    """Whether `typedef` gives a type another name."""
    alias_values: bool = False
    """Whether a constant may be an alias of a type: `const Lid = @This()`."""
    declared_modules: bool = False
    """Whether a namespace without members means a file."""


class BaseFacets(NamedTuple):
    """How a type names what it extends and implements."""

    mark: bytes = b""
    """Matches what stands before the bases in a type's header."""
    depth: int = 0
    """How many brackets are around the bases."""
    keywords: bool = False
    """Whether keyword arguments stand among the bases."""
    mixins: bytes = b""
    """Matches the beginning of a line of the body that adds bases, up to a base's name."""
    embeds: bool = False
    """Whether a field that is a type and no name gives its members to the struct."""
    interface_name: str = ""
    """Matches the names of interfaces, where only the name tells."""
    classes_are_called: bool = False
    """Whether a base class is called in the header and an interface only named."""


class CallFacets(NamedTuple):
    """How to tell a call from another mention of a name."""

    behind: bytes = b""
    """Matches what follows the name in a call, where brackets alone do not tell."""
    by_block: bool = False
    """Whether a block may replace the brackets."""
    bare: bool = False
    """Whether a function is called by its name, brackets or not."""
    decorators: bool = False
    """Whether a decorator is a call; elsewhere an attribute only looks like one."""
    bracket_attributes: bool = False
    """Whether attributes are written in square brackets before a declaration."""
    of_types: bool = True
    """Whether a type in front of brackets is called; else that is a conversion."""
    by_declaration: bool = False
    """Whether `Lid fresh(3);` makes a Lid."""


class TraceFacets(NamedTuple):
    """How stack traces of the language look; `{path}` and `{margin}` are filled in."""

    frames: tuple[str, ...] = ()
    """Match a frame, with the groups `path`, `line` and `name` as far as it has them."""


class Facets(NamedTuple):
    """One language."""

    name: str
    """As rows of an index and filters have it."""
    title: str
    """As people write it."""
    order: int
    """Its place in lists; the more it is used, the earlier."""
    visibility: str
    """Which symbols other files can use, for the documentation."""
    dialects: tuple[Dialect, ...]
    optional: OptionalGrammar | None = None
    """The grammar, where an extra installs it; without it files are read as plain text."""
    aliases: tuple[str, ...] = ()
    """Other names that a filter may use, beside the title and the extensions."""
    server: str = ""
    """Whose compiler or language server connects its files, by the setting's name; empty for the
    language's own."""
    outside_packages: tuple[str, ...] = ()
    """Match the address of a file outside of the repository; the group is its package."""
    outside_headers: bool = False
    """Whether a file outside of the repository is known by its own name."""
    display: DisplayFacets = DisplayFacets()
    scopes: ScopeFacets = ScopeFacets()
    imports: ImportFacets = ImportFacets()
    types: TypeFacets = TypeFacets()
    bases: BaseFacets = BaseFacets()
    calls: CallFacets = CallFacets()
    traces: TraceFacets = TraceFacets()


Roots: TypeAlias = Callable[[], Mapping[str, str]]
"""Gives the first file of each package of a repository, by the name that code has for it."""

# These mean their folder, and there are thousands of each: the folder tells them apart.
_FOLDER_FILES = frozenset({"__init__.py", "__init__.pyi"})


class FileSet:
    """Every path of a repository; 50,000 of them take about 0.05 CPU-seconds."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = frozenset(paths)
        self._by_tail: dict[str, list[str]] = {}
        for path in self._paths:
            tail = path.rpartition("/")[2]
            if tail in _FOLDER_FILES:
                tail = _tail(path)
            self._by_tail.setdefault(tail, []).append(path)

    def __contains__(self, path: object) -> bool:
        return path in self._paths

    def first(self, paths: Iterable[str]) -> str | None:
        """The first of these that exists."""
        return next((path for path in paths if path in self._paths), None)

    def only(self, paths: Iterable[str]) -> str | None:
        """The one of these that exists; None if there are several."""
        found = [path for path in paths if path in self._paths]
        return found[0] if len(found) == 1 else None

    def ending(self, path: str) -> list[str]:
        """Every file whose path is this or ends with it, whole names only."""
        below = f"/{path}"
        return [
            found
            for found in self._by_tail.get(_tail(path), ())
            if found == path or found.endswith(below)
        ]


def _tail(path: str) -> str:
    """The file's name; with its folder where the name says nothing."""
    name = basename(path)
    if name in _FOLDER_FILES:
        return f"{basename(dirname(path))}/{name}"
    return name
