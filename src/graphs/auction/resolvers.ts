import type DataLoader from 'dataloader';
import type { AuctionContext } from './context.ts';
import { auctionDossier, bidderDossier, listingDossier, propertyDossier, sellerDossier } from './dossiers.ts';
import type {
  Auction as AuctionSource,
  AuctionEvent as AuctionEventSource,
  Bid as BidSource,
  Bidder as BidderSource,
  Listing as ListingSource,
  Property as PropertySource,
  Seller as SellerSource,
} from './domain.ts';

export const Query = {
  auction: (_: unknown, { auction_id }: { auction_id: number }, { loaders }: AuctionContext) =>
    loaders.auction_by_id.load(auction_id),
  listing: (_: unknown, { listing_id }: { listing_id: string }, { loaders }: AuctionContext) =>
    loaders.listing_by_id.load(listing_id),
  auction_dossier: auctionDossier,
  bidder_dossier: bidderDossier,
  listing_dossier: listingDossier,
  property_dossier: propertyDossier,
  seller_dossier: sellerDossier,
};

export const Auction = {
  listing: (auction: AuctionSource, _: unknown, { loaders }: AuctionContext) => {
    loaders.primers.auction(auction);
    return loaders.listing_by_id.load(auction.listing_id);
  },
  property: (auction: AuctionSource, _: unknown, { loaders }: AuctionContext) =>
    loaders.property_by_id.load(auction.property_id),
  seller: (auction: AuctionSource, _: unknown, { loaders }: AuctionContext) =>
    loaders.seller_by_id.load(auction.seller_id),
  venue: (auction: AuctionSource, _: unknown, { loaders }: AuctionContext) =>
    loaders.venue_by_id.load(auction.venue_id),
  high_bidder: ({ high_bidder_id }: AuctionSource, _: unknown, { loaders }: AuctionContext) =>
    high_bidder_id === null ? null : loaders.bidder_by_id.load(high_bidder_id),
  contract: (auction: AuctionSource, _: unknown, { loaders }: AuctionContext) =>
    loaders.contract_by_auction_id.load(auction.auction_id),
  deposit: (auction: AuctionSource, _: unknown, { loaders }: AuctionContext) =>
    loaders.deposit_by_auction_id.load(auction.auction_id),
  recent_bids: async (auction: AuctionSource, _: unknown, { loaders }: AuctionContext) => {
    loaders.primers.auction(auction);
    const bids = (await loaders.recent_bids_by_auction_id.load(auction.auction_id)) ?? [];
    for (const { bidder } of bids) if (bidder) loaders.primers.bidder(bidder);
    return bids;
  },
  changes: async (auction: AuctionSource, _: unknown, { loaders }: AuctionContext) =>
    (await loaders.changes_by_auction_id.load(auction.auction_id)) ?? [],
  is_watched: async (auction: AuctionSource, _: unknown, { loaders }: AuctionContext) =>
    (await loaders.watch_by_auction_id.load(auction.auction_id))?.is_watched ?? false,
  auctioneer: (auction: AuctionSource, _: unknown, { loaders }: AuctionContext) =>
    loaders.auctioneer_by_auction_id.load(auction.auction_id),
  attendance: (auction: AuctionSource, _: unknown, { loaders }: AuctionContext) =>
    loaders.attendance_by_auction_id.load(auction.auction_id),
  escrow: (auction: AuctionSource, _: unknown, { loaders }: AuctionContext) =>
    loaders.escrow_by_auction_id.load(auction.auction_id),
  fees: async (auction: AuctionSource, _: unknown, { loaders }: AuctionContext) =>
    (await loaders.fees_by_auction_id.load(auction.auction_id)) ?? [],
  tasks: async (auction: AuctionSource, _: unknown, { loaders }: AuctionContext) =>
    (await loaders.tasks_by_auction_id.load(auction.auction_id)) ?? [],
};

export const AuctionEvent = {
  name: eventDetail('name'),
  begins_on: eventDetail('begins_on'),
  calendar: (event: AuctionEventSource, _: unknown, { loaders }: AuctionContext) =>
    loaders.calendar_by_event_id.load(event.event_id),
  auction_ids: async (event: AuctionEventSource, _: unknown, { loaders }: AuctionContext) =>
    (await loaders.auction_ids_by_event_id.load(event.event_id)) ?? [],
};

/** A payload has only the keys of an event; its backend has the other fields. */
function eventDetail(name: string) {
  return async (event: AuctionEventSource, _: unknown, { loaders }: AuctionContext) =>
    (await loaders.event_by_id.load(event.event_id))?.[name] ?? null;
}

export const Bid = {
  auction: (bid: BidSource, _: unknown, { loaders }: AuctionContext) => loaders.auction_by_id.load(bid.auction_id),
  bidder: (bid: BidSource, _: unknown, { loaders }: AuctionContext) => loaders.bidder_by_id.load(bid.bidder_id),
};

export const Bidder = {
  party: (bidder: BidderSource, _: unknown, { loaders }: AuctionContext) =>
    loaders.party_by_bidder_id.load(bidder.bidder_id),
  account: (bidder: BidderSource, _: unknown, { loaders }: AuctionContext) =>
    loaders.account_by_bidder_id.load(bidder.bidder_id),
  agent: (bidder: BidderSource, _: unknown, { loaders }: AuctionContext) =>
    loaders.agent_by_bidder_id.load(bidder.bidder_id),
};

