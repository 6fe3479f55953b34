// Counts references and calls with the classic TypeScript compiler, by a walk over every name.
//
//     node structure_oracle.js DIRECTORY_WITH_NODE_MODULES < asked.json > answered.json
//
// Asked: `root`, `projects` ({options, files} each) and `targets` ({file, pos} of a name each). It
// shares no code with the product: a name refers to a target where the checker says that one of
// its symbols has one of the target's declarations, or overrides or is overridden by it.
"use strict";

const fs = require("fs");
const path = require("path");

const ts = require(path.join(path.resolve(process.argv[2]), "node_modules", "typescript"));
const asked = JSON.parse(fs.readFileSync(0, "utf8"));
const K = ts.SyntaxKind;
const [TYPE, VALUE, NAMESPACE, ALL] = [1, 2, 4, 7];
const own = new Set(asked.projects.flatMap((project) => project.files));

const targets = asked.targets.map((target) => ({ ...target, exact: new Set(), above: new Set() }));
const answers = asked.targets.map(() => ({ found: false, accessor: false, references: [], calls: [] }));
const opened = asked.projects.map(open);
opened.forEach(describeTargets);
opened.forEach(walkAll);
process.stdout.write(JSON.stringify(answers));

function open(project) {
  const { options } = ts.convertCompilerOptionsFromJson(project.options, "/");
  const program = ts.createProgram({ rootNames: project.files, options });
  return { program, checker: program.getTypeChecker(), right: new Set(project.files), related: new Map() };
}

// ---- what the targets are

function describeTargets(view) {
  targets.forEach((target, number) => {
    if (!view.right.has(target.file)) return;
    const file = view.program.getSourceFile(target.file);
    if (!file) return;
    const node = nameAt(file, target.pos);
    const declaration = node && declarationAt(node);
    const symbol = declaration && (declaration.symbol || view.checker.getSymbolAtLocation(node));
    if (!symbol) return;
    const answer = answers[number];
    const meant = ts.isConstructorDeclaration(declaration) ? symbol : merged(view, node, symbol);
    answer.found = true;
    answer.accessor = Boolean(meant.flags & ts.SymbolFlags.Accessor);
    target.makes = ts.isConstructorDeclaration(declaration) ? declaration.parent : null;
    keysOf(meant).forEach((key) => target.exact.add(key));
    [...overridden(view, meant), ...expectedMembers(view, declaration)].forEach((base) =>
      keysOf(base).forEach((key) => target.above.add(key)),
    );
    target.meaning = meaningWith(declaration, meant.declarations);
    const alike = meant.declarations.filter((one) => target.meaning & meaningOf(one));
    const here = alike.filter((one) => one.getSourceFile() === file);
    [...new Set([assignmentOf(node), ...here])].filter(Boolean).forEach((one) => callsIn(view, one, answer.calls));
  });
}

function merged(view, node, symbol) {
  const named = isName(node) ? view.checker.getSymbolAtLocation(node) : undefined;
  return resolved(view, named || view.checker.getMergedSymbol?.(symbol) || symbol);
}

function nameAt(file, pos) {
  let node = file;
  for (;;) {
    const inner = parts(node).find((child) => child.getStart(file) <= pos && pos < child.getEnd());
    if (!inner) return node;
    if (inner.getStart(file) === pos && inner.symbol && !nameOf(inner)) return inner;
    node = inner;
  }
}

function declarationAt(node) {
  if (node.symbol) return node;
  let above = node.parent;
  while (above && !above.symbol && !ts.isSourceFile(above)) above = above.parent;
  return above;
}

// `object.name = () => …` declares what the name means there, whatever its type says; and a name
// in `const { name } = …` has the value that is taken apart.
function assignmentOf(node) {
  if (ts.isBindingElement(node.parent)) return ts.findAncestor(node, ts.isVariableDeclaration) || null;
  const whole = isAccess(node.parent) ? node.parent : node;
  return ts.isBinaryExpression(whole.parent) && whole.parent.left === whole ? whole.parent : null;
}

