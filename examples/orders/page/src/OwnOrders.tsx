import { useApolloClient, useFragment, useQuery, useSubscription } from '@apollo/client/react';
import { useState } from 'react';
import { ORDER, ORDER_UPDATED, READ_ORDER } from './documents.ts';
import { OrderLine } from './OrderLine.tsx';

interface OwnOrdersProps {
  readonly orderIds: readonly string[];
  readonly onRemove: (orderId: string) => void;
}

export function OwnOrders({ orderIds, onRemove }: OwnOrdersProps) {
  if (orderIds.length === 0) return <p className="hint">Place an order, and watch the shop work on it.</p>;
  return (
    <ul>
      {orderIds.map((orderId) => (
        <OwnOrder key={orderId} orderId={orderId} onRemove={() => onRemove(orderId)} />
      ))}
    </ul>
  );
}

function OwnOrder({ orderId, onRemove }: { orderId: string; onRemove: () => void }) {
  const { cache } = useApolloClient();
  const [isDeleted, setDeleted] = useState(false);
  // The query answers at once, also where no WebSocket gets through. The subscription begins with the same state, and goes on.
  const { loading } = useQuery(READ_ORDER, { variables: { orderId }, skip: isDeleted });
  useSubscription(ORDER_UPDATED, {
    variables: { orderId },
    skip: isDeleted,
    onComplete: () => {
      setDeleted(true);
      // So that it leaves every list.
      cache.evict({ id: cache.identify({ __typename: 'Order', orderId }) });
    },
  });
  const { data: order, complete: isKnown } = useFragment({ fragment: ORDER, from: { __typename: 'Order', orderId } });
  if (isKnown && !isDeleted) return <OrderLine order={order} />;
  return (
    <li>
      <code>{orderId}</code>
      <span className="hint">{isDeleted ? 'delivered, and deleted by the shop' : loading ? '' : 'no record yet'}</span>
      <button onClick={onRemove} aria-label={`Remove ${orderId} from the list`}>
        ×
      </button>
    </li>
  );
}
