import type { Order } from './documents.ts';

export function OrderLine({ order: { orderId, status, total, updatedAt } }: { order: Order }) {
  return (
    <li>
      <code>{orderId}</code>
      {/* Another key is another element, whose animation begins. */}
      <strong key={updatedAt} className={status.toLowerCase()}>
        {status}
      </strong>
      <data value={total}>{total}</data>
      <time dateTime={updatedAt ?? ''}>{updatedAt && new Date(updatedAt).toLocaleTimeString()}</time>
    </li>
  );
}
