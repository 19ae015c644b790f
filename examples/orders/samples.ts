/** The shop of the embedded mode: its customers, what it answers to `placeOrder`, and the records that it writes. */

const STATUSES = ['PLACED', 'PAID', 'SHIPPED'];
/** Orders that are under way at a time, beside those that clients place. */
const OPEN = 8;

interface Order {
  readonly orderId: string;
  readonly total: string;
  /** Statuses that the order has not had. */
  readonly ahead: string[];
}

let count = 1000;
const placed: Order[] = [];

function newOrder(total: string): Order {
  return { orderId: `${++count}`, total, ahead: [...STATUSES] };
}

/** An order has one status after the other. After the last one its record is deleted. */
export function* records(seed: number) {
  const open: Order[] = [];
  for (let n = seed; ; n++) {
    if (placed.length > 0) open.unshift(...placed.splice(0));
    else if (open.length < OPEN) open.unshift(newOrder((((n * 7919) % 19_000) / 100 + 5).toFixed(2)));
    const { orderId, total, ahead } = open[0]!;
    const status = ahead.shift();
    yield { topic: 'orders', key: orderId, value: status === undefined ? null : { orderId, status, total } };
    const order = open.shift()!;
    if (status !== undefined) open.push(order);
  }
}

export function respond(_backend: string, { body }: { body: unknown }) {
  const order = newOrder((body as { total: string }).total);
  placed.push(order);
  return { orderId: order.orderId };
}

export const operation = `subscription {
  ordersUpdated(minTotal: 50) {
    orderId
    status
    total
  }
}
`;
