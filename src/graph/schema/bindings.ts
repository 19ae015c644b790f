import type { ConstValueNode, GraphQLField, GraphQLSchema } from 'graphql';
import type { KeyNaming } from '../../base/json/key-naming.ts';
import type { Binding } from './binding.ts';
import { readChangeDemand } from './change-demand.ts';
import { unreachedChanges } from './change-fields.ts';
import { readDefaultKeys, readKeys } from './crier-directive.ts';
import { itemsOf, readEnum, readPayload, readShared } from './directive-arguments.ts';
import { directiveOf, misplacedUses } from './field-directive.ts';
import { checkComparison, isFilter, readFilters } from './filters.ts';
import { readHistory, readReplay } from './history-binding.ts';
import { argumentsOf, readMatches } from './match.ts';
import { isRecordPart } from '../record-parts.ts';
import { readPace } from './pace-binding.ts';
import { checkPath } from './payload-path.ts';
import type { PayloadShape } from './payload-shape.ts';
import { lineOf } from './problem.ts';
import { readDemand } from './record-demand.ts';
import { envelopeProblem } from './record-envelope.ts';
import { formatProblem, readSubject, subjectProblem } from './record-format.ts';
import { readState } from './state-binding.ts';
import { checkTombstone, contradictingKeys, readTombstone } from './tombstone-binding.ts';
import { readTopics, topicArgumentOf } from './topics.ts';
import { checkTopicKeys } from './topic-keys.ts';
import type { BoundField } from './topic-keys.ts';
import { checkUse, readUnused } from './unused-arguments.ts';
import { readWhere } from './claim-where.ts';

/** One line each: file, line, field, reason, and how to correct it. */
interface Findings {
  /** Mistakes, for which the graph is refused. */
  readonly problems: string[];
  /** For the log. */
  readonly warnings: string[];
}

/**
 * Reads and checks the @kafka of every Subscription field of a schema with resolvers attached. Reports nothing that SDL validation
 * reports: a second @kafka, unknown or missing arguments of it.
 *
 * @param customSources Subscription fields that resolvers feed themselves; they must not have @kafka.
 * @returns the bindings by field name, what fields read in the payloads of each topic, and all findings.
 */
export function parseBindings(
  schema: GraphQLSchema,
  customSources: ReadonlySet<string>,
): { bindings: Map<string, Binding>; shapes: ReadonlyMap<string, PayloadShape> } & Findings {
  const problems = misplacedUses(schema, 'kafka');
  const warnings: string[] = [];
  const defaultKeys = readDefaultKeys(schema, problems);
  const bound: BoundField[] = [];
  const bindings = new Map<string, Binding>();
  const subscription = schema.getSubscriptionType();
  for (const field of Object.values(subscription?.getFields() ?? {})) {
    // parseRedisBindings reads it.
    if (directiveOf(field, 'redis')) continue;
    const found: Findings = { problems: [], warnings: [] };
    const binding = readBinding(schema, field, { hasSource: customSources.has(field.name), defaultKeys }, found);
    for (const problemOf of [formatProblem, subjectProblem, envelopeProblem]) {
      const disagreement = binding && problemOf(binding, bindings.values());
      if (disagreement !== undefined) found.problems.push(disagreement);
    }
    const location = `${lineOf(directiveOf(field, 'kafka') ?? field.astNode)}Subscription.${field.name}`;
    problems.push(...found.problems.map((problem) => `${location}: ${problem}`));
    warnings.push(...found.warnings.map((warning) => `${location}: ${warning}`));
    if (!binding) continue;
    bindings.set(field.name, binding);
    bound.push({ binding, field, location });
  }
  for (const [field, problem] of contradictingKeys(bindings.values())) {
    problems.push(`${bound.find(({ binding }) => binding.field === field)!.location}: ${problem}`);
  }
  // A binding with a mistake is reported at its own line.
  if (problems.length === 0) problems.push(...unreachedChanges(schema, bindings));
  const shapes = checkTopicKeys(schema, bound, problems);
  return { bindings, shapes, problems, warnings };
}

