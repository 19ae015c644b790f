import { createDice } from '../../../examples/auction/dice.ts';
import type { Dice } from '../../../examples/auction/dice.ts';
import { createLedgerEntry } from './ledger-entry.ts';
import type { LedgerEntry } from './ledger-entry.ts';
import { Zipf } from './zipf.ts';

/** The topics of graphs/scenarios in the order of their lanes, with their shares of records in percent. */
export const TOPICS = [
  { name: 'auction-events', percent: 50 },
  { name: 'bid-events', percent: 30 },
  { name: 'listing-events', percent: 20 },
] as const;
export const PARTITIONS = 4;
export const EVENTS = 20;

const LEAST_BYTES = 512;
const MOST_BYTES = 20_480;
/** Share of a record's size that its list of changes takes; the description takes the rest. */
const LIST_SHARE = 0.4;
const CHANGE_BYTES = 90;
/** Text that faulty JSON escaping, UTF-8 handling or key conversion would corrupt. */
const HARD_TEXT = 'camelCase snake_case "\\u0041" \\ \t\n é 漢字 😀 \u2028 ';
const STATUSES = ['SCHEDULED', 'OPEN', 'SOLD', 'RESERVE_NOT_MET'];

export interface MarketOptions {
  readonly seed: number;
  readonly auctions: number;
  /** Exponent of the auctions' popularity, for records and subscriptions alike. */
  readonly zipfExponent: number;
}

/** `value`: JSON with camelCase keys. `timestamp`: ms since 1970. */
export type MarketRecord = ReturnType<Market['next']>;

/** A lane is one auction in one topic. Its records are in one partition and therefore ordered. */
export function laneOf(topicIndex: number, auction: number, auctions: number): number {
  return topicIndex * auctions + auction;
}

/** Generates the records of a market. Equal seeds give equal records, except for their times. */
export class Market {
  readonly laneCount: number;
  readonly #auctions: number;
  readonly #zipf: Zipf;
  readonly #dice: Dice;
  readonly #filler: string;
  /** By lane: the sequence of its latest record. */
  readonly #sequences: Int32Array;

  constructor({ seed, auctions, zipfExponent }: MarketOptions) {
    this.laneCount = TOPICS.length * auctions;
    this.#auctions = auctions;
    this.#zipf = new Zipf(auctions, zipfExponent);
    this.#dice = createDice(seed);
    this.#filler = Array.from({ length: 2 * MOST_BYTES }, () => this.#dice.between(97, 122))
      .map((code) => String.fromCharCode(code))
      .join('');
    this.#sequences = new Int32Array(this.laneCount);
  }

  /** A copy of the number of records by lane. */
  get sequences(): number[] {
    return Array.from(this.#sequences);
  }

  /** The next record: of an auction drawn by popularity, 0.5 to 20 KB large. */
  next(timestamp: number) {
    const topicIndex = this.#drawTopic();
    const bytes = Math.round(LEAST_BYTES * (MOST_BYTES / LEAST_BYTES) ** (this.#dice.between(0, 10_000) / 10_000));
    return this.#record(topicIndex, this.#zipf.draw(this.#dice), bytes, timestamp);
  }

  /** A small record for every lane, to detect live subscriptions. */
  marks(timestamp: number) {
    return TOPICS.flatMap((_, topicIndex) =>
      Array.from({ length: this.#auctions }, (_, auction) => this.#record(topicIndex, auction, LEAST_BYTES, timestamp)),
    );
  }

  #drawTopic(): number {
    let point = this.#dice.between(1, 100);
    return TOPICS.findIndex(({ percent }) => (point -= percent) <= 0);
  }

  #record(topicIndex: number, auction: number, bytes: number, timestamp: number) {
    const lane = laneOf(topicIndex, auction, this.#auctions);
    const sequence = ++this.#sequences[lane]!;
    const changes = Array.from({ length: Math.floor((bytes * LIST_SHARE) / CHANGE_BYTES) }, (_, i) => ({
      changedAt: timestamp - i,
      changedBy: `clerk-${this.#dice.between(1, 9999)}`,
      newAmount: 1000 + sequence + i,
    }));
    const valueWith = (description: string) => {
      const entry = createLedgerEntry(lane, sequence, timestamp, description);
      return JSON.stringify(recordValue(topicIndex, auction, description, changes, entry));
    };
    const from = this.#dice.between(0, MOST_BYTES);
    const missing = Math.max(0, bytes - Buffer.byteLength(valueWith(HARD_TEXT)));
    const value = valueWith(HARD_TEXT + this.#filler.slice(from, from + missing));
    const { name: topic } = TOPICS[topicIndex]!;
    return { topic, partition: auction % PARTITIONS, key: String(auction), value, timestamp };
  }
}

function recordValue(
  topicIndex: number,
  auction: number,
  description: string,
  changes: readonly object[],
  entry: LedgerEntry,
): object {
  const common = { auctionId: auction, description, changes, entry };
  switch (topicIndex) {
    case 0: {
      const eventId = auction % EVENTS;
      const event = { eventId, eventCode: `E-${eventId}` };
      const auctionStatus = STATUSES[entry.sequence % STATUSES.length];
      return { auction: { auctionStatus, currentBid: 1000 + entry.sequence, event, ...common } };
    }
    case 1:
      return { bid: { bidderName: `Bidder ${entry.sequence % 97}`, ...common } };
    default:
      return { listing: { headline: `Auction ${auction}, house with a garden`, ...common } };
  }
}
