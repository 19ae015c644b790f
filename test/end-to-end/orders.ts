import type { TestContext } from 'node:test';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { randomName } from '../support/services.ts';

/** A graph folder's only file. */
export function ordersSchema(topic: string): string {
  return `type Subscription {
  order_updated(order_id: ID!): Order
    @kafka(topic: "${topic}", match: [{ arg: "order_id", path: "order.order_id" }], payload: "order")
  any_order: Order @kafka(topic: "${topic}", payload: "order")
}

type Order {
  order_id: ID!
  status: String
  total_cents: Int
  ship_to: Address
  line_items: [LineItem!]
}

type Address {
  street_name: String
}

type LineItem {
  unit_price: Float
}
`;
}

export interface OrdersOptions {
  readonly topic: string;
  readonly brokers: string;
  readonly redisUrl: string;
}

/** Settings of the pods of one test: one group, one prefix, one dead-letter topic and the graph above. */
export async function ordersSettings(t: TestContext, { topic, brokers, redisUrl }: OrdersOptions) {
  const name = randomName('orders');
  return {
    GRAPH: await graphFolder(t, { 'schema.graphql': ordersSchema(topic) }),
    KAFKA_BROKERS: brokers,
    KAFKA_GROUP_ID: name,
    KAFKA_DEAD_LETTER_TOPIC: `${name}-dead`,
    REDIS_URL: redisUrl,
    CHANNEL_PREFIX: `${name}:`,
  };
}

/** A record's value with camelCase keys, as a producer writes it. */
export function orderRecord(orderId: string): string {
  const order = {
    orderId,
    status: 'PAID',
    totalCents: 1250,
    shipTo: { streetName: 'Am Hang 7' },
    lineItems: [{ unitPrice: 12.5 }],
  };
  return JSON.stringify({ order });
}

export const EVERY_FIELD = '{ order_id status total_cents ship_to { street_name } line_items { unit_price } }';

/** The event that `EVERY_FIELD` selects from that record. */
export function orderEvent(orderId: string): object {
  return {
    order_id: orderId,
    status: 'PAID',
    total_cents: 1250,
    ship_to: { street_name: 'Am Hang 7' },
    line_items: [{ unit_price: 12.5 }],
  };
}
