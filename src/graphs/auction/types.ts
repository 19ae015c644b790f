// Written by crier codegen from schema.graphql. Do not edit it: the next run replaces it.
/* eslint-disable */
import type { Context } from 'crier/graph';
import type * as context from './context.ts';
import type { GraphQLResolveInfo, GraphQLScalarType, GraphQLScalarTypeConfig } from 'graphql';
import type { Auction as AuctionSource, AuctionEvent as AuctionEventSource, Bid as BidSource, Bidder as BidderSource, Listing as ListingSource, Property as PropertySource, Seller as SellerSource, Venue as VenueSource } from './sources.ts';

type Loaders = typeof context extends { readonly createLoaders: (...args: never) => infer L extends object } ? L : object;
/** The third argument of resolvers. */
export type GraphContext = Context<Loaders>;

export type Maybe<T> = T | null | undefined;
export type InputMaybe<T> = T | null | undefined;
export type RequireFields<T, K extends keyof T> = Omit<T, K> & { [P in K]-?: NonNullable<T[P]> };
/** All built-in and custom scalars, mapped to their actual values */
export type Scalars = {
  ID: { input: string; output: string | number; }
  String: { input: string; output: string; }
  Boolean: { input: boolean; output: boolean; }
  Int: { input: number; output: number; }
  Float: { input: number; output: number; }
  /** Date and time, ISO 8601, in UTC. */
  DateTime: { input: string; output: string; }
};

export type Query = {
  readonly __typename?: 'Query';
  /** An auction as its backend knows it now. */
  readonly auction?: Maybe<Auction>;
  /** A listing as its backend knows it now. */
  readonly listing?: Maybe<Listing>;
  /** An auction with its parts, fetched by one call. */
  readonly auction_dossier?: Maybe<Auction>;
  /** A bidder with its parts, fetched by one call. */
  readonly bidder_dossier?: Maybe<Bidder>;
  /** A listing with its parts, fetched by one call. */
  readonly listing_dossier?: Maybe<Listing>;
  /** A property with its parts, fetched by one call. */
  readonly property_dossier?: Maybe<Property>;
  /** A seller with its parts, fetched by one call. */
  readonly seller_dossier?: Maybe<Seller>;
};

export type QueryAuctionArgs = {
  auction_id: Scalars['Int']['input'];
};

export type QueryListingArgs = {
  listing_id: Scalars['ID']['input'];
};

export type QueryAuction_DossierArgs = {
  auction_id: Scalars['Int']['input'];
};

export type QueryBidder_DossierArgs = {
  bidder_id: Scalars['ID']['input'];
};

export type QueryListing_DossierArgs = {
  listing_id: Scalars['ID']['input'];
};

export type QueryProperty_DossierArgs = {
  property_id: Scalars['ID']['input'];
};

export type QuerySeller_DossierArgs = {
  seller_id: Scalars['ID']['input'];
};

export type Subscription = {
  readonly __typename?: 'Subscription';
  /** Everything that changes about one auction: bids, end, status. */
  readonly auction_updated?: Maybe<Auction>;
  /** All auctions of one event, or of the whole house. */
  readonly auctions_updated?: Maybe<Auction>;
  /** Each bid on one auction, in order. */
  readonly bid_placed?: Maybe<Bid>;
  /** Each step of one listing, from its intake to its sale. */
  readonly listing_status_changed?: Maybe<Listing>;
  /** What changes in the catalogue, of one type of property or of all. */
  readonly catalogue_updated?: Maybe<Listing>;
};

export type SubscriptionAuction_UpdatedArgs = {
  auction_id: Scalars['Int']['input'];
};

export type SubscriptionAuctions_UpdatedArgs = {
  event_id?: InputMaybe<Scalars['Int']['input']>;
};

export type SubscriptionBid_PlacedArgs = {
  auction_id: Scalars['Int']['input'];
};

export type SubscriptionListing_Status_ChangedArgs = {
  listing_id: Scalars['ID']['input'];
};

export type SubscriptionCatalogue_UpdatedArgs = {
  property_type?: InputMaybe<PropertyType>;
};

export type AuctionStatus =
  | 'SCHEDULED'
  | 'OPEN'
  | 'SOLD'
  | 'RESERVE_NOT_MET';

export type ListingStatus =
  | 'DRAFT'
  | 'ACTIVE'
  | 'UNDER_AUCTION'
  | 'SOLD'
  | 'WITHDRAWN';

export type PropertyType =
  | 'SINGLE_FAMILY'
  | 'CONDOMINIUM'
  | 'TOWNHOUSE'
  | 'MULTI_FAMILY'
  | 'LAND'
  | 'COMMERCIAL';

export type Auction = {
  readonly __typename?: 'Auction';
  readonly auction_id: Scalars['Int']['output'];
  readonly global_auction_id: Scalars['ID']['output'];
  readonly auction_status: AuctionStatus;
  readonly auction_type: Scalars['String']['output'];
  readonly asset_type: Scalars['String']['output'];
  readonly visible_auction_start_date_time?: Maybe<Scalars['DateTime']['output']>;
  readonly visible_auction_end_date_time?: Maybe<Scalars['DateTime']['output']>;
  readonly auction_time_zone?: Maybe<Scalars['String']['output']>;
  readonly created_by?: Maybe<Scalars['Int']['output']>;
  readonly created_by_origin?: Maybe<Scalars['String']['output']>;
  readonly created_date?: Maybe<Scalars['DateTime']['output']>;
  readonly updated_by?: Maybe<Scalars['Int']['output']>;
  readonly updated_date?: Maybe<Scalars['DateTime']['output']>;
  readonly days_on_market?: Maybe<Scalars['Int']['output']>;
  readonly dropbox_response_id?: Maybe<Scalars['ID']['output']>;
  readonly listing_id: Scalars['ID']['output'];
  readonly property_id: Scalars['ID']['output'];
  readonly seller_id: Scalars['ID']['output'];
  readonly venue_id: Scalars['ID']['output'];
  readonly currency_code: Scalars['String']['output'];
  readonly starting_bid: Scalars['Float']['output'];
  readonly current_bid?: Maybe<Scalars['Float']['output']>;
  readonly bid_increment: Scalars['Float']['output'];
  readonly next_minimum_bid: Scalars['Float']['output'];
  readonly bid_count: Scalars['Int']['output'];
  readonly high_bidder_id?: Maybe<Scalars['ID']['output']>;
  readonly is_reserve_met: Scalars['Boolean']['output'];
  readonly extension_count: Scalars['Int']['output'];
  readonly watcher_count: Scalars['Int']['output'];
  readonly buyers_premium_percent?: Maybe<Scalars['Float']['output']>;
  readonly event?: Maybe<AuctionEvent>;
  readonly external_identifiers: ReadonlyArray<ExternalIdentifier>;
  readonly external_sync_status?: Maybe<Scalars['String']['output']>;
  readonly fallout_history: ReadonlyArray<Fallout>;
  readonly fcl_marketing?: Maybe<ForeclosureMarketing>;
  readonly property_details?: Maybe<PropertyDetails>;
  readonly seller_info?: Maybe<SellerInfo>;
  readonly listing_flags: ReadonlyArray<Scalars['String']['output']>;
  readonly listing_url?: Maybe<Scalars['String']['output']>;
  /** Counts the changes of this auction. */
  readonly version: Scalars['Int']['output'];
  readonly listing?: Maybe<Listing>;
  readonly property?: Maybe<Property>;
  readonly seller?: Maybe<Seller>;
  readonly venue?: Maybe<Venue>;
  readonly high_bidder?: Maybe<Bidder>;
  readonly contract?: Maybe<Contract>;
  readonly deposit?: Maybe<Deposit>;
  /** The latest bids, newest first. */
  readonly recent_bids: ReadonlyArray<Bid>;
  /** Who changed what, newest first. */
  readonly changes: ReadonlyArray<Change>;
  /** Whether the caller watches this auction. */
  readonly is_watched: Scalars['Boolean']['output'];
  readonly auctioneer?: Maybe<Auctioneer>;
  readonly attendance?: Maybe<Attendance>;
  readonly escrow?: Maybe<Escrow>;
  readonly fees: ReadonlyArray<Fee>;
  readonly tasks: ReadonlyArray<Task>;
};

