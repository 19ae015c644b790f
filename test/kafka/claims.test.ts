import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Claim } from '../../src/bus/bus.ts';
import { Claims, START_METADATA, positionOf } from '../../src/kafka/claims.ts';
import { StartOffsets } from '../../src/kafka/start-offsets.ts';

const assignment = (position: number, isFresh = false) => new Map([['bids', new Map([[0, { position, isFresh }]])]]);

function createClaims() {
  const claimed: Claim[] = [];
  const claims = new Claims((claim) => {
    claimed.push(claim);
    return Promise.resolve();
  });
  return { claims, claimed };
}

describe('Claims', () => {
  it('claims a partition once in a stay, with the position that was committed', async () => {
    const { claims, claimed } = createClaims();
    claims.renew(assignment(6));
    await claims.hold('bids', 0, 5);
    claims.accepted('bids', 0, 7);
    await claims.hold('bids', 0, 8);
    assert.deepEqual(claimed, [{ topic: 'bids', partition: 0, position: 6, isFresh: false }]);
    assert.equal(claims.metadataOf('bids', 0), 'crier:7');
  });

  it('claims again after a join and after it was refused, as what it has accepted', async () => {
    const { claims, claimed } = createClaims();
    claims.renew(assignment(-1, true));
    await claims.hold('bids', 0, 0);
    claims.accepted('bids', 0, 3);
    claims.release('bids', 0);
    await claims.hold('bids', 0, 4);
    claims.renew(assignment(3));
    await claims.hold('bids', 0, 4);
    assert.deepEqual(
      claimed.map(({ position, isFresh }) => [position, isFresh]),
      [
        [-1, true],
        [3, false],
        [3, false],
      ],
    );
  });

  it('claims as fresh where offsets begin anew within a stay, and once only', async () => {
    const { claims, claimed } = createClaims();
    claims.renew(assignment(6));
    await claims.hold('bids', 0, 7);
    claims.accepted('bids', 0, 9);
    await claims.hold('bids', 0, 0);
    await claims.hold('bids', 0, 0);
    claims.accepted('bids', 0, 0);
    await claims.hold('bids', 0, 1);
    assert.deepEqual(
      claimed.map(({ isFresh }) => isFresh),
      [false, true],
    );
    assert.equal(claims.metadataOf('bids', 0), 'crier:0');
  });

  it('tries a claim again that the bus did not take', async () => {
    let isAway = true;
    const claims = new Claims(() => (isAway ? Promise.reject(new Error('away')) : Promise.resolve()));
    claims.renew(assignment(6));
    await assert.rejects(claims.hold('bids', 0, 7));
    isAway = false;
    await claims.hold('bids', 0, 7);
  });

  it('reads a position from no metadata but its own', () => {
    assert.equal(positionOf('crier:12'), 12);
    assert.equal(positionOf('crier:-1'), -1);
    for (const metadata of ['', START_METADATA, 'crier:', 'x crier:1', 'crier:1x'])
      assert.equal(positionOf(metadata), undefined);
  });
});

describe('StartOffsets', () => {
  const startOf = async (commit: { offset: bigint; metadata: string } | undefined) => {
    const of = <Value>(value: Value) => Promise.resolve(new Map([['bids', new Map([[0, value]])]]));
    const cluster = {
      committedOffsets: () => (commit ? of(commit) : Promise.resolve(new Map())),
      partitionRanges: () => of({ low: 10n, end: 20n }),
    };
    const starts = await new StartOffsets(cluster, 'group').starts(new Map([['bids', new Map([[0, undefined]])]]));
    return starts.get('bids')!.get(0)!;
  };

  it('takes up where one of us has committed', async () => {
    assert.deepEqual(await startOf({ offset: 15n, metadata: 'crier:13' }), { position: 13, isFresh: false });
  });

  it('starts fresh where nothing was committed, or by another, or outside of what the topic has', async () => {
    const fresh = { position: -1, isFresh: true };
    assert.deepEqual(await startOf(undefined), fresh, 'a topic made anew: Kafka deletes its offsets');
    assert.deepEqual(await startOf({ offset: 15n, metadata: '' }), fresh, 'offsets that a person has set');
    assert.deepEqual(await startOf({ offset: 15n, metadata: START_METADATA }), fresh, 'a new group');
    assert.deepEqual(await startOf({ offset: 9n, metadata: 'crier:8' }), fresh, 'records gone before they were read');
    assert.deepEqual(await startOf({ offset: 21n, metadata: 'crier:20' }), fresh, 'a shorter topic of the same name');
  });
});
