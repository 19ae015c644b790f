// Written by crier codegen from schema.graphql. Do not edit it: the next run replaces it.
/* eslint-disable */
import type { Context } from 'crier/graph';
import type * as context from './context.ts';
import type { GraphQLResolveInfo, GraphQLScalarType, GraphQLScalarTypeConfig } from 'graphql';
import type { Auction as AuctionSource, AuctionEvent as AuctionEventSource, Bid as BidSource, Bidder as BidderSource, Listing as ListingSource, Property as PropertySource, Seller as SellerSource, Venue as VenueSource } from './sources.ts';

type Loaders = typeof context extends { readonly createLoaders: (...args: never) => infer L extends object } ? L : object;
/** The third argument of resolvers. */
export type GraphContext = Context<Loaders, typeof context extends { readonly backends: readonly (infer N extends string)[] } ? N : never>;

export type Maybe<T> = T | null | undefined;
export type InputMaybe<T> = T | null | undefined;
export type RequireFields<T, K extends keyof T> = Omit<T, K> & { [P in K]-?: Exclude<T[P], undefined> };
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

/** Reads of what the backends know now. */
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

/** Reads of what the backends know now. */
export type QueryAuctionArgs = {
  auction_id: Scalars['Int']['input'];
};

/** Reads of what the backends know now. */
export type QueryListingArgs = {
  listing_id: Scalars['ID']['input'];
};

/** Reads of what the backends know now. */
export type QueryAuction_DossierArgs = {
  auction_id: Scalars['Int']['input'];
};

/** Reads of what the backends know now. */
export type QueryBidder_DossierArgs = {
  bidder_id: Scalars['ID']['input'];
};

/** Reads of what the backends know now. */
export type QueryListing_DossierArgs = {
  listing_id: Scalars['ID']['input'];
};

/** Reads of what the backends know now. */
export type QueryProperty_DossierArgs = {
  property_id: Scalars['ID']['input'];
};

/** Reads of what the backends know now. */
export type QuerySeller_DossierArgs = {
  seller_id: Scalars['ID']['input'];
};

/** What changes, from the topics of Kafka. */
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

/** What changes, from the topics of Kafka. */
export type SubscriptionAuction_UpdatedArgs = {
  auction_id: Scalars['Int']['input'];
};

/** What changes, from the topics of Kafka. */
export type SubscriptionAuctions_UpdatedArgs = {
  event_id?: InputMaybe<Scalars['Int']['input']>;
};

/** What changes, from the topics of Kafka. */
export type SubscriptionBid_PlacedArgs = {
  auction_id: Scalars['Int']['input'];
};

/** What changes, from the topics of Kafka. */
export type SubscriptionListing_Status_ChangedArgs = {
  listing_id: Scalars['ID']['input'];
};

/** What changes, from the topics of Kafka. */
export type SubscriptionCatalogue_UpdatedArgs = {
  property_type?: InputMaybe<PropertyType>;
};

/** How far an auction is. */
export type AuctionStatus =
  /** It has not begun. */
  | 'SCHEDULED'
  /** Bids are taken. */
  | 'OPEN'
  /** It has ended with a sale. */
  | 'SOLD'
  /** It has ended below the least price of the seller. */
  | 'RESERVE_NOT_MET';

/** How far a listing is, from its intake to its sale. */
export type ListingStatus =
  /** Not published yet. */
  | 'DRAFT'
  /** Published, without an auction under way. */
  | 'ACTIVE'
  /** Its auction is scheduled or open. */
  | 'UNDER_AUCTION'
  /** Sold. */
  | 'SOLD'
  /** Taken back by the seller. */
  | 'WITHDRAWN';

