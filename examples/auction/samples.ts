import type { SampleRecord } from 'crier/graph';
import { createDice } from './dice.ts';
import type { Dice } from './dice.ts';
import { LiveAuction } from './live-auction.ts';

export { respond } from './respond.ts';

/** The auction that never closes; half of all records are about it. */
const HOT_AUCTION_ID = 3005177;
/** Number of other running auctions; a new one replaces each that closes. */
const OTHER_AUCTIONS = 8;
const OPENING_MS = Date.parse('2024-02-18T12:30:11.683Z');

export const operation = `subscription WatchAuction {
  auction_updated(auction_id: ${HOT_AUCTION_ID}) {
    auction_id
    current_bid
    bid_count
    watcher_count
    visible_auction_end_date_time
    high_bidder {
      display_name
    }
    venue {
      name
    }
  }
}
`;

interface House {
  readonly dice: Dice;
  /** Advances a little at each call. In ms since 1970. */
  readonly now: () => number;
}

/** An endless sequence of records; every second one is about the hot auction. */
export function* records(seed: number): Generator<SampleRecord, never> {
  const dice = createDice(seed);
  let time = OPENING_MS;
  const house: House = { dice, now: () => (time += dice.between(40, 900)) };
  const hot = new LiveAuction(HOT_AUCTION_ID, dice, house.now());
  yield hot.changeListing('UNDER_AUCTION', house.now());
  yield hot.changeStatus('OPEN', house.now());
  let nextId = HOT_AUCTION_ID + 1;
  const others = Array.from({ length: OTHER_AUCTIONS }, () => lifeOf(nextId++, house));
  for (;;) {
    yield hot.bid(house.now());
    yield hot.update(house.now());
    const place = dice.between(0, OTHER_AUCTIONS - 1);
    let event = others[place]!.next();
    if (event.done) {
      others[place] = lifeOf(nextId++, house);
      event = others[place].next();
    }
    if (!event.done) yield event.value;
    yield hot.update(house.now());
  }
}

/** The records of one auction, from its listing to its end. */
function* lifeOf(auctionId: number, { dice, now }: House): Generator<SampleRecord, undefined> {
  const auction = new LiveAuction(auctionId, dice, now());
  yield auction.changeListing('DRAFT', now());
  yield auction.changeListing('ACTIVE', now());
  yield auction.changeStatus('SCHEDULED', now());
  if (dice.chance(5)) {
    yield auction.changeListing('WITHDRAWN', now());
    return;
  }
  yield auction.changeListing('UNDER_AUCTION', now());
  yield auction.changeStatus('OPEN', now());
  for (let bids = dice.between(0, 20); bids > 0; bids--) {
    yield auction.bid(now());
    yield auction.update(now());
  }
  yield auction.changeStatus(auction.isReserveMet ? 'SOLD' : 'RESERVE_NOT_MET', now());
  yield auction.changeListing(auction.isReserveMet ? 'SOLD' : 'ACTIVE', now());
}
