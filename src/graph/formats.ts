/**
 * Reads the value of a record. Returns what JSON has: an object of strings, numbers, booleans, null, lists and objects, with the keys that the
 * producer gave them. A throw makes the record poison.
 * @param value a slice of a larger buffer: copy what is kept
 */
export type FormatDecoder = (value: Buffer) => unknown;

/** Makes the decoder of a format, in the worker alone, when its first record has come: import packages here. */
export type LoadFormat = () => FormatDecoder | Promise<FormatDecoder>;

/** The formats that a graph brings, by their names in the schema, such as CBOR. */
export type Formats = Readonly<Record<string, LoadFormat>>;
