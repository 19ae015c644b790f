/** Sockets and messages of one kind of attack. */
export interface Attack {
  readonly name: string;
  readonly title: string;
  readonly sockets: number;
  /** Whether the memory kept for an attacking socket has a bound. */
  readonly isAboutMemory: boolean;
  /** Whether the attack is repeated each second, with the next `round`. */
  readonly isRepeated: boolean;
  /** Messages of one socket after its `connection_ack`. `round` starts at 0. */
  messages(socket: number, round: number): readonly object[];
}

/** Fields of the built-in graph's Auction that need no backend. */
const FIELDS = [
  'auction_id',
  'auction_status',
  'version',
  'created_by',
  'created_date',
  'updated_date',
  'days_on_market',
  'listing_id',
  'property_id',
  'seller_id',
  'venue_id',
  'currency_code',
  'starting_bid',
  'current_bid',
  'bid_increment',
  'bid_count',
  'is_reserve_met',
];

function fields(count: number): string {
  return Array.from({ length: count }, (_, i) => FIELDS[i % FIELDS.length]).join(' ');
}

function subscribe(id: string, query: string, variables?: object): object {
  return { id, type: 'subscribe', payload: { query, ...(variables && { variables }) } };
}

function hundred(message: (i: number) => object): object[] {
  return Array.from({ length: 100 }, (_, i) => message(i));
}

/** A distinct document per operation name. */
function auctionSubscription(name: string, fieldCount: number): string {
  return `subscription ${name} { auction_updated(auction_id: 1) { ${fields(fieldCount)} } }`;
}

function distinctDocuments(name: string, sockets: number): Attack {
  return {
    name,
    title: `${sockets.toLocaleString('en-US')} sockets, each 100 distinct documents at once`,
    sockets,
    isAboutMemory: false,
    isRepeated: false,
    messages: (socket) => hundred((i) => subscribe(`${i}`, auctionSubscription(`S${socket}x${i}`, 20))),
  };
}

/**
 * As often as the limit of 1,000 tokens allows. Validation compares all pairs of the fields and of their selections, which takes ten
 * times as long as 245 plain fields.
 */
const REPEATED_FIELD = 'seller { seller_id } '.repeat(244);

/** Below the limit of 20 messages per socket and second. */
const DOCUMENTS_PER_SECOND = 18;

export const attacks: readonly Attack[] = [
  distinctDocuments('documents', 300),
  distinctDocuments('more-documents', 1000),
  {
    name: 'heavy-documents',
    title: 'one socket, 18 documents a second that repeat a field with a selection 244 times',
    sockets: 1,
    isAboutMemory: false,
    isRepeated: true,
    // Queries end by themselves, so the limit of live operations does not bound their number.
    messages: (_, round) =>
      Array.from({ length: DOCUMENTS_PER_SECOND }, (_, i) =>
        subscribe(`${round}x${i}`, `query Q${round}x${i} { auction(auction_id: 1) { ${REPEATED_FIELD} } }`),
      ),
  },
  {
    name: 'long-ids',
    title: '20 sockets, each 100 operations with ids of 60 KB',
    sockets: 20,
    isAboutMemory: true,
    isRepeated: false,
    messages: (socket) =>
      hundred((i) =>
        subscribe(
          `${i}`,
          'subscription ($listing_id: ID!) { listing_status_changed(listing_id: $listing_id) { listing_status } }',
          { listing_id: `${socket}/${i}/`.padEnd(60_000, 'x') },
        ),
      ),
  },
  {
    name: 'long-documents',
    title: '20 sockets, each 100 operations with documents of 3 KB',
    sockets: 20,
    isAboutMemory: true,
    isRepeated: false,
    messages: (socket) => hundred((i) => subscribe(`${i}`, auctionSubscription(`S${socket}x${i}`, 245))),
  },
];
