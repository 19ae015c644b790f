import {
  Kind,
  isEnumType,
  isInterfaceType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
  isUnionType,
} from 'graphql';
import type { ConstDirectiveNode, ConstValueNode, GraphQLField, GraphQLOutputType, GraphQLSchema } from 'graphql';
import lodash from 'lodash';
import { HISTORY_DEFAULTS } from '../../bus/history.ts';
import type { HistoryLimits } from '../../bus/history.ts';
import { readHistory, readReplay } from './history-binding.ts';
import { didYouMean, lineOf } from './problem.ts';
import { checkUse, readUnused } from './unused-arguments.ts';

/** One `match` of an @kafka directive. */
export interface Match {
  readonly arg: string;
  /** Path in the converted payload, dot-separated. */
  readonly path: string;
  /** A nullable argument may be left out (or null), which means every value. */
  readonly isOptional: boolean;
}

/** How a Subscription field hangs on a topic: its @kafka directive, checked. */
export interface Binding {
  readonly field: string;
  readonly topic: string;
  readonly match: readonly Match[];
  /** Path of the field's value in the converted payload; [] is the whole payload. */
  readonly payload: readonly string[];
  /** Whether connections that agree on all that an execution read get its result (fanout/sharing/sharing.ts). */
  readonly isShared: boolean;
  /** What a channel keeps, so that clients can resume; undefined: nothing. */
  readonly history?: HistoryLimits | undefined;
  /** Whether a subscription begins with the last event that the history has. */
  readonly replaysLast?: boolean;
}

/** The directive's definition, which every graph's schema is given. */
export const KAFKA_DIRECTIVE = /* GraphQL */ `
  "Feeds a Subscription field from a Kafka topic."
  directive @kafka(
    topic: String!
    match: [KafkaMatch!]
    "Arguments that are meant to choose no events."
    unused: [String!]
    payload: String
    shared: Boolean = true
    history: KafkaHistory
    replay: KafkaReplay
  ) on FIELD_DEFINITION

  input KafkaMatch {
    arg: String!
    path: String!
  }

  "What each channel of the field keeps; whichever bound is reached first drops the oldest."
  input KafkaHistory {
    entries: Int = ${HISTORY_DEFAULTS.entries}
    bytes: Int = ${HISTORY_DEFAULTS.bytes}
    seconds: Int = ${HISTORY_DEFAULTS.seconds}
  }

  enum KafkaReplay {
    LAST
  }
`;

/** A record goes to 2^n channels for n arguments that may be left out. */
const MAX_OPTIONAL_MATCHES = 4;

/** Lines of file, line, field, reason and mend. */
interface Findings {
  /** Mistakes: the graph is refused. */
  readonly problems: string[];
  /** For the log. */
  readonly warnings: string[];
}

/**
 * Reads and checks the @kafka of every Subscription field of a schema with resolvers attached. What the validation of any SDL
 * finds (a second @kafka, unknown or missing parts of it) is left to that. Paths that lie beside `payload` cannot be checked
 * against a type, because only the field's value has one.
 *
 * @param customSources Subscription fields that resolvers feed themselves; they must not have @kafka.
 * @returns the bindings by field name, and all findings.
 */
export function parseBindings(
  schema: GraphQLSchema,
  customSources: ReadonlySet<string>,
): { bindings: Map<string, Binding> } & Findings {
  const problems: string[] = [];
  const warnings: string[] = [];
  const bindings = new Map<string, Binding>();
  const subscription = schema.getSubscriptionType();
  for (const type of Object.values(schema.getTypeMap())) {
    if (type === subscription || !(isObjectType(type) || isInterfaceType(type))) continue;
    for (const field of Object.values(type.getFields())) {
      const directive = kafkaOf(field)[0];
      if (directive) {
        problems.push(
          `${lineOf(directive)}${type.name}.${field.name}: @kafka feeds only fields of the Subscription type; remove it here`,
        );
      }
    }
  }
  for (const field of Object.values(subscription?.getFields() ?? {})) {
    const found: Findings = { problems: [], warnings: [] };
    const binding = readBinding(schema, field, customSources.has(field.name), found);
    const place = `${lineOf(kafkaOf(field)[0] ?? field.astNode)}Subscription.${field.name}`;
    problems.push(...found.problems.map((problem) => `${place}: ${problem}`));
    warnings.push(...found.warnings.map((warning) => `${place}: ${warning}`));
    if (binding) bindings.set(field.name, binding);
  }
  return { bindings, problems, warnings };
}