export type AuctionEvent = {
  readonly __typename?: 'AuctionEvent';
  readonly event_id: Scalars['Int']['output'];
  readonly event_code: Scalars['String']['output'];
  readonly name?: Maybe<Scalars['String']['output']>;
  readonly begins_on?: Maybe<Scalars['DateTime']['output']>;
  readonly calendar?: Maybe<EventCalendar>;
  readonly auction_ids: ReadonlyArray<Scalars['Int']['output']>;
};

export type ExternalIdentifier = {
  readonly __typename?: 'ExternalIdentifier';
  readonly source: Scalars['String']['output'];
  readonly external_id: Scalars['String']['output'];
  readonly is_primary_identifier: Scalars['Boolean']['output'];
};

/** A sale that fell through. */
export type Fallout = {
  readonly __typename?: 'Fallout';
  readonly fallout_date: Scalars['DateTime']['output'];
  readonly reason: Scalars['String']['output'];
  readonly amount?: Maybe<Scalars['Float']['output']>;
};

export type ForeclosureMarketing = {
  readonly __typename?: 'ForeclosureMarketing';
  readonly appraiser_uri?: Maybe<Scalars['String']['output']>;
  readonly clerk_0?: Maybe<Scalars['String']['output']>;
  readonly has_credit_bid_just_been_revealed?: Maybe<Scalars['Boolean']['output']>;
  readonly has_searchable_or_published_changed?: Maybe<Scalars['Boolean']['output']>;
  readonly is_auction_status_changed?: Maybe<Scalars['Boolean']['output']>;
};

/** The property as the auction's record describes it. */
export type PropertyDetails = {
  readonly __typename?: 'PropertyDetails';
  readonly property_type?: Maybe<PropertyType>;
  readonly street_address_1?: Maybe<Scalars['String']['output']>;
  readonly city_name?: Maybe<Scalars['String']['output']>;
  readonly state_code?: Maybe<Scalars['String']['output']>;
  readonly postal_code?: Maybe<Scalars['String']['output']>;
  readonly bedroom_count?: Maybe<Scalars['Int']['output']>;
  readonly bathroom_count?: Maybe<Scalars['Float']['output']>;
  readonly home_square_footage?: Maybe<Scalars['Int']['output']>;
  readonly year_built?: Maybe<Scalars['Int']['output']>;
  readonly lot_size_square_feet?: Maybe<Scalars['Int']['output']>;
  readonly occupancy_status?: Maybe<Scalars['String']['output']>;
};

/** The seller as the auction's record describes it. */
export type SellerInfo = {
  readonly __typename?: 'SellerInfo';
  readonly seller_code?: Maybe<Scalars['String']['output']>;
  readonly seller_contacts: ReadonlyArray<SellerContact>;
};

export type SellerContact = {
  readonly __typename?: 'SellerContact';
  readonly contact_name: Scalars['String']['output'];
  readonly contact_role: Scalars['String']['output'];
  readonly notify_by_email: Scalars['Boolean']['output'];
};

export type Bid = {
  readonly __typename?: 'Bid';
  readonly bid_id: Scalars['ID']['output'];
  readonly auction_id: Scalars['Int']['output'];
  /** 1 for an auction's first bid. */
  readonly sequence: Scalars['Int']['output'];
  readonly amount: Scalars['Float']['output'];
  readonly previous_amount?: Maybe<Scalars['Float']['output']>;
  readonly currency_code: Scalars['String']['output'];
  readonly bidder_id: Scalars['ID']['output'];
  readonly placed_at: Scalars['DateTime']['output'];
  readonly channel: Scalars['String']['output'];
  readonly is_proxy_bid: Scalars['Boolean']['output'];
  readonly auction?: Maybe<Auction>;
  readonly bidder?: Maybe<Bidder>;
};

export type Bidder = {
  readonly __typename?: 'Bidder';
  readonly bidder_id: Scalars['ID']['output'];
  readonly display_name: Scalars['String']['output'];
  readonly member_since?: Maybe<Scalars['DateTime']['output']>;
  readonly party?: Maybe<Party>;
  readonly account?: Maybe<BidderAccount>;
  readonly agent?: Maybe<Agent>;
};

/** The legal person behind a bidder. */
export type Party = {
  readonly __typename?: 'Party';
  readonly kind: Scalars['String']['output'];
  readonly region?: Maybe<Scalars['String']['output']>;
};

