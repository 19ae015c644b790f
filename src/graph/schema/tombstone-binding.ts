import { Kind, getNullableType, isListType, isNonNullType } from 'graphql';
import type { ConstValueNode, GraphQLField, GraphQLInputType } from 'graphql';
import { isHeaderPart, isKeyPart, isRecordPart } from '../record-parts.ts';
import type { Match } from './match.ts';

/**
 * What a tombstone, or the delete of a row, does to a subscription: the field is null, the subscription completes, or the field is the row as it was
 * (of a topic with an `envelope`). Without an action it is skipped.
 */
export type TombstoneAction = 'NULL' | 'COMPLETE' | 'ROW';

/** Reads the `tombstone` of a @kafka; undefined: tombstones are skipped. */
export function readTombstone(
  node: ConstValueNode | undefined,
  field: GraphQLField<unknown, unknown>,
  hasEnvelope: boolean,
  problems: string[],
): TombstoneAction | undefined {
  if (!node || node.kind === Kind.NULL) return undefined;
  const action = node.kind === Kind.ENUM ? node.value : '';
  if (action === 'COMPLETE') return action;
  if (action === 'ROW') {
    if (!hasEnvelope) {
      problems.push(
        'tombstone: ROW, but the records say nothing of the row that is gone; add envelope, if they are changes of rows, or use NULL or COMPLETE',
      );
    }
    return action;
  }
  if (action === 'NULL') {
    if (isNonNullType(field.type)) {
      const nullable = String(field.type.ofType);
      problems.push(`tombstone: NULL, but the field cannot be null; make its type ${nullable}, or use COMPLETE`);
    }
    return action;
  }
  if (action !== 'SKIP')
    problems.push('tombstone must be SKIP, NULL, COMPLETE or ROW, without quotes; left out, it is SKIP');
  return undefined;
}

/**
 * The match on a path whose value the key of a tombstone gives, because a tombstone has no payload to read it from: the only one that is
 * required, or the only one. undefined: there is none, it is not clear which, or another match is on the key itself or a member of it.
 */
export function keyedMatch(match: readonly Match[]): Match | undefined {
  if (match.some(({ path }) => isKeyPart(path))) return undefined;
  const [first, ...others] = requiredPaths(match).length > 0 ? requiredPaths(match) : match.filter(isOnPath);
  return others.length === 0 ? first : undefined;
}

function requiredPaths(match: readonly Match[]): Match[] {
  return match.filter((one) => isOnPath(one) && !one.isOptional);
}

function isOnPath({ path }: Match): boolean {
  return !isRecordPart(path);
}

interface TombstoneScope {
  readonly field: GraphQLField<unknown, unknown>;
  readonly match: readonly Match[];
  readonly where: readonly unknown[];
  /** True if the field has a state: tombstones then also reach the channels whose state is of their key. */
  readonly hasState: boolean;
  /** True: a delete says what the row was, so it reaches the channels that the row was in. */
  readonly hasEnvelope: boolean;
}

/** Reports why no tombstone would ever reach a subscription of the field, or not all of them. */
export function checkTombstone(
  { field, match, where, hasState, hasEnvelope }: TombstoneScope,
  action: TombstoneAction,
  { problems, warnings }: { readonly problems: string[]; readonly warnings: string[] },
): void {
  const isList = ({ type }: { type: GraphQLInputType }) => isListType(getNullableType(type));
  const list = field.args.find((argument) => isList(argument) && match.some(({ arg }) => arg === argument.name));
  if (action === 'COMPLETE' && list) {
    problems.push(
      `tombstone: COMPLETE with the list argument "${list.name}": a tombstone deletes one of its keys, and the subscription would lose ` +
        'the others; use NULL, or an argument that is no list',
    );
    return;
  }
  const header = match.find(({ path, isOptional }) => isHeaderPart(path) && !isOptional);
  if (action === 'ROW' && header) {
    problems.push(
      `tombstone: ROW with a match on a header ("${header.arg}"): a header says nothing of the row before, which may be another subscriber's, so it is ` +
        'shown to nobody; use NULL or COMPLETE, or match a path',
    );
    return;
  }
  if (action === 'ROW' && isNonNullType(field.type)) {
    const nullable = String(field.type.ofType);
    warnings.push(
      `tombstone: ROW on a field that cannot be null: a delete whose row the source does not know reaches nobody; make its type ${nullable}`,
    );
  }
  if (hasState || hasEnvelope) return;
  if (where.length > 0) {
    problems.push(
      `tombstone: ${action} with a where: a tombstone has no payload that proves whose it is, so it reaches nobody; add state: {}, by which ` +
        'crier knows it, or remove one of them',
    );
    return;
  }
  const keyed = keyedMatch(match);
  const impossible = requiredPaths(match).filter((one) => one !== keyed);
  if (impossible.length > 0) {
    const paths = impossible.map(({ path }) => `"${path}"`).join(', ');
    problems.push(
      `tombstone: ${action} with required matches on ${paths}: a tombstone has no payload, and its record's key is the value of one match ` +
        'at most; match the key alone ({ key: true }, or its members: { key: "id" }), or add state: {}, by which crier knows the channel',
    );
    return;
  }
  const unknown = match.filter((one) => isOnPath(one) && one !== keyed).map(({ arg }) => `"${arg}"`);
  if (unknown.length > 0) {
    warnings.push(
      `tombstone: ${action} reaches only subscriptions that leave out ${unknown.join(', ')}: a tombstone has no payload with the value; with ` +
        'state: {} it reaches the others, too',
    );
  }
}

interface KeyedField {
  readonly field: string;
  readonly topics: readonly string[];
  readonly match: readonly Match[];
  readonly tombstone?: TombstoneAction;
  readonly state?: unknown;
  readonly envelope?: unknown;
}

/** Reports fields of one topic that take its key for the values of different paths. By field, what to report there. */
export function contradictingKeys(bindings: Iterable<KeyedField>): Map<string, string> {
  const problems = new Map<string, string>();
  const first = new Map<string, { field: string; path: string }>();
  for (const { field, topics, match, tombstone, state, envelope } of bindings) {
    // A state says which channel a key belongs to, and a change which row.
    const path = tombstone && !state && envelope === undefined ? keyedMatch(match)?.path : undefined;
    if (path === undefined) continue;
    for (const topic of topics) {
      const other = first.get(topic);
      if (!other) first.set(topic, { field, path });
      else if (other.path !== path) {
        problems.set(
          field,
          `tombstone: ${tombstone} takes the key of topic "${topic}" for the value at "${path}", but "${other.field}" takes it for the ` +
            `value at "${other.path}"; add state: {} to the field whose match is not the key, or remove tombstone from it`,
        );
      }
    }
  }
  return problems;
}
