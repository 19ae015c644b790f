import { isJsonObject } from '../../base/json/json-object.ts';
import { didYouMean } from '../../base/did-you-mean.ts';
import { valueAt } from '../../base/json/value-at.ts';

/** What a fix calls the origin of records. */
export type RecordOrigin = 'what the producer writes' | 'samples.ts' | 'what the test publishes';

/** An envelope that a record's value shows, and that its topic does not have. */
export interface ShownEnvelope {
  /** In the schema. */
  readonly name: string;
  /** What such records are. */
  readonly likeness: string;
}

/** One thing that does not fit between records and a field. */
export interface RecordProblem {
  /** The binding or the field of a type, what the record has, and how to fix it. */
  readonly text: string;
  /** True: of records like these no subscription of the field receives a value. */
  readonly isBlocking: boolean;
  /** True: other records may have what these lack. */
  readonly isLack?: boolean;
}

/** Tells that a topic has records that were not read. */
export interface Unread {
  /** Records that were read. */
  readonly read: number;
  /** Of the topic; fewer where Kafka has removed some. */
  readonly total: number;
  /** False: so many were to be read. */
  readonly mayReadMore: boolean;
}

const MAX_NAMES = 10;
/** Of a name's characters, those in which a misspelt one differs: `user_id` and `order` are no misspelt `order_id`. */
const MISSPELT_SHARE = 0.2;
const MAX_NAME_LENGTH = 40;

/** What a value is, without the value: payloads do not belong into logs. */
export function kindOf(value: unknown): string {
  if (value === undefined) return 'no value';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** The value of an enum, which is a name, as JSON. */
export function shortened(text: string): string {
  return JSON.stringify(text.length > MAX_NAME_LENGTH ? `${text.slice(0, MAX_NAME_LENGTH)}…` : text);
}

export function listed(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES).map((name) => name.slice(0, MAX_NAME_LENGTH));
  return [...shown, ...(names.length > MAX_NAMES ? [`${names.length - MAX_NAMES} more`] : [])].join(', ') || 'no keys';
}

/** The path as a sentence names it. */
export function placeOf(path: readonly string[]): string {
  return path.length === 0 ? 'the top' : `"${path.join('.')}"`;
}

/** Why there is no value to compare at a path: the first key that is missing, or what is there instead. */
export function absenceAt(payload: unknown, path: readonly string[]): string {
  let value = payload;
  let siblings: string[] = [];
  for (const [index, key] of path.entries()) {
    const above = placeOf(path.slice(0, index));
    if (!isJsonObject(value)) return `has ${kindOf(value)} at ${above}, which has no "${key}"`;
    if (!Object.hasOwn(value, key)) {
      const keys = Object.keys(value);
      return `has no "${key}" at ${above}, where its keys are ${listed(keys)}${didYouMean(key, keys)}`;
    }
    siblings = Object.keys(value).filter((other) => other !== key);
    value = value[key];
  }
  const keys = isJsonObject(value) ? ` with the keys ${listed(Object.keys(value))}` : '';
  const beside = siblings.length > 0 ? `, beside ${listed(siblings)}` : '';
  return `has ${kindOf(value)}${keys} at ${placeOf(path)}${beside}`;
}

/** True if a value at the path is missing by mistake: a name like the missing one is there, or the value cannot be compared. */
export function isMistakenAt(payload: unknown, path: readonly string[]): boolean {
  let value = payload;
  for (const key of path) {
    if (!isJsonObject(value)) return false;
    if (!Object.hasOwn(value, key)) return didYouMean(key, Object.keys(value), MISSPELT_SHARE) !== '';
    value = value[key];
  }
  return value !== null;
}

/** What a problem calls the record that it describes. */
export function recordName(
  { partition, offset }: { readonly partition: number; readonly offset: string },
  isNewest: boolean,
): string {
  return isNewest ? 'the record' : `an older record (partition ${partition}, offset ${offset})`;
}

/** Says that other records may be those that a field reads, and how to read them. */
export function unreadHint({ read, total, mayReadMore }: Unread): string {
  const more = mayReadMore ? `: crier check --records ${total} reads more` : '';
  return `; ${read} of about ${total} records were read, and the others may be what the field reads${more}`;
}

/** True if the path, or what it leads through, is null: other records may have a value there. */
export function isNullAt(payload: unknown, path: readonly string[]): boolean {
  return path.some((_, i) => valueAt(payload, path.slice(0, i + 1)) === null);
}

/** A problem beside which a field delivers values. */
export function problemOf(text: string): RecordProblem {
  return { text, isBlocking: false };
}

/** The text as a sentence; a proposal ends it already. */
export function sentence(text: string): string {
  return text.endsWith('?') ? text : `${text}.`;
}
