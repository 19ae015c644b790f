import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import kafkajs from 'kafkajs';
import type { PartitionAssigner } from 'kafkajs';
import { createKafkaClient } from '../../../src/kafka/client/kafka-client.ts';
import { describeMembers, encodeSubscription } from '../../../src/kafka/client/group-members.ts';
import type { GroupMember } from '../../../src/kafka/client/group-members.ts';
import { createRawCluster } from '../../../src/kafka/client/raw-cluster.ts';
import { subscriptionAssigner } from '../../../src/kafka/client/subscription-assigner.ts';
import { randomName } from '../../support/services.ts';
import { testConfig } from '../../support/switches.ts';
import { waitFor } from '../../support/wait-for.ts';
import { createConsumer, readableLog, withOutside } from '../consumer-harness.ts';
import type { Outside, Setup } from '../consumer-harness.ts';

const PARTITIONS = 4;
const RECORDS = 25;

describe('members of one consumer group', { concurrency: 8 }, () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));

  /** Members of one group, which have joined in this order: the first one leads. */
  async function join(t: TestContext, ...subscriptions: readonly (readonly string[])[]): Promise<Setup[]> {
    const groupId = randomName('group');
    const members: Setup[] = [];
    for (const topics of subscriptions) {
      const member = createConsumer(t, outside.brokers, topics, { groupId });
      members.push(member);
      await member.consumer.start();
    }
    return members;
  }

  /** Writes records to the topic. They reach these members, each once. */
  async function delivers(topic: string, ...readers: readonly Setup[]): Promise<void> {
    const heard = () => readers.flatMap(({ bus }) => bus.of(topic).map(({ key, seq }) => `${key} ${seq}`));
    const before = heard().length;
    await outside.sendSequences(topic, PARTITIONS, RECORDS, before / PARTITIONS);
    await waitFor(`the records of ${topic}`, () => heard().length >= before + PARTITIONS * RECORDS, 30_000);
    assert.equal(new Set(heard()).size, before + PARTITIONS * RECORDS);
  }

  /** Starts a member that calls itself `pod`. Resolves when it has joined. */
  async function startPod(t: TestContext, pod: string, topics: readonly string[], groupId: string): Promise<Setup> {
    const member = createConsumer(t, outside.brokers, topics, { groupId, ports: { facts: () => ({ pod }) } });
    await member.consumer.start();
    return member;
  }

  /** Resolves with the members once the group is stable with these pods and no others, by the name of the pod. */
  async function membersOf(groupId: string, pods: readonly string[]): Promise<ReadonlyMap<string, GroupMember>> {
    const described = async () => {
      const members = await outside.ask((admin) => describeMembers(admin, groupId));
      const byPod = new Map(members?.map((member) => [member.pod ?? '', member]));
      return [...byPod.keys()].sort().join() === pods.join() ? byPod : undefined;
    };
    return waitFor(`a stable group of ${pods.join()}`, described, 30_000);
  }

  // The topics of a member that joins a group with commits are read from their beginning.
  const newTopics = (count: number) => Promise.all(Array.from({ length: count }, () => outside.createTopic()));

  it('with different topics receive all records of their own, whoever leads', async (t) => {
    const [one, two] = await newTopics(2);
    const [leader, follower] = await join(t, [one!], [two!]);
    await Promise.all([delivers(one!, leader!), delivers(two!, follower!)]);
    await leader!.consumer.close();
    await delivers(two!, follower!);
    const next = createConsumer(t, outside.brokers, [one!], { groupId: leader!.groupId });
    await next.consumer.start();
    await Promise.all([delivers(one!, leader!, next), delivers(two!, follower!)]);
  });

  it('share the partitions of a topic that both read, and go on when either of them leaves', async (t) => {
    for (const leaving of [0, 1]) {
      const [one, two, shared] = await newTopics(3);
      const members = await join(t, [one!, shared!], [two!, shared!]);
      await Promise.all([delivers(one!, members[0]!), delivers(two!, members[1]!), delivers(shared!, ...members)]);
      await members[leaving]!.consumer.close();
      await Promise.all([delivers([two!, one!][leaving]!, members[1 - leaving]!), delivers(shared!, ...members)]);
    }
  });

  it('keep their partitions while another one restarts, even the leader', async (t) => {
    const [topic, groupId] = [await outside.createTopic(randomName('topic'), 12), randomName('group')];
    const pods = ['a', 'b', 'c'];
    const ownedBy = async (...of: readonly string[]) => {
      const members = await membersOf(groupId, of);
      return (pod: string) => members.get(pod)!.assigned.get(topic)!;
    };
    const members = new Map<string, Setup>();
    // The first to join leads.
    for (const pod of pods) members.set(pod, await startPod(t, pod, [topic], groupId));
    for (const restarted of ['b', 'a']) {
      const others = pods.filter((pod) => pod !== restarted);
      const before = await ownedBy(...pods);
      await members.get(restarted)!.consumer.close();
      const meanwhile = await ownedBy(...others);
      for (const pod of others) {
        assert.deepEqual(
          before(pod).filter((partition) => !meanwhile(pod).includes(partition)),
          [],
        );
        assert.equal(meanwhile(pod).length, 6);
      }
      members.set(restarted, await startPod(t, restarted, [topic], groupId));
      const after = await ownedBy(...pods);
      for (const pod of others)
        assert.deepEqual(
          after(pod).filter((partition) => !meanwhile(pod).includes(partition)),
          [],
        );
      assert.deepEqual(
        pods.map((pod) => after(pod).length),
        [4, 4, 4],
      );
    }
  });

  it('tell what they own, also of a session that a reload has ended', async (t) => {
    const [[topic, other], groupId] = [await newTopics(2), randomName('group')];
    const { consumer } = await startPod(t, 'a', [topic!], groupId);
    const first = (await membersOf(groupId, ['a'])).get('a')!;
    assert.deepEqual([first.owned, first.assigned], [undefined, new Map([[topic, [0, 1, 2, 3]]])]);
    consumer.replace({ topics: [topic!, other!] });
    await waitFor('the other topic', async () => {
      const member = (await membersOf(groupId, ['a'])).get('a')!;
      if (!member.assigned.has(other!)) return false;
      assert.deepEqual(member.owned, { generation: 1, partitions: first.assigned });
      return true;
    });
  });

  it('read a topic that appears before the leader has noticed it', async (t) => {
    const [topic, late, groupId] = [await outside.createTopic(), randomName('late'), randomName('group')];
    const slow = { environment: { KAFKA_TOPIC_CHECK_INTERVAL_MS: '60000' } };
    const leader = createConsumer(t, outside.brokers, [topic, late], { groupId, ...slow });
    await leader.consumer.start();
    const follower = createConsumer(t, outside.brokers, [topic, late], { groupId });
    await follower.consumer.start();
    await outside.createTopic(late);
    await waitFor('the topic', () => follower.consumer.missingTopics.length === 0);
    await delivers(late, follower);
    assert.deepEqual(leader.consumer.missingTopics, [late]);
  });

  describe('of which one has the former assigner', () => {
    /** A member as of a former version, and the records that it receives of its topic. It has joined. */
    async function joinAsFormer(t: TestContext, groupId: string, topic: string) {
      const consumer = outside.kafka.consumer({
        ...{ groupId, sessionTimeout: 6000, maxWaitTimeInMs: 100, heartbeatInterval: 500 },
        partitionAssigners: [kafkajs.PartitionAssigners.roundRobin],
      });
      t.after(() => consumer.disconnect());
      const heard: string[] = [];
      await consumer.connect();
      await consumer.subscribe({ topics: [topic], fromBeginning: true });
      const joined = new Promise<boolean>((resolve) =>
        consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => resolve(payload.isLeader)),
      );
      await consumer.run({
        eachMessage: ({ message }) => {
          const { key, seq } = JSON.parse(message.value!.toString()) as { key: string; seq: number };
          heard.push(`${key} ${seq}`);
          return Promise.resolve();
        },
      });
      return { isLeader: await joined, heard, leave: () => consumer.disconnect() };
    }

    it('give it the partitions of its own topic if it follows', async (t) => {
      const [topic, ofFormer] = await Promise.all([outside.createTopic(), outside.createTopic()]);
      const [leader] = await join(t, [topic]);
      const { isLeader, heard } = await joinAsFormer(t, leader!.groupId, ofFormer);
      assert.equal(isLeader, false);
      await delivers(topic, leader!);
      await outside.sendSequences(ofFormer, PARTITIONS, RECORDS);
      await waitFor('the records of the former version', () => heard.length === PARTITIONS * RECORDS);
    });

    it('name their topics that it gives to nobody while it leads, and read them once it has left', async (t) => {
      const [topic, ofFormer] = await Promise.all([outside.createTopic(), outside.createTopic()]);
      const groupId = randomName('group');
      const former = await joinAsFormer(t, groupId, ofFormer);
      assert.equal(former.isLeader, true);
      const member = createConsumer(t, outside.brokers, [topic], { groupId });
      await member.consumer.start();
      await waitFor('the unread topic', () => member.consumer.group.unreadTopics.includes(topic));
      assert.match(member.lines.join(''), /read by nobody: the group's leader is of a former version/);
      await former.leave();
      await delivers(topic, member);
      await waitFor('the next look', () => member.consumer.group.unreadTopics.length === 0);
    });
  });
});

