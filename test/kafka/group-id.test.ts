import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import kafkajs from 'kafkajs';
import { defaultGroupId } from '../../src/kafka/group-id.ts';
import type { GroupMember } from '../../src/kafka/client/group-members.ts';
import { readableLog } from './consumer-harness.ts';
import { ENVIRONMENT_NAMES } from '../../src/config/setting-names.ts';

type Commits = ReadonlySet<string> | 'denied';

const COMMITS: ReadonlySet<string> = new Set(['orders']);
const NONE: ReadonlySet<string> = new Set();

/** The group of the graph `shop` with the topic `orders`, where these groups have commits of these topics. */
async function groupOf(former: Commits, own: Commits, members: readonly GroupMember[] = []) {
  const commitsOf = (groupId: string) => {
    const commits = groupId === 'crier' ? former : own;
    if (commits !== 'denied') return Promise.resolve(commits);
    const error = { type: 'GROUP_AUTHORIZATION_FAILED', code: 30, message: '', retriable: false };
    return Promise.reject(new kafkajs.KafkaJSProtocolError(error as unknown as Error));
  };
  const { log, lines } = readableLog();
  const cluster = {
    committedOffsets: async (groupId: string, topics: readonly string[]) => {
      const commits = await commitsOf(groupId);
      const offsetsOf = (topic: string) => (commits.has(topic) ? [[0, { offset: 5, metadata: '' }] as const] : []);
      return new Map(topics.map((topic) => [topic, new Map(offsetsOf(topic))]));
    },
    groupMembers: () => Promise.resolve(members),
    hasCommits: async (groupId: string) => (await commitsOf(groupId)).size > 0,
  };
  const groupId = await defaultGroupId('shop', ['orders'], cluster, { log, names: ENVIRONMENT_NAMES });
  return { groupId, lines };
}

describe('defaultGroupId', () => {
  const member = (graph: string | undefined, topic: string): GroupMember => ({
    ...(graph !== undefined && { graph }),
    memberId: 'one',
    topics: [topic],
    assigned: new Map(),
  });

  it('is crier-shop if workers of another graph read its topics in the former default', async () => {
    const groupBeside = async (...members: GroupMember[]) => (await groupOf(COMMITS, NONE, members)).groupId;
    assert.equal(await groupBeside(member('shop', 'orders'), member('other', 'orders')), 'crier-shop');
    assert.equal(
      await groupBeside(member('other', 'bids'), member('shop', 'orders'), member(undefined, 'orders')),
      'crier',
    );
  });

  const cases: readonly (readonly [when: string, former: Commits, own: Commits, groupId: string])[] = [
    ['neither group has commits', NONE, NONE, 'crier-shop'],
    ['the group of the graph has commits', NONE, COMMITS, 'crier-shop'],
    ['both have', COMMITS, COMMITS, 'crier-shop'],
    ['only the former default has commits of its topics', COMMITS, NONE, 'crier'],
    ['the former default has commits of other topics', new Set(['bids']), NONE, 'crier-shop'],
    ['the user may not read the former default', 'denied', NONE, 'crier-shop'],
    ['the user may read the former default only, which has commits', COMMITS, 'denied', 'crier'],
  ];
  for (const [when, former, own, expected] of cases) {
    it(`is ${expected} if ${when}`, async () => {
      const { groupId, lines } = await groupOf(former, own);
      assert.equal(groupId, expected);
      assert.equal(lines.length, expected === 'crier' ? 1 : 0);
    });
  }
});
