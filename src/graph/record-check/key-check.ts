import { getNamedType, isEnumType } from 'graphql';
import type { GraphQLInputType, GraphQLSchema } from 'graphql';
import { didYouMean } from '../../base/did-you-mean.ts';
import { QUOTE } from '../../base/json/characters.ts';
import { isJsonObject } from '../../base/json/json-object.ts';
import { valueAt } from '../../base/json/value-at.ts';
import type { ChangeOperation } from '../../bus/change-text.ts';
import { textOf } from '../compared-text.ts';
import {
  KEY_PART,
  describeKey,
  headerOf,
  isHeaderPart,
  isKeyPart,
  isRecordPart,
  keyText,
  partLabel,
  partsReader,
  pathInKey,
} from '../record-parts.ts';
import type { RecordParts } from '../record-parts.ts';
import type { Binding } from '../schema/binding.ts';
import { absenceAt, isMistakenAt, isNullAt, kindOf, listed, recordName, sentence, shortened } from './described.ts';
import type { RecordOrigin, RecordProblem, ShownEnvelope } from './described.ts';

/** What a record says of the row before its change. */
export interface CheckedChange {
  readonly op?: ChangeOperation | undefined;
  readonly before?: unknown;
  /** True: its database may not log whole rows. */
  readonly isFilled?: boolean | undefined;
}

/** A record, and its payload with the names of keys that the graph reads. */
export interface CheckedRecord extends RecordParts {
  readonly partition: number;
  readonly offset: string;
  readonly payload: Readonly<Record<string, unknown>>;
  /** Of a topic with an envelope. */
  readonly change?: CheckedChange;
  /** Absent: its value shows no other envelope than the topic's. */
  readonly shown?: ShownEnvelope;
  /** How its key becomes readable. Absent: it has none, or it can be read. */
  readonly keyFix?: string;
  /** True: nothing says the types of its values, as a schema would. */
  readonly isUntyped?: boolean;
}

/** A path of a binding whose value chooses events. */
interface BindingKey {
  /** What names it in @kafka: `match of "order_id"`. */
  readonly label: string;
  readonly path: string;
  /** Records without a value there reach no subscription of the field. */
  readonly isRequired: boolean;
  /** Of the argument that must equal the value; undefined: it may compare in another way. */
  readonly type?: GraphQLInputType | undefined;
  /** CONTAINS compares with the items of a list. */
  readonly mayBeList?: boolean;
}

const MAX_INT = 2 ** 31;

/** The keys of a binding that no record has in a form that an argument or a claim can equal. */
export class KeyCheck {
  readonly #keys: readonly BindingKey[];

  constructor(schema: GraphQLSchema, { field, match, where, filters = [] }: Binding) {
    const args = schema.getSubscriptionType()?.getFields()[field]?.args ?? [];
    this.#keys = [
      ...match.map(({ arg, path, isOptional }) => {
        const type = args.find(({ name }) => name === arg)?.type;
        return { label: `match of "${arg}"`, path, isRequired: !isOptional, type };
      }),
      ...where.map(({ claim, path }) => ({ label: `where of the claim "${claim}"`, path, isRequired: true })),
      ...filters.map(({ arg, path, op }) => {
        return { label: `where of "${arg}"`, path, isRequired: false, mayBeList: op === 'CONTAINS' };
      }),
    ];
  }

  /** True if the record has a value for each required key. */
  isMatchedBy(record: CheckedRecord): boolean {
    return this.#keys.every((key) => !key.isRequired || textIn(record, key) !== undefined);
  }

  /** One for each key. @param records at least one, the newest last */
  problems(records: readonly CheckedRecord[], origin: RecordOrigin): RecordProblem[] {
    const problems = this.#keys.flatMap((key): RecordProblem[] => {
      const { type, isRequired } = key;
      const texts = records.flatMap((record) => textIn(record, key) ?? []);
      if (texts.length === 0) {
        const isBlocking = isRequired && !records.some((record) => isNullIn(record, key));
        const mistaken = records.findLast((record) => isMistakenIn(record, key));
        const record = mistaken ?? records.at(-1)!;
        const name = recordName(record, record === records.at(-1));
        return [{ text: absence(key, record, name, origin), isBlocking, isLack: mistaken === undefined }];
      }
      const isEqual = type === undefined || texts.some((text) => canEqual(type, text));
      const json = key.path === KEY_PART ? jsonKey(records) : undefined;
      if (json !== undefined) return [{ text: `${key.label}: ${json}`, isBlocking: isRequired && !isEqual }];
      if (isEqual) return [];
      // Other records may have the values that an enum has.
      const isBlocking = isRequired && !isEnumType(getNamedType(type));
      return [{ text: misfit(key, type, records), isBlocking }];
    });
    if (problems.length > 0 || records.some((record) => this.isMatchedBy(record))) return problems;
    const isBlocking = !records.some((record) => this.#mayBeMatchedBy(record));
    return [{ text: this.#apart(origin), isBlocking, isLack: true }];
  }

  /** True if records with other values for what is null in this one would be matched. */
  #mayBeMatchedBy(record: CheckedRecord): boolean {
    return this.#keys.every((key) => !key.isRequired || textIn(record, key) !== undefined || isNullIn(record, key));
  }

  #apart(origin: RecordOrigin): string {
    const labels = this.#keys.filter(({ isRequired }) => isRequired).map(({ label }) => label);
    return `${labels.join(' and ')}: no record has a value for each of them. No subscription receives it; correct the paths in @kafka, or ${origin}`;
  }
}

