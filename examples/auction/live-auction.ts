import type { SampleRecord } from 'crier/graph';
import type { Dice } from './dice.ts';
import { lotOf } from './lot.ts';
import type { Lot } from './lot.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

export type AuctionStatus = 'SCHEDULED' | 'OPEN' | 'SOLD' | 'RESERVE_NOT_MET';
export type ListingStatus = 'DRAFT' | 'ACTIVE' | 'UNDER_AUCTION' | 'SOLD' | 'WITHDRAWN';

/** A simulated auction. Each method changes it and returns the record of the change. */
export class LiveAuction {
  readonly lot: Lot;
  readonly #dice: Dice;
  readonly #createdAt: number;
  readonly #startsAt: number;
  #endsAt: number;
  #status: AuctionStatus = 'SCHEDULED';
  #listingStatus: ListingStatus | null = null;
  #currentBid: number | null = null;
  #highBidderId: string | null = null;
  #bidCount = 0;
  #extensionCount = 0;
  #watcherCount: number;
  #version = 0;

  /** `now` in ms since 1970, here and below. */
  constructor(auctionId: number, dice: Dice, now: number) {
    this.lot = lotOf(auctionId);
    this.#dice = dice;
    this.#createdAt = now - dice.between(2, 40) * DAY_MS;
    this.#startsAt = now;
    this.#endsAt = now + 45 * MINUTE_MS;
    this.#watcherCount = dice.between(3, 90);
  }

