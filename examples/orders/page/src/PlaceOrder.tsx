import { useMutation } from '@apollo/client/react';
import { useState } from 'react';
import { PLACE_ORDER } from './documents.ts';

export function PlaceOrder({ onPlaced }: { onPlaced: (orderId: string) => void }) {
  const [total, setTotal] = useState('42.00');
  const [place, { loading, error }] = useMutation(PLACE_ORDER, {
    onCompleted: ({ placeOrder }) => onPlaced(placeOrder.orderId),
    // It is shown below; without this the promise would reject, too.
    onError: () => undefined,
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void place({ variables: { total } });
      }}
    >
      <label>
        Total
        <input
          value={total}
          onChange={({ target }) => setTotal(target.value)}
          pattern="\d{1,8}\.\d\d"
          title="an amount such as 12.50"
          inputMode="decimal"
          required
        />
      </label>
      <button disabled={loading}>Place order</button>
      {error && <p role="alert">The order was not placed: {error.message}</p>}
    </form>
  );
}