// A type and a value may share a name and nothing else; a class is both.
function meaningOf(declaration) {
  if (ts.isInterfaceDeclaration(declaration) || ts.isTypeAliasDeclaration(declaration)) return TYPE;
  if (ts.isClassLike(declaration) || ts.isEnumDeclaration(declaration)) return TYPE | VALUE;
  return ts.isModuleDeclaration(declaration) ? VALUE | NAMESPACE : VALUE;
}

function meaningWith(declaration, others) {
  let meaning = meaningOf(declaration);
  for (const one of [...others, ...others]) if (meaningOf(one) & meaning) meaning |= meaningOf(one);
  return meaning;
}

function meaningAt(node) {
  const above = node.parent;
  if (useOf(node) === "imports" || ts.isQualifiedName(above) || ts.findAncestor(node, ts.isJSDoc)) return ALL;
  if (above.name === node && declares(above)) return meaningOf(above);
  if (ts.isPartOfTypeNode(node)) return TYPE;
  const whole = outermost(node);
  return ts.isExpressionWithTypeArguments(whole.parent) ? TYPE | VALUE : VALUE;
}

// ---- references

function walkAll(view) {
  for (const name of view.right) {
    const file = view.program.getSourceFile(name);
    if (file) visit(view, file, file);
  }
}

function visit(view, file, node) {
  if (isName(node)) take(view, file, node);
  parts(node).forEach((child) => visit(view, file, child));
  (node.jsDoc || []).forEach((comment) => visit(view, file, comment));
}

function take(view, file, node) {
  const symbols = symbolsAt(view, node);
  if (!symbols.length) return;
  const exact = new Set(symbols.flatMap(keysOf));
  const above = new Set(symbols.flatMap((symbol) => overridden(view, symbol).flatMap(keysOf)));
  targets.forEach((target, number) => {
    const relation = target.makes ? made(target, node, exact) : relationOf(target, exact, above);
    if (!relation || relation === "a sibling") return;
    if (relation === "itself" && !(target.meaning & meaningAt(node))) return;
    answers[number].references.push({ file: file.fileName, pos: node.getStart(file), use: useOf(node), relation });
  });
}

function relationOf(target, exact, above) {
  if (meet(target.exact, exact)) return "itself";
  if (meet(target.above, exact)) return "its base";
  if (meet(target.exact, above)) return "an override";
  return meet(target.above, above) ? "a sibling" : null;
}

// Who makes an object calls its constructor.
function made(target, node, exact) {
  const called = outermost(node);
  const isMade = called.parent && ts.isNewExpression(called.parent) && called.parent.expression === called;
  return isMade && exact.has(key(target.makes)) ? "itself" : null;
}

function symbolsAt(view, node) {
  const { checker } = view;
  const found = [checker.getSymbolAtLocation(node)];
  const above = node.parent;
  if (ts.isShorthandPropertyAssignment(above) && above.name === node) {
    found.push(checker.getShorthandAssignmentValueSymbol(above));
  }
  if (ts.isExportSpecifier(above)) found.push(checker.getExportSpecifierLocalTargetSymbol(above));
  if (ts.isBindingElement(above) && above.name === node && !above.propertyName && !above.dotDotDotToken) {
    if (ts.isObjectBindingPattern(above.parent)) {
      found.push(checker.getPropertyOfType(checker.getTypeAtLocation(above.parent), node.text));
    }
  }
  const isElement = ts.isObjectLiteralElementLike(above) || ts.isJsxAttribute(above);
  if (isElement && above.name === node) found.push(...fromContext(checker, above, node));
  return [...new Set(found.filter(Boolean).map((symbol) => resolved(view, symbol)))];
}

