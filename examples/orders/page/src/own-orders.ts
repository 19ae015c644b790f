import { useEffect, useState } from 'react';

const KEY = 'orders';

/** The ids of the orders that were placed in this browser, newest first. */
export function useOwnOrders() {
  const [orderIds, setOrderIds] = useState<readonly string[]>(
    () => JSON.parse(localStorage.getItem(KEY) ?? '[]') as string[],
  );
  useEffect(() => localStorage.setItem(KEY, JSON.stringify(orderIds)), [orderIds]);
  return {
    orderIds,
    add: (orderId: string) => setOrderIds((ids) => [orderId, ...ids]),
    remove: (orderId: string) => setOrderIds((ids) => ids.filter((id) => id !== orderId)),
  };
}
