import lodash from 'lodash';
import { createDice } from './dice.ts';
import type { Dice } from './dice.ts';
import { LiveAuction } from './live-auction.ts';
import { lotOf } from './lot.ts';
import type { Lot } from './lot.ts';

interface Subject {
  readonly id: string;
  /** The lot with the number in the id. */
  readonly lot: Lot;
  readonly dice: Dice;
}

const FIRST_NAMES = ['Ada', 'Bela', 'Chidi', 'Dolores', 'Emre', 'Farah', 'Goran', 'Hana'];
const LAST_NAMES = ['Abbott', 'Brandt', 'Castillo', 'Dube', 'Eriksen', 'Fontaine', 'Girard', 'Holt'];
const CITIES = ['Asheville', 'Boise', 'Dayton', 'El Paso', 'Fresno', 'Mobile'];
const OPENING_MS = Date.parse('2024-02-18T12:00:00.000Z');

const daysBefore = (days: number) => new Date(OPENING_MS - days * 86_400_000).toISOString();
const nameOf = (dice: Dice) => `${dice.pick(FIRST_NAMES)} ${dice.pick(LAST_NAMES)}`;

/** Functions that make the response for one id, by backend and path. */
const answers: Readonly<Record<string, (subject: Subject) => unknown>> = {
  'auction /auctions': ({ lot, dice }) => inside(new LiveAuction(lot.auctionId, dice, OPENING_MS).update(OPENING_MS)),
  'auction /event-auctions': ({ dice }) => [1, 2].map(() => dice.between(3_000_000, 3_009_999)),
  'auction /listing-auctions': ({ lot }) => answerOf('auction /auctions', String(lot.auctionId)),
  'consumerListingIntake /intakes': ({ dice }) => ({
    submitted_at: daysBefore(dice.between(40, 90)),
    channel: dice.pick(['WEB', 'AGENT', 'BANK']),
  }),
  'contract /contracts': ({ lot, dice }) => ({
    contract_number: `C-${lot.auctionId}`,
    closing_days: dice.pick([30, 45, 60]),
    buyer_premium_percent: 5,
  }),
  'contract /escrows': ({ dice }) => ({ company: `${dice.pick(LAST_NAMES)} Escrow`, closes_on: daysBefore(-30) }),
  'document /listing-documents': ({ lot }) =>
    ['Title report', 'Purchase agreement'].map((title, i) => ({ document_id: `D-${lot.auctionId}-${i + 1}`, title })),
  'geography /locations': ({ dice }) => ({
    latitude: dice.between(300, 480) / 10,
    longitude: -dice.between(700, 1220) / 10,
  }),
  'geography /markets': ({ id, dice }) => ({ name: `Market ${id}`, median_price: dice.between(90, 600) * 1000 }),
  'gls /counties': ({ lot }) => ({ name: `${lot.city} County`, state: lot.state }),
  'gls /parcels': ({ lot, dice }) => ({ parcel_number: `APN-${lot.auctionId}`, acres: dice.between(1, 90) / 10 }),
  'gls /taxes': ({ lot }) => ({ tax_year: 2023, amount: lot.reservePrice * 0.012 }),
  'listing /flags': ({ lot }) => ['FEATURED', lot.occupancyStatus],
  'listing /listings': ({ lot, dice }) =>
    inside(new LiveAuction(lot.auctionId, dice, OPENING_MS).changeListing('ACTIVE', OPENING_MS)),
  'listing /prices': ({ lot }) => [
    { changed_at: daysBefore(2), list_price: lot.startingBid },
    { changed_at: daysBefore(20), list_price: lot.startingBid + 10_000 },
  ],
  'mlintegrator /appraisals': ({ lot }) => ({ amount: lot.reservePrice, appraised_on: daysBefore(60) }),
  'mlintegrator /valuations': ({ lot }) => ({
    estimate: lot.reservePrice * 1.1,
    low: lot.reservePrice,
    high: lot.reservePrice * 1.25,
  }),
  'morphlog /changes': ({ dice }) => [
    { changed_at: daysBefore(1), changed_by: nameOf(dice), summary: 'Reserve confirmed by the seller' },
    { changed_at: daysBefore(4), changed_by: 'MORPHEUS', summary: 'Published' },
  ],
  'morphlog /tasks': () => [{ title: 'Order the title report', is_done: true }],
  'offer /offer-summaries': ({ dice }) => ({ offer_count: dice.between(0, 6) }),
  'onlineAuction /auctioneers': ({ lot, dice }) => ({
    name: nameOf(dice),
    licence_number: `A-${lot.auctionId % 1000}`,
  }),
  'onlineAuction /calendars': () => ({ opens_at: daysBefore(0), closes_at: daysBefore(-2) }),
  'onlineAuction /events': ({ id, dice }) => ({
    name: `${dice.pick(CITIES)} auction ${id}`,
    begins_on: daysBefore(0),
  }),
  'onlineAuction /recent-bids': ({ lot, dice }) => recentBids(lot, dice),
  'partysearch /agents': ({ dice }) => ({ name: nameOf(dice), brokerage: `${dice.pick(LAST_NAMES)} Realty` }),
  'partysearch /parties': ({ dice }) => ({
    kind: dice.pick(['PERSON', 'COMPANY', 'TRUST']),
    region: dice.pick(['WEST', 'SOUTH', 'MIDWEST']),
  }),
  'payment /deposits': ({ lot }) => ({ amount: Math.max(2500, lot.startingBid * 0.05), is_refundable: true }),
  'payment /fees': () => [
    { kind: 'DOCUMENTATION', amount: 295 },
    { kind: 'TECHNOLOGY', amount: 150 },
  ],
  'payment /financings': ({ dice }) => ({ lender: `${dice.pick(LAST_NAMES)} Bank`, is_available: dice.chance(60) }),
  'payment /loans': ({ lot }) => ({ balance: lot.startingBid * 0.8 }),
  'potentialreturn /returns': ({ lot, dice }) => ({
    monthly_rent: Math.round(lot.reservePrice * 0.007),
    gross_yield_percent: dice.between(50, 110) / 10,
  }),
  'preferences /favourites': ({ dice }) => ({ favourite_count: dice.between(0, 300) }),
  'preferences /watches': ({ dice }) => ({ is_watched: dice.chance(30) }),
  'profile /accounts': ({ dice }) => ({ opened_on: daysBefore(dice.between(100, 3000)), is_verified: dice.chance(80) }),
  'profile /profiles': ({ id }) => bidderOf(id),
  'property /properties': ({ lot }) => ({
    property_id: lot.propertyId,
    street: lot.street,
    city: lot.city,
    state: lot.state,
    postal_code: lot.postalCode,
    bedroom_count: lot.bedroomCount,
    year_built: lot.yearBuilt,
  }),
  'riddler /comments': ({ dice }) => [{ written_by: nameOf(dice), text: 'The yard needs work.' }],
  'riddler /questions': () => [
    { question: 'Is the property occupied?', answer: 'No' },
    { question: 'Is the roof under warranty?', answer: null },
  ],
  'salesforce /account-managers': ({ dice }) => ({ name: nameOf(dice) }),
  'seek /similar-listings': ({ lot }) => [1, 2, 3].map((step) => lotOf(lot.auctionId + step).listingId),
  'seller /seller-listings': ({ lot }) => [1, 2].map((step) => lotOf(lot.auctionId + step).listingId),
  'seller /sellers': ({ id, dice }) => ({ seller_id: id, name: `${dice.pick(LAST_NAMES)} Asset Holdings` }),
  'sellerdashboard /scores': ({ dice }) => ({ sold_percent: dice.between(40, 98) }),
  'tenflix /media': ({ lot }) => ['PHOTO', 'VIDEO'].map((kind) => ({ kind, path: `/media/${lot.auctionId}/${kind}` })),
  'tracking /attendances': ({ dice }) => ({ online_count: dice.between(3, 90), floor_count: dice.between(0, 40) }),
  'tracking /views': ({ dice }) => ({ view_count: dice.between(20, 4000) }),
  'vendor /inspections': ({ dice }) => ({
    vendor_name: `${dice.pick(LAST_NAMES)} Inspections`,
    inspected_on: daysBefore(dice.between(5, 30)),
  }),
  'vendor /occupancies': ({ lot }) => ({ occupancy_status: lot.occupancyStatus, checked_on: daysBefore(3) }),
  'venue /open-houses': ({ dice }) => [{ begins_at: daysBefore(-1), host: nameOf(dice) }],
  'venue /venues': ({ id, dice }) => ({
    venue_id: id,
    name: `${dice.pick(CITIES)} Exchange Hall`,
    city: dice.pick(CITIES),
    is_online: dice.chance(40),
  }),
};

