import { createDice } from './dice.ts';

/** The constant facts of an auction, its listing and its property. */
export interface Lot {
  readonly auctionId: number;
  readonly listingId: string;
  readonly propertyId: string;
  readonly sellerId: string;
  readonly venueId: string;
  readonly event: { readonly eventId: number; readonly eventCode: string };
  readonly propertyType: string;
  readonly street: string;
  readonly city: string;
  readonly state: string;
  readonly postalCode: string;
  readonly bedroomCount: number;
  readonly yearBuilt: number;
  /** In whole dollars, as all amounts of the samples. */
  readonly startingBid: number;
  readonly reservePrice: number;
  readonly bidIncrement: number;
  readonly bathroomCount: number;
  readonly homeSquareFootage: number;
  readonly lotSizeSquareFeet: number;
  readonly occupancyStatus: string;
  readonly sellerContacts: readonly SellerContact[];
}

interface SellerContact {
  readonly contactName: string;
  readonly contactRole: string;
  readonly notifyByEmail: boolean;
}

const PROPERTY_TYPES = ['SINGLE_FAMILY', 'CONDOMINIUM', 'TOWNHOUSE', 'MULTI_FAMILY', 'LAND', 'COMMERCIAL'];
const STREETS = ['Larkspur Lane', 'Old Mill Road', 'Harbor Street', 'Quarry Hill', 'Juniper Court', 'Station Avenue'];
const PLACES = [
  { city: 'Asheville', state: 'NC', postalCode: '28801' },
  { city: 'Boise', state: 'ID', postalCode: '83702' },
  { city: 'Dayton', state: 'OH', postalCode: '45402' },
  { city: 'El Paso', state: 'TX', postalCode: '79901' },
  { city: 'Fresno', state: 'CA', postalCode: '93721' },
  { city: 'Mobile', state: 'AL', postalCode: '36602' },
] as const;
const CONTACTS = ['Dana Whitfield', 'Priya Raman', 'Tomas Lindqvist', 'Grace Okafor'];
const EVENTS = [
  { eventId: 2492806, eventCode: '0-T' },
  { eventId: 2492811, eventCode: '1-T' },
  { eventId: 2492817, eventCode: '4-R' },
] as const;

/** Deterministic, so that records and backend responses agree about an auction. */
export function lotOf(auctionId: number): Lot {
  const dice = createDice(auctionId);
  const startingBid = dice.between(8, 60) * 5000;
  return {
    auctionId,
    listingId: `L-${auctionId}`,
    propertyId: `P-${auctionId}`,
    sellerId: `S-${dice.between(1, 40)}`,
    venueId: `V-${dice.between(1, 12)}`,
    event: dice.pick(EVENTS),
    propertyType: dice.pick(PROPERTY_TYPES),
    street: `${dice.between(1, 2400)} ${dice.pick(STREETS)}`,
    ...dice.pick(PLACES),
    bedroomCount: dice.between(1, 6),
    yearBuilt: dice.between(1905, 2019),
    startingBid,
    reservePrice: startingBid + dice.between(2, 8) * 5000,
    bidIncrement: dice.pick([500, 1000, 2500]),
    bathroomCount: dice.between(2, 7) / 2,
    homeSquareFootage: dice.between(60, 320) * 10,
    lotSizeSquareFeet: dice.between(300, 9000) * 10,
    occupancyStatus: dice.pick(['OCCUPIED', 'VACANT']),
    sellerContacts: [
      { contactName: dice.pick(CONTACTS), contactRole: 'ASSET_MANAGER', notifyByEmail: true },
      { contactName: dice.pick(CONTACTS), contactRole: 'CLOSING_OFFICER', notifyByEmail: dice.chance(50) },
    ],
  };
}
