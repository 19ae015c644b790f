import { auctionDocument } from '../fanout/auction.ts';

/** What the sockets subscribe to, by name; each with the copy's number. */
export const selections: Readonly<Record<string, string>> = {
  all: auctionDocument(),
  // docs/performance.md, "Flood it yourself".
  few: `subscription Few($auction_id: Int!) {
    auction_updated(auction_id: $auction_id) { auction_id auction_status starting_bid version }
  }`,
};

/** @throws Error naming those that there are. */
export function selectionOf(name: string): string {
  const query = selections[name];
  if (query !== undefined) return query;
  throw new Error(`--fields: expected ${Object.keys(selections).join(' or ')}, got "${name}"`);
}
