/** The fields of payloads and backend responses that resolvers read. */
export interface Auction {
  readonly auction_id: number;
  readonly listing_id: string;
  readonly property_id: string;
  readonly seller_id: string;
  readonly venue_id: string;
  readonly high_bidder_id: string | null;
  readonly event: AuctionEvent | null;
}

export interface AuctionEvent {
  readonly event_id: number;
}

export interface Bid {
  readonly auction_id: number;
  readonly bidder_id: string;
  /** Absent if the backend omitted the bidder. */
  readonly bidder?: Bidder;
}

export interface Bidder {
  readonly bidder_id: string;
}

export interface Listing {
  readonly listing_id: string;
  readonly auction_id: number | null;
  readonly property_id: string;
  readonly seller_id: string;
}

export interface Property {
  readonly property_id: string;
  readonly postal_code: string;
}

export interface Seller {
  readonly seller_id: string;
}

export interface Venue {
  readonly venue_id: string;
}

export interface Watch {
  readonly is_watched: boolean;
}
