import DataLoader from 'dataloader';
import type { ExecutionContext } from '../../context/context.ts';
import type { Auction, Bid, Bidder, Entity, Listing, Property, Seller, Venue, Watch } from './domain.ts';

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
export type AuctionContext = ExecutionContext<ReturnType<typeof createLoaders>>;

/**
 * The loaders of one execution, and the primers that put objects which the execution already holds into their caches, so that no
 * backend is called for them.
 */
export function createLoaders(context: ExecutionContext) {
  const loaders = Proxy.lazy({
    account_by_bidder_id: byId<string, Entity>(context, 'profile', '/accounts'),
    account_manager_by_seller_id: byId<string, Entity>(context, 'salesforce', '/account-managers'),
    agent_by_bidder_id: byId<string, Entity>(context, 'partysearch', '/agents'),
    appraisal_by_property_id: byId<string, Entity>(context, 'mlintegrator', '/appraisals'),
    attendance_by_auction_id: byId<number, Entity>(context, 'tracking', '/attendances'),
    auction_by_id: byId<number, Auction>(context, 'auction', '/auctions'),
    auction_by_listing_id: byId<string, Auction>(context, 'auction', '/listing-auctions'),
    auction_ids_by_event_id: byId<number, number[]>(context, 'auction', '/event-auctions'),
    auctioneer_by_auction_id: byId<number, Entity>(context, 'onlineAuction', '/auctioneers'),
    bidder_by_id: byId<string, Bidder>(context, 'profile', '/profiles'),
    calendar_by_event_id: byId<number, Entity>(context, 'onlineAuction', '/calendars'),
    changes_by_auction_id: byId<number, Entity[]>(context, 'morphlog', '/changes'),
    comments_by_listing_id: byId<string, Entity[]>(context, 'riddler', '/comments'),
    contract_by_auction_id: byId<number, Entity>(context, 'contract', '/contracts'),
    county_by_property_id: byId<string, Entity>(context, 'gls', '/counties'),
    deposit_by_auction_id: byId<number, Entity>(context, 'payment', '/deposits'),
    documents_by_listing_id: byId<string, Entity[]>(context, 'document', '/listing-documents'),
    escrow_by_auction_id: byId<number, Entity>(context, 'contract', '/escrows'),
    event_by_id: byId<number, Entity>(context, 'onlineAuction', '/events'),
    favourites_by_listing_id: byId<string, Entity>(context, 'preferences', '/favourites'),
    fees_by_auction_id: byId<number, Entity[]>(context, 'payment', '/fees'),
    financing_by_listing_id: byId<string, Entity>(context, 'payment', '/financings'),
    flags_by_listing_id: byId<string, string[]>(context, 'listing', '/flags'),
    inspection_by_property_id: byId<string, Entity>(context, 'vendor', '/inspections'),
    intake_by_listing_id: byId<string, Entity>(context, 'consumerListingIntake', '/intakes'),
    listing_by_id: byId<string, Listing>(context, 'listing', '/listings'),
    listing_ids_by_seller_id: byId<string, string[]>(context, 'seller', '/seller-listings'),
    loan_by_property_id: byId<string, Entity>(context, 'payment', '/loans'),
    location_by_property_id: byId<string, Entity>(context, 'geography', '/locations'),
    market_by_postal_code: byId<string, Entity>(context, 'geography', '/markets'),
    media_by_property_id: byId<string, Entity[]>(context, 'tenflix', '/media'),
    occupancy_by_property_id: byId<string, Entity>(context, 'vendor', '/occupancies'),
    offers_by_listing_id: byId<string, Entity>(context, 'offer', '/offer-summaries'),
    open_houses_by_listing_id: byId<string, Entity[]>(context, 'venue', '/open-houses'),
    parcel_by_property_id: byId<string, Entity>(context, 'gls', '/parcels'),
    party_by_bidder_id: byId<string, Entity>(context, 'partysearch', '/parties'),
    potential_return_by_property_id: byId<string, Entity>(context, 'potentialreturn', '/returns'),
    prices_by_listing_id: byId<string, Entity[]>(context, 'listing', '/prices'),
    property_by_id: byId<string, Property>(context, 'property', '/properties'),
    questions_by_listing_id: byId<string, Entity[]>(context, 'riddler', '/questions'),
    recent_bids_by_auction_id: byId<number, Bid[]>(context, 'onlineAuction', '/recent-bids'),
    seller_by_id: byId<string, Seller>(context, 'seller', '/sellers'),
    seller_score_by_id: byId<string, Entity>(context, 'sellerdashboard', '/scores'),
    similar_listing_ids_by_listing_id: byId<string, string[]>(context, 'seek', '/similar-listings'),
    tasks_by_auction_id: byId<number, Entity[]>(context, 'morphlog', '/tasks'),
    tax_by_property_id: byId<string, Entity>(context, 'gls', '/taxes'),
    valuation_by_property_id: byId<string, Entity>(context, 'mlintegrator', '/valuations'),
    venue_by_id: byId<string, Venue>(context, 'venue', '/venues'),
    views_by_listing_id: byId<string, Entity>(context, 'tracking', '/views'),
    watch_by_auction_id: byId<number, Watch>(context, 'preferences', '/watches'),

    primers: Proxy.lazy({
      account: (id: string, part: Entity): void => void loaders.account_by_bidder_id.prime(id, part),
      account_manager: (id: string, part: Entity): void => void loaders.account_manager_by_seller_id.prime(id, part),
      agent: (id: string, part: Entity): void => void loaders.agent_by_bidder_id.prime(id, part),
      appraisal: (id: string, part: Entity): void => void loaders.appraisal_by_property_id.prime(id, part),
      attendance: (id: number, part: Entity): void => void loaders.attendance_by_auction_id.prime(id, part),
      auction: (auction: Auction): void => void loaders.auction_by_id.prime(auction.auction_id, auction),
      auction_of_listing: (id: string, part: Auction): void => void loaders.auction_by_listing_id.prime(id, part),
      auction_ids: (id: number, part: number[]): void => void loaders.auction_ids_by_event_id.prime(id, part),
      auctioneer: (id: number, part: Entity): void => void loaders.auctioneer_by_auction_id.prime(id, part),
      bidder: (bidder: Bidder): void => void loaders.bidder_by_id.prime(bidder.bidder_id, bidder),
      calendar: (id: number, part: Entity): void => void loaders.calendar_by_event_id.prime(id, part),
      changes: (id: number, part: Entity[]): void => void loaders.changes_by_auction_id.prime(id, part),
      comments: (id: string, part: Entity[]): void => void loaders.comments_by_listing_id.prime(id, part),
      contract: (id: number, part: Entity): void => void loaders.contract_by_auction_id.prime(id, part),
      county: (id: string, part: Entity): void => void loaders.county_by_property_id.prime(id, part),
      deposit: (id: number, part: Entity): void => void loaders.deposit_by_auction_id.prime(id, part),
      documents: (id: string, part: Entity[]): void => void loaders.documents_by_listing_id.prime(id, part),
      escrow: (id: number, part: Entity): void => void loaders.escrow_by_auction_id.prime(id, part),
      event: (id: number, part: Entity): void => void loaders.event_by_id.prime(id, part),
      favourites: (id: string, part: Entity): void => void loaders.favourites_by_listing_id.prime(id, part),
      fees: (id: number, part: Entity[]): void => void loaders.fees_by_auction_id.prime(id, part),
      financing: (id: string, part: Entity): void => void loaders.financing_by_listing_id.prime(id, part),
      flags: (id: string, part: string[]): void => void loaders.flags_by_listing_id.prime(id, part),
      inspection: (id: string, part: Entity): void => void loaders.inspection_by_property_id.prime(id, part),
      intake: (id: string, part: Entity): void => void loaders.intake_by_listing_id.prime(id, part),
      listing: (listing: Listing): void => void loaders.listing_by_id.prime(listing.listing_id, listing),
      listing_ids: (id: string, part: string[]): void => void loaders.listing_ids_by_seller_id.prime(id, part),
      loan: (id: string, part: Entity): void => void loaders.loan_by_property_id.prime(id, part),
      location: (id: string, part: Entity): void => void loaders.location_by_property_id.prime(id, part),
      market: (id: string, part: Entity): void => void loaders.market_by_postal_code.prime(id, part),
      media: (id: string, part: Entity[]): void => void loaders.media_by_property_id.prime(id, part),
      occupancy: (id: string, part: Entity): void => void loaders.occupancy_by_property_id.prime(id, part),
      offers: (id: string, part: Entity): void => void loaders.offers_by_listing_id.prime(id, part),
      open_houses: (id: string, part: Entity[]): void => void loaders.open_houses_by_listing_id.prime(id, part),
      parcel: (id: string, part: Entity): void => void loaders.parcel_by_property_id.prime(id, part),
      party: (id: string, part: Entity): void => void loaders.party_by_bidder_id.prime(id, part),
      potential_return: (id: string, part: Entity): void =>
        void loaders.potential_return_by_property_id.prime(id, part),
      prices: (id: string, part: Entity[]): void => void loaders.prices_by_listing_id.prime(id, part),
      property: (property: Property): void => void loaders.property_by_id.prime(property.property_id, property),
      questions: (id: string, part: Entity[]): void => void loaders.questions_by_listing_id.prime(id, part),
      recent_bids: (id: number, part: Bid[]): void => void loaders.recent_bids_by_auction_id.prime(id, part),
      seller: (seller: Seller): void => void loaders.seller_by_id.prime(seller.seller_id, seller),
      seller_score: (id: string, part: Entity): void => void loaders.seller_score_by_id.prime(id, part),
      similar_listing_ids: (id: string, part: string[]): void =>
        void loaders.similar_listing_ids_by_listing_id.prime(id, part),
      tasks: (id: number, part: Entity[]): void => void loaders.tasks_by_auction_id.prime(id, part),
      tax: (id: string, part: Entity): void => void loaders.tax_by_property_id.prime(id, part),
      valuation: (id: string, part: Entity): void => void loaders.valuation_by_property_id.prime(id, part),
      venue: (id: string, part: Venue): void => void loaders.venue_by_id.prime(id, part),
      views: (id: string, part: Entity): void => void loaders.views_by_listing_id.prime(id, part),
      watch: (id: number, part: Watch): void => void loaders.watch_by_auction_id.prime(id, part),
    }),
  });
  return loaders;
}

/** Ignores a part that a dossier omits, so that the part's own backend is called. A part that is null is primed. */
class PrimedLoader<Key, Value> extends DataLoader<Key, Value> {
  override prime(key: Key, part: Value | PromiseLike<Value> | Error | undefined): this {
    return part === undefined ? this : super.prime(key, part);
  }
}

/** Loads many keys with one call: `POST <path>/batch {"ids":[…]}` responds with objects by id. A missing id loads as null. */
function byId<Key extends string | number, Value>(context: ExecutionContext, backend: BackendName, path: string) {
  return new PrimedLoader<Key, Value | null>(
    async (ids) => {
      const found = (await context.backends[backend]!.post(`${path}/batch`, { ids })) as Record<string, Value> | null;
      return ids.map((id) => (found && Object.hasOwn(found, id) ? found[String(id)]! : null));
    },
    { maxBatchSize: 200 },
  );
}
