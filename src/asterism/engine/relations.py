"""Who calls a symbol, what it calls, and which files refer to it, as deep as was asked."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from asterism.engine.connector import Connector, Questions
from asterism.engine.snapshot import Freshness, QuerySnapshot
from asterism.search.lookup import hints
from asterism.store.catalogue.catalogue import Catalogue
from asterism.structure.positions import SymbolTarget
from asterism.structure.uses import TreeOptions, call_tree
from asterism.types.errors import UsageError
from asterism.types.files import display_path
from asterism.types.index import FoundSymbol, Role, SymbolPage, SymbolQuery, symbol_query
from asterism.types.request_limits import check_text
from asterism.types.structure import CallTree, Connections, Edge, Fact, SymbolPlace

# Definitions of one name that are looked at; more are counted and said.
MOST_SYMBOLS = 10
MOST_DEPTH = 10
# Of files whose path begins alike; no file has more definitions of one name.
IN_ONE_FILE = 1_000
# What a section of a text is called by its kind.
_HEADING = "section"


class Relation(StrEnum):
    """What is asked about a symbol."""

    callers = "callers"
    callees = "callees"
    references = "references"


FACTS: Mapping[Relation, Fact] = {
    Relation.callers: Fact.callers,
    Relation.callees: Fact.calls,
    Relation.references: Fact.references,
}
"""What has to be known to answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationsRequest:
    """What someone asks about a symbol."""

    name: str
    """As `x`, `A.x`, `A::x`, `A > x` or `path > A > x`."""
    relation: Relation
    depth: int = 1
    """How many calls a way has at most; references have none."""
    below: str = ""
    """Only definitions whose path is this or begins with it; a directory ends in `/`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedSymbol:
    """One definition of the name, and what was asked about it."""

    connections: Connections
    tree: CallTree | None = None
    """Of calls; None for references."""
    unknown: Mapping[SymbolPlace, tuple[str, ...]] = field(default_factory=dict)
    """Places in the tree of which not everything is known, with the reasons."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationsReply:
    """Every definition of a name with its relations."""

    request: RelationsRequest
    related: tuple[RelatedSymbol, ...]
    total: int
    """How many definitions there are; exact."""
    did_you_mean: tuple[str, ...]
    notes: tuple[str, ...]
    state: Freshness


def check(request: RelationsRequest) -> None:
    """Refuse what cannot be answered, before anything runs."""
    check_text("name", request.name)
    if not request.name.strip():
        raise UsageError("The name is empty; give a symbol, as `TokenService.validate`.")
    if not 1 <= request.depth <= MOST_DEPTH:
        raise UsageError(f"The depth is {request.depth}; give 1 to {MOST_DEPTH}.")


def relations(
    request: RelationsRequest, snapshot: QuerySnapshot, connector: Connector
) -> RelationsReply:
    """Look a name up and follow its relations in the files as they are now."""
    repository, catalogue = snapshot.registered.repository, snapshot.catalogue
    snapshot.check_known()
    page = _definitions(request, repository.name, catalogue)
    alike = () if page.total else hints(catalogue, request.name)
    questions = connector.questions(snapshot)
    targets = [*map(_target, page.rows)]
    answers = questions.ask(targets)
    gone = [target for target, known in zip(targets, answers, strict=True) if known is None]
    found = [answer for answer in answers if answer is not None]
    known = {_answer_of(answer, request.relation): answer for answer in reversed(found)}
    related = [_related(answer, request, questions) for answer in reversed(known.values())]
    return RelationsReply(
        request=request,
        related=tuple(related),
        # Declarations of one symbol, as overloads are, count once.
        total=page.total - len(targets) + len(known),
        did_you_mean=alike,
        notes=tuple(dict.fromkeys([*questions.notes, *map(_gone, gone)])),
        state=snapshot.freshness,
    )


def _definitions(request: RelationsRequest, repo: str, catalogue: Catalogue) -> SymbolPage:
    """The definitions that are looked at, and how many there are."""
    is_file = bool(request.below) and not request.below.endswith("/")
    query = SymbolQuery(
        request.name,
        roles=(Role.DEFINITION,),
        repos=(repo,),
        path_prefix=(request.below,) if request.below else (),
        limit=IN_ONE_FILE if is_file else MOST_SYMBOLS,
    )
    wanted = symbol_query(request.name, query)
    page = _without_headings(wanted, catalogue)
    if not page.total:
        page = catalogue.find_symbols(replace(wanted, by_end=True))
    if not is_file:
        return page
    # Other files may have names that begin like this one's.
    rows = [found for found in page.rows if found.row.filepath == request.below]
    return SymbolPage(tuple(rows[:MOST_SYMBOLS]), len(rows))


def _without_headings(query: SymbolQuery, catalogue: Catalogue) -> SymbolPage:
    """The definitions in code; headings of texts only where there are no others."""
    headings = catalogue.find_symbols(replace(query, kinds=(_HEADING,), limit=1)).total
    if not headings:
        return catalogue.find_symbols(query)
    # Each heading may stand before a definition that is wanted.
    page = catalogue.find_symbols(replace(query, limit=query.limit + headings))
    code = [found for found in page.rows if found.row.kind != _HEADING]
    rows = (code or page.rows)[: query.limit]
    return SymbolPage(tuple(rows), page.total - headings if code else page.total)


def _answer_of(answer: Connections, relation: Relation) -> Hashable:
    """What tells answers apart: declarations of one name in one file may have the same one."""
    symbol = answer.symbol
    if relation is Relation.callees:
        return symbol.path, symbol.name, symbol.kind, answer.calls
    uses = (answer.callers, answer.users, answer.subtypes, answer.references)
    # Where nothing was found there is nothing that they share.
    return symbol.path, symbol.name, symbol.kind, uses if any(uses) else symbol.line


def _related(answer: Connections, request: RelationsRequest, questions: Questions) -> RelatedSymbol:
    if request.relation is Relation.references:
        return RelatedSymbol(connections=answer)
    unknown: dict[SymbolPlace, tuple[str, ...]] = {}
    root = answer.symbol
    edges = _edges(request.relation, answer, questions, unknown)
    tree = call_tree(root, edges, TreeOptions(depth=request.depth))
    return RelatedSymbol(connections=answer, tree=tree, unknown=unknown)


def _edges(
    relation: Relation,
    root: Connections,
    questions: Questions,
    unknown: dict[SymbolPlace, tuple[str, ...]],
) -> Callable[[SymbolPlace], Sequence[Edge]]:
    """The calls at a place; what is not known there is noted."""

    def edges(place: SymbolPlace) -> Sequence[Edge]:
        if place.path is None or place.line is None:
            return ()
        found: Connections | None = root
        if place != root.symbol:
            found = questions.ask([SymbolTarget(place.path, place.name, place.line)])[0]
        if found is None:
            unknown[place] = ("it is not in its file any more",)
            return ()
        reasons = tuple(gap.why for gap in found.gaps if FACTS[relation] in gap.facts)
        if reasons:
            unknown[place] = reasons
        return found.callers if relation is Relation.callers else found.calls

    return edges


def _gone(target: SymbolTarget) -> str:
    return (
        f"{target.name} is not in {display_path(target.path)} any more since it was indexed; it is "
        "left out."
    )


def _target(found: FoundSymbol) -> SymbolTarget:
    return SymbolTarget(found.row.filepath, found.row.qualified_name, found.row.line)
