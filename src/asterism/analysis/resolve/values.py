"""What type a value has: by its declaration, by what made it, by what it was set to."""

from typing import Protocol

from asterism.analysis.resolve.candidates import (
    GUESS,
    IMPORTED,
    OF_TYPE,
    Declaration,
    Meaning,
    NameLookup,
    World,
)
from asterism.analysis.resolve.receivers import (
    MAKERS,
    MemberOwner,
    alias_of,
    at_most,
    foreign,
    is_this,
    split_chain,
)
from asterism.analysis.resolve.scopes import CONTAINERS, Binding, FileScope
from asterism.analysis.resolve.variables import Local, property_type, returned_head, type_head
from asterism.types.outline import Item, Reference

# The words by which a function says that it returns an object of its own type.
OWN_TYPE = frozenset({"Self", "self", "this", "static"})


class Finder(Protocol):
    """What values ask about names."""

    def bare(self, scope: FileScope, name: str, enclosing: int | None) -> Meaning | None:
        """What a name without a receiver means."""
        ...

    def of(self, scope: FileScope, text: str, reference: Reference, at: int) -> Meaning | None:
        """What a name behind a receiver means."""
        ...

    def owner(
        self, scope: FileScope, text: str, enclosing: int | None, at: int
    ) -> MemberOwner | Meaning | None:
        """What a receiver means."""
        ...

    def module_owner(self, scope: FileScope, binding: Binding) -> MemberOwner | Meaning | None:
        """What an imported name means."""
        ...


