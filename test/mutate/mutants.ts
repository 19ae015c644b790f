import { parseSync, traverse, types as t } from '@babel/core';
import type { NodePath } from '@babel/core';

/** One small change of a source text. */
export interface Mutant {
  /** Relative to the root of the checkout: `src/bus/redis/redis-bus.ts`. */
  readonly file: string;
  /** What kind of change it is: `comparison`, `removed call`. */
  readonly kind: string;
  /** The range of the source text that is replaced. */
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
  /** Index of the enclosing function in `SourceMutants.functions`; -1 for code that runs when the module is loaded. */
  readonly functionIndex: number;
}

export interface SourceMutants {
  /** In the order of the text. */
  readonly mutants: readonly Mutant[];
  /** Offset after the opening brace of each function with a block body. */
  readonly functions: readonly number[];
}

/** Larger numbers (times, sizes) are not mutated: no contract states them to the unit. */
const MAX_NUMBER = 128;

const OPERATORS: Readonly<Record<string, readonly string[]>> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
  '==': ['!='],
  '!=': ['=='],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '%': ['*'],
  '&': ['|'],
  '|': ['&'],
  '<<': ['>>'],
  '>>': ['<<'],
  '>>>': ['<<'],
  '&&': ['||'],
  '||': ['&&'],
  '+=': ['-='],
  '-=': ['+='],
  '*=': ['/='],
  '/=': ['*='],
  '??=': ['='],
  '||=': ['&&='],
  '&&=': ['||='],
};

const METHODS: Readonly<Record<string, string>> = {
  allSettled: 'all',
  max: 'min',
  min: 'max',
  some: 'every',
  every: 'some',
};

