import { getNamedType, isAbstractType } from 'graphql';
import type { GraphQLField } from 'graphql';
import { valueAt } from '../../base/json/value-at.ts';
import { hasResolver } from '../execution/executable.ts';
import type { Graph } from '../graph-parts.ts';
import type { Binding } from '../schema/binding.ts';
import { textOf } from '../compared-text.ts';
import { describeKey, keyTextAt } from '../record-parts.ts';
import { directiveOf } from '../schema/field-directive.ts';
import { keyedMatch } from '../schema/tombstone-binding.ts';
import {
  absenceAt,
  isMistakenAt,
  isNullAt,
  placeOf,
  problemOf,
  recordName,
  sentence,
  unreadHint,
} from './described.ts';
import type { RecordOrigin, RecordProblem, Unread } from './described.ts';
import { envelopeProblem } from './envelope-check.ts';
import { KeyCheck } from './key-check.ts';
import type { CheckedRecord } from './key-check.ts';
import { rowsBeforeProblems } from './rows-before-check.ts';
import { ValueCheck } from './record-value-check.ts';

/** What does not fit between the records of a topic and a field that is bound to it. */
export interface RecordMisfit {
  readonly topic: string;
  /** Schema coordinate. */
  readonly field: string;
  /** The newest record that was compared. */
  readonly partition: number;
  readonly offset: string;
  readonly problems: readonly RecordProblem[];
  /** False: it may be as it should be. Fields that share a topic may be meant for other records, and optional values may be absent. */
  readonly isCertain: boolean;
}

/** What is known of the topic's other records. */
interface OtherRecords {
  /** True: some have no value. */
  readonly hasTombstones?: boolean;
  /** Absent: all that have a value are compared. */
  readonly unread?: Unread | undefined;
}

/** Of one field. */
const MAX_PROBLEMS = 20;

/**
 * Compares records of a topic with the bindings of the topic and the types of their fields. A key or a field counts as absent if all
 * records lack it. Then no subscription receives a value if that is a mistake in all likelihood, or the topic has no other records.
 * @param graph with a schema that is prepared for execution
 * @param records the newest last, those with a value
 */
export function checkRecords(
  graph: Pick<Graph, 'schema' | 'bindings'>,
  topic: string,
  records: readonly CheckedRecord[],
  origin: RecordOrigin,
  { hasTombstones = false, unread }: OtherRecords = {},
): RecordMisfit[] {
  const newest = records.at(-1);
  if (!newest) return [];
  const { schema } = graph;
  const fields = [...graph.bindings.values()]
    .filter(({ topics }) => topics.includes(topic))
    .map((binding) => ({ binding, keys: new KeyCheck(schema, binding) }));
  const hasWholeRows = fields.some(({ binding }) => binding.hasWholeRows);
  const takers = fields.filter(({ keys }) => records.some((record) => keys.isMatchedBy(record)));
  const isUnrouted = (record: CheckedRecord) => !takers.some(({ keys }) => keys.isMatchedBy(record));
  const hasLost = records.some(isUnrouted);
  const subscription = schema.getSubscriptionType()!;
  // Objects of an interface may be of several kinds.
  const readBy = ({ field, payload }: Binding) => {
    const type = getNamedType(subscription.getFields()[field]!.type);
    return isAbstractType(type) ? field : `${type.name} ${payload.join('.')}`;
  };
  // Fields of one type have its misfits in common.
  const said = new Set<string>();
  return fields.flatMap(({ binding, keys }) => {
    const matching = records.filter((record) => keys.isMatchedBy(record));
    // Records that other fields take are not meant for this one, unless it reads the same of them.
    const isAlike = takers.length === 0 || takers.some((taker) => readBy(taker.binding) === readBy(binding));
    const compared = matching.length > 0 ? matching : records;
    const isMeant = isAlike || hasLost;
    const definition = subscription.getFields()[binding.field]!;
    const isResolved = hasResolver(definition);
    const ofKeys = keys.problems(compared, origin);
    const bound = [
      ...ofKeys,
      ...payloadProblems(binding, compared, isResolved),
      ...tombstoneProblems(binding, compared).map(problemOf),
      ...rowsBeforeProblems(binding, compared, hasWholeRows).map(problemOf),
    ];
    const values = new ValueCheck(schema, origin);
    const field = `${subscription.name}.${binding.field}`;
    for (const record of isMeant && !isResolved ? compared : []) {
      const isUntyped = record.isUntyped === true && binding.envelope?.startsWith('DEBEZIUM') === true;
      values.add(field, definition.type, binding.payload, { payload: record.payload, isUntyped });
    }
    // Records of which the field takes none say nothing of the values that it reads.
    const isLack = matching.length === 0 && ofKeys.every((one) => one.isLack || !one.isBlocking);
    const misfits = values.misfits.filter(isNew(said)).map((one): RecordProblem => ({ ...one, isLack }));
    const uncertain = values.uncertain.filter(isNew(said));
    const isCertain = (bound.length > 0 && isMeant) || misfits.length > 0;
    const envelope = envelopeProblem(binding, compared);
    const untold = hasTombstones && skipsUnsaid(binding, definition) ? [problemOf(UNTOLD)] : [];
    const others = [...bound, ...misfits, ...uncertain, ...untold].map((one) => ({
      ...one,
      isBlocking: one.isBlocking && isAlike,
    }));
    // What the wrong envelope of all records leaves out is not named one by one.
    const isAlone = envelope !== undefined && compared.every(({ shown }) => shown);
    const isBlocking = isAlone && others.some((one) => one.isBlocking);
    const ofEnvelope = envelope === undefined ? [] : [{ text: envelope, isBlocking }];
    const left = isAlone ? [] : others.map((one) => withUnread(one, unread));
    const problems = [...ofEnvelope, ...left].slice(0, MAX_PROBLEMS);
    const { partition, offset } = compared.at(-1)!;
    return problems.length === 0 ? [] : [{ topic, field, partition, offset, problems, isCertain }];
  });
}

