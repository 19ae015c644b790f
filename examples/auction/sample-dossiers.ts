import { lotOf } from './lot.ts';
import { answerOf } from './sample-answers.ts';

/** Backend and path of each part, by noun and name of the part. */
const dossiers: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  auction: {
    auction: 'auction /auctions',
    attendance: 'tracking /attendances',
    auction_ids: 'auction /event-auctions',
    auctioneer: 'onlineAuction /auctioneers',
    calendar: 'onlineAuction /calendars',
    changes: 'morphlog /changes',
    contract: 'contract /contracts',
    deposit: 'payment /deposits',
    escrow: 'contract /escrows',
    event: 'onlineAuction /events',
    fees: 'payment /fees',
    recent_bids: 'onlineAuction /recent-bids',
    tasks: 'morphlog /tasks',
    venue: 'venue /venues',
    watch: 'preferences /watches',
  },
  bidder: {
    bidder: 'profile /profiles',
    account: 'profile /accounts',
    agent: 'partysearch /agents',
    party: 'partysearch /parties',
  },
  listing: {
    listing: 'listing /listings',
    auction_of_listing: 'auction /listing-auctions',
    comments: 'riddler /comments',
    documents: 'document /listing-documents',
    favourites: 'preferences /favourites',
    financing: 'payment /financings',
    flags: 'listing /flags',
    intake: 'consumerListingIntake /intakes',
    offers: 'offer /offer-summaries',
    open_houses: 'venue /open-houses',
    prices: 'listing /prices',
    questions: 'riddler /questions',
    similar_listing_ids: 'seek /similar-listings',
    views: 'tracking /views',
  },
  property: {
    property: 'property /properties',
    appraisal: 'mlintegrator /appraisals',
    county: 'gls /counties',
    inspection: 'vendor /inspections',
    loan: 'payment /loans',
    location: 'geography /locations',
    market: 'geography /markets',
    media: 'tenflix /media',
    occupancy: 'vendor /occupancies',
    parcel: 'gls /parcels',
    potential_return: 'potentialreturn /returns',
    tax: 'gls /taxes',
    valuation: 'mlintegrator /valuations',
  },
  seller: {
    seller: 'seller /sellers',
    account_manager: 'salesforce /account-managers',
    listing_ids: 'seller /seller-listings',
    seller_score: 'sellerdashboard /scores',
  },
};

/** The response to `GET /dossiers/<noun>/<id>`: an object with its parts, by the names of their primers. */
export function dossierOf(noun: string, id: string): unknown {
  const number = /\d{1,9}/.exec(id)?.[0];
  if (!Object.hasOwn(dossiers, noun) || number === undefined) return undefined;
  const { event, postalCode, venueId } = lotOf(Number(number));
  const eventId = String(event.eventId);
  const ids: Readonly<Record<string, string>> = {
    auction_ids: eventId,
    calendar: eventId,
    event: eventId,
    market: postalCode,
    venue: venueId,
  };
  const parts = Object.entries(dossiers[noun]!);
  return Object.fromEntries(parts.map(([part, endpoint]) => [part, answerOf(endpoint, ids[part] ?? id)]));
}
