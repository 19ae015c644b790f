import type { RecognisedEnvelope } from '../../kafka/decoding/envelopes/recognised.ts';
import { isFlinkChange } from '../../kafka/decoding/envelopes/recognised.ts';
import type { Sample } from './seen-record.ts';

type JsonObject = Record<string, unknown>;

/** How many of the newest samples are kept, without the changes that are made. */
const MAX_SEEN = 17;

/**
 * Samples, which end with an update and a delete of their last row if the newest ones have none: made of it, so that a graph can be tried with
 * them. Those that are no changes of rows stay as they are.
 * @param hasBefore true: an update has the row before
 */
export function withChanges(
  seen: readonly Sample[],
  envelope: RecognisedEnvelope | undefined,
  hasBefore: boolean,
): readonly Sample[] {
  const newest = seen.slice(-MAX_SEEN).map(({ value }) => value as JsonObject);
  const last = seen.findLast(({ value }) => !isDelete(value as JsonObject));
  if (!last || envelope === undefined || envelope === 'OUTBOX') return seen;
  const value = last.value as JsonObject;
  const changes = isFlinkChange(value) ? flinkChanges(value) : changesOf(value, envelope, hasBefore);
  const made = [...(newest.some(isUpdate) ? [] : changes.update), ...(newest.some(isDelete) ? [] : changes.delete)];
  // A tombstone names its row by the key.
  const added = made.filter((one) => one !== null || last.key !== undefined);
  return [...seen, ...added.map((one) => ({ key: last.key, value: one, isMade: true }))];
}

interface MadeChanges {
  readonly update: readonly Sample['value'][];
  readonly delete: readonly Sample['value'][];
}

function isUpdate({ op = undefined, __op = op }: JsonObject): boolean {
  return __op === 'u';
}

function isDelete({ op = undefined, __op = op, __deleted }: JsonObject): boolean {
  return __op === 'd' || __deleted === 'true' || __deleted === true;
}

function changesOf(value: JsonObject, envelope: RecognisedEnvelope, hasBefore: boolean): MadeChanges {
  switch (envelope) {
    case 'DEBEZIUM': {
      const { after } = value;
      const update = { ...value, before: hasBefore ? after : null, op: 'u' };
      return { update: [update], delete: [{ ...value, before: after, after: null, op: 'd' }] };
    }
    case 'MONGODB':
      return {
        update: [{ ...value, before: null, op: 'u' }],
        delete: [{ ...value, before: null, after: null, op: 'd' }],
      };
    case 'DEBEZIUM_FLAT': {
      const coded = (op: string) => ({ ...value, ...('__op' in value && { __op: op }) });
      return { update: [coded('u')], delete: ['__deleted' in value ? { ...coded('d'), __deleted: 'true' } : null] };
    }
    default:
      return { update: [value], delete: [null] };
  }
}

/** Flink writes an update as a delete and an insert. */
function flinkChanges(value: JsonObject): MadeChanges {
  const deleted = { before: value['after'], after: null, op: 'd' };
  return { update: [deleted, value], delete: [deleted] };
}
