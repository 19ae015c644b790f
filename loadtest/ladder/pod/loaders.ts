import DataLoader from 'dataloader';
import type { Backends } from './backends.ts';
import type { Parts } from './parts.ts';

type Entity = Readonly<Record<string, unknown>>;
type Loader = DataLoader<string, Entity | null>;
export type Loaders = Readonly<Record<string, Loader>>;
export type Primers = Readonly<Record<string, (entity: Entity) => void>>;

/** The part of the context that loaders and primers read. `loaders` is set after they have been created. */
export interface LoaderContext {
  readonly backends: Backends;
  readonly loaders: Loaders;
}

/**
 * One large literal with a call per key, as in the talk. The names are invented; their number is the talk's. The eager version reads
 * every key.
 */
export function createLoaders(version: Parts['loaders'], context: LoaderContext): Loaders {
  const loaders: Loaders = Proxy.lazy({
    account_by_id: byId(context, 'profile', '/account'),
    account_manager_by_seller_id: byId(context, 'salesforce', '/account-manager'),
    address_by_id: byId(context, 'geography', '/address'),
    agent_by_id: byId(context, 'profile', '/agent'),
    appraisal_by_property_id: byId(context, 'mlintegrator', '/appraisal'),
    auction_by_id: byId(context, 'auction', '/auction'),
    auction_by_listing_id: byId(context, 'auction', '/auction'),
    audit_by_auction_id: byId(context, 'audit', '/audit'),
    bidder_by_id: byId(context, 'profile', '/bidder'),
    bids_by_auction_id: byId(context, 'onlineAuction', '/bids'),
    buyer_by_id: byId(context, 'profile', '/buyer'),
    calendar_by_event_id: byId(context, 'onlineAuction', '/calendar'),
    changes_by_auction_id: byId(context, 'morphlog', '/changes'),
    closing_by_contract_id: byId(context, 'contract', '/closing'),
    comments_by_listing_id: byId(context, 'riddler', '/comments'),
    contract_by_auction_id: byId(context, 'contract', '/contract'),
    county_by_id: byId(context, 'gls', '/county'),
    deposit_by_auction_id: byId(context, 'payment', '/deposit'),
    documents_by_listing_id: byId(context, 'document', '/documents'),
    escrow_by_contract_id: byId(context, 'contract', '/escrow'),
    event_by_id: byId(context, 'onlineAuction', '/event'),
    favourites_by_user_id: byId(context, 'preferences', '/favourites'),
    fees_by_auction_id: byId(context, 'payment', '/fees'),
    financing_by_listing_id: byId(context, 'payment', '/financing'),
    flags_by_listing_id: byId(context, 'listing', '/flags'),
    inspection_by_property_id: byId(context, 'vendor', '/inspection'),
    intake_by_listing_id: byId(context, 'consumerListingIntake', '/intake'),
    listing_by_id: byId(context, 'listing', '/listing'),
    listings_by_seller_id: byId(context, 'seller', '/listings'),
    loan_by_property_id: byId(context, 'payment', '/loan'),
    market_by_postal_code: byId(context, 'geography', '/market'),
    media_by_property_id: byId(context, 'tenflix', '/media'),
    notes_by_auction_id: byId(context, 'notify', '/notes'),
    offers_by_listing_id: byId(context, 'offer', '/offers'),
    parcel_by_property_id: byId(context, 'gls', '/parcel'),
    party_by_bidder_id: byId(context, 'partysearch', '/party'),
    payment_by_contract_id: byId(context, 'payment', '/payment'),
    permissions_by_user_id: byId(context, 'uaa', '/permissions'),
    potential_return_by_property_id: byId(context, 'potentialreturn', '/potential-return'),
    property_by_id: byId(context, 'property', '/property'),
    questions_by_listing_id: byId(context, 'riddler', '/questions'),
    recent_bids_by_auction_id: byId(context, 'onlineAuction', '/recent-bids'),
    registration_by_user_id: byId(context, 'uaa', '/registration'),
    seller_by_id: byId(context, 'seller', '/seller'),
    similar_listings_by_listing_id: byId(context, 'seek', '/similar-listings'),
    tasks_by_auction_id: byId(context, 'morphlog', '/tasks'),
    user_by_id: byId(context, 'uaa', '/user'),
    valuation_by_property_id: byId(context, 'mlintegrator', '/valuation'),
    venue_by_id: byId(context, 'venue', '/venue'),
    views_by_listing_id: byId(context, 'tracking', '/views'),
  });
  return version === 'eager' ? { ...loaders } : loaders;
}

/** One primer per loader, an assumption. The talk says only that there were more primers than loaders. */
export function createPrimers(version: Parts['loaders'], context: LoaderContext): Primers {
  const primers: Primers = Proxy.lazy({
    account: primer(context, 'account_by_id'),
    account_manager: primer(context, 'account_manager_by_seller_id'),
    address: primer(context, 'address_by_id'),
    agent: primer(context, 'agent_by_id'),
    appraisal: primer(context, 'appraisal_by_property_id'),
    auction_by_id: primer(context, 'auction_by_id'),
    auction_by_listing_id: primer(context, 'auction_by_listing_id'),
    audit: primer(context, 'audit_by_auction_id'),
    bidder: primer(context, 'bidder_by_id'),
    bids: primer(context, 'bids_by_auction_id'),
    buyer: primer(context, 'buyer_by_id'),
    calendar: primer(context, 'calendar_by_event_id'),
    changes: primer(context, 'changes_by_auction_id'),
    closing: primer(context, 'closing_by_contract_id'),
    comments: primer(context, 'comments_by_listing_id'),
    contract: primer(context, 'contract_by_auction_id'),
    county: primer(context, 'county_by_id'),
    deposit: primer(context, 'deposit_by_auction_id'),
    documents: primer(context, 'documents_by_listing_id'),
    escrow: primer(context, 'escrow_by_contract_id'),
    event: primer(context, 'event_by_id'),
    favourites: primer(context, 'favourites_by_user_id'),
    fees: primer(context, 'fees_by_auction_id'),
    financing: primer(context, 'financing_by_listing_id'),
    flags: primer(context, 'flags_by_listing_id'),
    inspection: primer(context, 'inspection_by_property_id'),
    intake: primer(context, 'intake_by_listing_id'),
    listing: primer(context, 'listing_by_id'),
    listings: primer(context, 'listings_by_seller_id'),
    loan: primer(context, 'loan_by_property_id'),
    market: primer(context, 'market_by_postal_code'),
    media: primer(context, 'media_by_property_id'),
    notes: primer(context, 'notes_by_auction_id'),
    offers: primer(context, 'offers_by_listing_id'),
    parcel: primer(context, 'parcel_by_property_id'),
    party: primer(context, 'party_by_bidder_id'),
    payment: primer(context, 'payment_by_contract_id'),
    permissions: primer(context, 'permissions_by_user_id'),
    potential_return: primer(context, 'potential_return_by_property_id'),
    property: primer(context, 'property_by_id'),
    questions: primer(context, 'questions_by_listing_id'),
    recent_bids: primer(context, 'recent_bids_by_auction_id'),
    registration: primer(context, 'registration_by_user_id'),
    seller: primer(context, 'seller_by_id'),
    similar_listings: primer(context, 'similar_listings_by_listing_id'),
    tasks: primer(context, 'tasks_by_auction_id'),
    user: primer(context, 'user_by_id'),
    valuation: primer(context, 'valuation_by_property_id'),
    venue: primer(context, 'venue_by_id'),
    views: primer(context, 'views_by_listing_id'),
  });
  return version === 'eager' ? { ...primers } : primers;
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
