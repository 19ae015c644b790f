import { auctionDocument } from '../fanout/auction.ts';

/** Subscription documents by name. Each selects `version`, the number of the copy. */
export const selections: Readonly<Record<string, string>> = {
  all: auctionDocument(),
  // docs/performance.md, "Flood it yourself".
  few: `subscription Few($auction_id: Int!) {
    auction_updated(auction_id: $auction_id) { auction_id auction_status starting_bid version }
  }`,
};

/** @throws Error listing the names. */
export function selectionOf(name: string): string {
  const query = selections[name];
  if (query !== undefined) return query;
  throw new Error(`--fields: expected ${Object.keys(selections).join(' or ')}, got "${name}"`);
}
