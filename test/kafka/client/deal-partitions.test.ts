import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { createDice } from '../../../examples/auction/dice.ts';
import { dealPartitions } from '../../../src/kafka/client/deal-partitions.ts';
import type { Subscriber } from '../../../src/kafka/client/deal-partitions.ts';
import type { TopicPartitionIds } from '../../../src/kafka/client/owned-partitions.ts';

type Assignment = ReadonlyMap<string, TopicPartitionIds>;

const GROUPS = 400;

const idsUpTo = (count: number) => Array.from({ length: count }, (_, id) => id);

/**
 * Made-up groups, the same at each run: up to 7 members that subscribed to any of up to 6 topics with up to 12 partitions. In half of the
 * groups members tell of partitions that they have owned, also of the same ones, and of such as do not exist.
 */
function* groups() {
  const dice = createDice(1);
  for (let i = 0; i < GROUPS; i++) {
    const topics = idsUpTo(dice.between(1, 6)).map((id) => `topic-${id}`);
    const members: Subscriber[] = idsUpTo(dice.between(1, 7)).map((id) => ({
      memberId: `crier-${id}`,
      topics: topics.filter(() => dice.chance(50)),
    }));
    if (i % 2 === 1)
      for (const [index, member] of members.entries())
        if (dice.chance(80))
          members[index] = {
            ...member,
            owned: {
              generation: dice.between(1, 3),
              partitions: new Map(
                [...topics, 'gone'].map((topic) => [topic, idsUpTo(14).filter(() => dice.chance(30))]),
              ),
            },
          };
    yield { members, partitions: new Map(topics.map((topic) => [topic, idsUpTo(dice.between(0, 12))])) };
  }
}

/** Members with what they own after an assignment, as they tell it in the next one. */
function owning(members: readonly Subscriber[], assignment: Assignment, generation: number): Subscriber[] {
  return members.map((member) => {
    const partitions = assignment.get(member.memberId) ?? new Map<string, readonly number[]>();
    return { ...member, owned: { generation, partitions } };
  });
}

/** The lines of the partitions that have another owner than before, or a first one. */
function movedTo(before: Assignment, after: Assignment): string[] {
  const former = new Set(linesOf(before));
  return linesOf(after).filter((line) => !former.has(line));
}

/** Made-up groups whose members have the same topics, after a first assignment. */
function* uniformGroups() {
  for (const { members: some, partitions } of groups()) {
    const topics = [...partitions.keys()];
    const members = some.map(({ memberId }) => ({ memberId, topics }));
    const assignment = dealPartitions(members, partitions);
    yield { members, partitions, assignment, topics, count: linesOf(assignment).length };
  }
}

/** `member: topic/partition`, sorted. */
function linesOf(assignment: Assignment): string[] {
  return [...assignment]
    .flatMap(([memberId, topics]) =>
      [...topics].flatMap(([topic, ids]) => ids.map((partition) => `${memberId}: ${topic}/${partition}`)),
    )
    .sort();
}

function countsOf(assignment: Assignment, members: readonly Subscriber[]) {
  const lines = linesOf(assignment);
  return new Map(
    members.map(({ memberId }) => [memberId, lines.filter((line) => line.startsWith(`${memberId}: `)).length]),
  );
}

