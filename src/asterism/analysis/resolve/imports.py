"""What an imported name means: the file of its module, and what that file passes on."""

from asterism.analysis.resolve.candidates import (
    IMPORTED,
    IN_FOLDER,
    Declaration,
    Meaning,
    NameLookup,
    World,
)
from asterism.analysis.resolve.receivers import around, foreign, returned_table
from asterism.analysis.resolve.scopes import Binding, FileScope, last_word
from asterism.types.outline import EVERYTHING

# How many files a name is followed through.
MAX_HOPS = 8


class Imports:
    """Follows the imports of one repository at one moment."""

    def __init__(self, world: World, names: NameLookup) -> None:
        self._world = world
        self._names = names

    def bound(self, scope: FileScope, binding: Binding) -> Meaning | None:
        """What a name means that an import binds; foreign where no file has it."""
        path = self._world.module(scope.path, scope.language, binding.module)
        if path is None:
            return self.in_package(scope, binding) or foreign(IMPORTED, binding.module)
        if binding.name == EVERYTHING:
            return None
        found = self.in_module(path, binding.name)
        return found or self.in_package(scope, binding)

    def starred(self, scope: FileScope, module: str, name: str) -> Meaning | None:
        """A name of a module that is imported as a whole."""
        path = self._world.module(scope.path, scope.language, module)
        if path is not None:
            return self.in_module(path, name)
        if scope.facets.imports.form == "package":
            return self._names.in_package(scope, module, name, IN_FOLDER)
        return None

    def in_package(self, scope: FileScope, binding: Binding) -> Meaning | None:
        """A type of a package that no file is called after."""
        module, name = binding.module, binding.name
        if scope.facets.imports.form in ("package", "namespace"):
            # The type is named with its package: what counts is the package.
            package = module[: -len(name)].rstrip("\\.") if last_word(module) == name else module
            return self._names.in_package(scope, package.strip("\\"), name, IMPORTED)
        if scope.facets.scopes.namespaced:
            return self._names.qualified(scope, [f"{module}.{name}", module], name, IMPORTED)
        return None

    def in_module(self, path: str, name: str, hops: int = MAX_HOPS) -> Meaning | None:
        """What a file offers under a name, through whatever it passes on."""
        scope = self._world.scope(path) if hops else None
        if scope is None:
            return None
        if scope.facets.imports.returns_table:
            table = scope.member(returned_table(scope), name)
            if table is not None:
                return Meaning(Declaration(path, table), IMPORTED)
        for offer in scope.exported(name):
            if isinstance(offer, str):
                found = self._own(scope, offer, hops)
            else:
                found = self._passed_on(scope, offer, hops)
            if found is not None:
                return found
        found = self._own(scope, name, hops)
        if found is not None or not scope.facets.imports.passes_stars:
            return found
        for module in scope.starred:
            found = self._passed_on(scope, Binding(module, name), hops)
            if found is not None:
                return found
        return None

    def aliased(self, scope: FileScope, text: str, enclosing: int | None) -> Meaning:
        """A module by its whole name, through the aliases of the file."""
        first, dot, rest = text.partition(".")
        binding = scope.bindings.get(first)
        whole = f"{binding.module}{dot}{rest}" if binding else text
        inside = [f"{space}{text}" for space in around(scope, enclosing)]
        for last in (whole, whole.rpartition(".")[2]):
            found = self._names.qualified(scope, [whole, *inside], last, IMPORTED)
            if found is not None:
                return found
        return foreign(IMPORTED, whole)

    def by_path(self, scope: FileScope, text: str) -> str | None:
        """The file of a path, whose first step may be imported."""
        joint = scope.facets.imports.joint
        steps = text.split(joint)
        bound = scope.bindings.get(steps[0])
        if bound is not None and bound.name == "self":
            steps = [*bound.module.split(joint), *steps[1:]]
        elif bound is not None:
            steps = [*bound.module.split(joint), bound.name, *steps[1:]]
        return self._world.module(scope.path, scope.language, joint.join(steps))

    def _own(self, scope: FileScope, name: str, hops: int) -> Meaning | None:
        own = scope.top_level(name)
        if own is not None:
            return Meaning(Declaration(scope.path, own), IMPORTED)
        bound = scope.bindings.get(name)
        return self._passed_on(scope, bound, hops) if bound else None

    def _passed_on(self, scope: FileScope, binding: Binding, hops: int) -> Meaning | None:
        target = self._world.module(scope.path, scope.language, binding.module)
        return self.in_module(target, binding.name, hops - 1) if target else None
