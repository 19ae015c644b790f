import DataLoader from 'dataloader';
import type { ExecutionContext } from '../../context/context.ts';
import type { Auction, Bid, Bidder, Entity, Listing, Property, Seller, Watch } from './domain.ts';

export const backends = [
  'auction',
  'audit',
  'consumerListingIntake',
  'contract',
  'document',
  'geography',
  'gls',
  'intakeStandardization',
  'listing',
  'mlintegrator',
  'morphlog',
  'notify',
  'offer',
  'onlineAuction',
  'partysearch',
  'payment',
  'poke',
  'potentialreturn',
  'preferences',
  'profile',
  'property',
  'riddler',
  'salesforce',
  'seek',
  'seller',
  'sellerdashboard',
  'tenflix',
  'tracking',
  'trinity',
  'uaa',
  'vendor',
  'venue',
] as const;

type BackendName = (typeof backends)[number];
type Loaders = ReturnType<typeof createLoaders>;
type Primers = ReturnType<typeof createPrimers>;
export type AuctionContext = ExecutionContext<Loaders, Primers>;

export function createLoaders(context: ExecutionContext) {
  return Proxy.lazy({
    account_manager_by_seller_id: byId<string, Entity>(context, 'salesforce', '/account-managers'),
    auction_by_id: byId<number, Auction>(context, 'auction', '/auctions'),
    bidder_by_id: byId<string, Bidder>(context, 'profile', '/profiles'),
    changes_by_auction_id: byId<number, Entity[]>(context, 'morphlog', '/changes'),
    contract_by_auction_id: byId<number, Entity>(context, 'contract', '/contracts'),
    deposit_by_auction_id: byId<number, Entity>(context, 'payment', '/deposits'),
    documents_by_listing_id: byId<string, Entity[]>(context, 'document', '/listing-documents'),
    event_by_id: byId<number, Entity>(context, 'onlineAuction', '/events'),
    inspection_by_property_id: byId<string, Entity>(context, 'vendor', '/inspections'),
    intake_by_listing_id: byId<string, Entity>(context, 'consumerListingIntake', '/intakes'),
    listing_by_id: byId<string, Listing>(context, 'listing', '/listings'),
    market_by_postal_code: byId<string, Entity>(context, 'geography', '/markets'),
    media_by_property_id: byId<string, Entity[]>(context, 'tenflix', '/media'),
    offers_by_listing_id: byId<string, Entity>(context, 'offer', '/offer-summaries'),
    parcel_by_property_id: byId<string, Entity>(context, 'gls', '/parcels'),
    party_by_bidder_id: byId<string, Entity>(context, 'partysearch', '/parties'),
    potential_return_by_property_id: byId<string, Entity>(context, 'potentialreturn', '/returns'),
    property_by_id: byId<string, Property>(context, 'property', '/properties'),
    questions_by_listing_id: byId<string, Entity[]>(context, 'riddler', '/questions'),
    recent_bids_by_auction_id: byId<number, Bid[]>(context, 'onlineAuction', '/recent-bids'),
    seller_by_id: byId<string, Seller>(context, 'seller', '/sellers'),
    seller_score_by_id: byId<string, Entity>(context, 'sellerdashboard', '/scores'),
    similar_listing_ids_by_listing_id: byId<string, string[]>(context, 'seek', '/similar-listings'),
    valuation_by_property_id: byId<string, Entity>(context, 'mlintegrator', '/valuations'),
    venue_by_id: byId<string, Entity>(context, 'venue', '/venues'),
    views_by_listing_id: byId<string, Entity>(context, 'tracking', '/views'),
    watch_by_auction_id: byId<number, Watch>(context, 'preferences', '/watches'),
  });
}

/** Put objects that the execution already holds into the caches of the loaders, so that no backend is called for them. */
export function createPrimers(context: ExecutionContext<Loaders>) {
  return Proxy.lazy({
    auction: primer<Auction>((auction) => context.loaders.auction_by_id.prime(auction.auction_id, auction)),
    bidder: primer<Bidder>((bidder) => context.loaders.bidder_by_id.prime(bidder.bidder_id, bidder)),
    listing: primer<Listing>((listing) => context.loaders.listing_by_id.prime(listing.listing_id, listing)),
  });
}

/** Loads many keys with one call: `POST <path>/batch {"ids":[…]}` responds with objects by id. A missing id loads as null. */
function byId<Key extends string | number, Value>(context: ExecutionContext, backend: BackendName, path: string) {
  return new DataLoader<Key, Value | null>(
    async (ids) => {
      const found = (await context.backends[backend]!.post(`${path}/batch`, { ids })) as Record<string, Value> | null;
      return ids.map((id) => (found && Object.hasOwn(found, id) ? found[String(id)]! : null));
    },
    { maxBatchSize: 200 },
  );
}

function primer<Value>(prime: (value: Value) => unknown): (value: Value) => void {
  return (value) => void prime(value);
}
