import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { ExecutionResult } from 'graphql';
import { parseExactly } from '../../src/base/json/exact-numbers.ts';
import { createLog } from '../../src/base/log.ts';
import { DocumentCache } from '../../src/graph/documents/document-cache.ts';
import { RequestedDocuments } from '../../src/graph/documents/requested-documents.ts';
import type { ChannelSource } from '../../src/graph/event-source.ts';
import { Executor } from '../../src/graph/execution/executor.ts';
import { withNumbers } from '../../src/graph/execution/number-variables.ts';
import { buildGraph } from '../../src/graph/loading/build-graph.ts';
import { TextPayload } from '../../src/graph/payload.ts';
import { createRouters } from '../../src/graph/router.ts';
import { GraphRuntime } from '../../src/graph/runtime.ts';
import type { Conversion } from '../../src/kafka/batch.ts';
import { Converter } from '../../src/kafka/decoding/converter.ts';
import { SnakeCase } from '../../src/kafka/decoding/snake-case.ts';
import { EXECUTION_PATHS } from '../gateway/fanout/execution-paths.ts';
import { factsOf } from '../gateway/fanout/stage.ts';
import { replyOf } from '../graph/context/reply-of.ts';
import { areEqual, compared, digitsOf, isBeyondDouble, isInteger } from './decimal.ts';
import type { FuzzKind } from './kind.ts';
import { jsonOf, written } from './written.ts';
import type { Written } from './written.ts';

const OPERATORS = ['EQ', 'NE', 'IN', 'LT', 'LTE', 'GT', 'GTE', 'CONTAINS'] as const;
type Operator = (typeof OPERATORS)[number];
const TYPES = ['ID', 'BigInt', 'Long'] as const;
type ArgumentType = (typeof TYPES)[number];

const filtered = OPERATORS.flatMap((op) =>
  TYPES.map((type) => {
    const given = op === 'IN' ? `[${type}!]` : type;
    const path = op === 'CONTAINS' ? 'list' : 'id';
    return `${op}_${type}(n: ${given}): Row @kafka(topic: "t", where: [{ arg: "n", path: "${path}", op: ${op} }])`;
  }),
);
const matched = TYPES.flatMap((type) => [
  `match_${type}(n: ${type}): Row @kafka(topic: "t", match: [{ arg: "n", path: "id" }])`,
  `matches_${type}(n: [${type}!]): Row @kafka(topic: "t", match: [{ arg: "n", path: "id" }])`,
]);
const SDL = `
  scalar BigInt
  scalar Long
  type Subscription {
    ${[...filtered, ...matched].join('\n')}
    mine: Row @kafka(topic: "t", where: [{ claim: "tenant", path: "tenant" }])
  }
  type Row { id: ID tenant: ID text: String big: BigInt long: Long float: Float int: Int list: [BigInt] }`;
/** Of arguments and claims. */
const MAX_LENGTHS: Readonly<Record<string, number>> = { CONTAINS: 256, mine: 256 };
const ROW = '{ id text big long float int list }';
const LIMITS = { maxBytes: 1_048_576, maxDepth: 64 };
const DOCUMENT_LIMITS = {
  ...{ maxLength: 15_000, maxTokens: 1000, maxDepth: 8, maxAliases: 15, maxDirectives: 50 },
  ...{ hasIntrospection: true, hasLocations: false, maxEntries: 500, maxBytes: 10_000_000, maxInvalidEntries: 10 },
};

interface Row {
  readonly id: Written;
  readonly tenant: Written;
}

interface Client {
  readonly field: Operator | 'match' | 'matches' | 'mine';
  readonly type: ArgumentType;
  readonly n: Written;
  readonly tenant: Written;
  readonly isLiteral: boolean;
}

const centers = [0n, 7n, 2n ** 31n, 2n ** 53n, 2n ** 63n, 2n ** 64n, 10n ** 21n, 10n ** 22n, 10n ** 308n, 10n ** 400n];
const whole = fc
  .tuple(fc.constantFrom(...centers.flatMap((center) => [center, -center])), fc.bigInt({ min: -3n, max: 3n }))
  .map(([center, offset]) => String(center + offset));
