import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createDice } from '../../../examples/auction/dice.ts';
import { dealPartitions } from '../../../src/kafka/client/deal-partitions.ts';
import type { Subscriber } from '../../../src/kafka/client/deal-partitions.ts';

const GROUPS = 400;

const idsUpTo = (count: number) => Array.from({ length: count }, (_, id) => id);

/** Made-up groups, the same at each run: up to 7 members that subscribed to any of up to 6 topics with up to 12 partitions. */
function* groups() {
  const dice = createDice(1);
  for (let i = 0; i < GROUPS; i++) {
    const topics = idsUpTo(dice.between(1, 6)).map((id) => `topic-${id}`);
    const members = idsUpTo(dice.between(1, 7)).map((id) => ({
      memberId: `crier-${id}`,
      topics: topics.filter(() => dice.chance(50)),
    }));
    yield { members, partitions: new Map(topics.map((topic) => [topic, idsUpTo(dice.between(0, 12))])) };
  }
}

/** `member: topic/partition`, sorted. */
function linesOf(assignment: ReturnType<typeof dealPartitions>): string[] {
  return [...assignment]
    .flatMap(([memberId, topics]) =>
      [...topics].flatMap(([topic, ids]) => ids.map((partition) => `${memberId}: ${topic}/${partition}`)),
    )
    .sort();
}

function countsOf(assignment: ReturnType<typeof dealPartitions>, members: readonly Subscriber[]) {
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
});