export type Listing = {
  readonly __typename?: 'Listing';
  readonly listing_id: Scalars['ID']['output'];
  readonly listing_status: ListingStatus;
  readonly previous_status?: Maybe<ListingStatus>;
  readonly changed_at?: Maybe<Scalars['DateTime']['output']>;
  readonly property_type: PropertyType;
  readonly headline: Scalars['String']['output'];
  readonly list_price?: Maybe<Scalars['Float']['output']>;
  readonly auction_id?: Maybe<Scalars['Int']['output']>;
  readonly property_id: Scalars['ID']['output'];
  readonly seller_id: Scalars['ID']['output'];
  readonly auction?: Maybe<Auction>;
  readonly property?: Maybe<Property>;
  readonly seller?: Maybe<Seller>;
  readonly documents: ReadonlyArray<Document>;
  readonly questions: ReadonlyArray<Question>;
  readonly offers?: Maybe<OfferSummary>;
  readonly views?: Maybe<ViewSummary>;
  readonly intake?: Maybe<Intake>;
  readonly similar_listings: ReadonlyArray<Listing>;
  /** The latest auction of this listing, also if it has ended. */
  readonly latest_auction?: Maybe<Auction>;
  readonly comments: ReadonlyArray<Comment>;
  readonly favourites?: Maybe<FavouriteSummary>;
  readonly financing?: Maybe<Financing>;
  readonly flags: ReadonlyArray<Scalars['String']['output']>;
  readonly open_houses: ReadonlyArray<OpenHouse>;
  /** What the listing cost, newest first. */
  readonly prices: ReadonlyArray<ListPrice>;
};

export type Property = {
  readonly __typename?: 'Property';
  readonly property_id: Scalars['ID']['output'];
  readonly street: Scalars['String']['output'];
  readonly city: Scalars['String']['output'];
  readonly state: Scalars['String']['output'];
  readonly postal_code: Scalars['String']['output'];
  readonly bedroom_count?: Maybe<Scalars['Int']['output']>;
  readonly year_built?: Maybe<Scalars['Int']['output']>;
  readonly market?: Maybe<Market>;
  readonly parcel?: Maybe<Parcel>;
  readonly valuation?: Maybe<Valuation>;
  readonly potential_return?: Maybe<PotentialReturn>;
  readonly inspection?: Maybe<Inspection>;
  readonly media: ReadonlyArray<Medium>;
  readonly appraisal?: Maybe<Appraisal>;
  readonly county?: Maybe<County>;
  readonly loan?: Maybe<Loan>;
  readonly location?: Maybe<Location>;
  readonly occupancy?: Maybe<Occupancy>;
  readonly tax?: Maybe<PropertyTax>;
};

export type Market = {
  readonly __typename?: 'Market';
  readonly name: Scalars['String']['output'];
  readonly median_price?: Maybe<Scalars['Float']['output']>;
};

export type Parcel = {
  readonly __typename?: 'Parcel';
  readonly parcel_number: Scalars['String']['output'];
  readonly acres?: Maybe<Scalars['Float']['output']>;
};

export type Valuation = {
  readonly __typename?: 'Valuation';
  readonly estimate: Scalars['Float']['output'];
  readonly low?: Maybe<Scalars['Float']['output']>;
  readonly high?: Maybe<Scalars['Float']['output']>;
};

export type PotentialReturn = {
  readonly __typename?: 'PotentialReturn';
  readonly monthly_rent: Scalars['Float']['output'];
  readonly gross_yield_percent?: Maybe<Scalars['Float']['output']>;
};

export type Inspection = {
  readonly __typename?: 'Inspection';
  readonly vendor_name: Scalars['String']['output'];
  readonly inspected_on?: Maybe<Scalars['DateTime']['output']>;
};

export type Medium = {
  readonly __typename?: 'Medium';
  readonly kind: Scalars['String']['output'];
  readonly path: Scalars['String']['output'];
};

export type Seller = {
  readonly __typename?: 'Seller';
  readonly seller_id: Scalars['ID']['output'];
  readonly name: Scalars['String']['output'];
  readonly score?: Maybe<SellerScore>;
  readonly account_manager?: Maybe<AccountManager>;
  readonly listings: ReadonlyArray<Listing>;
};

export type SellerScore = {
  readonly __typename?: 'SellerScore';
  readonly sold_percent: Scalars['Float']['output'];
};

export type AccountManager = {
  readonly __typename?: 'AccountManager';
  readonly name: Scalars['String']['output'];
};

export type Venue = {
  readonly __typename?: 'Venue';
  readonly venue_id: Scalars['ID']['output'];
  readonly name: Scalars['String']['output'];
  readonly city?: Maybe<Scalars['String']['output']>;
  readonly is_online: Scalars['Boolean']['output'];
};

export type Contract = {
  readonly __typename?: 'Contract';
  readonly contract_number: Scalars['String']['output'];
  readonly closing_days: Scalars['Int']['output'];
  readonly buyer_premium_percent?: Maybe<Scalars['Float']['output']>;
};

export type Deposit = {
  readonly __typename?: 'Deposit';
  readonly amount: Scalars['Float']['output'];
  readonly is_refundable: Scalars['Boolean']['output'];
};

export type Change = {
  readonly __typename?: 'Change';
  readonly changed_at: Scalars['DateTime']['output'];
  readonly changed_by: Scalars['String']['output'];
  readonly summary: Scalars['String']['output'];
};

export type Document = {
  readonly __typename?: 'Document';
  readonly document_id: Scalars['ID']['output'];
  readonly title: Scalars['String']['output'];
};

export type Question = {
  readonly __typename?: 'Question';
  readonly question: Scalars['String']['output'];
  readonly answer?: Maybe<Scalars['String']['output']>;
};

export type OfferSummary = {
  readonly __typename?: 'OfferSummary';
  readonly offer_count: Scalars['Int']['output'];
};

export type ViewSummary = {
  readonly __typename?: 'ViewSummary';
  readonly view_count: Scalars['Int']['output'];
};

export type Intake = {
  readonly __typename?: 'Intake';
  readonly submitted_at: Scalars['DateTime']['output'];
  readonly channel: Scalars['String']['output'];
};

export type Auctioneer = {
  readonly __typename?: 'Auctioneer';
  readonly name: Scalars['String']['output'];
  readonly licence_number?: Maybe<Scalars['String']['output']>;
};

export type Attendance = {
  readonly __typename?: 'Attendance';
  readonly online_count: Scalars['Int']['output'];
  readonly floor_count: Scalars['Int']['output'];
};

export type Escrow = {
  readonly __typename?: 'Escrow';
  readonly company: Scalars['String']['output'];
  readonly closes_on?: Maybe<Scalars['DateTime']['output']>;
};

export type Fee = {
  readonly __typename?: 'Fee';
  readonly kind: Scalars['String']['output'];
  readonly amount: Scalars['Float']['output'];
};

export type Task = {
  readonly __typename?: 'Task';
  readonly title: Scalars['String']['output'];
  readonly is_done: Scalars['Boolean']['output'];
};