/** What kind of property is sold. */
export type PropertyType =
  /** A detached house. */
  | 'SINGLE_FAMILY'
  /** A flat in a building with several owners. */
  | 'CONDOMINIUM'
  /** A house in a row. */
  | 'TOWNHOUSE'
  /** A house of several flats with one owner. */
  | 'MULTI_FAMILY'
  /** Land without a building. */
  | 'LAND'
  /** A building for business. */
  | 'COMMERCIAL';

/** The sale of one property to the highest bidder. */
export type Auction = {
  readonly __typename?: 'Auction';
  /** Its id. */
  readonly auction_id: Scalars['Int']['output'];
  /** Its id in all systems of the house. */
  readonly global_auction_id: Scalars['ID']['output'];
  /** How far it is. */
  readonly auction_status: AuctionStatus;
  /** How bids are taken, such as `ONLINE`. */
  readonly auction_type: Scalars['String']['output'];
  /** Why it is sold, such as `BANK_OWNED`. */
  readonly asset_type: Scalars['String']['output'];
  /** When it begins, as bidders see it. */
  readonly visible_auction_start_date_time?: Maybe<Scalars['DateTime']['output']>;
  /** When it ends, as bidders see it; a late bid extends it. */
  readonly visible_auction_end_date_time?: Maybe<Scalars['DateTime']['output']>;
  /** IANA name of the time zone in which its times are announced. */
  readonly auction_time_zone?: Maybe<Scalars['String']['output']>;
  /** Id of the employee who created it; 0: a system. */
  readonly created_by?: Maybe<Scalars['Int']['output']>;
  /** The system in which it was created. */
  readonly created_by_origin?: Maybe<Scalars['String']['output']>;
  /** When it was created. */
  readonly created_date?: Maybe<Scalars['DateTime']['output']>;
  /** Id of the employee who changed it last. */
  readonly updated_by?: Maybe<Scalars['Int']['output']>;
  /** When it was changed last. */
  readonly updated_date?: Maybe<Scalars['DateTime']['output']>;
  /** Days since it was created. */
  readonly days_on_market?: Maybe<Scalars['Int']['output']>;
  /** Id of the reply to its form. */
  readonly dropbox_response_id?: Maybe<Scalars['ID']['output']>;
  /** Id of its listing. */
  readonly listing_id: Scalars['ID']['output'];
  /** Id of its property. */
  readonly property_id: Scalars['ID']['output'];
  /** Id of its seller. */
  readonly seller_id: Scalars['ID']['output'];
  /** Id of its venue. */
  readonly venue_id: Scalars['ID']['output'];
  /** Currency of its amounts, ISO 4217. */
  readonly currency_code: Scalars['String']['output'];
  /** Least amount of the first bid. */
  readonly starting_bid: Scalars['Float']['output'];
  /** The highest bid; null before the first one. */
  readonly current_bid?: Maybe<Scalars['Float']['output']>;
  /** Least difference between two bids. */
  readonly bid_increment: Scalars['Float']['output'];
  /** Least amount of the next bid. */
  readonly next_minimum_bid: Scalars['Float']['output'];
  /** Bids so far. */
  readonly bid_count: Scalars['Int']['output'];
  /** Who has made the highest bid. */
  readonly high_bidder_id?: Maybe<Scalars['ID']['output']>;
  /** Whether the highest bid reaches the seller's least price. */
  readonly is_reserve_met: Scalars['Boolean']['output'];
  /** How often a late bid has extended it. */
  readonly extension_count: Scalars['Int']['output'];
  /** People who watch it now. */
  readonly watcher_count: Scalars['Int']['output'];
  /** What the buyer pays to the house, in percent of the price. */
  readonly buyers_premium_percent?: Maybe<Scalars['Float']['output']>;
  /** The event that it is part of. */
  readonly event?: Maybe<AuctionEvent>;
  /** Its ids in other systems. */
  readonly external_identifiers: ReadonlyArray<ExternalIdentifier>;
  /** Whether other systems know its last change: `PENDING` or `SYNCED`. */
  readonly external_sync_status?: Maybe<Scalars['String']['output']>;
  /** Sales that fell through before. */
  readonly fallout_history: ReadonlyArray<Fallout>;
  /** What the marketing of foreclosures needs. */
  readonly fcl_marketing?: Maybe<ForeclosureMarketing>;
  /** The property, from the same record. */
  readonly property_details?: Maybe<PropertyDetails>;
  /** The seller, from the same record. */
  readonly seller_info?: Maybe<SellerInfo>;
  /** Marks of its listing, such as `FEATURED`. */
  readonly listing_flags: ReadonlyArray<Scalars['String']['output']>;
  /** Address of its page. */
  readonly listing_url?: Maybe<Scalars['String']['output']>;
  /** Counts the changes of this auction. */
  readonly version: Scalars['Int']['output'];
  /** Its listing, from the backend of listings. */
  readonly listing?: Maybe<Listing>;
  /** Its property, from the backend of properties. */
  readonly property?: Maybe<Property>;
  /** Its seller, from the backend of sellers. */
  readonly seller?: Maybe<Seller>;
  /** Where it is held. */
  readonly venue?: Maybe<Venue>;
  /** Who has made the highest bid. */
  readonly high_bidder?: Maybe<Bidder>;
  /** The terms of the sale. */
  readonly contract?: Maybe<Contract>;
  /** What bidders must pay in. */
  readonly deposit?: Maybe<Deposit>;
  /** The latest bids, newest first. */
  readonly recent_bids: ReadonlyArray<Bid>;
  /** Who changed what, newest first. */
  readonly changes: ReadonlyArray<Change>;
  /** Whether the caller watches this auction. */
  readonly is_watched: Scalars['Boolean']['output'];
  /** Who leads it. */
  readonly auctioneer?: Maybe<Auctioneer>;
  /** Who attends it now. */
  readonly attendance?: Maybe<Attendance>;
  /** Who holds the money until the sale closes. */
  readonly escrow?: Maybe<Escrow>;
  /** What the buyer pays beside the price. */
  readonly fees: ReadonlyArray<Fee>;
  /** What the staff has to do for it. */
  readonly tasks: ReadonlyArray<Task>;
};

