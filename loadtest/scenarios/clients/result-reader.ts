import { readLedgerEntry } from '../load/ledger-entry.ts';
import type { LedgerEntry } from '../load/ledger-entry.ts';

/**
 * Reads the results of one query with its variables. Its subscribers receive the same bytes one after the other, so bytes equal to the
 * previous ones are not parsed again.
 */
export class ResultReader {
  #bytes: Buffer = Buffer.alloc(0);
  #entry: LedgerEntry | undefined;

  /** Returns undefined for a corrupt result. The payload may be reused after the call. */
  read(payload: Buffer | object): LedgerEntry | undefined {
    if (!Buffer.isBuffer(payload)) return readLedgerEntry(payload);
    if (payload.equals(this.#bytes)) return this.#entry;
    this.#bytes = Buffer.from(payload);
    try {
      this.#entry = readLedgerEntry(JSON.parse(payload.toString()));
    } catch {
      this.#entry = undefined;
    }
    return this.#entry;
  }
}
