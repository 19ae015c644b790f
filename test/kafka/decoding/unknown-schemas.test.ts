import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { UnknownSchemas } from '../../../src/kafka/decoding/unknown-schemas.ts';

function create() {
  let now = 1000;
  const schemas = new UnknownSchemas(() => now);
  return {
    pass: (ms: number) => (now += ms),
    mayLookUp: (id: number, mayBeNone = false) => schemas.mayLookUp(id, now, mayBeNone),
    judge: (id: number, mayBeNone = false) => schemas.judge(id, now, mayBeNone),
    known: (id: number) => schemas.delete(id),
  };
}

describe('UnknownSchemas', () => {
  it('waits 5 s for a schema, in which it may be looked up, and looks it up again after 30 s', () => {
    const { pass, mayLookUp, judge } = create();
    assert.equal(judge(7), 'wait');
    pass(4900);
    assert.equal(mayLookUp(7), true);
    assert.equal(judge(7), 'wait');
    pass(200);
    assert.equal(judge(7), 'poison');
    pass(29_900);
    assert.equal(mayLookUp(7), false);
    pass(200);
    assert.equal(mayLookUp(7), true);
  });

  it('gives made-up ids no grace within 30 s of an id that stayed unknown, and looks up ten of them a second', () => {
    const { pass, mayLookUp, judge } = create();
    judge(7);
    pass(5000);
    judge(7);
    const lookedUp = Array.from({ length: 1000 }, (_, i) => 100 + i).filter((id) => mayLookUp(id));
    assert.equal(lookedUp.length, 10);
    for (const id of lookedUp) assert.equal(judge(id), 'poison');
    pass(1000);
    assert.equal(mayLookUp(5000), true);
    pass(30_000);
    assert.equal(judge(6000), 'wait');
  });

  it('gives ids that may be none no grace, and looks up ten of them a second', () => {
    const { pass, mayLookUp, judge } = create();
    assert.equal(judge(7), 'wait');
    assert.equal(judge(7, true), 'poison');
    const lookedUp = Array.from({ length: 1000 }, (_, i) => 100 + i).filter((id) => mayLookUp(id, true));
    assert.equal(lookedUp.length, 10);
    for (const id of lookedUp) assert.equal(judge(id, true), 'poison');
    assert.equal(mayLookUp(7, true), false);
    pass(1000);
    assert.equal(mayLookUp(5000, true), true);
    assert.equal(judge(8), 'wait');
  });

  it('distrusts nobody because of a schema that was found in time', () => {
    const { pass, mayLookUp, judge, known } = create();
    judge(7);
    pass(2000);
    known(7);
    pass(60_000);
    assert.equal(mayLookUp(8), true);
    assert.equal(judge(8), 'wait');
  });
});