/** The event in which an auction takes place, with others. */
export type AuctionEvent = {
  readonly __typename?: 'AuctionEvent';
  /** Its id. */
  readonly event_id: Scalars['Int']['output'];
  /** Its short name for the staff. */
  readonly event_code: Scalars['String']['output'];
  /** Its name for bidders. */
  readonly name?: Maybe<Scalars['String']['output']>;
  /** When its first auction begins. */
  readonly begins_on?: Maybe<Scalars['DateTime']['output']>;
  /** When it opens and closes. */
  readonly calendar?: Maybe<EventCalendar>;
  /** Ids of its auctions. */
  readonly auction_ids: ReadonlyArray<Scalars['Int']['output']>;
};

/** The auction's id in another system. */
export type ExternalIdentifier = {
  readonly __typename?: 'ExternalIdentifier';
  /** The other system, such as `MLS`. */
  readonly source: Scalars['String']['output'];
  /** The id there. */
  readonly external_id: Scalars['String']['output'];
  /** Whether the staff searches by this id first. */
  readonly is_primary_identifier: Scalars['Boolean']['output'];
};

/** A sale that fell through. */
export type Fallout = {
  readonly __typename?: 'Fallout';
  /** When it fell through. */
  readonly fallout_date: Scalars['DateTime']['output'];
  /** Why, such as `FINANCING`. */
  readonly reason: Scalars['String']['output'];
  /** The price that was agreed. */
  readonly amount?: Maybe<Scalars['Float']['output']>;
};

