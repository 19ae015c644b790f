import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Claim } from '../../../src/bus/bus.ts';
import { Claims, parseCommit } from '../../../src/kafka/session/partition-leases.ts';
import { StartOffsets } from '../../../src/kafka/session/start-offsets.ts';

const assignment = (position: number, start?: string) => new Map([['bids', new Map([[0, { position, start }]])]]);

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
    assert.deepEqual(claimed, [{ topic: 'bids', partition: 0, position: 6, start: undefined }]);
    assert.equal(claims.metadataOf('bids', 0), 'crier:7');
  });

  it('claims again after a join and after it was refused, as what it has accepted', async () => {
    const { claims, claimed } = createClaims();
    claims.renew(assignment(-1, 'one'));
    await claims.hold('bids', 0, 0);
    claims.accepted('bids', 0, 3);
    claims.release('bids', 0);
    await claims.hold('bids', 0, 4);
    claims.renew(assignment(3));
    await claims.hold('bids', 0, 4);
    assert.deepEqual(
      claimed.map(({ position, start }) => [position, start]),
      [
        [-1, 'one'],
        [3, undefined],
        [3, undefined],
      ],
    );
  });

  it('keeps the start, in claims and in commits, until something of it was accepted', async () => {
    const { claims, claimed } = createClaims();
    claims.renew(assignment(-1, 'one'));
    await claims.hold('bids', 0, 5);
    assert.equal(claims.metadataOf('bids', 0), 'crier:start:one');
    claims.release('bids', 0);
    await claims.hold('bids', 0, 5);
    assert.deepEqual(
      claimed.map(({ start }) => start),
      ['one', 'one'],
    );
    claims.accepted('bids', 0, 5);
    assert.equal(claims.metadataOf('bids', 0), 'crier:5');
  });

  it('claims a start of its own where offsets begin anew within a stay, and once only', async () => {
    const { claims, claimed } = createClaims();
    claims.renew(assignment(6));
    await claims.hold('bids', 0, 7);
    claims.accepted('bids', 0, 9);
    await claims.hold('bids', 0, 0);
    await claims.hold('bids', 0, 0);
    claims.accepted('bids', 0, 0);
    await claims.hold('bids', 0, 1);
    assert.equal(claimed.length, 2);
    assert.equal(claimed[0]!.start, undefined);
    assert.ok(claimed[1]!.start);
    assert.equal(claims.metadataOf('bids', 0), 'crier:0');
  });

  it('tries a claim again that the bus did not take', async () => {
    let isAway = true;
    let attempts = 0;
    const claims = new Claims(() => {
      attempts++;
      return isAway ? Promise.reject(new Error('away')) : Promise.resolve();
    });
    claims.renew(assignment(6));
    await assert.rejects(claims.hold('bids', 0, 7));
    isAway = false;
    await claims.hold('bids', 0, 7);
    await claims.hold('bids', 0, 8);
    assert.equal(attempts, 2);
  });

  it('reads no metadata but its own', () => {
    assert.deepEqual(parseCommit('crier:12'), { position: 12, start: undefined });
    assert.deepEqual(parseCommit('crier:-1'), { position: -1, start: undefined });
    assert.deepEqual(parseCommit('crier:start:1-b'), { position: -1, start: '1-b' });
    for (const metadata of ['', 'crier:', 'crier:start', 'crier:start:', 'crier:start:a b', 'x crier:1', 'crier:1x'])
      assert.equal(parseCommit(metadata), undefined);
  });
});

describe('StartOffsets', () => {
  interface Commit {
    readonly offset: bigint;
    readonly metadata: string;
  }

  const ASSIGNMENT = new Map([['bids', new Map([[0, undefined]])]]);
  const RANGE = { low: 10n, end: 20n };

  /** What Kafka has of one partition. */
  function createStart(commit: Commit | undefined, range: typeof RANGE | null = RANGE) {
    const of = <Value>(value: Value | null | undefined) =>
      Promise.resolve(new Map([['bids', value == null ? new Map<number, Value>() : new Map([[0, value]])]]));
    const kafka = { commit };
    const cluster = { committedOffsets: () => of(kafka.commit), partitionRanges: () => of(range) };
    const offsets = new StartOffsets(cluster, 'group');
    const look = async () => {
      const { starts, uncommitted } = await offsets.look(ASSIGNMENT);
      return { ...starts.get('bids')!.get(0)!, uncommitted };
    };
    return { kafka, offsets, look };
  }

  const takenUp = (position: number, start?: string) => ({ position, start, uncommitted: [] });

  it('takes up where one of us has committed', async () => {
    assert.deepEqual(await createStart({ offset: 15n, metadata: 'crier:13' }).look(), takenUp(13));
  });

  it('takes up a start after which nothing was committed, by its name', async () => {
    assert.deepEqual(await createStart({ offset: 15n, metadata: 'crier:start:a-b' }).look(), takenUp(-1, 'a-b'));
  });

  it('believes a commit while Kafka does not say what the partition has', async () => {
    const { look } = createStart({ offset: 15n, metadata: 'crier:13' }, null);
    assert.deepEqual(await look(), takenUp(13));
  });

  const STARTS: readonly (readonly [what: string, commit: Commit | undefined, offset: string])[] = [
    ['a topic made anew: Kafka deletes its offsets', undefined, '10'],
    ['offsets that a person has set', { offset: 15n, metadata: '' }, '15'],
    ['records gone before they were read', { offset: 9n, metadata: 'crier:8' }, '10'],
    ['records gone after a start', { offset: 9n, metadata: 'crier:start:a' }, '10'],
    ['a shorter topic of the same name', { offset: 21n, metadata: 'crier:20' }, '10'],
  ];

  for (const [what, commit, offset] of STARTS) {
    it(`names and commits a start: ${what}`, async () => {
      const { kafka, look } = createStart(commit);
      const { position, start, uncommitted } = await look();
      assert.equal(position, -1);
      assert.ok(start);
      const metadata = `crier:start:${start}`;
      assert.deepEqual(uncommitted, [{ topic: 'bids', partition: 0, offset, metadata }]);
      kafka.commit = { offset: BigInt(offset), metadata };
      assert.deepEqual(await look(), takenUp(-1, start));
    });
  }

  it('starts a new group at the ends of before, and a topic that is made anew later at its oldest record', async () => {
    const { kafka, offsets, look } = createStart(undefined);
    await offsets.capture(['bids']);
    assert.equal((await look()).uncommitted[0]!.offset, '20');
    assert.equal((await look()).uncommitted[0]!.offset, '20', 'until it is committed');
    kafka.commit = { offset: 20n, metadata: 'crier:start:a' };
    await look();
    kafka.commit = undefined;
    assert.equal((await look()).uncommitted[0]!.offset, '10');
  });
});