export type EventCalendar = {
  readonly __typename?: 'EventCalendar';
  readonly opens_at: Scalars['DateTime']['output'];
  readonly closes_at: Scalars['DateTime']['output'];
};

export type BidderAccount = {
  readonly __typename?: 'BidderAccount';
  readonly opened_on: Scalars['DateTime']['output'];
  readonly is_verified: Scalars['Boolean']['output'];
};

export type Agent = {
  readonly __typename?: 'Agent';
  readonly name: Scalars['String']['output'];
  readonly brokerage?: Maybe<Scalars['String']['output']>;
};

export type Comment = {
  readonly __typename?: 'Comment';
  readonly written_by: Scalars['String']['output'];
  readonly text: Scalars['String']['output'];
};

export type FavouriteSummary = {
  readonly __typename?: 'FavouriteSummary';
  readonly favourite_count: Scalars['Int']['output'];
};

export type Financing = {
  readonly __typename?: 'Financing';
  readonly lender: Scalars['String']['output'];
  readonly is_available: Scalars['Boolean']['output'];
};

export type OpenHouse = {
  readonly __typename?: 'OpenHouse';
  readonly begins_at: Scalars['DateTime']['output'];
  readonly host?: Maybe<Scalars['String']['output']>;
};

export type ListPrice = {
  readonly __typename?: 'ListPrice';
  readonly changed_at: Scalars['DateTime']['output'];
  readonly list_price: Scalars['Float']['output'];
};

export type Appraisal = {
  readonly __typename?: 'Appraisal';
  readonly amount: Scalars['Float']['output'];
  readonly appraised_on?: Maybe<Scalars['DateTime']['output']>;
};

export type County = {
  readonly __typename?: 'County';
  readonly name: Scalars['String']['output'];
  readonly state: Scalars['String']['output'];
};

export type Loan = {
  readonly __typename?: 'Loan';
  readonly balance: Scalars['Float']['output'];
};

export type Location = {
  readonly __typename?: 'Location';
  readonly latitude: Scalars['Float']['output'];
  readonly longitude: Scalars['Float']['output'];
};

export type Occupancy = {
  readonly __typename?: 'Occupancy';
  readonly occupancy_status: Scalars['String']['output'];
  readonly checked_on?: Maybe<Scalars['DateTime']['output']>;
};

export type PropertyTax = {
  readonly __typename?: 'PropertyTax';
  readonly tax_year: Scalars['Int']['output'];
  readonly amount: Scalars['Float']['output'];
};

export type ResolverTypeWrapper<T> = Promise<T> | T;

export type ResolverFn<TResult, TParent, TContext, TArgs> = (
  source: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo,
) => Promise<TResult> | TResult;

export type AuthorizeFn<TParent, TContext, TArgs> = (
  source: TParent,
  args: TArgs,
  context: TContext,
) => boolean | PromiseLike<boolean>;

export type Resolver<TResult, TParent = unknown, TContext = unknown, TArgs = {}> =
  | ResolverFn<TResult, TParent, TContext, TArgs>
  | {
      readonly resolve: ResolverFn<TResult, TParent, TContext, TArgs>;
      readonly authorize?: AuthorizeFn<TParent, TContext, TArgs>;
    }
  | { readonly authorize: AuthorizeFn<TParent, TContext, TArgs> };

export type AuthorizeSubscriptionFn<TContext, TArgs> = (
  args: TArgs,
  context: TContext,
) => void | boolean | Promise<void | boolean>;

export type SubscribeFn<TEvent, TContext, TArgs> = (
  source: undefined,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo,
) => AsyncIterable<TEvent> | PromiseLike<AsyncIterable<TEvent>>;

/** The source of a subscription's resolver is the value that its payload has, or that its subscribe yields, whatever its type. */
export type SubscriptionResolver<TResult, TKey extends string, _TParent = unknown, TContext = unknown, TArgs = {}> =
  | ResolverFn<TResult, any, TContext, TArgs>
  | {
      readonly resolve: ResolverFn<TResult, any, TContext, TArgs>;
      readonly authorize?: AuthorizeSubscriptionFn<TContext, TArgs>;
      readonly subscribe?: SubscribeFn<any, TContext, TArgs>;
    }
  | {
      readonly subscribe: SubscribeFn<{ readonly [key in TKey]: TResult }, TContext, TArgs>;
      readonly authorize?: AuthorizeSubscriptionFn<TContext, TArgs>;
    }
  | { readonly authorize: AuthorizeSubscriptionFn<TContext, TArgs> };

export type TypeResolveFn<TTypes, TParent = unknown, TContext = unknown> = (
  value: TParent,
  context: TContext,
  info: GraphQLResolveInfo,
) => TTypes | undefined;

