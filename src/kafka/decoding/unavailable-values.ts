import { createHash } from 'node:crypto';

type Row = Record<string, unknown>;

/** The default of Debezium's `unavailable.value.placeholder`. */
export const UNAVAILABLE_VALUE = '__debezium_unavailable_value';

const HEX = 'hex:';
const NO_COLUMNS: readonly string[] = [];
/** Bytes that few JSON texts have, the rarest first: a search for one takes a third of that for a text. */
const RARE = Buffer.from('=[zqxjZQXJKYV_');
/** A shorter end of a text may be in others. */
const MIN_BYTES = 8;

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
  readonly #traces: readonly Trace[];

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
    this.#traces = [[printed], [base64], [`[${this.#bytes.join()}`, `["${uuid}`]].map(traceOf);
  }

  /**
   * False: no row in the text has the placeholder.
   * @param json as JSON.stringify or a converter of Kafka Connect prints it
   * @param end offset after the rows
   */
  mayBeIn(json: Buffer, end = json.length): boolean {
    for (const { byte, parts } of this.#traces) {
      const at = json.indexOf(byte);
      if (at >= 0 && at < end && parts.some((part) => json.includes(part))) return true;
    }
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

/** Parts of JSON texts, and a byte that is in each of them. */
interface Trace {
  readonly byte: number;
  readonly parts: readonly Buffer[];
}

function traceOf(texts: readonly string[]): Trace {
  const parts = texts.map((text) => Buffer.from(text));
  const byte = RARE.find((one) => parts.every((part) => part.includes(one))) ?? parts[0]![0]!;
  // From the rare byte on they are found faster.
  const ends = parts.map((part) => part.subarray(part.indexOf(byte)));
  return { byte, parts: ends.every(({ length }) => length >= MIN_BYTES) ? ends : parts };
}

/** Version 3, as `UUID.nameUUIDFromBytes` of Java makes it. */
function uuidOf(bytes: Buffer): string {
  const digest = createHash('md5').update(bytes).digest();
  digest[6] = (digest[6]! & 0x0f) | 0x30;
  digest[8] = (digest[8]! & 0x3f) | 0x80;
  return digest.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