/** Other texts of integers, and fractions. */
const other = fc.oneof(
  whole.map((digits) => `${digits}.0`),
  whole.map((digits) => `${digits}e0`),
  whole.map((digits) => (digits === '0' ? '0E-2' : `${digits}00E-2`)),
  whole.map((digits) => `${digits.slice(0, -1)}${/^-?\d$/.test(digits) ? '0' : ''}.${digits.slice(-1)}e+1`),
  whole.map((digits) => `${digits}.5`),
  fc
    .tuple(fc.constantFrom('1', '-9', '123456789', '9007199254740993'), fc.integer({ min: -30, max: 320 }))
    .map(([digits, exponent]) => `${digits}e${exponent}`),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => JSON.stringify(number)),
  fc.constantFrom('-0', '-0.0', '0e5', '1e400', '-1e400', '0.1', '0.10000000000000000555'),
);
const poolOf = fc.record({
  whole: fc.array(whole, { minLength: 2, maxLength: 6 }),
  other: fc.array(other, { maxLength: 4 }),
});
const casesOf = poolOf.chain((pool) => {
  const any = written(...pool.whole, ...pool.other);
  const client = fc.record<Client>({
    field: fc.constantFrom(...OPERATORS, 'match', 'matches', 'mine'),
    type: fc.constantFrom(...TYPES),
    n: written(...pool.whole, ...pool.other.filter(isInteger)),
    tenant: any,
    isLiteral: fc.boolean(),
  });
  return fc.record({
    clients: fc.array(client, { minLength: 1, maxLength: 8 }),
    rows: fc.array(fc.record<Row>({ id: any, tenant: any }), { minLength: 100, maxLength: 100 }),
    path: fc.constantFrom(...EXECUTION_PATHS.keys()),
  });
});

const isDigits = (text: string) => /^(0|-?[1-9]\d*)$/.test(text);
const isLong = (text: string) => BigInt.asIntN(64, BigInt(text)) === BigInt(text);

/** The text that the value of a record is compared by: of an integer its digits; undefined: it has none, or it is a fraction. */
function comparedText({ number, isText }: Written): string | undefined {
  if (isText) return number;
  return isInteger(number) && !isNull(number) ? digitsOf(number) : undefined;
}

/** A number that is null in the payload: it is beyond a double, and its digits are not all written. */
const isNull = (number: string) => !/^-?\d+$/.test(number) && isBeyondDouble(number);

/** The argument as digits, or a text; undefined: the subscription is refused. */
function argumentOf(client: Client): string | undefined {
  const argument = client.field === 'mine' ? comparedClaim(client) : textOfArgument(client);
  return argument !== undefined && argument.length > (MAX_LENGTHS[client.field] ?? Infinity) ? undefined : argument;
}

/** The text of the claim; of a fraction, as it is written. */
function comparedClaim({ tenant }: Client): string | undefined {
  if (!tenant.isText && isNull(tenant.number)) return undefined;
  return comparedText(tenant) ?? tenant.number;
}

function textOfArgument({ type, n: { number, isText }, isLiteral }: Client): string | undefined {
  const isWhole = isDigits(number) || number === '-0';
  if (type === 'ID' && isText) return number;
  if (isText || isLiteral) {
    if (!isWhole) return undefined;
    // The literal -0 is an ID of two characters.
    if (type === 'ID') return number;
  } else if (isNull(number)) return undefined;
  const digits = digitsOf(number);
  return type === 'Long' && !isLong(digits) ? undefined : digits;
}

/** Whether a client receives a row; undefined: that is not said of fractions, which libraries print with more or fewer digits. */
function receives({ field, tenant }: Client, argument: string, row: Row): boolean | undefined {
  if (field === 'mine') {
    const [own, of] = [comparedText(tenant), comparedText(row.tenant)];
    if (own !== undefined && of !== undefined) return own === of;
    // No fraction is an integer; how another text of it compares is not said.
    const isOther = [own, of].some((text) => text !== undefined && isDigits(text));
    return isOther || (!row.tenant.isText && isNull(row.tenant.number)) ? false : undefined;
  }
  const { id } = row;
  const text = comparedText(id);
  if (['EQ', 'IN', 'match', 'matches', 'CONTAINS'].includes(field)) return text === argument;
  if (field === 'NE') return text !== argument;
  if (!id.isText && isNull(id.number)) return false;
  // A text that is compared with an ID that is no number does not occur here.
  const order = compared(id.number, argument);
  return { LT: order < 0, LTE: order <= 0, GT: order > 0, GTE: order >= 0 }[field as 'LT' | 'LTE' | 'GT' | 'GTE'];
}

/** Compares a result with the row. */
function checkResult(data: Readonly<Record<string, unknown>>, { id }: Row): void {
  const { number, isText } = id;
  const says = `${jsonOf(id)} became ${JSON.stringify(data)}`;
  const isAbsent = !isText && isNull(number);
  const text = comparedText(id);
  const isNumber = !isText || /^-?\d/.test(number);
  if (isAbsent)
    assert.deepEqual(new Set([data['id'], data['text'], data['float'], data['int']]), new Set([null]), says);
  else if (isText || isDigits(number)) assert.deepEqual([data['id'], data['text']], [number, number], says);
  else {
    if (isInteger(number)) assert.ok(areEqual(String(data['id']), number), says);
    const printed = String(data['text']);
    assert.ok(isInteger(number) ? areEqual(printed, number) : Number(printed) === Number(number), says);
  }
  const digits = text !== undefined && (isDigits(text) || text === '-0') ? digitsOf(text) : null;
  assert.equal(data['big'], digits, says);
  assert.equal(data['long'], digits !== null && isLong(digits) ? digits : null, says);
  assert.deepEqual(data['list'], [digits, digits], says);
  if (isAbsent || !isNumber) return;
  const double = Number(number);
  assert.equal(data['float'] ?? null, Number.isFinite(double) ? double + 0 : null, says);
  assert.equal(data['int'] ?? null, double === (double | 0) && isInteger(number) ? double + 0 : null, says);
}

