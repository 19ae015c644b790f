import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PartitionLease } from '../../../src/bus/publisher.ts';
import { PartitionLeases } from '../../../src/kafka/session/partition-leases.ts';

const assignment = (position: number, startId?: string) => new Map([['bids', new Map([[0, { position, startId }]])]]);

function createLeases() {
  const requested: PartitionLease[] = [];
  const acquire = (lease: PartitionLease) => {
    requested.push(lease);
    return Promise.resolve(undefined);
  };
  const leases = new PartitionLeases(acquire);
  return { leases, requested };
}

describe('PartitionLeases', () => {
  it('leases a partition once per generation, from the committed position', async () => {
    const { leases, requested } = createLeases();
    leases.assign(assignment(6));
    await leases.acquire('bids', 0, 5);
    leases.accept('bids', 0, 7);
    await leases.acquire('bids', 0, 8);
    assert.deepEqual(requested, [{ topic: 'bids', partition: 0, position: 6, startId: undefined }]);
    assert.equal(leases.metadataOf('bids', 0), 'crier:7');
  });

  it('leases a partition again after a join and after it was fenced, from the last accepted offset', async () => {
    const { leases, requested } = createLeases();
    leases.assign(assignment(-1, 'one'));
    await leases.acquire('bids', 0, 0);
    leases.accept('bids', 0, 3);
    leases.drop('bids', 0);
    await leases.acquire('bids', 0, 4);
    leases.assign(assignment(3));
    await leases.acquire('bids', 0, 4);
    assert.deepEqual(
      requested.map(({ position, startId }) => [position, startId]),
      [
        [-1, 'one'],
        [3, undefined],
        [3, undefined],
      ],
    );
  });

  it('keeps the start id in leases and commits until a record is accepted', async () => {
    const { leases, requested } = createLeases();
    leases.assign(assignment(-1, 'one'));
    await leases.acquire('bids', 0, 5);
    assert.equal(leases.metadataOf('bids', 0), 'crier:start:one');
    leases.drop('bids', 0);
    await leases.acquire('bids', 0, 5);
    assert.deepEqual(
      requested.map(({ startId }) => startId),
      ['one', 'one'],
    );
    leases.accept('bids', 0, 5);
    assert.equal(leases.metadataOf('bids', 0), 'crier:5');
  });

  it('leases a partition once more with a new start id when its offsets restart within a generation', async () => {
    const { leases, requested } = createLeases();
    leases.assign(assignment(6));
    await leases.acquire('bids', 0, 7);
    leases.accept('bids', 0, 9);
    await leases.acquire('bids', 0, 0);
    await leases.acquire('bids', 0, 0);
    leases.accept('bids', 0, 0);
    await leases.acquire('bids', 0, 1);
    assert.equal(requested.length, 2);
    assert.equal(requested[0]!.startId, undefined);
    assert.ok(requested[1]!.startId);
    assert.equal(leases.metadataOf('bids', 0), 'crier:0');
  });

  it('retries a lease that the bus did not grant', async () => {
    let isAway = true;
    let attempts = 0;
    const acquire = () => {
      attempts++;
      return isAway ? Promise.reject(new Error('away')) : Promise.resolve(undefined);
    };
    const leases = new PartitionLeases(acquire);
    leases.assign(assignment(6));
    await assert.rejects(leases.acquire('bids', 0, 7));
    isAway = false;
    await leases.acquire('bids', 0, 7);
    await leases.acquire('bids', 0, 8);
    assert.equal(attempts, 2);
  });

  it('commits no record of which the bus has skipped a message, and tells the bus when the records begin again there', async () => {
    const requested: PartitionLease[] = [];
    let from: number | undefined;
    const skips = { from: () => from, canRetake: () => true, positions: () => '9.0.4' };
    const acquire = (lease: PartitionLease) => {
      requested.push(lease);
      return Promise.resolve(skips);
    };
    const leases = new PartitionLeases(acquire);
    leases.assign(new Map([['bids', new Map([[0, { position: 4, positions: '4.0.0' }]])]]));
    from = 2;
    assert.equal(leases.skippedFrom('bids', 0), undefined, 'of an earlier generation');
    await leases.acquire('bids', 0, 5);
    from = 7;
    leases.accept('bids', 0, 9);
    assert.equal(leases.metadataOf('bids', 0), 'crier:6 9.0.4');
    leases.drop('bids', 0);
    await leases.acquire('bids', 0, 10);
    assert.equal(leases.canRetake('bids', 0), true);
    leases.rewind('bids', 0, 7);
    assert.equal(leases.canRetake('bids', 0), false, 'kafkajs may not have read from there yet');
    assert.equal(leases.handledUpTo('bids', 0), 9);
    assert.equal(leases.skippedFrom('bids', 0), 7, 'kafkajs may commit before it reads from there');
    assert.equal(leases.metadataOf('bids', 0), 'crier:6 9.0.4');
    await leases.acquire('bids', 0, 7);
    from = undefined;
    assert.equal(leases.skippedFrom('bids', 0), undefined);
    assert.deepEqual(
      requested.map(({ positions, keepsSkips, startId }) => ({ positions, keepsSkips, startId })),
      [false, true, false].map((keepsSkips) => ({ positions: '4.0.0', keepsSkips, startId: undefined })),
    );
  });

  it('keeps the start id in leases and commits of a bus that skips messages, of which a place may not know it', async () => {
    const requested: PartitionLease[] = [];
    const skips = { from: () => undefined, canRetake: () => true, positions: () => '9.0.4' };
    const acquire = (lease: PartitionLease) => {
      requested.push(lease);
      return Promise.resolve(skips);
    };
    const leases = new PartitionLeases(acquire);
    leases.assign(assignment(-1, 'one'));
    await leases.acquire('bids', 0, 5);
    leases.accept('bids', 0, 9);
    assert.equal(leases.metadataOf('bids', 0), 'crier:9 9.0.4@one');
    leases.rewind('bids', 0, 7);
    await leases.acquire('bids', 0, 7);
    assert.deepEqual(
      requested.map(({ startId }) => startId),
      ['one', 'one'],
    );
    const filling = new PartitionLeases(acquire, new Map([['bids', 'signature']]));
    filling.assign(assignment(-1, 'fill.signature.9.x'));
    await filling.acquire('bids', 0, 0);
    filling.accept('bids', 0, 9);
    assert.equal(filling.metadataOf('bids', 0), 'crier:9 9.0.4', 'every place knows it: a fill waits for all');
  });

  it('tells the bus no positions of the records before when offsets restart within a generation', async () => {
    const requested: PartitionLease[] = [];
    const skips = { from: () => undefined, canRetake: () => true, positions: () => '9.0.4' };
    const acquire = (lease: PartitionLease) => {
      requested.push(lease);
      return Promise.resolve(skips);
    };
    const leases = new PartitionLeases(acquire);
    leases.assign(new Map([['bids', new Map([[0, { position: 4, positions: '4.0.0' }]])]]));
    await leases.acquire('bids', 0, 5);
    leases.accept('bids', 0, 9);
    await leases.acquire('bids', 0, 0);
    assert.deepEqual(
      requested.map(({ positions }) => positions),
      ['4.0.0', undefined],
    );
  });
});
