import assert from 'node:assert/strict';
import fc from 'fast-check';
import { execute, parse } from 'graphql';
import type { ExecutionResult } from 'graphql';
import { clientError } from '../../../src/base/errors.ts';
import type { ErrorCode } from '../../../src/base/errors.ts';
import { DocumentCache } from '../../../src/graph/documents/document-cache.ts';
import { maskErrors } from '../../../src/graph/execution/error-mask.ts';
import { Executor } from '../../../src/graph/execution/executor.ts';
import { operationOf } from '../../../src/graph/documents/cached-document.ts';
import type { Operation } from '../../../src/graph/documents/operation.ts';
import { CORPUS_SDL, corpusResolvers, schemaOf } from './corpus.ts';

const schema = schemaOf(CORPUS_SDL, corpusResolvers);

export const lot = { id: 'l1', title: 'Clock', lot_no: 3, auction: { id: 9, count: 1 } };
export const auction = {
  id: 7,
  title: 'Estate',
  count: 2,
  price: 1.5,
  is_open: true,
  status: 'OPEN',
  day: 3,
  matrix: [[1, null], null, [2]],
  strict_matrix: [[1], [2, 3]],
  tags: ['a', 'b'],
  strict_tags: [],
  lots: [lot, lot],
  maybe_lots: [lot, null],
  lot,
  parent: null,
  self: { id: 8, count: 1, title: null, strict_tags: ['x'], seller: {} },
  event: lot,
  ints: [1, 2],
};
interface Run {
  readonly operation: Operation;
  readonly executor: Executor;
}

function prepare(query: string, jitAfterUses: number, hasLocations: boolean): Run {
  const cache = new DocumentCache(schema, {
    maxLength: 150_000,
    maxTokens: 100_000,
    maxDepth: 100,
    maxAliases: 10_000,
    maxDirectives: 10_000,
    hasIntrospection: true,
    hasLocations,
    maxEntries: 10,
    maxBytes: 10_000_000,
    maxInvalidEntries: 10,
  });
  const cached = cache.get(query);
  assert.ok('document' in cached, `${query}\n${JSON.stringify(cached)}`);
  const operation = operationOf(cached);
  assert.ok(!('errors' in operation));
  return { operation, executor: new Executor(schema, { jitAfterUses }) };
}

/** As a client sees it: masked, errors in the order of their paths. */
function seen(result: ExecutionResult): unknown {
  const { data, errors } = JSON.parse(JSON.stringify(maskErrors(result, () => 'id'))) as {
    data?: unknown;
    errors?: object[];
  };
  const sorted = errors?.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  return { ...(data !== undefined && { data }), ...(sorted && { errors: sorted }) };
}

/** graphql-js gives the errors of variables, for which it executes nothing, no code. */
function withCode({ errors }: ExecutionResult, code: ErrorCode): ExecutionResult {
  return { errors: errors!.map(({ message }) => clientError(code, message)) };
}

/** Compares two runs with graphql-js; returns whether the operation is compiled. */
export async function compare(
  query: string,
  rootValue: unknown,
  variables: Record<string, unknown> | undefined,
  hasLocations = false,
): Promise<boolean> {
  const { operation, executor } = prepare(query, 1, hasLocations);
  const plan = executor.planOf(operation);
  plan.uses = 1;
  const reference = await execute({
    schema,
    document: parse(query, { noLocation: !hasLocations }),
    rootValue,
    variableValues: variables,
    options: { maxCoercionErrors: 10 },
  });
  const expected = seen(reference.data === undefined ? withCode(reference, 'BAD_USER_INPUT') : reference);
  for (const round of ['first', 'second']) {
    const result = await executor.execute(plan, { rootValue, context: {}, variables });
    assert.deepEqual(seen(result), expected, `${round} run of ${query} with ${JSON.stringify(variables)}`);
    // Longer than the random texts of clients, which results may quote.
    assert.doesNotMatch(
      JSON.stringify(seen(result)),
      /pg:\/\/user:pass|[jt]s:\d+:\d+\)?\\n +at /,
      'nothing of an internal error leaves',
    );
  }
  return Boolean(plan.compiled);
}

const leaf = fc.constantFrom(
  'id',
  'title',
  'count',
  'status',
  'day',
  'tags',
  'matrix',
  'strict_matrix',
  '__typename',
  'fails',
  'fails_async',
  'toString',
  'info_path',
  'ints',
  'promised_list',
);
const condition = fc.constantFrom(
  '',
  '',
  '',
  '@skip(if: $x)',
  '@include(if: $x)',
  '@include(if: $y)',
  '@skip(if: true)',
  '@skip(if: $x) @include(if: $y)',
);
const { selection } = fc.letrec<{ selection: string; set: string }>((tie) => ({
  set: fc.array(tie('selection'), { minLength: 1, maxLength: 4 }).map((parts) => parts.join(' ')),
  selection: fc.oneof(
    { maxDepth: 4, depthIdentifier: 'document' },
    fc.tuple(leaf, condition).map(([name, on]) => `${name} ${on}`),
    fc.tuple(leaf, condition).map(([name, on]) => `a_${name}: ${name} ${on}`),
    fc
      .tuple(fc.constantFrom('self', 'parent'), condition, tie('set'))
      .map(([name, on, set]) => `${name} ${on} { ${set} }`),
    fc.tuple(condition, tie('set')).map(([on, set]) => `... ${on} { ${set} }`),
    fc.tuple(fc.constantFrom('...F', '...G'), condition).map(([spread, on]) => `${spread} ${on}`),
    fc
      .tuple(fc.constantFrom('lot', 'lots', 'maybe_lots'), condition, tie('set'))
      .map(([name, on, set]) => `${name} ${on} { id lot_no auction { ${set} } }`),
    fc.constantFrom(
      'seller { name nick late }',
      'seller_async { name friends { late } }',
      'sellers { name }',
      'seller_required { name }',
    ),
  ),
}));

/** A subscription of conditions and fragments that is valid. */
export const documentOf = fc
  .tuple(fc.array(selection, { minLength: 1, maxLength: 5 }), fc.array(selection, { minLength: 1, maxLength: 3 }))
  .map(([main, fragment]) => {
    const body = main.join(' ');
    const inner = fragment.join(' ').replaceAll(/\.\.\.F|\.\.\.G/g, '__typename');
    const uses = (name: string) => body.includes(`...${name}`);
    return (
      `subscription($x: Boolean!, $y: Boolean!) { auction(id: 1) { ${body} u: is_open @skip(if: $x) v: is_open @skip(if: $y) } }` +
      (uses('F') ? ` fragment F on Auction { ${inner} }` : '') +
      (uses('G') ? ' fragment G on Node { id ... on Auction { count lot { id title } } }' : '')
    );
  });

/** Random documents give the result of graphql-js. */
export function documentProperty() {
  const full = {
    ...auction,
    self: { ...auction, seller: null, self: auction },
    parent: { ...auction, count: null, parent: auction },
  };
  return fc.asyncProperty(documentOf, fc.boolean(), fc.boolean(), async (query, x, y) => {
    await compare(query, { auction: full }, { x, y });
  });
}