function kafkaOf(field: GraphQLField<unknown, unknown>): ConstDirectiveNode[] {
  return (field.astNode?.directives ?? []).filter((directive) => directive.name.value === 'kafka');
}

function readBinding(
  schema: GraphQLSchema,
  field: GraphQLField<unknown, unknown>,
  hasSource: boolean,
  findings: Findings,
): Binding | undefined {
  const { problems } = findings;
  const [directive] = kafkaOf(field);
  if (!directive) {
    if (!hasSource) {
      problems.push(
        'has no @kafka, so nothing would ever arrive; add @kafka(topic: "…"), or a `subscribe` for it in resolvers',
      );
    }
    return undefined;
  }
  if (hasSource) problems.push('has both @kafka and a `subscribe` in resolvers; keep one');

  const given = new Map(directive.arguments?.map((argument) => [argument.name.value, argument.value]));
  const topic = readTopic(given.get('topic'), problems);
  const payload = readPayload(given.get('payload'), problems);
  const isShared = readShared(given.get('shared'), problems);
  const history = readHistory(given.get('history'), problems);
  const replaysLast = readReplay(given.get('replay'), history !== undefined, problems);
  const matchNodes = itemsOf(given.get('match'));
  const match = readMatches(matchNodes, field, problems);
  const matched = matchedArguments(matchNodes);
  const unused = readUnused(itemsOf(given.get('unused')), field, matched, problems);
  // An argument that match or unused misspells is named there.
  if (problems.length === 0) checkUse(field, new Set([...matched, ...unused]), findings);
  if (payload) for (const { path } of match) checkPath(schema, field, path, payload, problems);
  return problems.length === 0 && topic !== undefined && payload
    ? { field: field.name, topic, match, payload, isShared, history, replaysLast }
    : undefined;
}

function readShared(node: ConstValueNode | undefined, problems: string[]): boolean {
  if (!node) return true;
  if (node.kind === Kind.BOOLEAN) return node.value;
  problems.push('shared must be true or false, without quotes; left out, it is true');
  return true;
}

function readTopic(node: ConstValueNode | undefined, problems: string[]): string | undefined {
  if (!node) return undefined;
  if (node.kind !== Kind.STRING) {
    problems.push('topic must be the name of a Kafka topic, in quotes');
    return undefined;
  }
  const topic = node.value;
  if (/^[A-Za-z0-9._-]{1,249}$/.test(topic) && topic !== '.' && topic !== '..') return topic;
  problems.push(
    `topic ${JSON.stringify(topic)} is not a Kafka topic name; use 1 to 249 letters, digits, ".", "_" or "-"`,
  );
  return undefined;
}

function readPayload(node: ConstValueNode | undefined, problems: string[]): string[] | undefined {
  if (!node || node.kind === Kind.NULL) return [];
  if (node.kind !== Kind.STRING) problems.push('payload must be a path in quotes, such as "auction"');
  else if (node.value === '') problems.push('payload is empty; leave it out to take the whole payload');
  else if (isPath(node.value, 'payload', problems)) return node.value.split('.');
  return undefined;
}

function readMatches(
  items: readonly ConstValueNode[],
  field: GraphQLField<unknown, unknown>,
  problems: string[],
): Match[] {
  const matches: Match[] = [];
  for (const item of items) {
    const match = readMatch(item, field, problems);
    if (!match) continue;
    if (matches.some(({ arg }) => arg === match.arg))
      problems.push(`two matches for argument "${match.arg}"; keep one`);
    if (matches.some(({ path }) => path === match.path)) problems.push(`two matches on path "${match.path}"; keep one`);
    matches.push(match);
  }
  const optional = matches.filter((match) => match.isOptional).length;
  if (optional > MAX_OPTIONAL_MATCHES) {
    problems.push(
      `${optional} matched arguments may be left out, which makes ${2 ** optional} channels for each record; ` +
        `make all but ${MAX_OPTIONAL_MATCHES} non-null`,
    );
  }
  return matches;
}

/** The SDL coerces one item to a list of it. */
function itemsOf(node: ConstValueNode | undefined): readonly ConstValueNode[] {
  if (!node || node.kind === Kind.NULL) return [];
  return node.kind === Kind.LIST ? node.values : [node];
}

/** The arguments that `match` names, those of a match with a mistake included. */
function matchedArguments(items: readonly ConstValueNode[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const item of items) {
    for (const { name, value } of item.kind === Kind.OBJECT ? item.fields : []) {
      if (name.value === 'arg' && value.kind === Kind.STRING) names.add(value.value);
    }
  }
  return names;
}

