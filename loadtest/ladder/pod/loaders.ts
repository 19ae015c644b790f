import DataLoader from 'dataloader';
import type { Backends } from './backends.ts';
import type { Parts } from './parts.ts';

type Entity = Readonly<Record<string, unknown>>;
type Loader = DataLoader<string, Entity | null>;
export type Loaders = Readonly<Record<string, Loader>> & { readonly primers: object };

/** The part of the context that loaders and primers read. `loaders` is set after they have been created. */
export interface LoaderContext {
  readonly backends: Backends;
  readonly loaders: Loaders;
}

/**
 * One large literal with a call per key, as in the talk, with the primers in it. The names are those of the auction graph, their number is
 * the talk's; one primer per loader is an assumption, the talk says only that there were more primers than loaders. The eager version reads
 * every key.
 */
export function createLoaders(version: Parts['loaders'], context: LoaderContext): Loaders {
  const loaders = Proxy.lazy({
    account_by_bidder_id: byId(context, 'profile', '/accounts'),
    account_manager_by_seller_id: byId(context, 'salesforce', '/account-managers'),
    agent_by_bidder_id: byId(context, 'partysearch', '/agents'),
    appraisal_by_property_id: byId(context, 'mlintegrator', '/appraisals'),
    attendance_by_auction_id: byId(context, 'tracking', '/attendances'),
    auction_by_id: byId(context, 'auction', '/auctions'),
    auction_by_listing_id: byId(context, 'auction', '/listing-auctions'),
    auction_ids_by_event_id: byId(context, 'auction', '/event-auctions'),
    auctioneer_by_auction_id: byId(context, 'onlineAuction', '/auctioneers'),
    bidder_by_id: byId(context, 'profile', '/profiles'),
    calendar_by_event_id: byId(context, 'onlineAuction', '/calendars'),
    changes_by_auction_id: byId(context, 'morphlog', '/changes'),
    comments_by_listing_id: byId(context, 'riddler', '/comments'),
    contract_by_auction_id: byId(context, 'contract', '/contracts'),
    county_by_property_id: byId(context, 'gls', '/counties'),
    deposit_by_auction_id: byId(context, 'payment', '/deposits'),
    documents_by_listing_id: byId(context, 'document', '/listing-documents'),
    escrow_by_auction_id: byId(context, 'contract', '/escrows'),
    event_by_id: byId(context, 'onlineAuction', '/events'),
    favourites_by_listing_id: byId(context, 'preferences', '/favourites'),
    fees_by_auction_id: byId(context, 'payment', '/fees'),
    financing_by_listing_id: byId(context, 'payment', '/financings'),
    flags_by_listing_id: byId(context, 'listing', '/flags'),
    inspection_by_property_id: byId(context, 'vendor', '/inspections'),
    intake_by_listing_id: byId(context, 'consumerListingIntake', '/intakes'),
    listing_by_id: byId(context, 'listing', '/listings'),
    listing_ids_by_seller_id: byId(context, 'seller', '/seller-listings'),
    loan_by_property_id: byId(context, 'payment', '/loans'),
    location_by_property_id: byId(context, 'geography', '/locations'),
    market_by_postal_code: byId(context, 'geography', '/markets'),
    media_by_property_id: byId(context, 'tenflix', '/media'),
    occupancy_by_property_id: byId(context, 'vendor', '/occupancies'),
    offers_by_listing_id: byId(context, 'offer', '/offer-summaries'),
    open_houses_by_listing_id: byId(context, 'venue', '/open-houses'),
    parcel_by_property_id: byId(context, 'gls', '/parcels'),
    party_by_bidder_id: byId(context, 'partysearch', '/parties'),
    potential_return_by_property_id: byId(context, 'potentialreturn', '/returns'),
    prices_by_listing_id: byId(context, 'listing', '/prices'),
    property_by_id: byId(context, 'property', '/properties'),
    questions_by_listing_id: byId(context, 'riddler', '/questions'),
    recent_bids_by_auction_id: byId(context, 'onlineAuction', '/recent-bids'),
    seller_by_id: byId(context, 'seller', '/sellers'),
    seller_score_by_id: byId(context, 'sellerdashboard', '/scores'),
    similar_listing_ids_by_listing_id: byId(context, 'seek', '/similar-listings'),
    tasks_by_auction_id: byId(context, 'morphlog', '/tasks'),
    tax_by_property_id: byId(context, 'gls', '/taxes'),
    valuation_by_property_id: byId(context, 'mlintegrator', '/valuations'),
    venue_by_id: byId(context, 'venue', '/venues'),
    views_by_listing_id: byId(context, 'tracking', '/views'),
    watch_by_auction_id: byId(context, 'preferences', '/watches'),
    primers: Proxy.lazy({
      account: primer(context, 'account_by_bidder_id'),
      account_manager: primer(context, 'account_manager_by_seller_id'),
      agent: primer(context, 'agent_by_bidder_id'),
      appraisal: primer(context, 'appraisal_by_property_id'),
      attendance: primer(context, 'attendance_by_auction_id'),
      auction: primer(context, 'auction_by_id'),
      auction_of_listing: primer(context, 'auction_by_listing_id'),
      auction_ids: primer(context, 'auction_ids_by_event_id'),
      auctioneer: primer(context, 'auctioneer_by_auction_id'),
      bidder: primer(context, 'bidder_by_id'),
      calendar: primer(context, 'calendar_by_event_id'),
      changes: primer(context, 'changes_by_auction_id'),
      comments: primer(context, 'comments_by_listing_id'),
      contract: primer(context, 'contract_by_auction_id'),
      county: primer(context, 'county_by_property_id'),
      deposit: primer(context, 'deposit_by_auction_id'),
      documents: primer(context, 'documents_by_listing_id'),
      escrow: primer(context, 'escrow_by_auction_id'),
      event: primer(context, 'event_by_id'),
      favourites: primer(context, 'favourites_by_listing_id'),
      fees: primer(context, 'fees_by_auction_id'),
      financing: primer(context, 'financing_by_listing_id'),
      flags: primer(context, 'flags_by_listing_id'),
      inspection: primer(context, 'inspection_by_property_id'),
      intake: primer(context, 'intake_by_listing_id'),
      listing: primer(context, 'listing_by_id'),
      listing_ids: primer(context, 'listing_ids_by_seller_id'),
      loan: primer(context, 'loan_by_property_id'),
      location: primer(context, 'location_by_property_id'),
      market: primer(context, 'market_by_postal_code'),
      media: primer(context, 'media_by_property_id'),
      occupancy: primer(context, 'occupancy_by_property_id'),
      offers: primer(context, 'offers_by_listing_id'),
      open_houses: primer(context, 'open_houses_by_listing_id'),
      parcel: primer(context, 'parcel_by_property_id'),
      party: primer(context, 'party_by_bidder_id'),
      potential_return: primer(context, 'potential_return_by_property_id'),
      prices: primer(context, 'prices_by_listing_id'),
      property: primer(context, 'property_by_id'),
      questions: primer(context, 'questions_by_listing_id'),
      recent_bids: primer(context, 'recent_bids_by_auction_id'),
      seller: primer(context, 'seller_by_id'),
      seller_score: primer(context, 'seller_score_by_id'),
      similar_listing_ids: primer(context, 'similar_listing_ids_by_listing_id'),
      tasks: primer(context, 'tasks_by_auction_id'),
      tax: primer(context, 'tax_by_property_id'),
      valuation: primer(context, 'valuation_by_property_id'),
      venue: primer(context, 'venue_by_id'),
      views: primer(context, 'views_by_listing_id'),
      watch: primer(context, 'watch_by_auction_id'),
    }),
  });
  return (version === 'eager' ? { ...loaders, primers: { ...loaders.primers } } : loaders) as unknown as Loaders;
}

/** Loads up to 200 keys with one request. */
function byId(context: LoaderContext, backend: string, path: string): Loader {
  return new DataLoader((ids) => loadAll(context, backend, path, ids), { maxBatchSize: 200 });
}

async function loadAll({ backends }: LoaderContext, backend: string, path: string, ids: readonly string[]) {
  const found = (await backends[backend]!.post(`${path}/batch`, { ids })) as Record<string, Entity>;
  return ids.map((id) => found[id] ?? null);
}

function primer(context: LoaderContext, loader: string): (entity: Entity) => void {
  return (entity) => void context.loaders[loader]!.prime(String(entity['id']), entity);
}