// `{ name: … }` refers to the member of the type that is expected there.
function fromContext(checker, element, node) {
  const expected = checker.getContextualType(element.parent);
  if (!expected) return [];
  const types = expected.isUnion() ? expected.types : [expected];
  // Of several types those are not meant that another property of the literal rules out.
  const literal = element.parent;
  const isRuledOut = (type) => checker.isTypeInvalidDueToUnionDiscriminant?.(type, literal) === true;
  const isChoice = types.length > 1 && (ts.isObjectLiteralExpression(literal) || ts.isJsxAttributes(literal));
  const meant = isChoice ? types.filter((type) => !isRuledOut(type)) : types;
  const found = meant.map((type) => checker.getPropertyOfType(type, node.text)).filter(Boolean);
  return found.length ? found : types.map((type) => checker.getPropertyOfType(type, node.text));
}

// A member of an object literal stands for the member of the type that is expected there.
function expectedMembers(view, declaration) {
  const name = nameOf(declaration);
  const isMember = ts.isObjectLiteralElementLike(declaration) && name && isName(name);
  const found = isMember ? fromContext(view.checker, declaration, name).filter(Boolean) : [];
  return found.flatMap((member) => [member, ...overridden(view, member)]);
}

function resolved(view, symbol) {
  if (!(symbol.flags & ts.SymbolFlags.Alias)) return symbol;
  const meant = view.checker.getAliasedSymbol(symbol);
  return meant.declarations?.length ? meant : symbol;
}

// The members of base classes and interfaces that a member stands for, at any height.
function overridden(view, symbol) {
  const known = view.related.get(symbol);
  if (known) return known;
  const found = new Set();
  view.related.set(symbol, []);
  const holders = new Set((symbol.declarations || []).map(holderOf));
  for (const holder of holders) {
    if (holder && (ts.isClassLike(holder) || ts.isInterfaceDeclaration(holder))) {
      climb(view, holder, symbol.escapedName, found, new Set());
    }
  }
  const bases = [...found].filter((base) => base !== symbol);
  view.related.set(symbol, bases);
  return bases;
}

// A constructor's parameter may declare a member of the class.
function holderOf(declaration) {
  const { parent } = declaration;
  return parent && ts.isParameterPropertyDeclaration(declaration, parent) ? parent.parent : parent;
}

function climb(view, holder, name, found, seen) {
  if (seen.has(holder)) return;
  seen.add(holder);
  for (const clause of holder.heritageClauses || []) {
    for (const base of clause.types) {
      const type = view.checker.getTypeAtLocation(base);
      const member = view.checker.getPropertyOfType(type, ts.unescapeLeadingUnderscores(name));
      if (member) found.add(member);
      for (const declaration of type.symbol?.declarations || []) {
        if (ts.isClassLike(declaration) || ts.isInterfaceDeclaration(declaration)) {
          climb(view, declaration, name, found, seen);
        }
      }
    }
  }
}

// ---- uses and calls

function useOf(node) {
  const above = node.parent;
  if (ts.isImportSpecifier(above) || ts.isImportClause(above) || ts.isNamespaceImport(above)) return "imports";
  if (ts.isExportSpecifier(above) || ts.isExportAssignment(above) || ts.isNamespaceExport(above)) return "imports";
  if (ts.isImportEqualsDeclaration(above)) return "imports";
  if (above.name === node && declares(above)) return "declares";
  const whole = outermost(node);
  if (isCalled(whole)) return "calls";
  return "mentions";
}

function declares(node) {
  const isElement = ts.isBindingElement(node) || ts.isPropertyAssignment(node);
  const isOther = ts.isShorthandPropertyAssignment(node) || ts.isJsxAttribute(node);
  return Boolean(node.symbol) && ts.isDeclaration?.(node) !== false && !isElement && !isOther && !isAccess(node);
}

// The expression that a name is the last part of, with what stands around it unchanged.
function outermost(node) {
  let inner = node;
  const ends = (above) =>
    (ts.isPropertyAccessExpression(above) && above.name === inner) ||
    (ts.isElementAccessExpression(above) && above.argumentExpression === inner);
  if (ends(inner.parent)) inner = inner.parent;
  while (wraps(inner.parent)) inner = inner.parent;
  return inner;
}