/** What the marketing of a foreclosed property needs. */
export type ForeclosureMarketing = {
  readonly __typename?: 'ForeclosureMarketing';
  /** Address of the appraiser's record. */
  readonly appraiser_uri?: Maybe<Scalars['String']['output']>;
  /** The clerk of the court. */
  readonly clerk_0?: Maybe<Scalars['String']['output']>;
  /** Whether this change has published the lender's bid. */
  readonly has_credit_bid_just_been_revealed?: Maybe<Scalars['Boolean']['output']>;
  /** Whether this change has published or hidden the listing. */
  readonly has_searchable_or_published_changed?: Maybe<Scalars['Boolean']['output']>;
  /** Whether this change is one of the auction's status. */
  readonly is_auction_status_changed?: Maybe<Scalars['Boolean']['output']>;
};

/** The property as the auction's record describes it. */
export type PropertyDetails = {
  readonly __typename?: 'PropertyDetails';
  /** What kind of property it is. */
  readonly property_type?: Maybe<PropertyType>;
  /** Street and number. */
  readonly street_address_1?: Maybe<Scalars['String']['output']>;
  /** City. */
  readonly city_name?: Maybe<Scalars['String']['output']>;
  /** State, two letters. */
  readonly state_code?: Maybe<Scalars['String']['output']>;
  /** Postal code. */
  readonly postal_code?: Maybe<Scalars['String']['output']>;
  /** Bedrooms. */
  readonly bedroom_count?: Maybe<Scalars['Int']['output']>;
  /** Bathrooms; a half is one without a bath. */
  readonly bathroom_count?: Maybe<Scalars['Float']['output']>;
  /** Living space in square feet. */
  readonly home_square_footage?: Maybe<Scalars['Int']['output']>;
  /** When it was built. */
  readonly year_built?: Maybe<Scalars['Int']['output']>;
  /** Land in square feet. */
  readonly lot_size_square_feet?: Maybe<Scalars['Int']['output']>;
  /** `OCCUPIED` or `VACANT`. */
  readonly occupancy_status?: Maybe<Scalars['String']['output']>;
};

/** The seller as the auction's record describes it. */
export type SellerInfo = {
  readonly __typename?: 'SellerInfo';
  /** Short name of the seller. */
  readonly seller_code?: Maybe<Scalars['String']['output']>;
  /** Whom to ask. */
  readonly seller_contacts: ReadonlyArray<SellerContact>;
};

/** A person whom the seller names for questions. */
export type SellerContact = {
  readonly __typename?: 'SellerContact';
  /** The person's name. */
  readonly contact_name: Scalars['String']['output'];
  /** What the person does, such as `CLOSING_OFFICER`. */
  readonly contact_role: Scalars['String']['output'];
  /** Whether the person gets mail about the auction. */
  readonly notify_by_email: Scalars['Boolean']['output'];
};

/** One bid on an auction. */
export type Bid = {
  readonly __typename?: 'Bid';
  /** Its id. */
  readonly bid_id: Scalars['ID']['output'];
  /** Id of the auction. */
  readonly auction_id: Scalars['Int']['output'];
  /** 1 for an auction's first bid. */
  readonly sequence: Scalars['Int']['output'];
  /** How much is bid. */
  readonly amount: Scalars['Float']['output'];
  /** The highest bid before it; null for the first one. */
  readonly previous_amount?: Maybe<Scalars['Float']['output']>;
  /** Currency of the amounts, ISO 4217. */
  readonly currency_code: Scalars['String']['output'];
  /** Who bids. */
  readonly bidder_id: Scalars['ID']['output'];
  /** When it was placed. */
  readonly placed_at: Scalars['DateTime']['output'];
  /** Where it was placed: `WEB`, `IOS`, `ANDROID` or `FLOOR`. */
  readonly channel: Scalars['String']['output'];
  /** Whether the system has bid for the bidder, up to a limit. */
  readonly is_proxy_bid: Scalars['Boolean']['output'];
  /** The auction as its backend knows it now. */
  readonly auction?: Maybe<Auction>;
  /** Who bids, from the backend of profiles. */
  readonly bidder?: Maybe<Bidder>;
};

