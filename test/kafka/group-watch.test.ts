import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GroupWatch } from '../../src/kafka/group-watch.ts';
import type { GroupMember } from '../../src/kafka/client/group-members.ts';
import { readableLog } from './consumer-harness.ts';
import { ENVIRONMENT_NAMES } from '../../src/config/setting-names.ts';

/** A watch of the member `own` of the graph `orders` with the topics a and b. */
function createWatch() {
  const { log, lines } = readableLog();
  let members: readonly GroupMember[] | undefined;
  const watch = new GroupWatch({
    cluster: { groupMembers: () => Promise.resolve(members) },
    groupId: () => 'group',
    graph: () => 'orders',
    topics: () => ['a', 'b'],
    log,
    names: ENVIRONMENT_NAMES,
  });
  const meets = async (next: typeof members) => {
    members = next;
    watch.onJoin();
    await watch.look();
  };
  return { watch, meets, lines };
}

function member(pod: string, topics: readonly string[], facts: Partial<GroupMember> = {}): GroupMember {
  return {
    memberId: `id of ${pod}`,
    pod,
    graph: 'orders',
    topics,
    assigned: new Map(topics.map((topic) => [topic, [0]])),
    ...facts,
  };
}

const OWN = member('own', ['a', 'b']);

describe('GroupWatch', () => {
  it('names members with other topics or another graph, once for each change', async () => {
    const { watch, meets, lines } = createWatch();
    await meets([OWN, member('twin', ['b', 'a'])]);
    assert.deepEqual([watch.differing, lines], [[], []]);
    const others = [
      OWN,
      member('next', ['a', 'c']),
      member('other', ['a', 'b'], { graph: 'bids' }),
      // Of a former version, which says nothing of itself.
      member('', ['a'], { pod: undefined, graph: undefined }),
    ];
    await meets(others);
    const differing = [
      { member: 'next', graph: 'orders', adds: ['c'], lacks: ['b'] },
      { member: 'other', graph: 'bids', adds: [], lacks: [] },
      { member: 'id of ', graph: undefined, adds: [], lacks: ['b'] },
    ];
    assert.deepEqual(watch.differing, differing);
    await meets(others);
    assert.equal(lines.length, 1);
    const { level, members } = JSON.parse(lines[0]!) as { level: number; members: unknown };
    assert.deepEqual([level, members], [40, JSON.parse(JSON.stringify(differing))]);
    await meets([OWN]);
    assert.deepEqual(watch.differing, []);
    assert.match(lines[1]!, /have the same topics again/);
  });

  it('does not name a member that waits for a topic which does not exist yet', async () => {
    const { watch, meets } = createWatch();
    await meets([OWN, member('twin', ['a'], { missingTopics: ['b'] })]);
    assert.deepEqual(watch.differing, []);
  });

  it('names topics of which partitions are with a member that does not read them, or all with nobody', async () => {
    const { watch, meets, lines } = createWatch();
    await meets([
      member('own', ['a', 'b'], { assigned: new Map([['a', [0]]]) }),
      member('other', ['c'], { assigned: new Map([['a', [1]]]) }),
    ]);
    assert.deepEqual(watch.unreadTopics, ['a', 'b']);
    assert.match(lines.join(''), /read by nobody/);
    await meets([OWN]);
    assert.deepEqual(watch.unreadTopics, []);
  });

  it('compares the places of members that share a topic only: others miss nothing', async () => {
    const { meets, lines } = createWatch();
    await meets([{ ...OWN, place: '1' }, member('other', ['c'], { place: '2' })]);
    assert.doesNotMatch(lines.join(''), /differ in their Redis/);
    await meets([{ ...OWN, place: '1' }, member('twin', ['a', 'b'], { place: '2' })]);
    assert.match(lines.join(''), /"places":2,"members":2.*differ in their Redis or CHANNEL_PREFIX/);
  });

  it('looks again while the group rebalances', async () => {
    const { watch, meets } = createWatch();
    await meets([OWN, member('next', ['c'])]);
    await meets(undefined);
    assert.equal(watch.differing.length, 1);
    await meets([OWN]);
    assert.equal(watch.differing.length, 0);
  });
});