export const Listing = {
  auction: (listing: ListingSource, _: unknown, { loaders }: AuctionContext) => {
    loaders.primers.listing(listing);
    return listing.auction_id === null ? null : loaders.auction_by_id.load(listing.auction_id);
  },
  property: (listing: ListingSource, _: unknown, { loaders }: AuctionContext) =>
    loaders.property_by_id.load(listing.property_id),
  seller: (listing: ListingSource, _: unknown, { loaders }: AuctionContext) =>
    loaders.seller_by_id.load(listing.seller_id),
  documents: async (listing: ListingSource, _: unknown, { loaders }: AuctionContext) =>
    (await loaders.documents_by_listing_id.load(listing.listing_id)) ?? [],
  questions: async (listing: ListingSource, _: unknown, { loaders }: AuctionContext) =>
    (await loaders.questions_by_listing_id.load(listing.listing_id)) ?? [],
  offers: (listing: ListingSource, _: unknown, { loaders }: AuctionContext) =>
    loaders.offers_by_listing_id.load(listing.listing_id),
  views: (listing: ListingSource, _: unknown, { loaders }: AuctionContext) =>
    loaders.views_by_listing_id.load(listing.listing_id),
  intake: (listing: ListingSource, _: unknown, { loaders }: AuctionContext) =>
    loaders.intake_by_listing_id.load(listing.listing_id),
  similar_listings: async (listing: ListingSource, _: unknown, { loaders }: AuctionContext) => {
    loaders.primers.listing(listing);
    return found(
      loaders.listing_by_id,
      (await loaders.similar_listing_ids_by_listing_id.load(listing.listing_id)) ?? [],
    );
  },
  latest_auction: (listing: ListingSource, _: unknown, { loaders }: AuctionContext) =>
    loaders.auction_by_listing_id.load(listing.listing_id),
  comments: async (listing: ListingSource, _: unknown, { loaders }: AuctionContext) =>
    (await loaders.comments_by_listing_id.load(listing.listing_id)) ?? [],
  favourites: (listing: ListingSource, _: unknown, { loaders }: AuctionContext) =>
    loaders.favourites_by_listing_id.load(listing.listing_id),
  financing: (listing: ListingSource, _: unknown, { loaders }: AuctionContext) =>
    loaders.financing_by_listing_id.load(listing.listing_id),
  flags: async (listing: ListingSource, _: unknown, { loaders }: AuctionContext) =>
    (await loaders.flags_by_listing_id.load(listing.listing_id)) ?? [],
  open_houses: async (listing: ListingSource, _: unknown, { loaders }: AuctionContext) =>
    (await loaders.open_houses_by_listing_id.load(listing.listing_id)) ?? [],
  prices: async (listing: ListingSource, _: unknown, { loaders }: AuctionContext) =>
    (await loaders.prices_by_listing_id.load(listing.listing_id)) ?? [],
};

export const Property = {
  market: (property: PropertySource, _: unknown, { loaders }: AuctionContext) =>
    loaders.market_by_postal_code.load(property.postal_code),
  parcel: (property: PropertySource, _: unknown, { loaders }: AuctionContext) =>
    loaders.parcel_by_property_id.load(property.property_id),
  valuation: (property: PropertySource, _: unknown, { loaders }: AuctionContext) =>
    loaders.valuation_by_property_id.load(property.property_id),
  potential_return: (property: PropertySource, _: unknown, { loaders }: AuctionContext) =>
    loaders.potential_return_by_property_id.load(property.property_id),
  inspection: (property: PropertySource, _: unknown, { loaders }: AuctionContext) =>
    loaders.inspection_by_property_id.load(property.property_id),
  media: async (property: PropertySource, _: unknown, { loaders }: AuctionContext) =>
    (await loaders.media_by_property_id.load(property.property_id)) ?? [],
  appraisal: (property: PropertySource, _: unknown, { loaders }: AuctionContext) =>
    loaders.appraisal_by_property_id.load(property.property_id),
  county: (property: PropertySource, _: unknown, { loaders }: AuctionContext) =>
    loaders.county_by_property_id.load(property.property_id),
  loan: (property: PropertySource, _: unknown, { loaders }: AuctionContext) =>
    loaders.loan_by_property_id.load(property.property_id),
  location: (property: PropertySource, _: unknown, { loaders }: AuctionContext) =>
    loaders.location_by_property_id.load(property.property_id),
  occupancy: (property: PropertySource, _: unknown, { loaders }: AuctionContext) =>
    loaders.occupancy_by_property_id.load(property.property_id),
  tax: (property: PropertySource, _: unknown, { loaders }: AuctionContext) =>
    loaders.tax_by_property_id.load(property.property_id),
};

export const Seller = {
  score: (seller: SellerSource, _: unknown, { loaders }: AuctionContext) =>
    loaders.seller_score_by_id.load(seller.seller_id),
  account_manager: (seller: SellerSource, _: unknown, { loaders }: AuctionContext) =>
    loaders.account_manager_by_seller_id.load(seller.seller_id),
  listings: async (seller: SellerSource, _: unknown, { loaders }: AuctionContext) =>
    found(loaders.listing_by_id, (await loaders.listing_ids_by_seller_id.load(seller.seller_id)) ?? []),
};

/** The objects of the ids that their backend knows. */
async function found<Key, Value>(loader: DataLoader<Key, Value | null>, ids: readonly Key[]): Promise<Value[]> {
  const loaded = await Promise.all(ids.map((id) => loader.load(id)));
  return loaded.filter((value) => value !== null);
}