/** Somebody who has registered to bid. */
export type Bidder = {
  readonly __typename?: 'Bidder';
  /** Its id. */
  readonly bidder_id: Scalars['ID']['output'];
  /** The name that others see. */
  readonly display_name: Scalars['String']['output'];
  /** When the bidder registered. */
  readonly member_since?: Maybe<Scalars['DateTime']['output']>;
  /** The legal person behind the bidder. */
  readonly party?: Maybe<Party>;
  /** The bidder's account. */
  readonly account?: Maybe<BidderAccount>;
  /** The bidder's agent; null without one. */
  readonly agent?: Maybe<Agent>;
};

/** The legal person behind a bidder. */
export type Party = {
  readonly __typename?: 'Party';
  /** `PERSON`, `COMPANY` or `TRUST`. */
  readonly kind: Scalars['String']['output'];
  /** Region of the address. */
  readonly region?: Maybe<Scalars['String']['output']>;
};

/** The offer of a property, which an auction may sell. */
export type Listing = {
  readonly __typename?: 'Listing';
  /** Its id. */
  readonly listing_id: Scalars['ID']['output'];
  /** How far it is. */
  readonly listing_status: ListingStatus;
  /** Its status before this change. */
  readonly previous_status?: Maybe<ListingStatus>;
  /** When its status changed. */
  readonly changed_at?: Maybe<Scalars['DateTime']['output']>;
  /** What kind of property it offers. */
  readonly property_type: PropertyType;
  /** One line for the catalogue. */
  readonly headline: Scalars['String']['output'];
  /** What the seller asks for. */
  readonly list_price?: Maybe<Scalars['Float']['output']>;
  /** Id of its auction; null without one. */
  readonly auction_id?: Maybe<Scalars['Int']['output']>;
  /** Id of its property. */
  readonly property_id: Scalars['ID']['output'];
  /** Id of its seller. */
  readonly seller_id: Scalars['ID']['output'];
  /** Its auction; null without one. */
  readonly auction?: Maybe<Auction>;
  /** Its property. */
  readonly property?: Maybe<Property>;
  /** Its seller. */
  readonly seller?: Maybe<Seller>;
  /** Documents for bidders. */
  readonly documents: ReadonlyArray<Document>;
  /** Questions of bidders. */
  readonly questions: ReadonlyArray<Question>;
  /** Offers before the auction. */
  readonly offers?: Maybe<OfferSummary>;
  /** How often it was looked at. */
  readonly views?: Maybe<ViewSummary>;
  /** How it came to the house. */
  readonly intake?: Maybe<Intake>;
  /** Listings that may interest the same bidders. */
  readonly similar_listings: ReadonlyArray<Listing>;
  /** The latest auction of this listing, also if it has ended. */
  readonly latest_auction?: Maybe<Auction>;
  /** Remarks of the staff. */
  readonly comments: ReadonlyArray<Comment>;
  /** Who has marked it. */
  readonly favourites?: Maybe<FavouriteSummary>;
  /** A loan for the buyer. */
  readonly financing?: Maybe<Financing>;
  /** Its marks, such as `FEATURED`. */
  readonly flags: ReadonlyArray<Scalars['String']['output']>;
  /** When the property may be visited. */
  readonly open_houses: ReadonlyArray<OpenHouse>;
  /** What the listing cost, newest first. */
  readonly prices: ReadonlyArray<ListPrice>;
};