/** The response for one id, equal for equal ids; undefined if the backend has no such path, or the id has no digit. */
export function answerOf(endpoint: string, id: string): unknown {
  return Object.hasOwn(answers, endpoint) && /\d/.test(id) ? answers[endpoint]!(subjectOf(id)) : undefined;
}

function subjectOf(id: string): Subject {
  const number = Number(/\d{1,9}/.exec(id)?.[0]);
  return { id, lot: lotOf(number), dice: createDice(number) };
}

function bidderOf(bidderId: string) {
  const { dice } = subjectOf(bidderId);
  return { bidder_id: bidderId, display_name: nameOf(dice), member_since: daysBefore(dice.between(100, 3000)) };
}

function recentBids({ auctionId, startingBid, bidIncrement }: Lot, dice: Dice) {
  return [3, 2, 1].map((sequence) => {
    const bidder = bidderOf(`B-${dice.between(1, 400)}`);
    return {
      bid_id: `${auctionId}-${sequence}`,
      auction_id: auctionId,
      sequence,
      amount: startingBid + (sequence - 1) * bidIncrement,
      previous_amount: sequence === 1 ? null : startingBid + (sequence - 2) * bidIncrement,
      currency_code: 'USD',
      bidder_id: bidder.bidder_id,
      placed_at: daysBefore(0),
      channel: 'WEB',
      is_proxy_bid: false,
      bidder,
    };
  });
}

/** The body of a record, which has one top-level key, in snake_case as backends use it. */
function inside({ value }: { value: unknown }): unknown {
  return snakeCased(Object.values(value as object)[0]);
}

function snakeCased(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeCased);
  if (!lodash.isPlainObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value as object).map(([key, inner]) => [lodash.snakeCase(key), snakeCased(inner)]),
  );
}
