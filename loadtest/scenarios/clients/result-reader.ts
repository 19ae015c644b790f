import { readLedgerEntry } from '../load/ledger-entry.ts';
import type { LedgerEntry } from '../load/ledger-entry.ts';

/**
 * Reads the results of one query and variables. Subscribers that ask for the same get the same bytes one after the other: bytes equal to
 * those that were just read need no second look.
 */
export class ResultReader {
  #bytes: Buffer = Buffer.alloc(0);
  #entry: LedgerEntry | undefined;

  /** Undefined where anything was spoiled. The payload may be reused after the call. */
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