function stageOf(path: number) {
  const graph = buildGraph({ name: 'integers', revision: '', schema: SDL, modules: new Map(), warnings: [] });
  const log = createLog('silent');
  const { jitAfterUses = 0, hasProjection = true } = EXECUTION_PATHS[path]![1];
  const runtime = new GraphRuntime({
    graph,
    documents: new RequestedDocuments({ cache: new DocumentCache(graph.schema, DOCUMENT_LIMITS) }),
    executor: new Executor(graph.schema, { jitAfterUses, hasProjection }),
    backends: { send: () => Promise.resolve(replyOf({})) },
    triggers: undefined,
    publish: undefined,
    states: undefined,
    channelPrefix: '',
    log,
    onInternalError: () => undefined,
  });
  const converterOf = (hasRewriter: boolean) => {
    const routers = createRouters(graph.bindings.values(), '');
    return new Converter(routers, LIMITS, new SnakeCase(), { hasRewriter });
  };
  return { runtime, rewriting: converterOf(true), parsing: converterOf(false) };
}

type Stage = ReturnType<typeof stageOf>;

/** The subscription of a client as the gateway makes it; undefined: it is refused. */
async function subscribe({ runtime }: Stage, { field, type, n, tenant, isLiteral }: Client) {
  const name = field === 'mine' ? field : `${field}_${type}`;
  const isList = field === 'IN' || field === 'matches';
  const value = isList ? `[${jsonOf(n)}]` : jsonOf(n);
  const declared = isList ? `[${type}!]` : type;
  const isConstant = isLiteral || field === 'mine';
  const args = field === 'mine' ? '' : `(n: ${isLiteral ? value : '$n'})`;
  const query = `subscription ${isConstant ? '' : `($n: ${declared}) `}{ ${name}${args} ${ROW} }`;
  const operation = runtime.prepare({ query }, undefined);
  if ('errors' in operation) return undefined;
  const sent = parseExactly(isConstant ? '{}' : `{"n":${value}}`) as Record<string, unknown>;
  const variables = withNumbers(operation, sent);
  const facts = factsOf('client', parseExactly(`{"tenant":${jsonOf(tenant)}}`) as object);
  const source = await runtime.subscribe(operation, variables, facts);
  return 'errors' in source ? undefined : { name, operation, variables, facts, source: source as ChannelSource };
}

/**
 * Integers in records, arguments and claims against BigInt: who receives which record, by rewriting and by parsing records, and what the
 * results say, by each way of executing. One case has 100 records.
 */
export const integers: FuzzKind = {
  shortRuns: 30,
  property: () => {
    const stages = [...EXECUTION_PATHS.keys()].map(stageOf);
    return Promise.resolve(
      fc.asyncProperty(casesOf, async ({ clients, rows, path }) => {
        const stage = stages[path]!;
        const subscriptions = await Promise.all(clients.map((client) => subscribe(stage, client)));
        const conversions = rows.map(({ id, tenant }) => {
          const value = jsonOf(id);
          const members = ['id', 'text', 'big', 'long', 'float', 'int'].map((name) => `"${name}":${value}`);
          const text = `{${members.join()},"list":[${value},${value}],"tenant":${jsonOf(tenant)}}`;
          const record = { topic: 't', key: null, value: Buffer.from(text) };
          const [one, other] = [stage.rewriting, stage.parsing].map((each) => each.convert(record) as Conversion);
          assert.equal(String(one!.payload), String(other!.payload));
          assert.deepEqual(one!.destinations, other!.destinations);
          return one!;
        });
        for (const [i, client] of clients.entries()) {
          const subscription = subscriptions[i];
          const argument = argumentOf(client);
          assert.equal(subscription === undefined, argument === undefined, JSON.stringify(client));
          if (!subscription || argument === undefined) continue;
          const { name, source, ...listener } = subscription;
          const channels = new Set(source.channels);
          for (const [at, row] of rows.entries()) {
            const { payload, destinations } = conversions[at]!;
            const event = new TextPayload(Buffer.from(payload!));
            const isPublished = destinations!.some(({ channel }) => channels.has(channel));
            const isReceived = isPublished && (source.filter?.accepts(event) ?? true);
            const says = `${JSON.stringify(client)} of ${JSON.stringify(row)}`;
            const expected = receives(client, argument, row);
            if (expected !== undefined) assert.equal(isReceived, expected, says);
            else if (isReceived) assert.equal(Number(client.tenant.number), Number(row.tenant.number), says);
            if (!isReceived) continue;
            const { json } = await stage.runtime.startEvent(event, listener.operation).execute(listener);
            const result = JSON.parse(`${Buffer.concat(json).toString()}}`) as ExecutionResult;
            checkResult(result.data![name] as Record<string, unknown>, row);
          }
        }
      }),
    );
  },
};
