import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ConnectionFacts } from '../../../../src/graph/context/connection-facts.ts';
import { trackReads } from '../../../../src/graph/context/fact-reads.ts';
import { AnswerClasses } from '../../../../src/gateway/fanout/sharing/answer-classes.ts';
import type { Classified } from '../../../../src/gateway/fanout/sharing/answer-classes.ts';
import { factsOf } from '../stage.ts';

interface Member {
  facts: ConnectionFacts;
  classified: Classified | undefined;
}

const memberWith = (claims: object): Member => ({ facts: factsOf('a', claims), classified: undefined });

/** The classes of an execution that read one claim. */
function classesBy(claim: string) {
  const { facts, reads } = trackReads(factsOf('a', { tenant: 'acme', role: 'buyer' }));
  void facts.claims[claim];
  return new AnswerClasses<Member>(reads);
}

describe('AnswerClasses', () => {
  it('gives a member its class by each read set, in turns', () => {
    const [byTenant, byRole] = [classesBy('tenant'), classesBy('role')];
    const [ann, bob] = [memberWith({ tenant: 'acme', role: 'buyer' }), memberWith({ tenant: 'acme', role: 'seller' })];
    for (let i = 0; i < 3; i++) {
      assert.equal(byTenant.classOf(ann), byTenant.classOf(bob));
      assert.notEqual(byRole.classOf(ann), byRole.classOf(bob));
      assert.notEqual(byTenant.classOf(ann), byRole.classOf(ann));
    }
    assert.deepEqual([byTenant.classOf(ann).size, byRole.classOf(ann).size], [2, 1]);
  });

  it('gives a member another class once it has other facts', () => {
    const classes = classesBy('tenant');
    const [ann, bob] = [memberWith({ tenant: 'acme' }), memberWith({ tenant: 'acme' })];
    const before = classes.classOf(ann);
    assert.equal(classes.classOf(bob), before);
    ann.facts = factsOf('a', { tenant: 'other' });
    assert.notEqual(classes.classOf(ann), before);
    assert.deepEqual([before.size, classes.classOf(ann).size], [1, 1]);
  });

  it('counts a member that was deleted no more, and again when it is back', () => {
    const classes = classesBy('tenant');
    const [ann, bob] = [memberWith({ tenant: 'acme' }), memberWith({ tenant: 'acme' })];
    const answerClass = classes.classOf(ann);
    classes.classOf(bob);
    classes.delete(ann);
    classes.delete(ann);
    assert.ok(classes.isAlone(answerClass, 1));
    assert.equal(classes.classOf(ann), answerClass);
    assert.equal(answerClass.size, 2);
  });
});
