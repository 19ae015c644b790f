import { parseFrozen } from '../base/json/frozen.ts';
import { isJsonObject } from '../base/json/json-object.ts';

/**
 * What the message of a change record has beside its row: what happened to the row. A message of a topic without an `envelope` has none.
 */
export interface Change {
  /** Of the channel: a row that leaves a channel is deleted there. Absent: the record does not say. */
  readonly op?: ChangeOperation;
  /** The whole row before the change, with its names as in a payload. Absent: it is not known, or no field asks for it. */
  readonly before?: unknown;
  /** Of the database, in ms since 1970. */
  readonly sourceTimestamp?: number;
  /** Id of the transaction, as the source writes it. */
  readonly transaction?: string;
  /** True: the row was read from a table, and did not change now. */
  readonly isSnapshot?: boolean;
}

export type ChangeOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'READ';

/** Between the row and the change. JSON text without white space between its tokens has no such byte. */
const SEPARATOR = 0x0a;

/**
 * The payload of a change's message: the row as JSON text without white space, a line feed, the change as JSON text. The row of a DELETE is `null`,
 * so that such a payload, like that of a tombstone, begins with `null`, as that of no other message does.
 */
export interface ChangeText {
  readonly row: Buffer;
  /** undefined: the payload is a tombstone, or its topic had no envelope when it was published. */
  readonly change: Change | undefined;
}

/** Takes the payload of a topic with an `envelope` apart. The row is a slice of it, the change is frozen. @throws SyntaxError if it is not JSON */
export function splitChange(payload: Buffer): ChangeText {
  const end = payload.indexOf(SEPARATOR);
  if (end < 0) return { row: payload, change: undefined };
  return { row: payload.subarray(0, end), change: parseFrozen(payload.toString('utf8', end + 1)) as Change };
}

/** The row of a payload that is a change's; undefined: it is none. For a reader whose topic has no `envelope`, or had none. */
export function rowOfChange(payload: Buffer): Buffer | undefined {
  try {
    const { row, change } = splitChange(payload);
    return isJsonObject(change) ? row : undefined;
  } catch {
    return undefined;
  }
}

/** What the messages of a topic carry beside `op`, which all of them do. */
export type ChangeDemand = Readonly<Record<Exclude<keyof Change, 'op'>, boolean>>;

/**
 * What follows the row in a payload.
 * @param before the row before, as JSON text without white space
 */
export function printChange(change: Omit<Change, 'before'>, before?: string): string {
  const text = JSON.stringify(change);
  if (before === undefined) return `\n${text}`;
  return `\n${text.slice(0, -1)}${text === '{}' ? '' : ','}"before":${before}}`;
}
