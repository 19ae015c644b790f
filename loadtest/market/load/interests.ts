import { createDice } from '../../../examples/auction/dice.ts';
import type { Dice } from '../../../examples/auction/dice.ts';
import { EVENTS, laneOf } from './market.ts';
import type { MarketOptions } from './market.ts';
import { Zipf } from './zipf.ts';

/** A subscription's operation and the lanes it covers. */
export interface Interest {
  /** Equal for equal query and variables. */
  readonly name: string;
  readonly query: string;
  readonly variables: Readonly<Record<string, number>>;
  readonly lanes: readonly number[];
}

const ENTRY = 'entry { lane sequence produced_at digest seal }';
const CHANGES = 'changes { changed_at changed_by new_amount }';
/** The selections that clients use per field of graphs/scenarios, from a card to every field. */
const AUCTION_SELECTIONS = [
  `{ auction_status current_bid ${ENTRY} }`,
  `{ auction_id auction_status price: current_bid ${ENTRY} description }`,
  `{ ...Everything } } fragment Everything on Auction {
    __typename auction_id auction_status current_bid event { event_id event_code } ${ENTRY} description ${CHANGES}`,
];
const BID_SELECTIONS = [`{ bidder_name ${ENTRY} }`, `{ auction_id bidder_name ${ENTRY} description ${CHANGES} }`];
const LISTING_SELECTIONS = [`{ headline ${ENTRY} }`, `{ auction_id headline ${CHANGES} description ${ENTRY} }`];

/** Draws the subscriptions of a market's clients. Equal seeds give equal sequences. */
export class Interests {
  readonly #options: MarketOptions;
  readonly #zipf: Zipf;
  readonly #dice: Dice;

  constructor(options: MarketOptions) {
    this.#options = options;
    this.#zipf = new Zipf(options.auctions, options.zipfExponent);
    this.#dice = createDice(options.seed + 1);
  }

  /** Draws the subscriptions of one client: 70 % watch an auction, 15 % its bids, and so on. */
  next(count: number): Interest[] {
    return Array.from({ length: count }, () => this.#draw());
  }

  #draw(): Interest {
    const point = this.#dice.between(1, 100);
    if (point <= 70) return this.#auction(0, 'auction_updated', AUCTION_SELECTIONS);
    if (point <= 85) return this.#auction(1, 'bid_placed', BID_SELECTIONS);
    if (point <= 95) return this.#auction(2, 'listing_changed', LISTING_SELECTIONS);
    const isWholeHouse = point === 100 && this.#dice.chance(50);
    return this.#events(isWholeHouse ? undefined : this.#dice.between(0, EVENTS - 1), isWholeHouse ? 0 : 1);
  }

  #auction(topicIndex: number, field: string, selections: readonly string[]): Interest {
    const auction = this.#zipf.draw(this.#dice);
    const selection = this.#dice.pick(selections);
    return {
      name: `${field} ${auction} ${selections.indexOf(selection)}`,
      query: `subscription Watch($auction_id: Int!) { ${field}(auction_id: $auction_id) ${selection} }`,
      variables: { auction_id: auction },
      lanes: [laneOf(topicIndex, auction, this.#options.auctions)],
    };
  }

  /** `eventId` undefined: all events. */
  #events(eventId: number | undefined, selection: number): Interest {
    const { auctions } = this.#options;
    const lanes = Array.from({ length: auctions }, (_, auction) => auction)
      .filter((auction) => eventId === undefined || auction % EVENTS === eventId)
      .map((auction) => laneOf(0, auction, auctions));
    return {
      name: `auctions_updated ${eventId} ${selection}`,
      query: `subscription Follow($event_id: Int) { auctions_updated(event_id: $event_id) ${AUCTION_SELECTIONS[selection]} }`,
      variables: eventId === undefined ? {} : { event_id: eventId },
      lanes,
    };
  }
}