/** Mapping between all available schema types and the resolvers types */
export type ResolversTypes = {
  DateTime: ResolverTypeWrapper<Scalars['DateTime']['output']>;
  Query: ResolverTypeWrapper<unknown>;
  Int: ResolverTypeWrapper<Scalars['Int']['output']>;
  ID: ResolverTypeWrapper<Scalars['ID']['output']>;
  Subscription: ResolverTypeWrapper<unknown>;
  AuctionStatus: AuctionStatus;
  ListingStatus: ListingStatus;
  PropertyType: PropertyType;
  Auction: ResolverTypeWrapper<AuctionSource>;
  String: ResolverTypeWrapper<Scalars['String']['output']>;
  Float: ResolverTypeWrapper<Scalars['Float']['output']>;
  Boolean: ResolverTypeWrapper<Scalars['Boolean']['output']>;
  AuctionEvent: ResolverTypeWrapper<AuctionEventSource>;
  ExternalIdentifier: ResolverTypeWrapper<ExternalIdentifier>;
  Fallout: ResolverTypeWrapper<Fallout>;
  ForeclosureMarketing: ResolverTypeWrapper<ForeclosureMarketing>;
  PropertyDetails: ResolverTypeWrapper<PropertyDetails>;
  SellerInfo: ResolverTypeWrapper<SellerInfo>;
  SellerContact: ResolverTypeWrapper<SellerContact>;
  Bid: ResolverTypeWrapper<BidSource>;
  Bidder: ResolverTypeWrapper<BidderSource>;
  Party: ResolverTypeWrapper<Party>;
  Listing: ResolverTypeWrapper<ListingSource>;
  Property: ResolverTypeWrapper<PropertySource>;
  Market: ResolverTypeWrapper<Market>;
  Parcel: ResolverTypeWrapper<Parcel>;
  Valuation: ResolverTypeWrapper<Valuation>;
  PotentialReturn: ResolverTypeWrapper<PotentialReturn>;
  Inspection: ResolverTypeWrapper<Inspection>;
  Medium: ResolverTypeWrapper<Medium>;
  Seller: ResolverTypeWrapper<SellerSource>;
  SellerScore: ResolverTypeWrapper<SellerScore>;
  AccountManager: ResolverTypeWrapper<AccountManager>;
  Venue: ResolverTypeWrapper<VenueSource>;
  Contract: ResolverTypeWrapper<Contract>;
  Deposit: ResolverTypeWrapper<Deposit>;
  Change: ResolverTypeWrapper<Change>;
  Document: ResolverTypeWrapper<Document>;
  Question: ResolverTypeWrapper<Question>;
  OfferSummary: ResolverTypeWrapper<OfferSummary>;
  ViewSummary: ResolverTypeWrapper<ViewSummary>;
  Intake: ResolverTypeWrapper<Intake>;
  Auctioneer: ResolverTypeWrapper<Auctioneer>;
  Attendance: ResolverTypeWrapper<Attendance>;
  Escrow: ResolverTypeWrapper<Escrow>;
  Fee: ResolverTypeWrapper<Fee>;
  Task: ResolverTypeWrapper<Task>;
  EventCalendar: ResolverTypeWrapper<EventCalendar>;
  BidderAccount: ResolverTypeWrapper<BidderAccount>;
  Agent: ResolverTypeWrapper<Agent>;
  Comment: ResolverTypeWrapper<Comment>;
  FavouriteSummary: ResolverTypeWrapper<FavouriteSummary>;
  Financing: ResolverTypeWrapper<Financing>;
  OpenHouse: ResolverTypeWrapper<OpenHouse>;
  ListPrice: ResolverTypeWrapper<ListPrice>;
  Appraisal: ResolverTypeWrapper<Appraisal>;
  County: ResolverTypeWrapper<County>;
  Loan: ResolverTypeWrapper<Loan>;
  Location: ResolverTypeWrapper<Location>;
  Occupancy: ResolverTypeWrapper<Occupancy>;
  PropertyTax: ResolverTypeWrapper<PropertyTax>;
};

/** Mapping between all available schema types and the resolvers parents */
export type ResolversParentTypes = {
  DateTime: Scalars['DateTime']['output'];
  Query: unknown;
  Int: Scalars['Int']['output'];
  ID: Scalars['ID']['output'];
  Subscription: unknown;
  Auction: AuctionSource;
  String: Scalars['String']['output'];
  Float: Scalars['Float']['output'];
  Boolean: Scalars['Boolean']['output'];
  AuctionEvent: AuctionEventSource;
  ExternalIdentifier: ExternalIdentifier;
  Fallout: Fallout;
  ForeclosureMarketing: ForeclosureMarketing;
  PropertyDetails: PropertyDetails;
  SellerInfo: SellerInfo;
  SellerContact: SellerContact;
  Bid: BidSource;
  Bidder: BidderSource;
  Party: Party;
  Listing: ListingSource;
  Property: PropertySource;
  Market: Market;
  Parcel: Parcel;
  Valuation: Valuation;
  PotentialReturn: PotentialReturn;
  Inspection: Inspection;
  Medium: Medium;
  Seller: SellerSource;
  SellerScore: SellerScore;
  AccountManager: AccountManager;
  Venue: VenueSource;
  Contract: Contract;
  Deposit: Deposit;
  Change: Change;
  Document: Document;
  Question: Question;
  OfferSummary: OfferSummary;
  ViewSummary: ViewSummary;
  Intake: Intake;
  Auctioneer: Auctioneer;
  Attendance: Attendance;
  Escrow: Escrow;
  Fee: Fee;
  Task: Task;
  EventCalendar: EventCalendar;
  BidderAccount: BidderAccount;
  Agent: Agent;
  Comment: Comment;
  FavouriteSummary: FavouriteSummary;
  Financing: Financing;
  OpenHouse: OpenHouse;
  ListPrice: ListPrice;
  Appraisal: Appraisal;
  County: County;
  Loan: Loan;
  Location: Location;
  Occupancy: Occupancy;
  PropertyTax: PropertyTax;
};

export interface DateTimeScalarConfig extends GraphQLScalarTypeConfig<ResolversTypes['DateTime'], any> {
  name: 'DateTime';
}

export type QueryResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['Query'] = ResolversParentTypes['Query']> = {
  auction?: Resolver<Maybe<ResolversTypes['Auction']>, ParentType, ContextType, RequireFields<QueryAuctionArgs, 'auction_id'>>;
  listing?: Resolver<Maybe<ResolversTypes['Listing']>, ParentType, ContextType, RequireFields<QueryListingArgs, 'listing_id'>>;
  auction_dossier?: Resolver<Maybe<ResolversTypes['Auction']>, ParentType, ContextType, RequireFields<QueryAuction_DossierArgs, 'auction_id'>>;
  bidder_dossier?: Resolver<Maybe<ResolversTypes['Bidder']>, ParentType, ContextType, RequireFields<QueryBidder_DossierArgs, 'bidder_id'>>;
  listing_dossier?: Resolver<Maybe<ResolversTypes['Listing']>, ParentType, ContextType, RequireFields<QueryListing_DossierArgs, 'listing_id'>>;
  property_dossier?: Resolver<Maybe<ResolversTypes['Property']>, ParentType, ContextType, RequireFields<QueryProperty_DossierArgs, 'property_id'>>;
  seller_dossier?: Resolver<Maybe<ResolversTypes['Seller']>, ParentType, ContextType, RequireFields<QuerySeller_DossierArgs, 'seller_id'>>;
};

export type SubscriptionResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['Subscription'] = ResolversParentTypes['Subscription']> = {
  auction_updated?: SubscriptionResolver<Maybe<ResolversTypes['Auction']>, "auction_updated", ParentType, ContextType, RequireFields<SubscriptionAuction_UpdatedArgs, 'auction_id'>>;
  auctions_updated?: SubscriptionResolver<Maybe<ResolversTypes['Auction']>, "auctions_updated", ParentType, ContextType, Partial<SubscriptionAuctions_UpdatedArgs>>;
  bid_placed?: SubscriptionResolver<Maybe<ResolversTypes['Bid']>, "bid_placed", ParentType, ContextType, RequireFields<SubscriptionBid_PlacedArgs, 'auction_id'>>;
  listing_status_changed?: SubscriptionResolver<Maybe<ResolversTypes['Listing']>, "listing_status_changed", ParentType, ContextType, RequireFields<SubscriptionListing_Status_ChangedArgs, 'listing_id'>>;
  catalogue_updated?: SubscriptionResolver<Maybe<ResolversTypes['Listing']>, "catalogue_updated", ParentType, ContextType, Partial<SubscriptionCatalogue_UpdatedArgs>>;
};

