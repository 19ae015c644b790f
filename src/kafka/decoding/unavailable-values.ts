import { createHash } from 'node:crypto';

type Row = Record<string, unknown>;

/** The default of Debezium's `unavailable.value.placeholder`. */
export const UNAVAILABLE_VALUE = '__debezium_unavailable_value';

const HEX = 'hex:';
const NO_COLUMNS: readonly string[] = [];

/**
 * Finds the values of a row that its database did not log, because the change left a large column as it was. Debezium writes a placeholder instead, whose
 * form is that of the column: a text, bytes, a list with one of them, a list of the placeholder's bytes or with a UUID of them, a map.
 * https://debezium.io/documentation/reference/stable/connectors/postgresql.html#postgresql-toasted-values
 */
export class UnavailableValues {
  /** The values of columns of text and bytes, and of maps that are written as JSON texts. */
  readonly #texts: ReadonlySet<unknown>;
  /** Items of a list with one item. */
  readonly #items: ReadonlySet<unknown>;
  readonly #text: string;
  readonly #bytes: Int8Array;
  /** One of them is in each JSON text of a row that has the placeholder. */
  readonly #parts: readonly Buffer[];

  /** @param placeholder as the connector's setting has it; `hex:` precedes bytes */
  constructor(placeholder = UNAVAILABLE_VALUE) {
    const bytes = placeholder.startsWith(HEX)
      ? Buffer.from(placeholder.slice(HEX.length), 'hex')
      : Buffer.from(placeholder);
    const text = bytes.toString('utf8');
    const base64 = bytes.toString('base64');
    const uuid = uuidOf(bytes);
    this.#text = text;
    this.#bytes = new Int8Array(bytes);
    this.#texts = new Set([text, base64, `{"${text}":"${text}"}`]);
    this.#items = new Set([text, base64, uuid]);
    const printed = JSON.stringify(text).slice(1, -1);
    // Brackets are rare, so lists are found faster by theirs.
    this.#parts = [printed, base64, `[${this.#bytes.join()}`, `["${uuid}`].map((part) => Buffer.from(part));
  }

  /** False: no row in the text has the placeholder. @param json as JSON.stringify or a converter of Kafka Connect prints it */
  mayBeIn(json: Buffer): boolean {
    for (const part of this.#parts) if (json.includes(part)) return true;
    return false;
  }

  /** The columns of a row whose values are unavailable. @param row the keys of whose maps may be renamed */
  columnsOf(row: Readonly<Row>): readonly string[] {
    let columns: string[] | undefined;
    for (const key in row) if (this.#isUnavailable(row[key])) (columns ??= []).push(key);
    return columns ?? NO_COLUMNS;
  }

  /**
   * Replaces the unavailable values of a row by the last known ones, else by null. Returns the columns, for counting.
   * @param last the row as it was; undefined: it is not known
   */
  replaceIn(row: Row, last: Readonly<Row> | undefined): readonly string[] {
    const columns = this.columnsOf(row);
    for (const key of columns) row[key] = last && Object.hasOwn(last, key) ? last[key] : null;
    return columns;
  }

  #isUnavailable(value: unknown): boolean {
    if (typeof value === 'string') return this.#texts.has(value);
    if (typeof value !== 'object' || value === null) return false;
    if (Array.isArray(value)) return this.#isUnavailableList(value);
    const keys = Object.keys(value);
    return keys.length === 1 && (value as Row)[keys[0]!] === this.#text;
  }

  #isUnavailableList(items: readonly unknown[]): boolean {
    if (items.length === 1) return this.#items.has(items[0]);
    return items.length === this.#bytes.length && this.#bytes.every((byte, i) => items[i] === byte);
  }
}

/** Version 3, as `UUID.nameUUIDFromBytes` of Java makes it. */
function uuidOf(bytes: Buffer): string {
  const digest = createHash('md5').update(bytes).digest();
  digest[6] = (digest[6]! & 0x0f) | 0x30;
  digest[8] = (digest[8]! & 0x3f) | 0x80;
  return digest.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
