import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BusUnavailableError, FencedError } from '../../../src/base/errors.ts';
import { StateFilling } from '../../../src/kafka/session/state-filling.ts';
import { waitFor } from '../../support/wait-for.ts';
import { readableLog } from '../consumer-harness.ts';

describe('StateFilling', () => {
  /** Fills of which the bus answers the end with one of these after the other, then accepts it. */
  function filling(...answers: Error[]) {
    const ends: string[] = [];
    const fenced: Error[] = [];
    const end = (topic: string, partition: number, signature: string) => {
      ends.push(`${topic}/${partition} ${signature}`);
      const error = answers.shift();
      return error ? Promise.reject(error) : Promise.resolve();
    };
    const fills = new StateFilling({ end }, readableLog().log, (error) => fenced.push(error));
    fills.assign([{ topic: 'bids', partition: 0, signature: 'aa', end: 3, next: 1 }]);
    return { fills, ends, fenced };
  }

  it('ends a fill once its last record is accepted', async () => {
    const { fills, ends } = filling();
    fills.advance('bids', 0, 2);
    assert.deepEqual([fills.pending[0]?.remaining, ends], [1, []]);
    fills.advance('bids', 0, 3);
    await waitFor('the end', () => fills.pending.length === 0);
    assert.deepEqual(ends, ['bids/0 aa']);
  });

  it('repeats the end until the bus answers', async () => {
    const { fills, ends, fenced } = filling(new BusUnavailableError('away'));
    fills.advance('bids', 0, 3);
    await waitFor('the end', () => fills.pending.length === 0);
    assert.deepEqual([ends.length, fenced], [2, []]);
  });

  it('ends nothing and reports it if another worker leases the partition', async () => {
    const { fills, ends, fenced } = filling(new FencedError('another'));
    fills.advance('bids', 0, 3);
    await waitFor('the report', () => fenced.length === 1);
    assert.deepEqual([ends.length, fills.pending.length], [1, 1]);
  });
});