class Values:
    """Finds the types of values; what was found once is kept."""

    def __init__(self, world: World, names: NameLookup, finder: Finder) -> None:
        self._world = world
        self._names = names
        self._finder = finder
        self._local: dict[tuple[str, int, str], MemberOwner | Meaning | None] = {}
        self._held: dict[Declaration, MemberOwner | Meaning | None] = {}
        self._attributes: dict[tuple[str, tuple[str, ...], str], MemberOwner | Meaning | None] = {}

    def _item(self, declaration: Declaration) -> Item | None:
        scope = self._world.scope(declaration.path)
        return scope.outline.items[declaration.number] if scope else None

    def variable(
        self, scope: FileScope, name: str, enclosing: int | None, at: int
    ) -> tuple[bool, MemberOwner | Meaning | None]:
        """Whether a name is a variable of the functions around, and the owner if it has one."""
        number = enclosing
        while number is not None:
            if scope.outline.items[number].kind in CONTAINERS:
                return (
                    self._parameter(scope, name, number)
                    if scope.facets.types.header_constructors
                    else (False, None)
                )
            places = scope.locals(number).get(name, ())
            start = scope.body_start(number)
            before = [local for local in places if start + local.at < at < start + local.until]
            is_import = name in scope.bindings and not scope.outline.items[number].is_symbol
            if before and not is_import:
                owner = self._place_owner(scope, name, before, number)
                return True, owner
            is_parameter, owner = self._parameter(scope, name, number)
            if is_parameter:
                return True, owner
            number = scope.outline.items[number].parent
        return False, None

    def _parameter(
        self, scope: FileScope, name: str, number: int
    ) -> tuple[bool, MemberOwner | Meaning | None]:
        for parameter in scope.header(number).parameters:
            if parameter.name == name:
                head = type_head(parameter.type) if parameter.type else None
                return True, self.typed(scope, head, number)
        return False, None

    def _place_owner(
        self, scope: FileScope, name: str, places: list[Local], number: int
    ) -> MemberOwner | Meaning | None:
        """The owner by the last setting before a use; a declared type holds for all of them."""
        declared = [local for local in places if local.type]
        if scope.facets.types.fixed and declared:
            return self.typed(scope, declared[-1].type, number)
        last = self._local_owner(scope, name, places[-1], number)
        if scope.facets.types.fixed or len(places) == 1 or not isinstance(last, MemberOwner):
            return last
        others = {self._local_owner(scope, name, local, number) for local in places[:-1]}
        return last if others <= {last, None} else last._replace(confidence=GUESS)

    def _local_owner(
        self, scope: FileScope, name: str, local: Local, number: int
    ) -> MemberOwner | Meaning | None:
        key = (scope.path, scope.body_start(number) + local.at, name)
        if key not in self._local:
            self._local[key] = None
            self._local[key] = self._find_local(scope, local, number, key[1])
        return self._local[key]

    def _find_local(
        self, scope: FileScope, local: Local, number: int | None, at: int
    ) -> MemberOwner | Meaning | None:
        if local.type is not None:
            return self.typed(scope, local.type, number)
        if local.alias is not None:
            return self._finder.owner(scope, local.alias, number, at)
        if local.maker is not None:
            return self.made(scope, local.maker, number, at)
        return None

    def typed(
        self, scope: FileScope, head: str | None, enclosing: int | None
    ) -> MemberOwner | Meaning | None:
        """The owner of a value by its type's name; a type that is not found is foreign."""
        if head is None:
            return None
        if not head:
            return foreign(OF_TYPE, None)
        return self._type_owner(scope, head, enclosing) or foreign(OF_TYPE, head)

    def made(
        self, scope: FileScope, maker: str, enclosing: int | None, at: int
    ) -> MemberOwner | Meaning | None:
        """The owner of what a function returns, by the type that its signature names."""
        package, name = split_chain(maker)
        if package:
            place = Reference(name, 1, 0, package, enclosing, False)
            meaning = self._finder.of(scope, package, place, at)
        else:
            meaning = self._finder.bare(scope, name, enclosing)
        if name in MAKERS and package and (meaning is None or meaning.confidence <= GUESS):
            # Of a type that does not say how it is made, this makes one.
            return self._finder.owner(scope, package, enclosing, at)
        if meaning is None and not package and name[:1].isupper():
            # A type that no file declares.
            return foreign(OF_TYPE, name)
        if meaning is None or meaning.declaration is None:
            return meaning
        item = self._item(meaning.declaration)
        if item is None or item.kind in CONTAINERS:
            return self.held(meaning)
        return self._returned(meaning)

    def _returned(self, meaning: Meaning) -> MemberOwner | Meaning | None:
        if meaning.declaration is None:
            return meaning
        path, number = meaning.declaration
        made = self._world.scope(path)
        if made is None:
            return None
        item = made.outline.items[number]
        if item.kind == "constructor" or item.name == "initialize":
            container = made.container_of(number)
            return (
                MemberOwner(path, container, confidence=meaning.confidence) if container else None
            )
        head = returned_head(made.header(number).returns, made.language)
        if not head:
            return None if head is None else foreign(OF_TYPE, None)
        if head in OWN_TYPE:
            container = made.container_of(number)
            return (
                MemberOwner(path, container, confidence=meaning.confidence) if container else None
            )
        owner = self._type_owner(made, head, item.parent) or foreign(OF_TYPE, head)
        return at_most(owner, meaning.confidence)

    def _type_owner(
        self, scope: FileScope, type_name: str, enclosing: int | None
    ) -> MemberOwner | Meaning | None:
        name = type_name.lstrip("\\")
        package, _, last = name.replace("::", ".").replace("\\", ".").rpartition(".")
        if package and scope.facets.imports.form == "namespace":
            meaning = self._names.in_package(scope, name.rpartition("\\")[0], last, IMPORTED)
        elif package:
            # A type of an imported package: `store.Box`.
            written = name[: len(package)]
            place = Reference(last, 1, 0, written, enclosing, False)
            meaning = self._finder.of(scope, written, place, 0)
            if meaning is not None and meaning.confidence <= GUESS:
                return None
        else:
            binding = scope.bindings.get(last)
            if binding is not None and scope.lexical(last, enclosing) is None:
                whole = self._finder.module_owner(scope, binding)
                if whole is not None:
                    return whole
            meaning = self._finder.bare(scope, last, enclosing)
        return None if meaning is None else self.held(meaning)

    def held(self, meaning: Meaning) -> MemberOwner | Meaning | None:
        """The type itself, or the declared type of a property or variable."""
        if meaning.declaration is None:
            return meaning
        if meaning.declaration not in self._held:
            # What leads back to itself has no owner.
            self._held[meaning.declaration] = None
            self._held[meaning.declaration] = self._find_held(meaning.declaration)
        return at_most(self._held[meaning.declaration], meaning.confidence)

    def _find_held(self, declaration: Declaration) -> MemberOwner | Meaning | None:
        path, number = declaration
        scope = self._world.scope(path)
        if scope is None:
            return None
        item = scope.outline.items[number]
        alias = alias_of(item, scope.language) if not item.children else None
        if alias is not None:
            return self._type_owner(scope, alias, item.parent)
        facets = scope.facets
        is_space = item.kind in ("namespace", "module") and not item.children
        if facets.types.declared_modules and is_space:
            inner = facets.imports.submodule.format(item.name)
            file = self._world.module(path, scope.language, inner)
            return MemberOwner(file) if file else None
        if facets.types.alias_values and is_this(item):
            return MemberOwner(path, item.path[:-1])
        if item.kind in CONTAINERS:
            return MemberOwner(path, item.path)
        if item.kind in ("function", "method", "macro"):
            return None
        return self._value_owner(scope, number)

    def _value_owner(self, scope: FileScope, number: int) -> MemberOwner | Meaning | None:
        """The owner of what a property or a variable holds."""
        item = scope.outline.items[number]
        head = property_type(item.name.lstrip("@$"), item.signature, scope.language)
        if head:
            return self.typed(scope, head, item.parent)
        if any(
            len(path) > len(item.path) and path[: len(item.path)] == item.path
            for path in scope.by_path
        ):
            # An object that is made in place, or a table of Lua: its members stand below its name.
            return MemberOwner(scope.path, item.path)
        if head == "":
            return foreign(OF_TYPE, None)
        text = scope.source[item.name_offset : item.span.end].decode("latin-1")
        places = scope.locals_in(text).get(item.name.lstrip("$"), ())
        return self._find_local(scope, places[0], item.parent, item.span.end) if places else None

    def attribute(self, owner: MemberOwner, name: str) -> MemberOwner | Meaning | None:
        """An object's own variable, by what the methods of its class set it to."""
        key = (owner.path, owner.container, name)
        if key not in self._attributes:
            self._attributes[key] = None
            self._attributes[key] = self._find_attribute(owner, name)
        return at_most(self._attributes[key], owner.confidence)

    def _find_attribute(self, owner: MemberOwner, name: str) -> MemberOwner | Meaning | None:
        scope = self._world.scope(owner.path)
        for index in scope.by_path.get(owner.container, ()) if scope else ():
            places = scope.attributes(index).get(name, ()) if scope else ()
            for local in places:
                within = scope.function_at(local.at, index) if scope else index
                found = self._find_local(scope, local, within, local.at) if scope else None
                if found is not None:
                    return found
        return None