export type AuctionResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['Auction'] = ResolversParentTypes['Auction']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  auction_id?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  global_auction_id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  auction_status?: Resolver<ResolversTypes['AuctionStatus'], ParentType, ContextType>;
  auction_type?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  asset_type?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  visible_auction_start_date_time?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
  visible_auction_end_date_time?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
  auction_time_zone?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  created_by?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType>;
  created_by_origin?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  created_date?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
  updated_by?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType>;
  updated_date?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
  days_on_market?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType>;
  dropbox_response_id?: Resolver<Maybe<ResolversTypes['ID']>, ParentType, ContextType>;
  listing_id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  property_id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  seller_id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  venue_id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  currency_code?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  starting_bid?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
  current_bid?: Resolver<Maybe<ResolversTypes['Float']>, ParentType, ContextType>;
  bid_increment?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
  next_minimum_bid?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
  bid_count?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  high_bidder_id?: Resolver<Maybe<ResolversTypes['ID']>, ParentType, ContextType>;
  is_reserve_met?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  extension_count?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  watcher_count?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  buyers_premium_percent?: Resolver<Maybe<ResolversTypes['Float']>, ParentType, ContextType>;
  event?: Resolver<Maybe<ResolversTypes['AuctionEvent']>, ParentType, ContextType>;
  external_identifiers?: Resolver<ReadonlyArray<ResolversTypes['ExternalIdentifier']>, ParentType, ContextType>;
  external_sync_status?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  fallout_history?: Resolver<ReadonlyArray<ResolversTypes['Fallout']>, ParentType, ContextType>;
  fcl_marketing?: Resolver<Maybe<ResolversTypes['ForeclosureMarketing']>, ParentType, ContextType>;
  property_details?: Resolver<Maybe<ResolversTypes['PropertyDetails']>, ParentType, ContextType>;
  seller_info?: Resolver<Maybe<ResolversTypes['SellerInfo']>, ParentType, ContextType>;
  listing_flags?: Resolver<ReadonlyArray<ResolversTypes['String']>, ParentType, ContextType>;
  listing_url?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  version?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  listing?: Resolver<Maybe<ResolversTypes['Listing']>, ParentType, ContextType>;
  property?: Resolver<Maybe<ResolversTypes['Property']>, ParentType, ContextType>;
  seller?: Resolver<Maybe<ResolversTypes['Seller']>, ParentType, ContextType>;
  venue?: Resolver<Maybe<ResolversTypes['Venue']>, ParentType, ContextType>;
  high_bidder?: Resolver<Maybe<ResolversTypes['Bidder']>, ParentType, ContextType>;
  contract?: Resolver<Maybe<ResolversTypes['Contract']>, ParentType, ContextType>;
  deposit?: Resolver<Maybe<ResolversTypes['Deposit']>, ParentType, ContextType>;
  recent_bids?: Resolver<ReadonlyArray<ResolversTypes['Bid']>, ParentType, ContextType>;
  changes?: Resolver<ReadonlyArray<ResolversTypes['Change']>, ParentType, ContextType>;
  is_watched?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  auctioneer?: Resolver<Maybe<ResolversTypes['Auctioneer']>, ParentType, ContextType>;
  attendance?: Resolver<Maybe<ResolversTypes['Attendance']>, ParentType, ContextType>;
  escrow?: Resolver<Maybe<ResolversTypes['Escrow']>, ParentType, ContextType>;
  fees?: Resolver<ReadonlyArray<ResolversTypes['Fee']>, ParentType, ContextType>;
  tasks?: Resolver<ReadonlyArray<ResolversTypes['Task']>, ParentType, ContextType>;
};

export type AuctionEventResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['AuctionEvent'] = ResolversParentTypes['AuctionEvent']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  event_id?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  event_code?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  name?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  begins_on?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
  calendar?: Resolver<Maybe<ResolversTypes['EventCalendar']>, ParentType, ContextType>;
  auction_ids?: Resolver<ReadonlyArray<ResolversTypes['Int']>, ParentType, ContextType>;
};

export type ExternalIdentifierResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['ExternalIdentifier'] = ResolversParentTypes['ExternalIdentifier']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  source?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  external_id?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  is_primary_identifier?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
};

export type FalloutResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['Fallout'] = ResolversParentTypes['Fallout']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  fallout_date?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  reason?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  amount?: Resolver<Maybe<ResolversTypes['Float']>, ParentType, ContextType>;
};

export type ForeclosureMarketingResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['ForeclosureMarketing'] = ResolversParentTypes['ForeclosureMarketing']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  appraiser_uri?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  clerk_0?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  has_credit_bid_just_been_revealed?: Resolver<Maybe<ResolversTypes['Boolean']>, ParentType, ContextType>;
  has_searchable_or_published_changed?: Resolver<Maybe<ResolversTypes['Boolean']>, ParentType, ContextType>;
  is_auction_status_changed?: Resolver<Maybe<ResolversTypes['Boolean']>, ParentType, ContextType>;
};

export type PropertyDetailsResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['PropertyDetails'] = ResolversParentTypes['PropertyDetails']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  property_type?: Resolver<Maybe<ResolversTypes['PropertyType']>, ParentType, ContextType>;
  street_address_1?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  city_name?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  state_code?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  postal_code?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  bedroom_count?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType>;
  bathroom_count?: Resolver<Maybe<ResolversTypes['Float']>, ParentType, ContextType>;
  home_square_footage?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType>;
  year_built?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType>;
  lot_size_square_feet?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType>;
  occupancy_status?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
};

export type SellerInfoResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['SellerInfo'] = ResolversParentTypes['SellerInfo']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  seller_code?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  seller_contacts?: Resolver<ReadonlyArray<ResolversTypes['SellerContact']>, ParentType, ContextType>;
};

export type SellerContactResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['SellerContact'] = ResolversParentTypes['SellerContact']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  contact_name?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  contact_role?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  notify_by_email?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
};

export type BidResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['Bid'] = ResolversParentTypes['Bid']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  bid_id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  auction_id?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  sequence?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  amount?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
  previous_amount?: Resolver<Maybe<ResolversTypes['Float']>, ParentType, ContextType>;
  currency_code?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  bidder_id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  placed_at?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  channel?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  is_proxy_bid?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  auction?: Resolver<Maybe<ResolversTypes['Auction']>, ParentType, ContextType>;
  bidder?: Resolver<Maybe<ResolversTypes['Bidder']>, ParentType, ContextType>;
};

