import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StartOffsets } from '../../../src/kafka/session/start-offsets.ts';
import type { Jump, KeptStates } from '../../../src/kafka/session/start-offsets.ts';

describe('StartOffsets', () => {
  interface Commit {
    readonly offset: number;
    readonly metadata: string;
  }

  const ASSIGNMENT = new Map([['bids', new Map([[0, undefined]])]]);
  const RANGE = { low: 10, end: 20, high: 20 };

  /** A StartOffsets whose Kafka has this commit and these offsets for one partition. */
  function createStart(commit: Commit | undefined, range: typeof RANGE | null = RANGE, hasOtherCommits = false) {
    const of = <Value>(value: Value | null | undefined) =>
      Promise.resolve(new Map([['bids', value == null ? new Map<number, Value>() : new Map([[0, value]])]]));
    const kafka: { commit: Commit | undefined; topicId?: string } = { commit };
    const cluster = {
      committedOffsets: () => of(kafka.commit),
      partitionRanges: () => of(range),
      topicPartitions: (topics: readonly string[]) =>
        Promise.resolve(new Map(topics.map((topic) => [topic, { count: 1, leaderless: [] }]))),
      topicIds: () => Promise.resolve(new Map(kafka.topicId === undefined ? [] : [['bids', kafka.topicId] as const])),
      hasCommits: () => Promise.resolve(hasOtherCommits || kafka.commit !== undefined),
    };
    const offsets = new StartOffsets(cluster, 'group');
    const look = async () => {
      const { resumePoints, uncommitted } = await offsets.lookUp(ASSIGNMENT);
      return { ...resumePoints.get('bids')!.get(0)!, uncommitted };
    };
    return { kafka, offsets, look };
  }

  /** States of the topic `bids` of which nothing is filled. */
  function statesOf(signature: string): KeptStates {
    const known = { partitions: 0, epochs: new Set<number>(), fills: new Map() };
    const fills = { places: [], read: () => Promise.resolve(known), end: () => Promise.resolve() };
    return { signatures: new Map([['bids', signature]]), fills };
  }

  const resumed = (position: number, startId?: string) => ({ position, startId, uncommitted: [] });

  it("resumes from a commit of crier's", async () => {
    assert.deepEqual(await createStart({ offset: 15, metadata: 'crier:13' }).look(), resumed(13));
  });

  it('resumes with the committed start id if no record was committed after it', async () => {
    assert.deepEqual(await createStart({ offset: 15, metadata: 'crier:start:a-b' }).look(), resumed(-1, 'a-b'));
  });

  it("trusts a commit while Kafka does not report the partition's offsets", async () => {
    const { look } = createStart({ offset: 15, metadata: 'crier:13' }, null);
    assert.deepEqual(await look(), resumed(13));
  });

  it('does not place a partition without a commit of its own while no leader reports its offsets', async () => {
    for (const commit of [undefined, { offset: 15, metadata: '' }]) {
      const { offsets } = createStart(commit, null);
      const { unknown, resumePoints, uncommitted } = await offsets.lookUp(ASSIGNMENT);
      assert.deepEqual(unknown, [{ topic: 'bids', partition: 0 }]);
      assert.deepEqual([resumePoints.get('bids')!.size, uncommitted], [0, []]);
    }
  });

  it('does not place a partition with states while no leader reports its offsets', async () => {
    const { offsets } = createStart({ offset: 15, metadata: 'crier:13' }, null);
    offsets.states = statesOf('aa');
    assert.deepEqual((await offsets.lookUp(ASSIGNMENT)).unknown, [{ topic: 'bids', partition: 0 }]);
  });

  const deleted = (committed: number, records: number) => ({ reason: 'deleted', committed, records }) as const;
  const STARTS: readonly (readonly [what: string, commit: Commit | undefined, offset: number, jump?: Jump])[] = [
    ['the topic was deleted and created again: Kafka deletes its commits', undefined, 10],
    [
      'an operator has set the offset',
      { offset: 15, metadata: '' },
      15,
      { reason: 'reset', committed: 15, records: 0 },
    ],
    ['records were deleted before they were read', { offset: 9, metadata: 'crier:8' }, 10, deleted(9, 1)],
    [
      'records were deleted after a start id was committed',
      { offset: 3, metadata: 'crier:start:a' },
      10,
      deleted(3, 7),
    ],
    [
      'the topic was created again and has fewer records',
      { offset: 21, metadata: 'crier:20' },
      10,
      { reason: 'shorter', committed: 21, records: 0 },
    ],
  ];

  for (const [what, commit, offset, jump] of STARTS) {
    it(`commits a new start id: ${what}`, async () => {
      const { kafka, look } = createStart(commit);
      const { position, startId, uncommitted } = await look();
      assert.equal(position, -1);
      assert.ok(startId);
      const metadata = `crier:start:${startId}`;
      assert.deepEqual(uncommitted, [{ topic: 'bids', partition: 0, offset, metadata, ...(jump && { jump }) }]);
      kafka.commit = { offset, metadata };
      assert.deepEqual(await look(), resumed(-1, startId));
    });
  }

  it('begins at the oldest record of a topic that was created again and has more records, and says so', async () => {
    const { kafka, look } = createStart({ offset: 15, metadata: 'crier:13' });
    kafka.topicId = 'one';
    assert.deepEqual(await look(), { ...resumed(13), topicId: 'one' }, 'of a version that wrote no id');
    kafka.commit = { offset: 15, metadata: 'crier#one:13' };
    assert.deepEqual(await look(), { ...resumed(13), topicId: 'one' });
    kafka.topicId = 'two';
    const { startId, uncommitted } = await look();
    const metadata = `crier#two:start:${startId}`;
    const jump = { reason: 'recreated', committed: 15, records: 0 };
    assert.deepEqual(uncommitted, [{ topic: 'bids', partition: 0, offset: 10, metadata, jump }]);
    kafka.commit = { offset: 10, metadata };
    assert.deepEqual(await look(), { ...resumed(-1, startId), topicId: 'two' });
  });

  it('starts a new group at the captured end offsets, and a topic that is created again at its oldest record', async () => {
    const { kafka, offsets, look } = createStart(undefined);
    await offsets.capture(['bids']);
    assert.equal((await look()).uncommitted[0]!.offset, 20);
    assert.equal((await look()).uncommitted[0]!.offset, 20, 'until it is committed');
    kafka.commit = { offset: 20, metadata: 'crier:start:a' };
    await look();
    kafka.commit = undefined;
    assert.equal((await look()).uncommitted[0]!.offset, 10);
  });

  it('forgets the captured end of a partition that another member has committed', async () => {
    const { offsets, kafka, look } = createStart(undefined);
    await offsets.capture(['bids']);
    kafka.commit = { offset: 25, metadata: 'crier:24' };
    await offsets.lookUp(new Map([['bids', new Map([[1, undefined]])]]));
    kafka.commit = undefined;
    assert.equal((await look()).uncommitted[0]!.offset, 10);
  });

  it('does not start at a captured end that the partition no longer has', async () => {
    const range = { low: 0, end: 20, high: 20 };
    const { offsets, look } = createStart(undefined, range);
    await offsets.capture(['bids']);
    range.end = 5;
    assert.equal((await look()).uncommitted[0]!.offset, 0);
  });

  it('starts a partition without a commit at its oldest record if the group has another commit', async () => {
    const { offsets, look } = createStart(undefined, RANGE, true);
    await offsets.capture(['bids']);
    assert.equal((await look()).uncommitted[0]!.offset, 10);
  });

  it('begins another fill if a worker that keeps no states has published since the start of the committed one', async () => {
    const { offsets, kafka, look } = createStart({ offset: 10, metadata: 'crier:start:fill.aa.20.x' });
    offsets.states = statesOf('aa');
    assert.equal((await look()).startId, 'fill.aa.20.x');
    kafka.commit = { offset: 15, metadata: 'crier:14 9.0.4@fill.aa.20.x' };
    const { startId, uncommitted } = await look();
    assert.match(startId!, /^fill\.aa\.20\./);
    assert.notEqual(startId, 'fill.aa.20.x');
    assert.equal(uncommitted[0]!.offset, 10);
  });
});
