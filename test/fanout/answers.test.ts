import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createFacts, createRequest } from '../../src/context/connection-facts.ts';
import type { ConnectionFacts } from '../../src/context/connection-facts.ts';
import { trackReads } from '../../src/context/fact-reads.ts';
import { Answers } from '../../src/fanout/answers.ts';

function factsWith(claims: object): ConnectionFacts {
  return createFacts(createRequest({ id: 'c', rawHeaders: [], params: {}, address: '127.0.0.1' }), claims);
}

function membersOf(...tenants: string[]): Set<{ facts: ConnectionFacts }> {
  return new Set(tenants.map((tenant) => ({ facts: factsWith({ tenant }) })));
}

function askedForTenant(): Answers<{ facts: ConnectionFacts }> {
  const { facts, reads } = trackReads(factsWith({ tenant: 'any' }));
  void facts.claims['tenant'];
  return new Answers(reads);
}

const tenantsOf = (members: readonly { facts: ConnectionFacts }[]): unknown[] =>
  members.map(({ facts }) => facts.claims['tenant']);

describe('the order in which members are served', () => {
  it('has those who are alike behind each other, and nobody twice', () => {
    const members = membersOf('a', 'b', 'a', 'c', 'b', 'a');
    const answers = askedForTenant();
    for (const member of members) answers.alikeOf(member);
    const ordered = answers.ordered(members);
    assert.deepEqual(tenantsOf(ordered), ['a', 'a', 'a', 'b', 'b', 'c']);
    assert.deepEqual(new Set(ordered), members);
  });

  it('has those, too, who came after the last execution', () => {
    const members = membersOf('a', 'b', 'a');
    const answers = askedForTenant();
    for (const member of members) answers.alikeOf(member);
    const [latest] = membersOf('b');
    members.add(latest!);
    assert.deepEqual(tenantsOf(answers.ordered(members)), ['a', 'a', 'b', 'b']);
  });

  it('is that of their coming where all are alike, or all different', () => {
    for (const tenants of [
      ['a', 'a', 'a'],
      ['c', 'a', 'b'],
    ]) {
      const members = membersOf(...tenants);
      const answers = askedForTenant();
      for (const member of members) answers.alikeOf(member);
      assert.deepEqual(answers.ordered(members), [...members]);
    }
  });
});