/** A piece of real estate. */
export type Property = {
  readonly __typename?: 'Property';
  /** Its id. */
  readonly property_id: Scalars['ID']['output'];
  /** Street and number. */
  readonly street: Scalars['String']['output'];
  /** City. */
  readonly city: Scalars['String']['output'];
  /** State, two letters. */
  readonly state: Scalars['String']['output'];
  /** Postal code. */
  readonly postal_code: Scalars['String']['output'];
  /** Bedrooms. */
  readonly bedroom_count?: Maybe<Scalars['Int']['output']>;
  /** When it was built. */
  readonly year_built?: Maybe<Scalars['Int']['output']>;
  /** The market around it. */
  readonly market?: Maybe<Market>;
  /** Its land in the register. */
  readonly parcel?: Maybe<Parcel>;
  /** What a model estimates. */
  readonly valuation?: Maybe<Valuation>;
  /** What renting it out may bring. */
  readonly potential_return?: Maybe<PotentialReturn>;
  /** Its last inspection. */
  readonly inspection?: Maybe<Inspection>;
  /** Photos and videos. */
  readonly media: ReadonlyArray<Medium>;
  /** What an appraiser found. */
  readonly appraisal?: Maybe<Appraisal>;
  /** Its county. */
  readonly county?: Maybe<County>;
  /** The loan that it secures. */
  readonly loan?: Maybe<Loan>;
  /** Where it is. */
  readonly location?: Maybe<Location>;
  /** Whether somebody lives in it. */
  readonly occupancy?: Maybe<Occupancy>;
  /** Its tax. */
  readonly tax?: Maybe<PropertyTax>;
};

/** The housing market around a property, by its postal code. */
export type Market = {
  readonly __typename?: 'Market';
  /** Its name. */
  readonly name: Scalars['String']['output'];
  /** Median price of the last sales. */
  readonly median_price?: Maybe<Scalars['Float']['output']>;
};

/** The land of a property in the county's register. */
export type Parcel = {
  readonly __typename?: 'Parcel';
  /** Its number in the register. */
  readonly parcel_number: Scalars['String']['output'];
  /** Its size. */
  readonly acres?: Maybe<Scalars['Float']['output']>;
};

/** What a property may be worth, estimated by a model. */
export type Valuation = {
  readonly __typename?: 'Valuation';
  /** The likely value. */
  readonly estimate: Scalars['Float']['output'];
  /** Low end of the range. */
  readonly low?: Maybe<Scalars['Float']['output']>;
  /** High end of the range. */
  readonly high?: Maybe<Scalars['Float']['output']>;
};

/** What renting the property out may bring. */
export type PotentialReturn = {
  readonly __typename?: 'PotentialReturn';
  /** Rent of a month. */
  readonly monthly_rent: Scalars['Float']['output'];
  /** Rent of a year in percent of the value. */
  readonly gross_yield_percent?: Maybe<Scalars['Float']['output']>;
};

/** The last inspection of a property. */
export type Inspection = {
  readonly __typename?: 'Inspection';
  /** Who has inspected it. */
  readonly vendor_name: Scalars['String']['output'];
  /** When. */
  readonly inspected_on?: Maybe<Scalars['DateTime']['output']>;
};

/** A photo or a video. */
export type Medium = {
  readonly __typename?: 'Medium';
  /** `PHOTO` or `VIDEO`. */
  readonly kind: Scalars['String']['output'];
  /** Path of the file. */
  readonly path: Scalars['String']['output'];
};

/** Who sells a property. */
export type Seller = {
  readonly __typename?: 'Seller';
  /** Its id. */
  readonly seller_id: Scalars['ID']['output'];
  /** Its name. */
  readonly name: Scalars['String']['output'];
  /** How well it sells. */
  readonly score?: Maybe<SellerScore>;
  /** Who looks after it. */
  readonly account_manager?: Maybe<AccountManager>;
  /** What it offers. */
  readonly listings: ReadonlyArray<Listing>;
};

/** How well a seller sells. */
export type SellerScore = {
  readonly __typename?: 'SellerScore';
  /** Auctions that ended with a sale, in percent. */
  readonly sold_percent: Scalars['Float']['output'];
};

/** The person of the house who looks after a seller. */
export type AccountManager = {
  readonly __typename?: 'AccountManager';
  /** The person's name. */
  readonly name: Scalars['String']['output'];
};

