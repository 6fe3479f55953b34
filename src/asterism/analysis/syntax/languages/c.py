"""C: functions, prototypes, records, typedefs, globals, macros, includes."""

from tree_sitter import Node

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.conventions import Conventions
from asterism.analysis.syntax.draft import Draft, Level
from asterism.analysis.syntax.language import Language, Rule
from asterism.analysis.syntax.languages import c_declarations as declarations
from asterism.analysis.syntax.languages import c_preprocessor as preprocessor
from asterism.analysis.syntax.rules import binds_children, skip, transparent

IDENTIFIERS = frozenset({"identifier", "type_identifier", "field_identifier"})

SKIPPED = frozenset(
    {"string_literal", "char_literal", "number_literal", "system_lib_string", "preproc_arg"}
)

STATEMENTS = {
    "preproc_call": "directive",
    "if_statement": "control",
    "for_statement": "control",
    "while_statement": "control",
    "do_statement": "control",
    "switch_statement": "control",
    "return_statement": "control",
    "compound_statement": "control",
    "labeled_statement": "control",
    "goto_statement": "control",
}

# Neither language has doc comments of its own: what stands directly above documents.
CONVENTIONS = Conventions(
    identifiers=IDENTIFIERS,
    comments=frozenset({"comment"}),
    skipped=SKIPPED,
    members={"field_expression": ("argument", "field")},
    statements=STATEMENTS,
    doc_prefixes=("",),
    gap_kind="directive",
    terminators=(";", "="),
)


def linkage(builder: Builder, node: Node) -> bool:
    """`extern "C"`: a block only groups, before one declaration it is part of it."""
    body = node.child_by_field_name("body")
    if body is not None and body.type == "declaration_list":
        builder.claimed = True
    else:
        builder.wrap(node, ("extern",))
    return True


def empty_statement(builder: Builder, node: Node) -> bool:
    """A lone `;`, as after a macro or a namespace, says nothing."""
    if not node.named_child_count:
        builder.claimed = True
    return True


def labeled(builder: Builder, node: Node) -> bool:
    """In a class the grammar misread, `public:` and its like look like labels."""
    owner = builder.owner
    label = builder.field_text(node, "label")
    if builder.level is Level.TYPE and owner is not None and label in declarations.ACCESS:
        owner.tags[:] = [label]
    return True


def exported(draft: Draft, builder: Builder) -> bool:
    """Whatever is not `static`, nor inside something that is hidden."""
    if draft.parent is not None:
        above = builder.drafts[draft.parent]
        if above.is_root:
            return "static" not in draft.modifiers
        return above.exported and above.level is not Level.FUNCTION
    return "static" not in draft.modifiers


def finish(builder: Builder) -> None:
    """Take off the access that was kept on a class while its members were read."""
    for draft in builder.drafts:
        draft.tags.clear()


RULES: dict[str, Rule] = {
    "preproc_include": preprocessor.include,
    "preproc_def": preprocessor.macro,
    "preproc_function_def": preprocessor.macro,
    "preproc_if": preprocessor.conditional,
    "preproc_ifdef": preprocessor.conditional,
    "preproc_elif": preprocessor.conditional,
    "preproc_elifdef": preprocessor.conditional,
    "preproc_else": preprocessor.conditional,
    "linkage_specification": linkage,
    "declaration_list": transparent,
    "function_definition": declarations.function,
    "declaration": declarations.declaration,
    "field_declaration": declarations.declaration,
    "type_definition": declarations.type_definition,
    "struct_specifier": declarations.record,
    "union_specifier": declarations.record,
    "enum_specifier": declarations.record,
    "enumerator": declarations.enumerator,
    "parameter_declaration": declarations.parameter,
    "parameter_list": binds_children,
    "expression_statement": empty_statement,
    "labeled_statement": labeled,
    "attribute_specifier": skip,
}

C = Language("c", ("tree_sitter_c", "language"), CONVENTIONS, RULES, exported, finish)