describe('dealPartitions', () => {
  it('gives each partition to exactly one member that subscribed to its topic', () => {
    for (const { members, partitions } of groups()) {
      const assignment = dealPartitions(members, partitions);
      const dealt = linesOf(assignment).map((line) => line.split(': ')[1]!);
      const subscribed = [...partitions].filter(([topic]) => members.some(({ topics }) => topics.includes(topic)));
      const due = subscribed.flatMap(([topic, ids]) => ids.map((partition) => `${topic}/${partition}`));
      assert.deepEqual(dealt.sort(), due.sort());
      for (const [memberId, topics] of assignment) {
        const { topics: own } = members.find((member) => member.memberId === memberId)!;
        for (const topic of topics.keys()) assert.ok(own.includes(topic), `${memberId} ${topic}`);
      }
    }
  });

  it('leaves no partition with a member that has two more than another subscriber', () => {
    for (const { members, partitions } of groups()) {
      const assignment = dealPartitions(members, partitions);
      const counts = countsOf(assignment, members);
      for (const [owner, topics] of assignment)
        for (const topic of topics.keys())
          for (const { memberId, topics: own } of members)
            if (own.includes(topic)) assert.ok(counts.get(owner)! - counts.get(memberId)! <= 1, `${owner} ${memberId}`);
    }
  });

  it('gives the same group the same partitions, whatever the order of members, topics and partitions', () => {
    for (const { members, partitions } of groups()) {
      const turned = new Map([...partitions].toReversed().map(([topic, ids]) => [topic, ids.toReversed()]));
      const expected = linesOf(dealPartitions(members, partitions));
      assert.deepEqual(linesOf(dealPartitions(members.toReversed(), turned)), expected);
    }
  });

  it('deals in turn where all members have the same topics, as kafkajs does', () => {
    const topics = ['a', 'b'];
    const partitions = new Map([
      ['a', idsUpTo(5)],
      ['b', idsUpTo(4)],
    ]);
    const inTurn = (memberIds: readonly string[]) =>
      [...partitions]
        .flatMap(([topic, ids]) => ids.map((partition) => `${topic}/${partition}`))
        .map((partition, i) => `${memberIds[i % memberIds.length]!}: ${partition}`)
        .sort();
    for (const memberIds of [['x', 'y', 'z'], ['x', 'y'], ['y']])
      assert.deepEqual(
        linesOf(dealPartitions(memberIds.map((memberId) => ({ memberId, topics })).toReversed(), partitions)),
        inTurn(memberIds),
      );
  });

  it('moves nothing where nothing has changed, whoever subscribed to what', () => {
    for (const { members, partitions } of groups()) {
      const before = dealPartitions(members, partitions);
      const after = dealPartitions(owning(members, before, 4), partitions);
      assert.deepEqual(linesOf(after), linesOf(before));
    }
  });

  it('moves only the partitions of a member that leaves', () => {
    for (const { members, partitions, assignment } of uniformGroups()) {
      for (const leaving of members) {
        const rest = members.filter((member) => member !== leaving);
        const after = dealPartitions(owning(rest, assignment, 1), partitions);
        const own = rest.length === 0 ? 0 : countsOf(assignment, members).get(leaving.memberId)!;
        assert.equal(movedTo(assignment, after).length, own);
      }
    }
  });

  it('gives a member that joins its share of all, and moves nothing else', () => {
    for (const { members, partitions, assignment, topics, count } of uniformGroups()) {
      for (const memberId of ['a', 'z']) {
        const joining = { memberId, topics };
        const after = dealPartitions([...owning(members, assignment, 1), joining], partitions);
        const moved = movedTo(assignment, after);
        assert.equal(moved.length, Math.floor(count / (members.length + 1)));
        assert.ok(
          moved.every((line) => line.startsWith(`${memberId}: `)),
          moved.join(),
        );
      }
    }
  });

  it('moves nothing for new partitions and new topics', () => {
    for (const { members, partitions, assignment, topics } of uniformGroups()) {
      const more = new Map([...partitions].map(([topic, ids]) => [topic, idsUpTo(ids.length + 3)]));
      more.set('new', idsUpTo(5));
      const all = owning(members, assignment, 1).map((member) => ({ ...member, topics: [...topics, 'new'] }));
      const after = new Set(linesOf(dealPartitions(all, more)));
      for (const line of linesOf(assignment)) assert.ok(after.has(line), line);
    }
  });

  it('moves as few as balance needs where members own any of the partitions', () => {
    for (const { members: some, partitions } of groups()) {
      const topics = [...partitions.keys()];
      // What the members are dealt as subscribers of some of the topics only.
      const before = dealPartitions(some, partitions);
      const members = owning(some, before, 1).map((member) => ({ ...member, topics }));
      const after = dealPartitions(members, partitions);
      const counts = [...countsOf(before, members).values()].sort((a, b) => b - a);
      const count = topics.reduce((sum, topic) => sum + partitions.get(topic)!.length, 0);
      const [share, larger] = [Math.floor(count / members.length), count % members.length];
      const excess = counts.reduce((sum, own, i) => sum + Math.max(0, own - share - (i < larger ? 1 : 0)), 0);
      const owned = new Set(linesOf(before).map((line) => line.split(': ')[1]));
      const moved = movedTo(before, after).filter((line) => owned.has(line.split(': ')[1]));
      assert.equal(moved.length, excess);
    }
  });

  it('keeps the balance, and the members near an even share of each topic, over many restarts', () => {
    for (const { members, partitions, topics } of uniformGroups()) {
      let [group, assignment]: [Subscriber[], Assignment] = [members, dealPartitions(members, partitions)];
      for (let generation = 1; generation <= 4 * members.length; generation++) {
        group = owning(group, assignment, generation);
        if (generation % 2 === 1) group = group.slice(1);
        else group.push({ memberId: `crier-${(generation * 7919) % 100}-${generation}`, topics });
        assignment = dealPartitions(group, partitions);
        if (group.length === 0) continue;
        const spreadOf = (counts: readonly number[]) => Math.max(...counts) - Math.min(...counts);
        assert.ok(spreadOf([...countsOf(assignment, group).values()]) <= 1);
        for (const topic of topics) {
          const counts = group.map(({ memberId }) => assignment.get(memberId)?.get(topic)?.length ?? 0);
          assert.ok(spreadOf(counts) <= 4, `${topic}: ${counts.join()}`);
        }
      }
    }
  });

  it('deals the sample as other versions do: a leader of another version moves nothing', () => {
    const hash = createHash('sha256');
    for (const { members, partitions } of groups()) {
      const assignment = dealPartitions(members, partitions);
      const group = [...owning(members.slice(1), assignment, 4), { memberId: 'joins', topics: [...partitions.keys()] }];
      for (const dealt of [assignment, dealPartitions(group, partitions)]) hash.update(linesOf(dealt).join());
    }
    assert.equal(hash.digest('hex'), '4e8262b280d12066f624ea3ef82571f384e25f6eacb3a2c34f016e99c80c2be1');
  });

  it('takes time in proportion to the partitions when 99 members join one that owns all', () => {
    const cpuMsOf = (count: number) => {
      const topics = idsUpTo(count).map((id) => `topic-${id}`);
      const partitions = new Map(topics.map((topic) => [topic, idsUpTo(10)]));
      const members = idsUpTo(100).map((id) => ({ memberId: `crier-${id}`, topics }));
      const owner = owning(members.slice(0, 1), dealPartitions(members.slice(0, 1), partitions), 1);
      const before = process.cpuUsage();
      dealPartitions([...owner, ...members.slice(1)], partitions);
      return process.cpuUsage(before).user / 1000;
    };
    cpuMsOf(100);
    const [few, many] = [cpuMsOf(100), cpuMsOf(1000)];
    // 100 times as much where each move looks at each topic.
    assert.ok(many < 50 * few, `${few} ms, then ${many} ms for ten times as many`);
  });

  describe('where members own the same partition', () => {
    const partitions = new Map([['t', idsUpTo(4)]]);
    const member = (memberId: string, generation: number, ids: readonly number[]): Subscriber => ({
      ...{ memberId, topics: ['t'] },
      owned: { generation, partitions: new Map([['t', ids]]) },
    });
    const deal = (...members: readonly Subscriber[]) => linesOf(dealPartitions(members, partitions));

    it('believes the one of the newest generation', () => {
      const expected = ['a: t/2', 'a: t/3', 'b: t/0', 'b: t/1'];
      // The member a was away while b took over, and c has left since.
      assert.deepEqual(deal(member('a', 7, [0, 1]), member('b', 8, [0, 1])), expected);
      assert.deepEqual(deal(member('a', 7, [0, 1, 2, 3]), member('b', 8, [0, 1])), expected);
      assert.deepEqual(deal(member('b', 8, [0, 1]), member('a', 7, [0, 1, 2, 3])), expected);
    });

    it('believes neither of the same generation', () => {
      const expected = ['a: t/0', 'a: t/2', 'b: t/1', 'b: t/3'];
      assert.deepEqual(deal(member('a', 7, [1, 3]), member('b', 7, [1, 3])), expected);
      const three = deal(member('a', 7, [1, 3]), member('b', 7, [1, 3]), member('c', 8, [3]));
      assert.deepEqual(three, ['a: t/0', 'a: t/2', 'b: t/1', 'c: t/3']);
    });
  });

  it('leaves a member of a former version, which tells nothing, what the others do not own', () => {
    for (const { members, partitions, assignment } of uniformGroups()) {
      const [former, ...others] = members;
      const after = dealPartitions([{ ...former!, owned: undefined }, ...owning(others, assignment, 1)], partitions);
      assert.deepEqual(linesOf(after), linesOf(assignment));
    }
  });
});
