/** Fields and values of enums in a file. protobufjs takes 1 s for as many in one message, and four times as long for twice as many. */
const MAX_IN_FILE = 4000;
/** In a schema and its references, of which there may be hundreds. protobufjs takes 0.4 s for as many. */
const MAX_IN_SCHEMA = 20_000;

/** Counts the fields and values of a schema and its references, before protobufjs reads them. */
export class ProtoBudget {
  #left = MAX_IN_SCHEMA;

  /** @param numbers fields and values of one file. @throws Error if they are too many */
  charge(numbers: number): void {
    if (numbers > MAX_IN_FILE) throw new Error(`more than ${MAX_IN_FILE} fields and values in a file`);
    this.#left -= numbers;
    if (this.#left < 0) throw new Error(`more than ${MAX_IN_SCHEMA} fields and values in a schema and its references`);
  }
}