/** The place where an auction is held. */
export type Venue = {
  readonly __typename?: 'Venue';
  /** Its id. */
  readonly venue_id: Scalars['ID']['output'];
  /** Its name. */
  readonly name: Scalars['String']['output'];
  /** Its city; null online. */
  readonly city?: Maybe<Scalars['String']['output']>;
  /** Whether it is online only. */
  readonly is_online: Scalars['Boolean']['output'];
};

/** The terms on which the winner buys. */
export type Contract = {
  readonly __typename?: 'Contract';
  /** Its number. */
  readonly contract_number: Scalars['String']['output'];
  /** Days until the sale must close. */
  readonly closing_days: Scalars['Int']['output'];
  /** What the buyer pays to the house, in percent of the price. */
  readonly buyer_premium_percent?: Maybe<Scalars['Float']['output']>;
};

/** What a bidder must pay in before the first bid. */
export type Deposit = {
  readonly __typename?: 'Deposit';
  /** How much. */
  readonly amount: Scalars['Float']['output'];
  /** Whether who does not win gets it back. */
  readonly is_refundable: Scalars['Boolean']['output'];
};

/** One change of an auction by a person or a system. */
export type Change = {
  readonly __typename?: 'Change';
  /** When. */
  readonly changed_at: Scalars['DateTime']['output'];
  /** The person or the system. */
  readonly changed_by: Scalars['String']['output'];
  /** What was changed. */
  readonly summary: Scalars['String']['output'];
};

/** A document that bidders may read. */
export type Document = {
  readonly __typename?: 'Document';
  /** Its id. */
  readonly document_id: Scalars['ID']['output'];
  /** Its title. */
  readonly title: Scalars['String']['output'];
};

/** A question of a bidder about a listing. */
export type Question = {
  readonly __typename?: 'Question';
  /** What was asked. */
  readonly question: Scalars['String']['output'];
  /** The answer; null until there is one. */
  readonly answer?: Maybe<Scalars['String']['output']>;
};

/** Offers before the auction. */
export type OfferSummary = {
  readonly __typename?: 'OfferSummary';
  /** Number of offers. */
  readonly offer_count: Scalars['Int']['output'];
};

/** How often a listing was looked at. */
export type ViewSummary = {
  readonly __typename?: 'ViewSummary';
  /** Views of its page. */
  readonly view_count: Scalars['Int']['output'];
};

/** How a listing came to the house. */
export type Intake = {
  readonly __typename?: 'Intake';
  /** When it was submitted. */
  readonly submitted_at: Scalars['DateTime']['output'];
  /** From where: `WEB`, `AGENT` or `BANK`. */
  readonly channel: Scalars['String']['output'];
};

/** The person who leads an auction. */
export type Auctioneer = {
  readonly __typename?: 'Auctioneer';
  /** The person's name. */
  readonly name: Scalars['String']['output'];
  /** Number of the licence. */
  readonly licence_number?: Maybe<Scalars['String']['output']>;
};

/** Who attends an auction now. */
export type Attendance = {
  readonly __typename?: 'Attendance';
  /** Bidders online. */
  readonly online_count: Scalars['Int']['output'];
  /** Bidders in the room. */
  readonly floor_count: Scalars['Int']['output'];
};

/** The company that holds the money until the sale closes. */
export type Escrow = {
  readonly __typename?: 'Escrow';
  /** Its name. */
  readonly company: Scalars['String']['output'];
  /** When it must close. */
  readonly closes_on?: Maybe<Scalars['DateTime']['output']>;
};

/** What a buyer pays beside the price. */
export type Fee = {
  readonly __typename?: 'Fee';
  /** What it is for. */
  readonly kind: Scalars['String']['output'];
  /** How much. */
  readonly amount: Scalars['Float']['output'];
};

