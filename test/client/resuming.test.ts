import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Client } from 'graphql-ws/client';
import { resuming, resumptions } from '../../client/resuming.ts';
import { waitFor } from '../support/wait-for.ts';

type Sink = Parameters<Client['subscribe']>[1];

/** `resuming` over a client that only records its calls. */
function createStage(waitMs: (attempt: number) => number = () => 0) {
  const subscribed: { payload: object; sink: Sink }[] = [];
  const disposed = new AbortController();
  const sending = resumptions();
  const attempts: number[] = [];
  const client: Pick<Client, 'subscribe'> = {
    subscribe: (payload, sink) => {
      subscribed.push({ payload, sink: sink });
      return () => sink.complete();
    },
  };
  const wait = (attempt: number) => {
    attempts.push(attempt);
    return waitMs(attempt);
  };
  /** The payload sent for the last subscription. */
  const send = () => {
    const message = { id: '1', type: 'subscribe', payload: subscribed.at(-1)!.payload };
    return (JSON.parse(JSON.stringify(message, sending.replacer)) as { payload: object }).payload;
  };
  return { subscribe: resuming(client, wait, disposed.signal, sending), subscribed, disposed, attempts, send };
}

const REFUSAL = [{ message: 'away', extensions: { code: 'BUS_UNAVAILABLE' } }] as never;

describe('resuming', () => {
  it('resumes after an event whose sink threw', () => {
    const { subscribe, subscribed, send } = createStage();
    const next = () => {
      throw new Error('a bug');
    };
    subscribe({ query: '{ a }' }, { next, error: assert.fail, complete: assert.fail });
    assert.deepEqual(send(), { query: '{ a }' });
    assert.throws(() => subscribed[0]!.sink.next({ data: {}, extensions: { cursor: 'c1' } }), /a bug/);
    assert.deepEqual(send(), { query: '{ a }', extensions: { resume: { cursor: 'c1' } } });
  });

  it('waits longer after each refusal in a row, and from the start again after an event', async () => {
    const { subscribe, subscribed, attempts } = createStage();
    subscribe({ query: '{ a }' }, { next: () => undefined, error: assert.fail, complete: assert.fail });
    for (const count of [1, 2, 3]) {
      subscribed.at(-1)!.sink.error(REFUSAL);
      await waitFor('the next attempt', () => subscribed.length === count + 1);
    }
    subscribed.at(-1)!.sink.next({ data: {} });
    subscribed.at(-1)!.sink.error(REFUSAL);
    assert.deepEqual(attempts, [0, 1, 2, 0]);
  });

  it('ends without a retry when it is unsubscribed or the client is disposed during the wait', async () => {
    for (const end of ['dispose', 'leave'] as const) {
      const { subscribe, subscribed, disposed } = createStage(() => 1);
      let completions = 0;
      const sink = { next: () => assert.fail('an event'), error: assert.fail, complete: () => void completions++ };
      const leave = subscribe({ query: '{ a }' }, sink);
      subscribed[0]!.sink.error(REFUSAL);
      if (end === 'dispose') disposed.abort();
      else leave();
      assert.equal(completions, 1, end);
      leave();
      await new Promise((resolve) => setTimeout(resolve, 5));
      await nextTurn();
      assert.equal(subscribed.length, 1, end);
      assert.equal(completions, 1, end);
    }
  });
});