function wraps(node) {
  return (
    ts.isParenthesizedExpression(node) || ts.isNonNullExpression(node) || ts.isAsExpression(node) ||
    ts.isSatisfiesExpression(node) || ts.isTypeAssertionExpression(node)
  );
}

function isCalled(whole) {
  const above = whole.parent;
  if (ts.isCallExpression(above) || ts.isNewExpression(above) || ts.isDecorator(above)) {
    return above.expression === whole;
  }
  if (ts.isTaggedTemplateExpression(above)) return above.tag === whole;
  const isTag = ts.isJsxOpeningElement(above) || ts.isJsxSelfClosingElement(above);
  return isTag && above.tagName === whole;
}

function callsIn(view, declaration, found) {
  const file = declaration.getSourceFile();
  const look = (node) => {
    if (isName(node)) {
      const whole = outermost(node);
      const isAccessed = ts.isPropertyAccessExpression(node.parent) && node.parent.name === node;
      const called = isCalled(whole) && !isPageElement(node, whole);
      if (called || isAccessed) note(node, called);
    }
    parts(node).forEach(look);
  };
  const note = (node, called) => {
    const symbol = view.checker.getSymbolAtLocation(node);
    if (!symbol) return;
    const meant = resolved(view, symbol);
    if (!called && !(meant.flags & ts.SymbolFlags.Accessor)) return;
    const to = placeOf(meant);
    if (to) found.push({ pos: node.getStart(file), to });
  };
  parts(declaration).forEach(look);
}

function isPageElement(node, whole) {
  const isTag = ts.isJsxOpeningElement(whole.parent) || ts.isJsxSelfClosingElement(whole.parent);
  return isTag && whole === node && /^[a-z]/.test(node.text);
}

function placeOf(symbol) {
  if (symbol.flags & (ts.SymbolFlags.Alias | ts.SymbolFlags.TypeParameter)) return null;
  const all = symbol.declarations || [];
  const mine = all.filter((declaration) => own.has(declaration.getSourceFile().fileName));
  const first = mine.includes(symbol.valueDeclaration) ? symbol.valueDeclaration : mine[0];
  if (!first) return all.length ? { file: null, name: symbol.name } : null;
  const file = first.getSourceFile();
  const name = nameOf(first) || first;
  return { file: file.fileName, name: symbol.name, pos: name.getStart(file), local: isLocal(first) };
}

function isLocal(declaration) {
  if (ts.isParameter(declaration) || ts.isBindingElement(declaration)) return true;
  if (!ts.isVariableDeclaration(declaration)) return false;
  let above = declaration.parent;
  while (above && !ts.isFunctionLike(above) && !ts.isSourceFile(above) && !ts.isModuleBlock(above)) above = above.parent;
  return Boolean(above && ts.isFunctionLike(above));
}

// ---- small things

function parts(node) {
  const found = [];
  ts.forEachChild(node, (child) => void found.push(child));
  if (node.kind >= K.FirstJSDocNode && node.kind <= K.LastJSDocNode && Array.isArray(node.comment)) {
    found.push(...node.comment.filter((part) => !found.includes(part)));
  }
  return found;
}

function isName(node) {
  if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) return true;
  if (!ts.isStringLiteral(node) && !ts.isNumericLiteral(node)) return false;
  if (ts.isLiteralTypeNode(node.parent)) return ts.isIndexedAccessTypeNode(node.parent.parent);
  return ts.isElementAccessExpression(node.parent) ? node.parent.argumentExpression === node : node.parent.name === node;
}

function nameOf(declaration) {
  if (ts.isBinaryExpression(declaration)) return nameOf(declaration.left);
  if (ts.isElementAccessExpression(declaration)) return declaration.argumentExpression;
  return ts.getNameOfDeclaration(declaration);
}

function isAccess(node) {
  return ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node);
}

function key(declaration) {
  return `${declaration.getSourceFile().fileName}:${declaration.pos}:${declaration.kind}`;
}

function keysOf(symbol) {
  return (symbol.declarations || []).map(key);
}

function meet(some, others) {
  for (const one of some) if (others.has(one)) return true;
  return false;
}