function textIn(record: CheckedRecord, { path, mayBeList = false }: BindingKey): string | undefined {
  if (isRecordPart(path)) return partsReader([path])(record)[0];
  const value = valueAt(record.payload, path.split('.'));
  return mayBeList && Array.isArray(value) ? '' : textOf(value);
}

function isNullIn({ payload }: CheckedRecord, { path }: BindingKey): boolean {
  return !isRecordPart(path) && isNullAt(payload, path.split('.'));
}

/** True if the record has no value of the key by mistake: not only because it is of another kind than those that the field reads. */
function isMistakenIn(record: CheckedRecord, { path }: BindingKey): boolean {
  if (!isRecordPart(path)) return isMistakenAt(record.payload, path.split('.'));
  if (isHeaderPart(path)) return isMistakenAt(record.headers ?? {}, [headerOf(path)]);
  if (record.key === null) return false;
  const inKey = pathInKey(path);
  return inKey === undefined || !isJsonObject(record.keyValue) || isMistakenAt(record.keyValue, inKey.split('.'));
}

function absence(
  { label, path, isRequired }: BindingKey,
  record: CheckedRecord,
  name: string,
  origin: RecordOrigin,
): string {
  const found = isRecordPart(path) ? partAbsence(path, record) : absenceAt(record.payload, path.split('.'));
  const effect = isRequired ? 'No subscription receives it' : 'No subscription with this argument receives it';
  return `${label}: ${name} ${sentence(found)} ${effect}; ${absenceFix(path, record, origin)}`;
}

function partAbsence(path: string, record: CheckedRecord): string {
  if (isKeyPart(path)) {
    const inKey = pathInKey(path);
    if (inKey === undefined) return `has ${describeKey(record)}`;
    const { keyValue } = record;
    const near = isJsonObject(keyValue) ? didYouMean(inKey, Object.keys(keyValue)) : '';
    return `has ${describeKey(record)}, without a value at "${inKey}"${near}`;
  }
  const near = didYouMean(headerOf(path), Object.keys(record.headers ?? {}));
  return `has no ${partLabel(path).replace("the record's ", '')} that is UTF-8${near}`;
}

function absenceFix(path: string, record: CheckedRecord, origin: RecordOrigin): string {
  if (!isRecordPart(path)) return `correct the path in @kafka, or ${origin}`;
  if (!isKeyPart(path)) return `correct the header in @kafka, or ${origin}`;
  const { key, keyValue, keyFix } = record;
  if (keyFix !== undefined) return keyFix;
  if (key === null) return `match a path of the value, or correct ${origin}: give each record a key`;
  if (isJsonObject(keyValue)) return `correct the key in @kafka, or ${origin}`;
  return keyText(record) === undefined
    ? `match a path of the value, or correct ${origin}: write keys as text, JSON or with a schema`
    : `write key: true, which compares the whole key, or correct ${origin}`;
}

/** Why arguments seldom equal keys that `key: true` compares as they are written. undefined: a key is no JSON text. */
function jsonKey(records: readonly CheckedRecord[]): string | undefined {
  const found = records.filter(({ key }) => key !== null);
  const { keyValue } = found.at(-1)!;
  if (isJsonObject(keyValue) && found.every((record) => isJsonObject(record.keyValue))) {
    const names = Object.keys(keyValue).map((name) => `key: ${JSON.stringify(name)}`);
    return `key: true compares the whole key, which is ${describeKey(found.at(-1)!).replace('a key that is ', '')}; write a match on its members: ${listed(names)}`;
  }
  const isQuoted = found.every((record) => typeof record.keyValue === 'string' && record.key?.[0] === QUOTE);
  return isQuoted
    ? 'key: true compares the key with the quotes that it is written with, as JSON; let the producer write keys as plain text (StringConverter in Kafka Connect, StringSerializer)'
    : undefined;
}

function misfit({ label, path }: BindingKey, type: GraphQLInputType, records: readonly CheckedRecord[]): string {
  const named = getNamedType(type);
  const value = isRecordPart(path)
    ? textIn(records.at(-1)!, { label, path, isRequired: true })
    : valueAt(records.at(-1)!.payload, path.split('.'));
  const found = isEnumType(named) && typeof value === 'string' ? shortened(value) : kindOf(value);
  const names = isEnumType(named) ? named.getValues().map(({ name }) => name) : [];
  const hint = isEnumType(named) && typeof value === 'string' ? didYouMean(value, names) : '';
  const fix = isEnumType(named) ? `add it to the enum ${named.name}` : 'give the argument the type ID or String';
  const where = isRecordPart(path) ? `in ${partLabel(path)}` : `at "${path}"`;
  return (
    `${label}: the record has ${found} ${where}, which is no ${named.name}${hint}, so no value of the argument ` +
    `equals it; ${fix}, or correct the path`
  );
}

/** Whether an argument of the type may have this text (`argumentTexts`). The texts of a custom scalar are not known. */
function canEqual(type: GraphQLInputType, text: string): boolean {
  const named = getNamedType(type);
  if (isEnumType(named)) return named.getValues().some(({ value }) => textOf(value) === text);
  if (named.name === 'Boolean') return text === 'true' || text === 'false';
  if (named.name !== 'Int' && named.name !== 'Float') return true;
  const number = Number(text);
  if (String(number) !== text || !Number.isFinite(number)) return false;
  return named.name === 'Float' || (Number.isInteger(number) && number >= -MAX_INT && number < MAX_INT);
}
