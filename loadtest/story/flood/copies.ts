import { readFileSync } from 'node:fs';
import { NUMBER_DIGITS } from '../../fanout/client/number-at.ts';

/** The auction of every record, and the topic. */
export const AUCTION_ID = 982451;
export const TOPIC = 'auction-events';

/** In `auction.version`: so many digits in every copy, so that all have the same length. */
const FIRST_WARM_UP = 10 ** (NUMBER_DIGITS - 1);
const FIRST_COPY = 2 * FIRST_WARM_UP;

/** Copies are numbered below it. */
export const MOST_COPIES = 10 * FIRST_WARM_UP - FIRST_COPY;

/** One line each: copies of loadtest/records/auction.json that differ in their number only. */
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

/** The number of the copy whose version this is; undefined: a warm-up. */
export function copyOf(version: number): number | undefined {
  return version >= FIRST_COPY ? version - FIRST_COPY : undefined;
}

/** The attempt of the warm-up whose version this is. */
export function warmUpOf(version: number): number {
  return version - FIRST_WARM_UP;
}
