import { OMITTED_PARTS, printParts } from '../bus/carried-parts.ts';
import type { PartsDemand } from '../bus/carried-parts.ts';
import type { PathValues } from '../bus/channel.ts';
import { KEY_PART, hashOf, headerPart, partsReader } from './record-parts.ts';
import type { RecordParts } from './record-parts.ts';

/** Prints what the messages of a topic carry of their records. */
export class PartsPrinter {
  /** Records whose parts were too large. */
  omitted = 0;
  readonly #demand: PartsDemand;
  readonly #read: (record: RecordParts) => PathValues;

  constructor(demand: PartsDemand) {
    this.#demand = demand;
    this.#read = partsReader([KEY_PART, ...demand.headers.map(headerPart)]);
  }

  print(record: RecordParts): string {
    const { key: hasKey, headers: names } = this.#demand;
    const [key, ...values] = this.#read(record);
    const headers = Object.fromEntries(names.map((name, i) => [name, values[i] ?? null]));
    const parts = hasKey ? { key: key ?? null, headers } : { headers };
    const id = this.#demand.id && { id: idOf(record) };
    const text = printParts({ ...parts, ...id });
    if (text !== OMITTED_PARTS) return text;
    this.omitted++;
    return id ? printParts({ headers: {}, ...id, isOmitted: true }) : text;
  }

  /** For channels that the record leaves: nothing that tells what it is. undefined: nothing at all */
  printLeft(record: RecordParts): string | undefined {
    return this.#demand.id && printParts({ headers: {}, id: idOf(record) });
  }
}

function idOf({ key }: RecordParts): string | null {
  return key && hashOf(key);
}