function readBinding(
  schema: GraphQLSchema,
  field: GraphQLField<unknown, unknown>,
  { hasSource, defaultKeys }: { readonly hasSource: boolean; readonly defaultKeys: KeyNaming },
  findings: Findings,
): Binding | undefined {
  const { problems } = findings;
  const directive = directiveOf(field, 'kafka');
  if (!directive) {
    if (!hasSource) problems.push(noSource(field.name));
    return undefined;
  }
  if (hasSource) problems.push('has both @kafka and a `subscribe` in resolvers; keep one');

  const given: Given = new Map(directive.arguments?.map((argument) => [argument.name.value, argument.value]));
  const { topics, ...records } = readRecords(given, schema, field, problems);
  const hasEnvelope = records.envelope !== undefined;
  const keys = readKeys(given.get('keys'), defaultKeys, problems);
  const payload = readPayload(given.get('payload'), problems);
  const isShared = readShared(given.get('shared'), problems);
  const history = readHistory(given.get('history'), problems);
  const replaysLast = readReplay(given.get('replay'), history !== undefined, problems);
  const state = readState(given.get('state'), problems);
  const { matched, ...rules } = readRules(given, field, problems);
  const tombstone = readTombstone(given.get('tombstone'), field, hasEnvelope, problems);
  // Rows of an outbox are events: deleting them writes nothing.
  if (hasEnvelope && records.envelope !== 'OUTBOX' && !given.has('tombstone')) findings.warnings.push(NO_TOMBSTONE);
  const hasState = state !== undefined;
  if (records.skipsSnapshots && !hasState) findings.warnings.push(NO_STATE);
  if (tombstone) checkTombstone({ field, ...rules, hasState, hasEnvelope }, tombstone, findings);
  const record = readDemand(given.get('record'), schema, field, problems);
  const scope = { field, match: rules.match, matched, hasState, envelope: records.envelope };
  const pace = readPace(given.get('pace'), given.get('slow'), scope, problems);
  const used = new Set([...matched, ...(pace?.arg === undefined ? [] : [pace.arg])]);
  const unused = readUnused(
    itemsOf(given.get('unused')),
    field,
    used,
    problems,
    pace?.arg === undefined ? 'match' : 'match or pace',
  );
  // An argument that match or unused misspells is named there.
  if (problems.length === 0) checkUse(field, new Set([...used, ...unused]), findings);
  if (payload) checkPaths(schema, field, { ...rules, payload }, problems);
  if (problems.length > 0 || !topics || !payload) return undefined;
  return {
    field: field.name,
    ...topics,
    ...records,
    keys,
    ...rules,
    payload,
    isShared,
    history,
    replaysLast,
    state,
    ...(tombstone && { tombstone }),
    ...(pace && { pace }),
    ...(record && { record }),
    ...(hasEnvelope && { change: readChangeDemand(schema, field) }),
  };
}

/** The arguments of a directive. */
type Given = ReadonlyMap<string, ConstValueNode>;

const NO_TOMBSTONE =
  'envelope without tombstone: subscribers are not told that a row was deleted, or has left them; write tombstone: NULL, COMPLETE, ROW or SKIP';

const NO_STATE =
  'snapshots: STATE without state: rows that were read from a table reach nobody; add state: {}, with which a subscription begins with its row';

function noSource(field: string): string {
  return (
    'has no source, so no event would ever come; add @kafka(topic: "…") or @redis(channel: "…"), ' +
    `or write export const Subscription = { ${field}: { subscribe … } } in resolvers.ts`
  );
}

/** The topics, and how their records are written. */
function readRecords(
  given: Given,
  schema: GraphQLSchema,
  field: GraphQLField<unknown, unknown>,
  problems: string[],
): Pick<Binding, 'format' | 'subject' | 'envelope' | 'skipsSnapshots' | 'hasWholeRows'> & {
  readonly topics: ReturnType<typeof readTopics>;
} {
  const topics = readTopics(given.get('topic'), given.get('topics'), field, problems);
  const format = readEnum('format', 'KafkaFormat', given.get('format'), schema, problems);
  const subject = readSubject(given.get('subject'), format, problems);
  const envelope = readEnum('envelope', 'KafkaEnvelope', given.get('envelope'), schema, problems);
  const snapshots = readEnum('snapshots', 'KafkaSnapshots', given.get('snapshots'), schema, problems);
  if (snapshots === 'STATE' && envelope === undefined)
    problems.push('snapshots: STATE is of a topic with an envelope; add envelope: DEBEZIUM, or remove it');
  const before = readEnum('before', 'KafkaBefore', given.get('before'), schema, problems);
  if (before === 'WHOLE' && envelope === undefined)
    problems.push('before: WHOLE is of a topic with an envelope; add envelope: DEBEZIUM, or remove it');
  return {
    topics,
    format,
    ...(subject !== undefined && { subject }),
    ...(envelope !== undefined && { envelope }),
    ...(snapshots === 'STATE' && { skipsSnapshots: true }),
    ...(before === 'WHOLE' && { hasWholeRows: true }),
  };
}

/** Which records the field receives. `matched`: the arguments that they depend on. */
function readRules(
  given: Given,
  field: GraphQLField<unknown, unknown>,
  problems: string[],
): Required<Pick<Binding, 'match' | 'where' | 'filters'>> & { readonly matched: Set<string> } {
  const matchNodes = itemsOf(given.get('match'));
  const whereNodes = itemsOf(given.get('where'));
  const match = readMatches(matchNodes, field, problems);
  const topicArgument = topicArgumentOf(given.get('topic'));
  const matched = new Set([
    ...argumentsOf([...matchNodes, ...whereNodes]),
    ...(topicArgument === undefined ? [] : [topicArgument]),
  ]);
  const claims = whereNodes.filter((item) => !isFilter(item));
  const where = readWhere(claims, match, problems);
  const filters = readFilters(whereNodes.filter(isFilter), field, problems);
  return { match, where, filters, matched };
}

function checkPaths(
  schema: GraphQLSchema,
  field: GraphQLField<unknown, unknown>,
  { match, where, filters, payload }: Required<Pick<Binding, 'match' | 'where' | 'filters' | 'payload'>>,
  problems: string[],
): void {
  const paths = [...match, ...where].map(({ path }) => path).filter((path) => !isRecordPart(path));
  for (const path of paths) checkPath(schema, field, path, payload, problems);
  for (const rule of filters) {
    checkPath(schema, field, rule.path, payload, problems, rule.op === 'CONTAINS');
    checkComparison(schema, field, rule, payload, problems);
  }
}