/** All mutants of a TypeScript source. The same text gives the same list. */
export function mutantsOf(file: string, source: string): SourceMutants {
  const mutants: Mutant[] = [];
  const functions: number[] = [];

  const add = (path: NodePath, kind: string, { start, end }: Range, replacement: string) => {
    mutants.push({ file, kind, start, end, replacement, functionIndex: functionIndexOf(path) });
  };
  const functionIndexOf = (path: NodePath) => {
    const block = path.findParent((parent) => parent.isFunction() && t.isBlockStatement(parent.node.body));
    return block ? functions.indexOf(rangeOf((block.node as t.Function).body).start + 1) : -1;
  };
  const text = (node: t.Node) => {
    const own = source.slice(rangeOf(node).start, rangeOf(node).end);
    return t.isLogicalExpression(node) || node.extra?.['parenthesized'] ? `(${own})` : own;
  };
  const replaceOperator = (path: NodePath<OperatorNode>) => {
    const { left, right, operator } = path.node;
    const between = { start: rangeOf(left).end, end: rangeOf(right).start };
    const start = source.indexOf(operator, between.start);
    for (const other of OPERATORS[operator] ?? []) {
      add(path, kindOf(operator), { start, end: start + operator.length }, other);
    }
  };

  traverse(parse(file, source), {
    TSType: (path) => path.skip(),
    TSInterfaceDeclaration: (path) => path.skip(),
    TSTypeParameterDeclaration: (path) => path.skip(),
    TSTypeParameterInstantiation: (path) => path.skip(),
    ImportDeclaration: (path) => path.skip(),
    Function(path) {
      const { body } = path.node;
      if (!t.isBlockStatement(body)) return;
      functions.push(rangeOf(body).start + 1);
      if (body.body.length > 1) add(path.get('body'), 'emptied function', rangeOf(body), '{}');
    },
    CatchClause(path) {
      if (path.node.body.body.length > 0) add(path, 'emptied catch', rangeOf(path.node.body), '{}');
    },
    TryStatement(path) {
      const { finalizer } = path.node;
      if (finalizer && finalizer.body.length > 0) add(path, 'emptied finally', rangeOf(finalizer), '{}');
    },
    IfStatement(path) {
      for (const value of ['true', 'false']) add(path, 'condition', rangeOf(path.node.test), value);
    },
    ConditionalExpression(path) {
      for (const value of ['true', 'false']) add(path, 'condition', rangeOf(path.node.test), value);
    },
    Loop(path) {
      const { node } = path;
      if (t.isWhileStatement(node) && !t.isBooleanLiteral(node.test)) {
        add(path, 'condition', rangeOf(node.test), 'false');
      } else if (t.isForOfStatement(node)) {
        add(path, 'emptied loop', rangeOf(node.body), '{}');
      }
    },
    BinaryExpression(path) {
      const isText = (node: t.Node) => t.isStringLiteral(node) || t.isTemplateLiteral(node);
      if (path.node.operator === '+' && (isText(path.node.left) || isText(path.node.right))) return;
      replaceOperator(path);
    },
    LogicalExpression(path) {
      const { node } = path;
      // `a && b ?? c` is a syntax error.
      if (node.operator === '??') add(path, 'logic', rangeOf(node), `(${text(node.left)} && ${text(node.right)})`);
      else replaceOperator(path);
      add(path, 'dropped operand', rangeOf(node), text(node.left));
      add(path, 'dropped operand', rangeOf(node), text(node.right));
    },
    UnaryExpression(path) {
      const { node } = path;
      if (node.operator === '!') add(path, 'negation', rangeOf(node), text(node.argument));
    },
    UpdateExpression(path) {
      const { node } = path;
      const { start, end } = rangeOf(node);
      const operator = node.operator === '++' ? '--' : '++';
      add(path, 'update', node.prefix ? { start, end: start + 2 } : { start: end - 2, end }, operator);
    },
    AssignmentExpression(path) {
      if (path.node.operator !== '=') replaceOperator(path);
    },
    BooleanLiteral(path) {
      add(path, 'boolean', rangeOf(path.node), `${!path.node.value}`);
    },
    NumericLiteral(path) {
      const { value } = path.node;
      if (path.parentPath.isTSEnumMember() || !Number.isInteger(value) || value > MAX_NUMBER) return;
      add(path, 'number', rangeOf(path.node), `${value === 0 ? 1 : value - 1}`);
    },
    OptionalMemberExpression(path) {
      if (!path.node.optional) return;
      const start = rangeOf(path.node.object).end;
      const dot = source.indexOf('?.', start);
      add(path, 'optional chain', { start: dot, end: dot + 2 }, path.node.computed ? '' : '.');
    },
    MemberExpression(path) {
      const { property, computed } = path.node;
      if (computed || !t.isIdentifier(property) || !Object.hasOwn(METHODS, property.name)) return;
      if (path.parentPath.isCallExpression()) add(path, 'method', rangeOf(property), METHODS[property.name]!);
    },
    ExpressionStatement(path) {
      const kind = removalOf(path.node.expression);
      if (kind) add(path, kind, rangeOf(path.node), ';');
    },
  });
  mutants.sort((a, b) => a.start - b.start || a.end - b.end);
  return {
    mutants: mutants.filter((mutant) => mutant.replacement !== source.slice(mutant.start, mutant.end)),
    functions,
  };
}

/** The source text with the mutant applied. */
export function applyMutant(source: string, { start, end, replacement }: Mutant): string {
  return source.slice(0, start) + replacement + source.slice(end);
}

interface Range {
  readonly start: number;
  readonly end: number;
}

type OperatorNode = t.BinaryExpression | t.LogicalExpression | t.AssignmentExpression;

function parse(file: string, source: string): t.File {
  const parsed = parseSync(source, { filename: file, sourceType: 'module' });
  if (!parsed) throw new Error(`${file}: Babel ignores this file`);
  return parsed;
}

/** The range of a node without parentheses around it. */
function rangeOf(node: t.Node): Range {
  return { start: node.start!, end: node.end! };
}

function kindOf(operator: string): string {
  if (operator === '&&' || operator === '||') return 'logic';
  if (/^[<>]=?$/.test(operator)) return 'comparison';
  if (/^[!=]==?$/.test(operator)) return 'equality';
  return operator.endsWith('=') ? 'assignment' : 'arithmetic';
}

function removalOf(expression: t.Expression): string | undefined {
  let inner: t.Expression = expression;
  while (t.isUnaryExpression(inner, { operator: 'void' }) || t.isAwaitExpression(inner)) inner = inner.argument;
  if (t.isCallExpression(inner)) return t.isSuper(inner.callee) ? undefined : 'removed call';
  if (t.isOptionalCallExpression(inner)) return 'removed call';
  if (t.isAssignmentExpression(inner) || t.isUpdateExpression(inner)) return 'removed assignment';
  return t.isUnaryExpression(inner, { operator: 'delete' }) ? 'removed deletion' : undefined;
}
