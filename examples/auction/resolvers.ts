import { auctionDossier, bidderDossier, listingDossier, propertyDossier, sellerDossier } from './dossiers.ts';
import type { Listing as ListingSource } from './sources.ts';
import type {
  AuctionEventResolvers,
  AuctionResolvers,
  BidResolvers,
  BidderResolvers,
  GraphContext,
  ListingResolvers,
  PropertyResolvers,
  QueryResolvers,
  SellerResolvers,
} from './types.ts';

export const Query: QueryResolvers = {
  auction: (_, { auction_id }, { loaders }) => loaders.auction_by_id.load(auction_id),
  listing: (_, { listing_id }, { loaders }) => loaders.listing_by_id.load(listing_id),
  auction_dossier: auctionDossier,
  bidder_dossier: bidderDossier,
  listing_dossier: listingDossier,
  property_dossier: propertyDossier,
  seller_dossier: sellerDossier,
};

export const Auction: AuctionResolvers = {
  listing: (auction, _, { loaders }) => {
    loaders.primers.auction(auction);
    return loaders.listing_by_id.load(auction.listing_id);
  },
  property: (auction, _, { loaders }) => loaders.property_by_id.load(auction.property_id),
  seller: (auction, _, { loaders }) => loaders.seller_by_id.load(auction.seller_id),
  venue: (auction, _, { loaders }) => loaders.venue_by_id.load(auction.venue_id),
  high_bidder: ({ high_bidder_id }, _, { loaders }) =>
    high_bidder_id === null ? null : loaders.bidder_by_id.load(high_bidder_id),
  contract: (auction, _, { loaders }) => loaders.contract_by_auction_id.load(auction.auction_id),
  deposit: (auction, _, { loaders }) => loaders.deposit_by_auction_id.load(auction.auction_id),
  recent_bids: async (auction, _, { loaders }) => {
    loaders.primers.auction(auction);
    const bids = (await loaders.recent_bids_by_auction_id.load(auction.auction_id)) ?? [];
    for (const { bidder } of bids) if (bidder) loaders.primers.bidder(bidder);
    return bids;
  },
  changes: async (auction, _, { loaders }) => (await loaders.changes_by_auction_id.load(auction.auction_id)) ?? [],
  is_watched: async (auction, _, { loaders }) =>
    (await loaders.watch_by_auction_id.load(auction.auction_id))?.is_watched ?? false,
  auctioneer: (auction, _, { loaders }) => loaders.auctioneer_by_auction_id.load(auction.auction_id),
  attendance: (auction, _, { loaders }) => loaders.attendance_by_auction_id.load(auction.auction_id),
  escrow: (auction, _, { loaders }) => loaders.escrow_by_auction_id.load(auction.auction_id),
  fees: async (auction, _, { loaders }) => (await loaders.fees_by_auction_id.load(auction.auction_id)) ?? [],
  tasks: async (auction, _, { loaders }) => (await loaders.tasks_by_auction_id.load(auction.auction_id)) ?? [],
};

export const AuctionEvent: AuctionEventResolvers = {
  name: eventDetail('name'),
  begins_on: eventDetail('begins_on'),
  calendar: (event, _, { loaders }) => loaders.calendar_by_event_id.load(event.event_id),
  auction_ids: async (event, _, { loaders }) => (await loaders.auction_ids_by_event_id.load(event.event_id)) ?? [],
};

/** A payload has only the keys of an event; its backend has the other fields. */
function eventDetail(name: 'name' | 'begins_on'): NonNullable<AuctionEventResolvers['name']> {
  return async (event, _, { loaders }) => (await loaders.event_by_id.load(event.event_id))?.[name] ?? null;
}

export const Bid: BidResolvers = {
  auction: (bid, _, { loaders }) => loaders.auction_by_id.load(bid.auction_id),
  bidder: (bid, _, { loaders }) => loaders.bidder_by_id.load(bid.bidder_id),
};

export const Bidder: BidderResolvers = {
  party: (bidder, _, { loaders }) => loaders.party_by_bidder_id.load(bidder.bidder_id),
  account: (bidder, _, { loaders }) => loaders.account_by_bidder_id.load(bidder.bidder_id),
  agent: (bidder, _, { loaders }) => loaders.agent_by_bidder_id.load(bidder.bidder_id),
};