export type BidderResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['Bidder'] = ResolversParentTypes['Bidder']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  bidder_id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  display_name?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  member_since?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
  party?: Resolver<Maybe<ResolversTypes['Party']>, ParentType, ContextType>;
  account?: Resolver<Maybe<ResolversTypes['BidderAccount']>, ParentType, ContextType>;
  agent?: Resolver<Maybe<ResolversTypes['Agent']>, ParentType, ContextType>;
};

export type PartyResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['Party'] = ResolversParentTypes['Party']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  kind?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  region?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
};

export type ListingResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['Listing'] = ResolversParentTypes['Listing']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  listing_id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  listing_status?: Resolver<ResolversTypes['ListingStatus'], ParentType, ContextType>;
  previous_status?: Resolver<Maybe<ResolversTypes['ListingStatus']>, ParentType, ContextType>;
  changed_at?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
  property_type?: Resolver<ResolversTypes['PropertyType'], ParentType, ContextType>;
  headline?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  list_price?: Resolver<Maybe<ResolversTypes['Float']>, ParentType, ContextType>;
  auction_id?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType>;
  property_id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  seller_id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  auction?: Resolver<Maybe<ResolversTypes['Auction']>, ParentType, ContextType>;
  property?: Resolver<Maybe<ResolversTypes['Property']>, ParentType, ContextType>;
  seller?: Resolver<Maybe<ResolversTypes['Seller']>, ParentType, ContextType>;
  documents?: Resolver<ReadonlyArray<ResolversTypes['Document']>, ParentType, ContextType>;
  questions?: Resolver<ReadonlyArray<ResolversTypes['Question']>, ParentType, ContextType>;
  offers?: Resolver<Maybe<ResolversTypes['OfferSummary']>, ParentType, ContextType>;
  views?: Resolver<Maybe<ResolversTypes['ViewSummary']>, ParentType, ContextType>;
  intake?: Resolver<Maybe<ResolversTypes['Intake']>, ParentType, ContextType>;
  similar_listings?: Resolver<ReadonlyArray<ResolversTypes['Listing']>, ParentType, ContextType>;
  latest_auction?: Resolver<Maybe<ResolversTypes['Auction']>, ParentType, ContextType>;
  comments?: Resolver<ReadonlyArray<ResolversTypes['Comment']>, ParentType, ContextType>;
  favourites?: Resolver<Maybe<ResolversTypes['FavouriteSummary']>, ParentType, ContextType>;
  financing?: Resolver<Maybe<ResolversTypes['Financing']>, ParentType, ContextType>;
  flags?: Resolver<ReadonlyArray<ResolversTypes['String']>, ParentType, ContextType>;
  open_houses?: Resolver<ReadonlyArray<ResolversTypes['OpenHouse']>, ParentType, ContextType>;
  prices?: Resolver<ReadonlyArray<ResolversTypes['ListPrice']>, ParentType, ContextType>;
};

export type PropertyResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['Property'] = ResolversParentTypes['Property']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  property_id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  street?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  city?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  state?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  postal_code?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  bedroom_count?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType>;
  year_built?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType>;
  market?: Resolver<Maybe<ResolversTypes['Market']>, ParentType, ContextType>;
  parcel?: Resolver<Maybe<ResolversTypes['Parcel']>, ParentType, ContextType>;
  valuation?: Resolver<Maybe<ResolversTypes['Valuation']>, ParentType, ContextType>;
  potential_return?: Resolver<Maybe<ResolversTypes['PotentialReturn']>, ParentType, ContextType>;
  inspection?: Resolver<Maybe<ResolversTypes['Inspection']>, ParentType, ContextType>;
  media?: Resolver<ReadonlyArray<ResolversTypes['Medium']>, ParentType, ContextType>;
  appraisal?: Resolver<Maybe<ResolversTypes['Appraisal']>, ParentType, ContextType>;
  county?: Resolver<Maybe<ResolversTypes['County']>, ParentType, ContextType>;
  loan?: Resolver<Maybe<ResolversTypes['Loan']>, ParentType, ContextType>;
  location?: Resolver<Maybe<ResolversTypes['Location']>, ParentType, ContextType>;
  occupancy?: Resolver<Maybe<ResolversTypes['Occupancy']>, ParentType, ContextType>;
  tax?: Resolver<Maybe<ResolversTypes['PropertyTax']>, ParentType, ContextType>;
};

export type MarketResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['Market'] = ResolversParentTypes['Market']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  name?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  median_price?: Resolver<Maybe<ResolversTypes['Float']>, ParentType, ContextType>;
};

export type ParcelResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['Parcel'] = ResolversParentTypes['Parcel']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  parcel_number?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  acres?: Resolver<Maybe<ResolversTypes['Float']>, ParentType, ContextType>;
};

export type ValuationResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['Valuation'] = ResolversParentTypes['Valuation']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  estimate?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
  low?: Resolver<Maybe<ResolversTypes['Float']>, ParentType, ContextType>;
  high?: Resolver<Maybe<ResolversTypes['Float']>, ParentType, ContextType>;
};

export type PotentialReturnResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['PotentialReturn'] = ResolversParentTypes['PotentialReturn']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  monthly_rent?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
  gross_yield_percent?: Resolver<Maybe<ResolversTypes['Float']>, ParentType, ContextType>;
};

export type InspectionResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['Inspection'] = ResolversParentTypes['Inspection']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  vendor_name?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  inspected_on?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
};

export type MediumResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['Medium'] = ResolversParentTypes['Medium']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  kind?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  path?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
};

export type SellerResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['Seller'] = ResolversParentTypes['Seller']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  seller_id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  name?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  score?: Resolver<Maybe<ResolversTypes['SellerScore']>, ParentType, ContextType>;
  account_manager?: Resolver<Maybe<ResolversTypes['AccountManager']>, ParentType, ContextType>;
  listings?: Resolver<ReadonlyArray<ResolversTypes['Listing']>, ParentType, ContextType>;
};

export type SellerScoreResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['SellerScore'] = ResolversParentTypes['SellerScore']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  sold_percent?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
};

export type AccountManagerResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['AccountManager'] = ResolversParentTypes['AccountManager']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  name?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
};

export type VenueResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['Venue'] = ResolversParentTypes['Venue']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  venue_id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  name?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  city?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  is_online?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
};