describe('subscriptionAssigner', () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));

  it('assigns the other topics, and names a topic that the brokers do not describe to the leader', async (t) => {
    const [own, other, missing] = [await outside.createTopic(), await outside.createTopic(), randomName('missing')];
    const client = createKafkaClient(
      testConfig({ KAFKA_BROKERS: outside.brokers, REDIS_URL: 'redis://127.0.0.1:1' }),
      readableLog().log,
    );
    t.after(() => client.destroy());
    const cluster = createRawCluster(client.kafka);
    t.after(() => (cluster as unknown as { disconnect(): Promise<void> }).disconnect());
    await cluster.connect();
    await cluster.addMultipleTargetTopics([own]);
    const undescribed: string[] = [];
    const assigner = subscriptionAssigner({
      facts: () => ({}),
      onUndescribed: (topics) => undescribed.push(...topics),
      onAssigned: () => undefined,
    });
    const leader = assigner({ cluster } as unknown as Parameters<PartitionAssigner>[0]);
    const member = (memberId: string, topics: string[]) => ({
      memberId,
      memberMetadata: encodeSubscription(topics, {}),
    });
    const members = [member('leader', [own]), member('follower', [other, missing])];
    const assigned = await leader.assign({ members, topics: [own] });
    const { MemberAssignment } = kafkajs.AssignerProtocol;
    assert.deepEqual(
      Object.fromEntries(
        assigned.map(({ memberId, memberAssignment }) => [
          memberId,
          MemberAssignment.decode(memberAssignment)!.assignment,
        ]),
      ),
      { leader: { [own]: [0, 1, 2, 3] }, follower: { [other]: [0, 1, 2, 3] } },
    );
    assert.deepEqual(undescribed, [missing]);
    // What the leader's consumer asks for later.
    await cluster.refreshMetadata();
  });
});
