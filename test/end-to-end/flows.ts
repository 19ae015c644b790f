import { ENTRY_SELECTION, recordedEntry } from '../support/entry-record.ts';
import type { Entry } from '../support/ledger.ts';

/** The values of a record that @kafka's `match` compares (fixtures/ledger/schema.graphql). */
export type Subject =
  | { readonly topic: 'orders'; readonly customer: number }
  | { readonly topic: 'shipments'; readonly carrier: string; readonly region: string }
  | { readonly topic: 'prices'; readonly sku: string };

export const TOPICS = ['orders', 'shipments', 'prices'] as const;

const CUSTOMERS = Array.from({ length: 10 }, (_, i) => i + 1);
const CARRIERS = ['Müller & Söhne', 'ups', 'a:b{c="d"}'];
const REGIONS = ['north', 'south'];
const SKUS = ['1', '01', '漢', 'sku-4', 'sku-5'];

/** All subjects of the test. */
export const SUBJECTS: readonly Subject[] = [
  ...CUSTOMERS.map((customer) => ({ topic: 'orders' as const, customer })),
  ...CARRIERS.flatMap((carrier) => REGIONS.map((region) => ({ topic: 'shipments' as const, carrier, region }))),
  ...SKUS.map((sku) => ({ topic: 'prices' as const, sku })),
];

/** A record's value as its producer writes it: camelCase. */
export function recordValue(subject: Subject, entry: Entry): object {
  const ledgerEntry = recordedEntry(entry);
  switch (subject.topic) {
    case 'orders':
      return { order: { customerId: subject.customer, ledgerEntry }, 'Sent-By': 'shop' };
    case 'shipments':
      return { carrierCode: subject.carrier, destination: { regionCode: subject.region }, ledgerEntry };
    case 'prices':
      return { skuCode: subject.sku, ledgerEntry };
  }
}

/** The subscription of one client, and the subjects that it matches. */
export interface Interest {
  readonly topic: Subject['topic'];
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
  wants(subject: Subject): boolean;
}

/** The same fields in another order, so that a channel has more than one document. */
const ENTRY_AGAIN = 'ledger_entry { content_digest content_text written_at sequence_number lane_name __typename }';

const ORDERS = `subscription Orders($customer: Int!) { event: order_changed(customer_id: $customer) { ${ENTRY_SELECTION} } }`;
const SHIPMENTS = `subscription Shipments($carrier: String!, $region: String) {
  event: shipment_moved(carrier: $carrier, region: $region) { ${ENTRY_SELECTION} }
}`;
const PRICES = `subscription Prices($sku: ID) { event: price_set(sku: $sku) { ${ENTRY_SELECTION} } }`;

/** The interest of client `i`. Successive clients cover every field and argument, with and without the optional ones. */
export function interestOf(i: number): Interest {
  const turn = Math.floor(i / 4);
  const customer = at(CUSTOMERS, turn);
  const carrier = at(CARRIERS, turn);
  const region = at(REGIONS, Math.floor(turn / CARRIERS.length));
  const sku = turn % 2 === 0 ? at(SKUS, turn / 2) : undefined;
  const interests: readonly Interest[] = [
    {
      topic: 'orders',
      query: ORDERS,
      variables: { customer },
      wants: (subject) => subject.topic === 'orders' && subject.customer === customer,
    },
    {
      topic: 'shipments',
      query: SHIPMENTS,
      variables: { carrier, region },
      wants: (subject) => subject.topic === 'shipments' && subject.carrier === carrier && subject.region === region,
    },
    {
      topic: 'shipments',
      query: SHIPMENTS,
      variables: { carrier },
      wants: (subject) => subject.topic === 'shipments' && subject.carrier === carrier,
    },
    {
      topic: 'prices',
      query: PRICES,
      variables: sku === undefined ? {} : { sku },
      wants: (subject) => subject.topic === 'prices' && (sku === undefined || subject.sku === sku),
    },
  ];
  const interest = at(interests, i);
  return turn % 3 === 0 ? { ...interest, query: interest.query.replace(ENTRY_SELECTION, ENTRY_AGAIN) } : interest;
}

function at<T>(items: readonly T[], i: number): T {
  return items[i % items.length]!;
}