  get isReserveMet(): boolean {
    return (this.#currentBid ?? 0) >= this.lot.reservePrice;
  }

  changeListing(listingStatus: ListingStatus, now: number): SampleRecord {
    const { listingId, auctionId, propertyId, sellerId, propertyType, city, state, street } = this.lot;
    const previousStatus = this.#listingStatus;
    this.#listingStatus = listingStatus;
    const listing = {
      listingId,
      listingStatus,
      previousStatus,
      changedAt: timeOf(now),
      propertyType,
      headline: `${street}, ${city}, ${state}`,
      listPrice: this.#currentBid ?? this.lot.startingBid,
      auctionId,
      propertyId,
      sellerId,
      createdByOrigin: 'MORPHEUS',
      createdDate: timeOf(this.#createdAt),
      externalIdentifiers: this.#externalIdentifiers(),
      syndication: {
        isSearchable: listingStatus !== 'DRAFT',
        isPublished: listingStatus !== 'DRAFT',
        channels: ['WEB'],
      },
    };
    return { topic: 'listing-events', key: listingId, value: { listing } };
  }

  changeStatus(status: AuctionStatus, now: number): SampleRecord {
    this.#status = status;
    return this.update(now, true);
  }

  /** The next bid: one to four increments above the last one, by another bidder. */
  bid(now: number): SampleRecord {
    const { auctionId, bidIncrement, startingBid } = this.lot;
    const previousAmount = this.#currentBid;
    const amount = previousAmount === null ? startingBid : previousAmount + bidIncrement * this.#dice.between(1, 4);
    let bidder = this.#dice.between(1, 400);
    if (`B-${bidder}` === this.#highBidderId) bidder = (bidder % 400) + 1;
    this.#currentBid = amount;
    this.#highBidderId = `B-${bidder}`;
    this.#bidCount++;
    if (this.#endsAt - now < 5 * MINUTE_MS) {
      this.#endsAt = now + 5 * MINUTE_MS;
      this.#extensionCount++;
    }
    const bid = {
      bidId: `${auctionId}-${this.#bidCount}`,
      auctionId,
      sequence: this.#bidCount,
      amount,
      previousAmount,
      currencyCode: 'USD',
      bidderId: this.#highBidderId,
      placedAt: timeOf(now),
      channel: this.#dice.pick(['WEB', 'WEB', 'IOS', 'ANDROID', 'FLOOR']),
      isProxyBid: this.#dice.chance(20),
      isReserveMet: this.isReserveMet,
      depositStatus: 'HELD',
      clientContext: {
        appVersion: `24.${this.#dice.between(1, 9)}.0`,
        timeZone: 'America/Los_Angeles',
        locale: 'en-US',
      },
      audit: { createdBy: 0, createdByOrigin: 'GAVEL', createdDate: timeOf(now), traceIdentifier: `bid-${auctionId}` },
    };
    return { topic: 'bid-events', key: String(auctionId), value: { bid } };
  }

  /** The auction's current state, with a slightly changed number of watchers. */
  update(now: number, isAuctionStatusChanged = false): SampleRecord {
    this.#version++;
    this.#watcherCount = Math.max(1, this.#watcherCount + this.#dice.between(-2, 3));
    const { auctionId, listingId, propertyId, sellerId, venueId, event, startingBid, bidIncrement } = this.lot;
    const auction = {
      auctionId,
      globalAuctionId: `2a8f5c1e-77d2-4b0e-9c58-${String(auctionId).padStart(12, '0')}`,
      auctionStatus: this.#status,
      auctionType: 'ONLINE',
      assetType: 'BANK_OWNED',
      visibleAuctionStartDateTime: timeOf(this.#startsAt),
      visibleAuctionEndDateTime: timeOf(this.#endsAt),
      auctionTimeZone: 'America/Los_Angeles',
      createdBy: 0,
      createdByOrigin: 'MORPHEUS',
      createdDate: timeOf(this.#createdAt),
      updatedBy: 40117,
      updatedDate: timeOf(now),
      daysOnMarket: Math.floor((now - this.#createdAt) / DAY_MS),
      dropboxResponseId: null,
      listingId,
      propertyId,
      sellerId,
      venueId,
      currencyCode: 'USD',
      startingBid,
      currentBid: this.#currentBid,
      bidIncrement,
      nextMinimumBid: this.#currentBid === null ? startingBid : this.#currentBid + bidIncrement,
      bidCount: this.#bidCount,
      highBidderId: this.#highBidderId,
      isReserveMet: this.isReserveMet,
      extensionCount: this.#extensionCount,
      watcherCount: this.#watcherCount,
      buyersPremiumPercent: 5.25,
      event,
      externalIdentifiers: this.#externalIdentifiers(),
      externalSyncStatus: this.#version === 1 ? 'PENDING' : 'SYNCED',
      falloutHistory: this.#falloutHistory(),
      fclMarketing: {
        appraiserUri: null,
        clerk0: null,
        hasCreditBidJustBeenRevealed: false,
        hasSearchableOrPublishedChanged: this.#version === 1,
        isAuctionStatusChanged,
      },
      propertyDetails: this.#propertyDetails(),
      sellerInfo: { sellerCode: 'PNW', sellerContacts: this.lot.sellerContacts },
      listingFlags: ['FEATURED', this.lot.occupancyStatus],
      listingUrl: `https://auction.example/details/${listingId}`,
      version: this.#version,
    };
    return { topic: 'auction-events', key: String(auctionId), value: { auction } };
  }

  #externalIdentifiers() {
    const { auctionId } = this.lot;
    return [
      { source: 'SALESFORCE', externalId: `a0B${auctionId * 7}`, isPrimaryIdentifier: true },
      { source: 'MLS', externalId: `MLS-${auctionId % 100_000}`, isPrimaryIdentifier: false },
    ];
  }

  #propertyDetails() {
    const { propertyType, street, city, state, postalCode, bedroomCount, bathroomCount } = this.lot;
    const { homeSquareFootage, yearBuilt, lotSizeSquareFeet, occupancyStatus } = this.lot;
    return {
      propertyType,
      streetAddress1: street,
      cityName: city,
      stateCode: state,
      postalCode,
      bedroomCount,
      bathroomCount,
      homeSquareFootage,
      yearBuilt,
      lotSizeSquareFeet,
      occupancyStatus,
    };
  }

  #falloutHistory() {
    if (this.lot.auctionId % 5 !== 0) return [];
    const falloutDate = timeOf(this.#createdAt - 30 * DAY_MS);
    return [{ falloutDate, reason: 'FINANCING', amount: this.lot.startingBid }];
  }
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