function readMatch(item: ConstValueNode, field: GraphQLField<unknown, unknown>, problems: string[]): Match | undefined {
  const members = new Map(item.kind === Kind.OBJECT ? item.fields.map((part) => [part.name.value, part.value]) : []);
  const arg = members.get('arg');
  const path = members.get('path');
  if (arg?.kind !== Kind.STRING || path?.kind !== Kind.STRING || members.size !== 2) {
    problems.push('each match must be { arg: "…", path: "…" }');
    return undefined;
  }
  const definition = field.args.find((argument) => argument.name === arg.value);
  if (!definition) {
    problems.push(
      `match names the argument "${arg.value}", which the field does not have` +
        didYouMean(
          arg.value,
          field.args.map((argument) => argument.name),
        ),
    );
  } else {
    const type = isNonNullType(definition.type) ? definition.type.ofType : definition.type;
    const isKey = isEnumType(type) || (isScalarType(type) && isSpecifiedScalarType(type) && type.name !== 'Float');
    if (!isKey) {
      problems.push(
        `argument "${arg.value}" is of type ${String(definition.type)}, which cannot be a key; ` +
          'use Int, ID, String, Boolean or an enum, or leave it out of match and read it in a resolver',
      );
    }
  }
  const isGoodPath = isPath(path.value, `match of "${arg.value}": path`, problems);
  if (!definition || !isGoodPath) return undefined;
  return { arg: arg.value, path: path.value, isOptional: !isNonNullType(definition.type) };
}

function isPath(path: string, what: string, problems: string[]): boolean {
  const segments = path.split('.');
  if (segments.includes('')) {
    problems.push(`${what} ${JSON.stringify(path)} has an empty segment; write keys separated by single dots`);
    return false;
  }
  // Keys that GraphQL reserves (`__typename`) keep their spelling in the conversion.
  const converted = segments.map((segment) => (segment.startsWith('__') ? segment : lodash.snakeCase(segment)));
  if (converted.every((segment, index) => segment === segments[index])) return true;
  const mend = converted.includes('') ? '' : `; write "${converted.join('.')}"`;
  problems.push(`${what} ${JSON.stringify(path)} can never match, because the payload's keys are snake_case${mend}`);
  return false;
}

function checkPath(
  schema: GraphQLSchema,
  field: GraphQLField<unknown, unknown>,
  path: string,
  payload: readonly string[],
  problems: string[],
): void {
  const segments = path.split('.');
  if (segments.length < payload.length && segments.every((segment, index) => segment === payload[index])) {
    problems.push(
      `path "${path}" ends at an object, the one that holds the payload "${payload.join('.')}"; go on to a value`,
    );
  }
  if (payload.some((segment, index) => segment !== segments[index])) return;
  const problem = walk(schema, field.type, segments, payload.length);
  if (problem) problems.push(`path "${path}" ${problem}`);
}

/** Why `segments` from `index` on do not lead from `type` to a value; undefined where they do. */
function walk(
  schema: GraphQLSchema,
  type: GraphQLOutputType,
  segments: readonly string[],
  index: number,
): string | undefined {
  if (isNonNullType(type)) return walk(schema, type.ofType, segments, index);
  const rest = segments.slice(index);
  if (isListType(type)) {
    return `${rest.length === 0 ? 'ends at' : 'goes through'} a list, which has no single value; match a value outside of it`;
  }
  if (isLeafType(type)) {
    return rest.length === 0
      ? undefined
      : `goes on after ${type.name}, which has no fields; end it at "${segments[index - 1] ?? ''}"`;
  }
  const next = rest[0];
  if (next === undefined) return `ends at an object (${type.name}); go on to one of its fields`;
  if (next === '__typename') return rest.length === 1 ? undefined : 'goes on after __typename; end it there';
  const types = isObjectType(type) ? [type] : [...schema.getPossibleTypes(type), ...(isUnionType(type) ? [] : [type])];
  const fields = types.flatMap((member) => member.getFields()[next] ?? []);
  if (fields.length === 0) {
    const names = types.flatMap((member) => Object.keys(member.getFields()));
    return `can never match: ${type.name} has no field "${next}"${didYouMean(next, names)}`;
  }
  // Possible as soon as one of the types that the value may have makes it possible.
  const verdicts = fields.map((candidate) => walk(schema, candidate.type, segments, index + 1));
  return verdicts.includes(undefined) ? undefined : verdicts[0];
}
