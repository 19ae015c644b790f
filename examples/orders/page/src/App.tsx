import { useState } from 'react';
import { ConnectionStatus } from './ConnectionStatus.tsx';
import { OrderFeed } from './OrderFeed.tsx';
import { OwnOrders } from './OwnOrders.tsx';
import { PlaceOrder } from './PlaceOrder.tsx';
import { useOwnOrders } from './own-orders.ts';

export function App() {
  const own = useOwnOrders();
  const [minTotal, setMinTotal] = useState(0);
  return (
    <>
      <header>
        <h1>Orders</h1>
        <ConnectionStatus />
      </header>
      <main>
        <section>
          <h2>Your orders</h2>
          <PlaceOrder onPlaced={own.add} />
          <OwnOrders orderIds={own.orderIds} onRemove={own.remove} />
        </section>
        <section>
          <h2>All orders</h2>
          <label className="filter">
            of at least <output>{minTotal}.00</output>
            <input
              type="range"
              max="180"
              step="20"
              value={minTotal}
              onChange={({ target }) => setMinTotal(target.valueAsNumber)}
            />
          </label>
          {/* Another filter is another subscription, with a list of its own. */}
          <OrderFeed key={minTotal} minTotal={minTotal} />
        </section>
      </main>
    </>
  );
}
