/** What converted values cost the payload of a record, and where those that JSON cannot print are counted. RecordBytes is one. */
export interface PayloadTexts {
  /** Spends the length of a text that may be longer than the bytes that stand for it. @throws UndecodableError */
  charged(text: string): string;
  /** Counts a value that JSON cannot print. */
  beyondJson(): null;
}

/**
 * Converts a value from the form in which Kafka Connect writes its type in JSON: bytes are base64, integers are numbers, or texts beyond 2^53.
 * A value of another form stays as it is: it was not written with its schema. Objects and lists are changed in place.
 * @param levels of objects and arrays that the value may have
 * @throws UndecodableError
 */
export type ConvertValue = (value: unknown, texts: PayloadTexts, levels: number) => unknown;

/** Parameters of a type, such as `scale`. */
export type ConnectParameters = Readonly<Record<string, unknown>>;

/** Most digits of an INT64. */
const INTEGER = /^-?\d{1,19}$/;
/** All INT64 are closer to 0. */
const INT64_BOUND = 2 ** 63;

/** undefined: it is no integer of 64 bits. */
export function integerOf(value: unknown): number | string | undefined {
  if (typeof value === 'number') return Number.isInteger(value) && Math.abs(value) <= INT64_BOUND ? value : undefined;
  return typeof value === 'string' && INTEGER.test(value) ? value : undefined;
}