/** What the staff has to do before the auction. */
export type Task = {
  readonly __typename?: 'Task';
  /** What is to be done. */
  readonly title: Scalars['String']['output'];
  /** Whether it is done. */
  readonly is_done: Scalars['Boolean']['output'];
};

/** When an event opens and closes. */
export type EventCalendar = {
  readonly __typename?: 'EventCalendar';
  /** When it opens. */
  readonly opens_at: Scalars['DateTime']['output'];
  /** When it closes. */
  readonly closes_at: Scalars['DateTime']['output'];
};

/** A bidder's account with the house. */
export type BidderAccount = {
  readonly __typename?: 'BidderAccount';
  /** When it was opened. */
  readonly opened_on: Scalars['DateTime']['output'];
  /** Whether the bidder's identity was checked. */
  readonly is_verified: Scalars['Boolean']['output'];
};

/** The real estate agent of a bidder. */
export type Agent = {
  readonly __typename?: 'Agent';
  /** The agent's name. */
  readonly name: Scalars['String']['output'];
  /** The company that the agent works for. */
  readonly brokerage?: Maybe<Scalars['String']['output']>;
};

/** A remark of the staff on a listing. */
export type Comment = {
  readonly __typename?: 'Comment';
  /** Who wrote it. */
  readonly written_by: Scalars['String']['output'];
  /** What it says. */
  readonly text: Scalars['String']['output'];
};

/** How many people have marked a listing. */
export type FavouriteSummary = {
  readonly __typename?: 'FavouriteSummary';
  /** People who have marked it. */
  readonly favourite_count: Scalars['Int']['output'];
};

/** A loan that is offered with the property. */
export type Financing = {
  readonly __typename?: 'Financing';
  /** The bank. */
  readonly lender: Scalars['String']['output'];
  /** Whether it is still offered. */
  readonly is_available: Scalars['Boolean']['output'];
};

/** A time at which the property may be visited. */
export type OpenHouse = {
  readonly __typename?: 'OpenHouse';
  /** When it begins. */
  readonly begins_at: Scalars['DateTime']['output'];
  /** Who shows the property. */
  readonly host?: Maybe<Scalars['String']['output']>;
};

/** A price of a listing, and since when. */
export type ListPrice = {
  readonly __typename?: 'ListPrice';
  /** Since when. */
  readonly changed_at: Scalars['DateTime']['output'];
  /** The price. */
  readonly list_price: Scalars['Float']['output'];
};

/** What an appraiser found a property to be worth. */
export type Appraisal = {
  readonly __typename?: 'Appraisal';
  /** The value. */
  readonly amount: Scalars['Float']['output'];
  /** When. */
  readonly appraised_on?: Maybe<Scalars['DateTime']['output']>;
};

/** The county of a property. */
export type County = {
  readonly __typename?: 'County';
  /** Its name. */
  readonly name: Scalars['String']['output'];
  /** Its state, two letters. */
  readonly state: Scalars['String']['output'];
};

/** The loan that the property secures. */
export type Loan = {
  readonly __typename?: 'Loan';
  /** What is still owed. */
  readonly balance: Scalars['Float']['output'];
};

/** Where a property is, in degrees of WGS 84. */
export type Location = {
  readonly __typename?: 'Location';
  /** North of the equator. */
  readonly latitude: Scalars['Float']['output'];
  /** East of Greenwich. */
  readonly longitude: Scalars['Float']['output'];
};

/** Whether somebody lives in a property. */
export type Occupancy = {
  readonly __typename?: 'Occupancy';
  /** `OCCUPIED` or `VACANT`. */
  readonly occupancy_status: Scalars['String']['output'];
  /** When somebody looked. */
  readonly checked_on?: Maybe<Scalars['DateTime']['output']>;
};

/** The tax on a property in one year. */
export type PropertyTax = {
  readonly __typename?: 'PropertyTax';
  /** The year. */
  readonly tax_year: Scalars['Int']['output'];
  /** How much. */
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
