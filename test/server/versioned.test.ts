import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Versioned } from '../../src/server/versioned.ts';

/** A value whose parts note what becomes of them. */
function create() {
  const steps: string[] = [];
  const version = new Versioned('a');
  const partOf = (name: string, open = (next: string) => Promise.resolve(`${name}(${next})`)) =>
    version.derive(`${name}(a)`, {
      open: (next, generation) => {
        steps.push(`${name} opens ${next} ${generation}`);
        return open(next);
      },
      serve: (current, former) => steps.push(`${name} serves ${current} after ${former}`),
      close: (part) => Promise.resolve(void steps.push(`${name} closes ${part}`)),
    });
  return { version, steps, partOf };
}

const accept = () => undefined;

describe('Versioned', () => {
  it('opens all parts, then serves all in one turn, then closes the former ones', async () => {
    const { version, steps, partOf } = create();
    const [x, y] = [partOf('x'), partOf('y')];
    version.onServe((current, former) => {
      steps.push(`${current} after ${former}`);
      assert.deepEqual([version.current, x.current, y.current], ['b', 'x(b)', 'y(b)']);
    });
    await version.replace('b', accept);
    assert.deepEqual(steps, [
      'x opens b 1',
      'y opens b 1',
      'x serves x(b) after x(a)',
      'y serves y(b) after y(a)',
      'b after a',
      'x closes x(a)',
      'y closes y(a)',
    ]);
  });

  it('closes the parts of a version that one part refuses, and serves the current one', async () => {
    const { version, steps, partOf } = create();
    const x = partOf('x');
    partOf('y', () => Promise.reject(new Error('refused')));
    await assert.rejects(version.replace('b', accept), /refused/);
    assert.deepEqual([version.current, x.current], ['a', 'x(a)']);
    assert.deepEqual(steps, ['x opens b 1', 'y opens b 1', 'x closes x(b)']);
  });

  it('closes the parts of a version that is not wanted any more', async () => {
    const { version, steps, partOf } = create();
    partOf('x');
    const draining = () => assert.fail('draining');
    await assert.rejects(version.replace('b', draining), /draining/);
    await version.replace('c', accept);
    assert.deepEqual(steps, [
      'x opens b 1',
      'x closes x(b)',
      'x opens c 2',
      'x serves x(c) after x(a)',
      'x closes x(a)',
    ]);
  });
});
