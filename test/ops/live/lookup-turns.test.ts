import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { parse } from 'graphql';
import { OperationTallies } from '../../../src/graph/documents/operation-tallies.ts';
import { OperationTally } from '../../../src/graph/documents/operation-tally.ts';
import type { Operation } from '../../../src/graph/documents/operation.ts';
import { operationLookup } from '../../../src/ops/live/operation-lookup.ts';
import type { OperationLookupOptions } from '../../../src/ops/live/operation-lookup.ts';

const CHANNELS = 500;
/** What a look at one channel takes on the test's clock. */
const LOOK_MS = 0.1;
const LOOKED_UP = { document: 'd'.repeat(12), operation: 'Bids' };
const document = parse('subscription Bids { bids }');

/** A pod with one subscription in each channel, and a clock that only looks at channels move. */
function start(t: TestContext) {
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const tallies = new OperationTallies();
  const tally = new OperationTally('d'.repeat(64), 'Bids');
  tally.subscriptions = CHANNELS;
  tallies.note(tally, () => 'bids');
  const operation = { key: tally.document, tally, document } as Operation;
  const looks = { ofTurn: 0, most: 0, all: 0 };
  const channels = Array.from({ length: CHANNELS }, (_, i) => ({
    name: `crier:bids{id="${i}"}`,
    operations: () => {
      now += LOOK_MS;
      looks.all++;
      looks.most = Math.max(looks.most, ++looks.ofTurn);
      return [operation];
    },
  }));
  const countTurn = () => {
    looks.ofTurn = 0;
    turn = setImmediate(countTurn);
  };
  let turn = setImmediate(countTurn);
  t.after(() => clearImmediate(turn));
  const options: OperationLookupOptions = {
    tallies,
    hub: { channels },
    peekDocument: () => undefined,
    channelPrefix: 'crier:',
  };
  return { looks, lookUp: operationLookup(options) };
}

const here = () => new AbortController().signal;

describe('lookups of operations', () => {
  it('take some milliseconds of a turn of the event loop, however many there are', async (t) => {
    const { looks, lookUp } = start(t);
    const found = await Promise.all(Array.from({ length: 8 }, () => lookUp(LOOKED_UP, here())));
    for (const details of found)
      assert.deepEqual(details!.channels, [
        { pattern: 'bids{id=…}', channels: CHANNELS, subscriptions: CHANNELS, largest: 1 },
      ]);
    assert.equal(looks.all, 8 * CHANNELS);
    assert.ok(looks.most <= 2 / LOOK_MS, `${looks.most} channels in one turn`);
  });

  it('run one after another: the first has its answer before the second looks at a channel', async (t) => {
    const { looks, lookUp } = start(t);
    const first = lookUp(LOOKED_UP, here()).then(() => looks.all);
    const second = lookUp(LOOKED_UP, here());
    assert.ok((await first) < CHANNELS + 2 / LOOK_MS);
    await second;
  });

  it('are refused while one runs and nine wait, and a caller that leaves makes room', async (t) => {
    const { lookUp } = start(t);
    const leaving = new AbortController();
    const left = assert.rejects(lookUp(LOOKED_UP, leaving.signal), /the caller has gone/);
    const others = Array.from({ length: 9 }, () => lookUp(LOOKED_UP, here()));
    const refusal = /^10 lookups of operations are under way: ask again later$/;
    await assert.rejects(lookUp(LOOKED_UP, here()), refusal);
    leaving.abort(new Error('the caller has gone'));
    await left;
    const next = lookUp(LOOKED_UP, here());
    await assert.rejects(lookUp(LOOKED_UP, here()), refusal);
    for (const details of await Promise.all([...others, next])) assert.equal(details!.subscriptions, CHANNELS);
  });

  it('end when the caller leaves, also those that wait', async (t) => {
    const { looks, lookUp } = start(t);
    const leaving = new AbortController();
    const lookups = [1, 2, 3].map(() => assert.rejects(lookUp(LOOKED_UP, leaving.signal)));
    while (looks.all === 0) await new Promise((resolve) => setImmediate(resolve));
    leaving.abort();
    await Promise.all(lookups);
    assert.notEqual(await lookUp(LOOKED_UP, here()), null);
    assert.ok(looks.all < CHANNELS + 4 / LOOK_MS, `${looks.all} channels`);
  });
});
