import { readFileSync } from 'node:fs';
import { NUMBER_DIGITS } from '../../clients/number-at.ts';

/** The auction id and the topic of every record. */
export const AUCTION_ID = 982451;
export const TOPIC = 'auction-events';

/** Values of `auction.version`. All have the same number of digits, so that all copies have the same length. */
const FIRST_WARM_UP = 10 ** (NUMBER_DIGITS - 1);
const FIRST_COPY = 2 * FIRST_WARM_UP;

/** Exclusive upper bound of copy numbers. */
export const MAX_COPIES = 10 * FIRST_WARM_UP - FIRST_COPY;

/** Lines with copies of loadtest/records/auction.json that differ only in their number. */
export interface Copies {
  /** `copy`: from 0. */
  copy(copy: number): string;
  /** `attempt`: below a million. */
  warmUp(attempt: number): string;
}

export function readCopies(): Copies {
  const record = JSON.parse(readFileSync('loadtest/records/auction.json', 'utf8')) as { auction: object };
  const text = JSON.stringify({ ...record, auction: { ...record.auction, version: FIRST_COPY } });
  const [before, after] = text.split(String(FIRST_COPY)) as [string, string];
  const line = (version: number) => `${before}${version}${after}\n`;
  return {
    copy: (copy) => line(FIRST_COPY + copy),
    warmUp: (attempt) => line(FIRST_WARM_UP + attempt),
  };
}

/** The copy number of a version; undefined for a warm-up record. */
export function copyOf(version: number): number | undefined {
  return version >= FIRST_COPY ? version - FIRST_COPY : undefined;
}

/** The warm-up attempt of a version. */
export function warmUpOf(version: number): number {
  return version - FIRST_WARM_UP;
}