export const Listing: ListingResolvers = {
  auction: (listing, _, { loaders }) => {
    loaders.primers.listing(listing);
    return listing.auction_id === null ? null : loaders.auction_by_id.load(listing.auction_id);
  },
  property: (listing, _, { loaders }) => loaders.property_by_id.load(listing.property_id),
  seller: (listing, _, { loaders }) => loaders.seller_by_id.load(listing.seller_id),
  documents: async (listing, _, { loaders }) => (await loaders.documents_by_listing_id.load(listing.listing_id)) ?? [],
  questions: async (listing, _, { loaders }) => (await loaders.questions_by_listing_id.load(listing.listing_id)) ?? [],
  offers: (listing, _, { loaders }) => loaders.offers_by_listing_id.load(listing.listing_id),
  views: (listing, _, { loaders }) => loaders.views_by_listing_id.load(listing.listing_id),
  intake: (listing, _, { loaders }) => loaders.intake_by_listing_id.load(listing.listing_id),
  similar_listings: async (listing, _, { loaders }) => {
    loaders.primers.listing(listing);
    return foundListings(loaders, (await loaders.similar_listing_ids_by_listing_id.load(listing.listing_id)) ?? []);
  },
  latest_auction: (listing, _, { loaders }) => loaders.auction_by_listing_id.load(listing.listing_id),
  comments: async (listing, _, { loaders }) => (await loaders.comments_by_listing_id.load(listing.listing_id)) ?? [],
  favourites: (listing, _, { loaders }) => loaders.favourites_by_listing_id.load(listing.listing_id),
  financing: (listing, _, { loaders }) => loaders.financing_by_listing_id.load(listing.listing_id),
  flags: async (listing, _, { loaders }) => (await loaders.flags_by_listing_id.load(listing.listing_id)) ?? [],
  open_houses: async (listing, _, { loaders }) =>
    (await loaders.open_houses_by_listing_id.load(listing.listing_id)) ?? [],
  prices: async (listing, _, { loaders }) => (await loaders.prices_by_listing_id.load(listing.listing_id)) ?? [],
};

export const Property: PropertyResolvers = {
  market: (property, _, { loaders }) => loaders.market_by_postal_code.load(property.postal_code),
  parcel: (property, _, { loaders }) => loaders.parcel_by_property_id.load(property.property_id),
  valuation: (property, _, { loaders }) => loaders.valuation_by_property_id.load(property.property_id),
  potential_return: (property, _, { loaders }) => loaders.potential_return_by_property_id.load(property.property_id),
  inspection: (property, _, { loaders }) => loaders.inspection_by_property_id.load(property.property_id),
  media: async (property, _, { loaders }) => (await loaders.media_by_property_id.load(property.property_id)) ?? [],
  appraisal: (property, _, { loaders }) => loaders.appraisal_by_property_id.load(property.property_id),
  county: (property, _, { loaders }) => loaders.county_by_property_id.load(property.property_id),
  loan: (property, _, { loaders }) => loaders.loan_by_property_id.load(property.property_id),
  location: (property, _, { loaders }) => loaders.location_by_property_id.load(property.property_id),
  occupancy: (property, _, { loaders }) => loaders.occupancy_by_property_id.load(property.property_id),
  tax: (property, _, { loaders }) => loaders.tax_by_property_id.load(property.property_id),
};

export const Seller: SellerResolvers = {
  score: (seller, _, { loaders }) => loaders.seller_score_by_id.load(seller.seller_id),
  account_manager: (seller, _, { loaders }) => loaders.account_manager_by_seller_id.load(seller.seller_id),
  listings: async (seller, _, { loaders }) =>
    foundListings(loaders, (await loaders.listing_ids_by_seller_id.load(seller.seller_id)) ?? []),
};

/** The listings of the ids that their backend knows. */
async function foundListings(loaders: GraphContext['loaders'], ids: readonly string[]): Promise<ListingSource[]> {
  const loaded = await Promise.all(ids.map((id) => loaders.listing_by_id.load(id)));
  return loaded.filter((listing) => listing !== null);
}
