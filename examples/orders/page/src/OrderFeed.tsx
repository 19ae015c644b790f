import { useFragment, useSubscription } from '@apollo/client/react';
import { useState } from 'react';
import { ORDER, ORDERS_UPDATED } from './documents.ts';
import { OrderLine } from './OrderLine.tsx';

const LENGTH = 20;

/** The orders that came last; each is updated in its place. */
export function OrderFeed({ minTotal }: { minTotal: number }) {
  const [{ orderIds, count }, setFeed] = useState({ orderIds: [] as readonly string[], count: 0 });
  const { error } = useSubscription(ORDERS_UPDATED, {
    variables: { minTotal },
    onData: ({ data: { data } }) => {
      const orderId = data?.ordersUpdated?.orderId;
      if (orderId === undefined) return;
      setFeed((feed) => ({
        orderIds: feed.orderIds.includes(orderId) ? feed.orderIds : [orderId, ...feed.orderIds].slice(0, LENGTH),
        count: feed.count + 1,
      }));
    },
  });
  if (error) return <p role="alert">{error.message}</p>;
  if (count === 0) return <p className="hint">No update yet.</p>;
  return (
    <>
      <ul>
        {orderIds.map((orderId) => (
          <FeedOrder key={orderId} orderId={orderId} />
        ))}
      </ul>
      <p className="hint">
        <span>{count}</span> updates
      </p>
    </>
  );
}

function FeedOrder({ orderId }: { orderId: string }) {
  const { data: order, complete: isKnown } = useFragment({ fragment: ORDER, from: { __typename: 'Order', orderId } });
  return isKnown ? <OrderLine order={order} /> : null;
}