/** What a topic's records lack blocks no field if others were not read. */
function withUnread({ text, isBlocking, isLack }: RecordProblem, unread: Unread | undefined): RecordProblem {
  return isBlocking && isLack && unread ? { text: text + unreadHint(unread), isBlocking: false } : { text, isBlocking };
}

/** Tells problems that were not said yet, and remembers them. */
function isNew(said: Set<string>): (problem: RecordProblem) => boolean {
  return ({ text, isBlocking }) => {
    const { size } = said;
    return said.add(`${isBlocking} ${text}`).size > size;
  };
}

const UNTOLD =
  'tombstone: the topic has records without a value, and subscribers are not told that their keys were deleted; write tombstone: NULL, COMPLETE or SKIP';

/** True if nobody has written what a tombstone does. With an envelope a warning of the graph says so. */
function skipsUnsaid({ tombstone, envelope }: Binding, field: GraphQLField<unknown, unknown>): boolean {
  if (tombstone !== undefined || envelope !== undefined) return false;
  return !directiveOf(field, 'kafka')?.arguments?.some(({ name }) => name.value === 'tombstone');
}

function payloadProblems(
  { payload: path }: Binding,
  records: readonly CheckedRecord[],
  isResolved: boolean,
): RecordProblem[] {
  const isAbsent = ({ payload }: CheckedRecord) => (valueAt(payload, path) ?? null) === null;
  if (!records.every(isAbsent)) return [];
  const mistaken = records.findLast(({ payload }) => isMistakenAt(payload, path));
  const record = mistaken ?? records.at(-1)!;
  const found = sentence(absenceAt(record.payload, path));
  const name = recordName(record, record === records.at(-1));
  const text = `payload: ${name} ${found} The field would be null; correct the payload in @kafka`;
  const isBlocking = !isResolved && !records.some(({ payload }) => isNullAt(payload, path));
  return [{ text, isBlocking, isLack: mistaken === undefined }];
}

/** Reports a key that is not the value that the tombstones of a field take it for. */
function tombstoneProblems(
  { match, tombstone, state, envelope }: Binding,
  records: readonly CheckedRecord[],
): string[] {
  // A change says which row is deleted.
  const path = tombstone && !state && envelope === undefined ? keyedMatch(match)?.path.split('.') : undefined;
  if (!path) return [];
  const other = records.findLast((record) => {
    const value = textOf(valueAt(record.payload, path));
    return value !== undefined && value !== keyTextAt(record, path);
  });
  return other
    ? [
        `tombstone: the record has ${describeKey(other)}, which is not its value at ${placeOf(path)}, so a tombstone of it does not reach that value's ` +
          `subscriptions; ${other.keyFix ?? 'match the member of the key that has the value ({ arg: "…", key: "…" }), or add state: {}'}`,
      ]
    : [];
}
