"""Which declaration does a name mean? By scopes, imports and declared types, no compiler asked."""

from posixpath import dirname

from asterism.analysis.resolve.candidates import (
    GUESS,
    IMPORTED,
    IN_FOLDER,
    IN_SCOPE,
    OF_TYPE,
    Declaration,
    Meaning,
    NameLookup,
    World,
)
from asterism.analysis.resolve.imports import Imports
from asterism.analysis.resolve.offers import is_in_folder
from asterism.analysis.resolve.receivers import (
    MemberOwner,
    Receiver,
    around,
    bases_of,
    called,
    cast_to,
    foreign,
    is_foreign,
    is_macro_use,
    receiver_of,
)
from asterism.analysis.resolve.scopes import ADDITIONS, CONTAINERS, Binding, FileScope, last_word
from asterism.analysis.resolve.values import OWN_TYPE, Values
from asterism.analysis.resolve.variables import type_head
from asterism.languages.registry import code_of
from asterism.types.outline import EVERYTHING, Item, Reference

# Receivers that are looked at to find one; each takes some ten calls of Python's stack.
MAX_STEPS = 40
# A declaration of these may have its body elsewhere.
_BODIED = frozenset({"function", "method", "constructor", "class", "struct"})


class Resolver:
    """Resolves the names of one repository at one moment; what was found once is kept."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._names = NameLookup(world)
        self._imports = Imports(world, self._names)
        self._values = Values(world, self._names, self)
        self._asked: set[tuple[str, str, int | None]] = set()
        self._bare: dict[tuple[str, str, int | None], Meaning | None] = {}
        self._bases: dict[Declaration, list[tuple[Meaning | None, Reference, bool]]] = {}
        self._members: dict[tuple[MemberOwner, str], Meaning | None] = {}

    def item(self, declaration: Declaration) -> Item:
        """The declared item; its file was read already."""
        scope = self._world.scope(declaration.path)
        if scope is None:
            raise LookupError(declaration.path)
        return scope.outline.items[declaration.number]

    def resolve(self, scope: FileScope, reference: Reference) -> Meaning | None:
        """What a reference means; None where it cannot be told or is a local variable."""
        if reference.receiver is None:
            if reference.local:
                return None
            if scope.facets.scopes.macros_by_sign and is_macro_use(scope, reference):
                return self._names.macro(reference.name)
            return self.bare(scope, reference.name, reference.enclosing)
        sign = scope.facets.scopes.attributes_by_sign
        if sign and reference.receiver == sign:
            return self.bare(scope, f"{sign}{reference.name}", reference.enclosing)
        return self.of(scope, reference.receiver, reference, scope.offset(*reference[1:3]))

    def bare(self, scope: FileScope, name: str, enclosing: int | None) -> Meaning | None:
        """What a name without a receiver means at a place."""
        key = (scope.path, name, enclosing)
        if key not in self._bare:
            # A name that leads back to itself means nothing.
            self._bare[key] = None
            self._bare[key] = self._find_bare(scope, name, enclosing)
        return self._bare[key]

    def bases(self, declaration: Declaration) -> list[tuple[Meaning | None, Reference, bool]]:
        """What a type extends and implements: meaning, the name as written, and which of both."""
        if declaration not in self._bases:
            self._bases[declaration] = []
            self._bases[declaration] = [*self._find_bases(declaration)]
        return self._bases[declaration]

    def _find_bases(self, declaration: Declaration) -> list[tuple[Meaning | None, Reference, bool]]:
        scope = self._world.scope(declaration.path)
        if scope is None:
            return []
        parent = scope.outline.items[declaration.number].parent
        found: list[tuple[Meaning | None, Reference, bool]] = []
        for base in bases_of(scope, declaration.number):
            reference = base.reference._replace(enclosing=parent)
            found.append((self.resolve(scope, reference), base.reference, base.implements))
        return found

    def _find_bare(self, scope: FileScope, name: str, enclosing: int | None) -> Meaning | None:
        found = scope.lexical(name, enclosing)
        if found is not None:
            return self._alone(scope, found)
        facets = scope.facets.scopes
        if name in OWN_TYPE and facets.own_type_words:
            container = scope.container_of(enclosing)
            own = self._container(MemberOwner(scope.path, container)) if container else None
            return Meaning(own, IN_SCOPE) if own is not None else None
        binding = scope.bindings.get(name)
        if binding is not None:
            return self._imported(scope, binding)
        if facets.implicit_members:
            container = scope.container_of(enclosing)
            owner = MemberOwner(scope.path, container or ())
            if container and (inherited := self._member(owner, name)) is not None:
                return inherited
        if facets.namespaced:
            spaces = [f"{space}{name}" for space in around(scope, enclosing)[:-1]]
            spaces += [f"{module}.{name}" for module in scope.starred]
            inside = self._names.qualified(scope, spaces, name, OF_TYPE)
            if inside is not None:
                return inside
        for module in scope.starred:
            starred = self._starred(scope, module, name)
            if starred is not None:
                return starred
        return self._names.visible(scope, name)

    def _alone(self, scope: FileScope, index: int) -> Meaning:
        """A declaration of the same file, or the one that it announces or adds to."""
        item = scope.outline.items[index]
        is_twice = scope.facets.scopes.one_symbol == "header"
        bodyless = is_twice and item.body is None and item.kind in _BODIED
        if bodyless or item.kind in ADDITIONS:
            whole = self._names.qualified(scope, [item.qualified_name], item.name, IN_SCOPE)
            if whole is not None:
                return whole
        return self._meaning(scope.path, index, IN_SCOPE)

    def _starred(self, scope: FileScope, module: str, name: str) -> Meaning | None:
        if scope.facets.imports.aliases_modules:
            owner = self._values.held(self._imports.aliased(scope, module, None))
            return self._member(owner, name) if isinstance(owner, MemberOwner) else None
        return self._imports.starred(scope, module, name)

    def _imported(self, scope: FileScope, binding: Binding) -> Meaning | None:
        found = self._imports.bound(scope, binding)
        is_package = scope.facets.imports.form == "package"
        if is_package and (found is None or found.declaration is None):
            # A member of a type, as static imports name it.
            package = binding.module.removesuffix(binding.name).rstrip(".")
            outer, _, inner = package.rpartition(".")
            holder = self._names.in_package(scope, outer, inner, IMPORTED) if inner else None
            owner = self._values.held(holder) if holder is not None else None
            return (
                self._member(owner, binding.name) if isinstance(owner, MemberOwner) else None
            ) or found
        return found

    def of(self, scope: FileScope, text: str, reference: Reference, at: int) -> Meaning | None:
        """A member of the receiver's type or module; by its name alone if that is unknown."""
        owner = self.owner(scope, text, reference.enclosing, at)
        if isinstance(owner, Meaning):
            return self._added(scope, last_word(owner.module or ""), reference.name) or owner
        if owner is not None:
            found = self._member(owner, reference.name)
            if found is None and owner.container:
                found = self._added(scope, owner.container[-1], reference.name)
            declared = self._container(owner) if found is None else None
            if declared is not None and self.item(declared).kind in ADDITIONS:
                # The repository only adds to the type, and not this.
                return foreign(OF_TYPE, owner.container[-1])
            return found
        if scope.facets.scopes.namespaced:
            spaces = around(scope, reference.enclosing)
            names = [f"{space}{text.replace('::', '.')}." for space in spaces]
            names += [f"{module}.{text}." for module in scope.starred]
            whole = [name + reference.name for name in names]
            found = self._names.qualified(scope, whole, reference.name, OF_TYPE)
            if found is not None:
                return found
        if is_foreign(text):
            return None
        return self._names.member(scope, reference.name)

    def _added(self, scope: FileScope, type_name: str, name: str) -> Meaning | None:
        """What the repository adds to a type that may not be its own."""
        facets = scope.facets.scopes
        if facets.added_members and type_name:
            return self._names.qualified(scope, [f"{type_name}.{name}"], name, OF_TYPE)
        if not facets.added_by_parameter or not type_name:
            return None
        # A static method whose first parameter is the object that it is called on.
        found: dict[str, Declaration] = {}
        for candidate in self._names.candidates(scope, name):
            there = self._world.scope(candidate.path)
            for index in there.by_qualified_name.get(candidate.qualified_name, ()) if there else ():
                signature = there.outline.items[index].signature if there else ""
                _, mark, first = signature.partition(facets.added_by_parameter)
                if mark and type_head(first) == type_name:
                    return Meaning(Declaration(candidate.path, index), OF_TYPE)
                if mark:
                    found.setdefault(candidate.qualified_name, Declaration(candidate.path, index))
        # The type may be a subtype of the one that is added to.
        return Meaning(next(iter(found.values())), GUESS) if len(found) == 1 else None

    def owner(
        self, scope: FileScope, text: str, enclosing: int | None, at: int
    ) -> MemberOwner | Meaning | None:
        """The type or module that a receiver means; a meaning if it is another package."""
        key = (scope.path, text, enclosing)
        if key in self._asked or len(self._asked) > MAX_STEPS:
            # A variable that is set to what is made of itself.
            return None
        self._asked.add(key)
        try:
            return self._find_owner(scope, text, enclosing, at)
        finally:
            self._asked.discard(key)

    def _find_owner(
        self, scope: FileScope, text: str, enclosing: int | None, at: int
    ) -> MemberOwner | Meaning | None:
        facets = scope.facets.imports
        if facets.aliases_modules and text[:1].isupper():
            return self._values.held(self._imports.aliased(scope, text, enclosing))
        if facets.form == "path" and (facets.joint in text or text in facets.relative_words):
            path = self._imports.by_path(scope, text) if text != "self" else None
            if path is not None:
                return MemberOwner(path)
        whole = scope.bindings.get(text) if facets.joint in text or "." in text else None
        if whole is not None:
            return self.module_owner(scope, whole)
        cast = cast_to(text)
        if cast is not None:
            return self._values.typed(scope, type_head(cast), enclosing)
        made = called(text)
        if made is not None:
            return self._values.made(scope, made, enclosing, at)
        receiver = receiver_of(text)
        owner = self._first_owner(scope, receiver, enclosing, at)
        for step in receiver.rest:
            if not isinstance(owner, MemberOwner):
                return owner
            owner = self._step(owner, step)
        return owner

    def _first_owner(
        self, scope: FileScope, receiver: Receiver, enclosing: int | None, at: int
    ) -> MemberOwner | Meaning | None:
        container = scope.container_of(enclosing)
        if receiver.is_self:
            return MemberOwner(scope.path, container) if container else None
        if receiver.is_super:
            return self._base_owner(scope, container) if container else None
        name = receiver.first
        if not name:
            return None
        known, owner = self._values.variable(scope, name, enclosing, at)
        if known:
            return owner
        binding = scope.bindings.get(name)
        if binding is not None and scope.lexical(name, enclosing) is None:
            owner = self.module_owner(scope, binding)
            if owner is not None:
                return owner
        imports = scope.facets.imports
        is_module = imports.implicit and name[:1].isupper()
        if name in imports.relative_words or (is_module and scope.lexical(name, enclosing) is None):
            path = self._imports.by_path(scope, name)
            return MemberOwner(path) if path else None
        meaning = self.bare(scope, name, enclosing)
        return None if meaning is None else self._values.held(meaning)

    def _step(self, owner: MemberOwner, name: str) -> MemberOwner | Meaning | None:
        if not owner.container and not owner.folder:
            # A module inside of another.
            scope = self._world.scope(owner.path)
            inner = scope.facets.imports.submodule.format(name) if scope else ""
            path = (
                self._world.module(owner.path, scope.language, inner) if scope and inner else None
            )
            if path is not None:
                return owner._replace(path=path)
        meaning = self._member(owner, name.lstrip("@"))
        held = self._values.held(meaning) if meaning is not None else None
        return held if held is not None else self._values.attribute(owner, name.lstrip("@"))

    def module_owner(self, scope: FileScope, binding: Binding) -> MemberOwner | Meaning | None:
        facets = scope.facets.imports
        if facets.aliases_modules:
            return self._values.held(self._imports.aliased(scope, binding.module, None))
        if facets.folder:
            folder = code_of(facets.folder)(scope.path, binding.module, self._text)
            if folder is None:
                return foreign(IMPORTED, binding.module)
            return MemberOwner(folder, folder=True)
        path = self._world.module(scope.path, scope.language, binding.module)
        if binding.name not in (EVERYTHING, "self"):
            found = self._imported(scope, binding)
            if found is not None and found.declaration is not None:
                return self._values.held(found)
            # `from package import module`: the name is a file itself.
            joint = "" if binding.module.endswith(facets.joint) else facets.joint
            inner = f"{binding.module}{joint}{binding.name}"
            path = self._world.module(scope.path, scope.language, inner)
            return MemberOwner(path) if path else found
        return MemberOwner(path) if path is not None else foreign(IMPORTED, binding.module)

    def _text(self, path: str) -> bytes | None:
        scope = self._world.scope(path)
        return scope.source if scope else None

    def _base_owner(
        self, scope: FileScope, container: tuple[str, ...]
    ) -> MemberOwner | Meaning | None:
        for index in scope.by_path.get(container, ()):
            for meaning, _, _ in self.bases(Declaration(scope.path, index)):
                if meaning is not None:
                    return self._values.held(meaning)
        return None

    def _container(self, owner: MemberOwner) -> Declaration | None:
        """The declaration of a type."""
        scope = self._world.scope(owner.path)
        found = scope.by_path.get(owner.container) if scope else None
        return Declaration(owner.path, scope.head(found)) if scope and found else None

    def _member(self, owner: MemberOwner, name: str) -> Meaning | None:
        """A member of a type, its own or inherited; a top-level name of a module."""
        key = (owner._replace(confidence=1.0), name)
        if key not in self._members:
            self._members[key] = None
            self._members[key] = self._find_member(key[0], name)
        found = self._members[key]
        return found.at_most(owner.confidence) if found is not None else None

    def _find_member(self, owner: MemberOwner, name: str) -> Meaning | None:
        if owner.folder:
            fitting = [c for c in self._names.named(name) if is_in_folder(c.path, owner.path)]
            return self._names.only([c for c in fitting if "." not in c.qualified_name], IN_FOLDER)
        scope = self._world.scope(owner.path)
        if scope is None:
            return None
        if not owner.container:
            return self._imports.in_module(owner.path, name)
        if name == owner.container[-1] and scope.facets.scopes.named_constructors:
            # A constructor is called like its class, and the class is what is meant.
            there = self._names.qualified(scope, [".".join(owner.container)], name, OF_TYPE)
            here = self._container(owner)
            return there or (Meaning(here, OF_TYPE) if here else None)
        own = scope.member(owner.container, name)
        if own is not None:
            is_twice = scope.facets.scopes.one_symbol == "header"
            found = self._alone(scope, own) if is_twice else None
            return (found or self._meaning(owner.path, own, OF_TYPE)).at_most(OF_TYPE)
        beside = self._beside(owner, name)
        if beside is not None:
            return beside
        inherited = self._inherited(scope, owner, name)
        numbers = scope.by_path.get(owner.container, ())
        if inherited is not None and any(name in scope.attributes(n) for n in numbers):
            # The class sets it itself, perhaps to something else.
            return inherited.at_most(GUESS)
        return inherited

    def _inherited(self, scope: FileScope, owner: MemberOwner, name: str) -> Meaning | None:
        declared = [Declaration(owner.path, n) for n in scope.by_path.get(owner.container, ())]
        kinds = {self.item(declaration).kind for declaration in declared}
        if not kinds & CONTAINERS - ADDITIONS:
            # What the file adds to a type that another one declares.
            whole = ".".join(owner.container)
            there = self._names.qualified(scope, [whole], owner.container[-1], OF_TYPE)
            if there is not None and there.declaration is not None:
                declared.append(there.declaration)
        for declaration in declared:
            for meaning, _, _ in self.bases(declaration):
                base = self._values.held(meaning) if meaning is not None else None
                found = self._member(base, name) if isinstance(base, MemberOwner) else None
                if found is not None:
                    return found
        return None

    def _beside(self, owner: MemberOwner, name: str) -> Meaning | None:
        """A member declared in another file than its type: Go, Rust, extensions, C++ sources."""
        qualified = ".".join((*owner.container, name))
        fitting = [c for c in self._names.named(name) if c.qualified_name == qualified]
        near = [c for c in fitting if dirname(c.path) == dirname(owner.path)]
        return self._names.only(near or fitting, OF_TYPE)

    def _meaning(self, path: str, index: int, confidence: float) -> Meaning:
        return Meaning(Declaration(path, index), confidence)
