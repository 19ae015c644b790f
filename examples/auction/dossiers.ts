import type { AuctionContext } from './context.ts';
import type { Auction, Bid, Bidder, Listing, Property, Seller, Venue, Watch } from './sources.ts';
import type {
  AccountManager,
  Agent,
  Appraisal,
  Attendance,
  AuctionEvent,
  Auctioneer,
  BidderAccount,
  Change,
  Comment,
  Contract,
  County,
  Deposit,
  Document,
  Escrow,
  EventCalendar,
  FavouriteSummary,
  Fee,
  Financing,
  Inspection,
  Intake,
  ListPrice,
  Loan,
  Location,
  Market,
  Medium,
  Occupancy,
  OfferSummary,
  OpenHouse,
  Parcel,
  Party,
  PotentialReturn,
  PropertyTax,
  Question,
  SellerScore,
  Task,
  Valuation,
  ViewSummary,
} from './types.ts';

// A dossier is an object with its parts, which the backend "trinity" returns by one call. Each part is primed, so that the fields of the
// object call no other backend.

interface AuctionDossier {
  readonly auction: Auction;
  readonly attendance: Attendance;
  readonly auctioneer: Auctioneer;
  readonly changes: Change[];
  readonly contract: Contract;
  readonly deposit: Deposit;
  readonly escrow: Escrow;
  readonly fees: Fee[];
  readonly recent_bids: Bid[];
  readonly tasks: Task[];
  readonly watch: Watch;
  readonly venue: Venue;
  readonly event: AuctionEvent;
  readonly calendar: EventCalendar;
  readonly auction_ids: number[];
}

interface BidderDossier {
  readonly bidder: Bidder;
  readonly account: BidderAccount;
  readonly agent: Agent;
  readonly party: Party;
}

interface ListingDossier {
  readonly listing: Listing;
  readonly auction_of_listing: Auction;
  readonly comments: Comment[];
  readonly documents: Document[];
  readonly favourites: FavouriteSummary;
  readonly financing: Financing;
  readonly flags: string[];
  readonly intake: Intake;
  readonly offers: OfferSummary;
  readonly open_houses: OpenHouse[];
  readonly prices: ListPrice[];
  readonly questions: Question[];
  readonly similar_listing_ids: string[];
  readonly views: ViewSummary;
}

interface PropertyDossier {
  readonly property: Property;
  readonly appraisal: Appraisal;
  readonly county: County;
  readonly inspection: Inspection;
  readonly loan: Loan;
  readonly location: Location;
  readonly media: Medium[];
  readonly occupancy: Occupancy;
  readonly parcel: Parcel;
  readonly potential_return: PotentialReturn;
  readonly tax: PropertyTax;
  readonly valuation: Valuation;
  readonly market: Market;
}

interface SellerDossier {
  readonly seller: Seller;
  readonly account_manager: AccountManager;
  readonly listing_ids: string[];
  readonly seller_score: SellerScore;
}

export async function auctionDossier(_: unknown, { auction_id }: { auction_id: number }, context: AuctionContext) {
  const dossier = await fetchDossier<AuctionDossier>(context, 'auction', auction_id);
  if (!dossier) return null;
  const { primers } = context.loaders;
  primers.auction(dossier.auction);
  primers.attendance(auction_id, dossier.attendance);
  primers.auctioneer(auction_id, dossier.auctioneer);
  primers.changes(auction_id, dossier.changes);
  primers.contract(auction_id, dossier.contract);
  primers.deposit(auction_id, dossier.deposit);
  primers.escrow(auction_id, dossier.escrow);
  primers.fees(auction_id, dossier.fees);
  primers.recent_bids(auction_id, dossier.recent_bids);
  primers.tasks(auction_id, dossier.tasks);
  primers.watch(auction_id, dossier.watch);
  primers.venue(dossier.auction.venue_id, dossier.venue);
  if (dossier.auction.event) {
    const { event_id } = dossier.auction.event;
    primers.event(event_id, dossier.event);
    primers.calendar(event_id, dossier.calendar);
    primers.auction_ids(event_id, dossier.auction_ids);
  }
  return dossier.auction;
}

export async function bidderDossier(_: unknown, { bidder_id }: { bidder_id: string }, context: AuctionContext) {
  const dossier = await fetchDossier<BidderDossier>(context, 'bidder', bidder_id);
  if (!dossier) return null;
  const { primers } = context.loaders;
  primers.bidder(dossier.bidder);
  primers.account(bidder_id, dossier.account);
  primers.agent(bidder_id, dossier.agent);
  primers.party(bidder_id, dossier.party);
  return dossier.bidder;
}

export async function listingDossier(_: unknown, { listing_id }: { listing_id: string }, context: AuctionContext) {
  const dossier = await fetchDossier<ListingDossier>(context, 'listing', listing_id);
  if (!dossier) return null;
  const { primers } = context.loaders;
  primers.listing(dossier.listing);
  primers.auction_of_listing(listing_id, dossier.auction_of_listing);
  primers.comments(listing_id, dossier.comments);
  primers.documents(listing_id, dossier.documents);
  primers.favourites(listing_id, dossier.favourites);
  primers.financing(listing_id, dossier.financing);
  primers.flags(listing_id, dossier.flags);
  primers.intake(listing_id, dossier.intake);
  primers.offers(listing_id, dossier.offers);
  primers.open_houses(listing_id, dossier.open_houses);
  primers.prices(listing_id, dossier.prices);
  primers.questions(listing_id, dossier.questions);
  primers.similar_listing_ids(listing_id, dossier.similar_listing_ids);
  primers.views(listing_id, dossier.views);
  return dossier.listing;
}

export async function propertyDossier(_: unknown, { property_id }: { property_id: string }, context: AuctionContext) {
  const dossier = await fetchDossier<PropertyDossier>(context, 'property', property_id);
  if (!dossier) return null;
  const { primers } = context.loaders;
  primers.property(dossier.property);
  primers.appraisal(property_id, dossier.appraisal);
  primers.county(property_id, dossier.county);
  primers.inspection(property_id, dossier.inspection);
  primers.loan(property_id, dossier.loan);
  primers.location(property_id, dossier.location);
  primers.media(property_id, dossier.media);
  primers.occupancy(property_id, dossier.occupancy);
  primers.parcel(property_id, dossier.parcel);
  primers.potential_return(property_id, dossier.potential_return);
  primers.tax(property_id, dossier.tax);
  primers.valuation(property_id, dossier.valuation);
  primers.market(dossier.property.postal_code, dossier.market);
  return dossier.property;
}

export async function sellerDossier(_: unknown, { seller_id }: { seller_id: string }, context: AuctionContext) {
  const dossier = await fetchDossier<SellerDossier>(context, 'seller', seller_id);
  if (!dossier) return null;
  const { primers } = context.loaders;
  primers.seller(dossier.seller);
  primers.account_manager(seller_id, dossier.account_manager);
  primers.listing_ids(seller_id, dossier.listing_ids);
  primers.seller_score(seller_id, dossier.seller_score);
  return dossier.seller;
}

function fetchDossier<Dossier>({ backends }: AuctionContext, noun: string, id: string | number) {
  return backends['trinity']!.get<Dossier>(`/dossiers/${noun}/${encodeURIComponent(id)}`);
}