export type ContractResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['Contract'] = ResolversParentTypes['Contract']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  contract_number?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  closing_days?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  buyer_premium_percent?: Resolver<Maybe<ResolversTypes['Float']>, ParentType, ContextType>;
};

export type DepositResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['Deposit'] = ResolversParentTypes['Deposit']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  amount?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
  is_refundable?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
};

export type ChangeResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['Change'] = ResolversParentTypes['Change']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  changed_at?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  changed_by?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  summary?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
};

export type DocumentResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['Document'] = ResolversParentTypes['Document']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  document_id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  title?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
};

export type QuestionResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['Question'] = ResolversParentTypes['Question']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  question?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  answer?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
};

export type OfferSummaryResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['OfferSummary'] = ResolversParentTypes['OfferSummary']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  offer_count?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
};

export type ViewSummaryResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['ViewSummary'] = ResolversParentTypes['ViewSummary']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  view_count?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
};

export type IntakeResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['Intake'] = ResolversParentTypes['Intake']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  submitted_at?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  channel?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
};

export type AuctioneerResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['Auctioneer'] = ResolversParentTypes['Auctioneer']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  name?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  licence_number?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
};

export type AttendanceResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['Attendance'] = ResolversParentTypes['Attendance']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  online_count?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  floor_count?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
};

export type EscrowResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['Escrow'] = ResolversParentTypes['Escrow']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  company?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  closes_on?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
};

export type FeeResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['Fee'] = ResolversParentTypes['Fee']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  kind?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  amount?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
};

export type TaskResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['Task'] = ResolversParentTypes['Task']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  title?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  is_done?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
};

export type EventCalendarResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['EventCalendar'] = ResolversParentTypes['EventCalendar']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  opens_at?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  closes_at?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
};

export type BidderAccountResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['BidderAccount'] = ResolversParentTypes['BidderAccount']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  opened_on?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  is_verified?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
};

export type AgentResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['Agent'] = ResolversParentTypes['Agent']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  name?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  brokerage?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
};

export type CommentResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['Comment'] = ResolversParentTypes['Comment']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  written_by?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  text?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
};

export type FavouriteSummaryResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['FavouriteSummary'] = ResolversParentTypes['FavouriteSummary']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  favourite_count?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
};

export type FinancingResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['Financing'] = ResolversParentTypes['Financing']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  lender?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  is_available?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
};

export type OpenHouseResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['OpenHouse'] = ResolversParentTypes['OpenHouse']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  begins_at?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  host?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
};

export type ListPriceResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['ListPrice'] = ResolversParentTypes['ListPrice']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  changed_at?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  list_price?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
};

export type AppraisalResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['Appraisal'] = ResolversParentTypes['Appraisal']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  amount?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
  appraised_on?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
};

export type CountyResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['County'] = ResolversParentTypes['County']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  name?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  state?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
};

export type LoanResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['Loan'] = ResolversParentTypes['Loan']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  balance?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
};

export type LocationResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['Location'] = ResolversParentTypes['Location']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  latitude?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
  longitude?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
};

export type OccupancyResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['Occupancy'] = ResolversParentTypes['Occupancy']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  occupancy_status?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  checked_on?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
};

export type PropertyTaxResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['PropertyTax'] = ResolversParentTypes['PropertyTax']> = {
  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;
  tax_year?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  amount?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
};

export type Resolvers<ContextType = GraphContext> = {
  DateTime?: GraphQLScalarType;
  Query?: QueryResolvers<ContextType>;
  Subscription?: SubscriptionResolvers<ContextType>;
  Auction?: AuctionResolvers<ContextType>;
  AuctionEvent?: AuctionEventResolvers<ContextType>;
  ExternalIdentifier?: ExternalIdentifierResolvers<ContextType>;
  Fallout?: FalloutResolvers<ContextType>;
  ForeclosureMarketing?: ForeclosureMarketingResolvers<ContextType>;
  PropertyDetails?: PropertyDetailsResolvers<ContextType>;
  SellerInfo?: SellerInfoResolvers<ContextType>;
  SellerContact?: SellerContactResolvers<ContextType>;
  Bid?: BidResolvers<ContextType>;
  Bidder?: BidderResolvers<ContextType>;
  Party?: PartyResolvers<ContextType>;
  Listing?: ListingResolvers<ContextType>;
  Property?: PropertyResolvers<ContextType>;
  Market?: MarketResolvers<ContextType>;
  Parcel?: ParcelResolvers<ContextType>;
  Valuation?: ValuationResolvers<ContextType>;
  PotentialReturn?: PotentialReturnResolvers<ContextType>;
  Inspection?: InspectionResolvers<ContextType>;
  Medium?: MediumResolvers<ContextType>;
  Seller?: SellerResolvers<ContextType>;
  SellerScore?: SellerScoreResolvers<ContextType>;
  AccountManager?: AccountManagerResolvers<ContextType>;
  Venue?: VenueResolvers<ContextType>;
  Contract?: ContractResolvers<ContextType>;
  Deposit?: DepositResolvers<ContextType>;
  Change?: ChangeResolvers<ContextType>;
  Document?: DocumentResolvers<ContextType>;
  Question?: QuestionResolvers<ContextType>;
  OfferSummary?: OfferSummaryResolvers<ContextType>;
  ViewSummary?: ViewSummaryResolvers<ContextType>;
  Intake?: IntakeResolvers<ContextType>;
  Auctioneer?: AuctioneerResolvers<ContextType>;
  Attendance?: AttendanceResolvers<ContextType>;
  Escrow?: EscrowResolvers<ContextType>;
  Fee?: FeeResolvers<ContextType>;
  Task?: TaskResolvers<ContextType>;
  EventCalendar?: EventCalendarResolvers<ContextType>;
  BidderAccount?: BidderAccountResolvers<ContextType>;
  Agent?: AgentResolvers<ContextType>;
  Comment?: CommentResolvers<ContextType>;
  FavouriteSummary?: FavouriteSummaryResolvers<ContextType>;
  Financing?: FinancingResolvers<ContextType>;
  OpenHouse?: OpenHouseResolvers<ContextType>;
  ListPrice?: ListPriceResolvers<ContextType>;
  Appraisal?: AppraisalResolvers<ContextType>;
  County?: CountyResolvers<ContextType>;
  Loan?: LoanResolvers<ContextType>;
  Location?: LocationResolvers<ContextType>;
  Occupancy?: OccupancyResolvers<ContextType>;
  PropertyTax?: PropertyTaxResolvers<ContextType>;
};
