import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { ExecutionDeadlines } from '../../../src/gateway/fanout/execution-deadlines.ts';

/** Advances mocked time in steps: a timer that another timer sets counts from the end of a step. */
function mockedTime(t: TestContext): (ms: number) => void {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  return (ms) => {
    for (let passed = 0; passed < ms; passed += 10) t.mock.timers.tick(10);
  };
}

describe('ExecutionDeadlines', () => {
  it('ends each execution that exceeds its deadline once, oldest first, and no other', (t) => {
    const pass = mockedTime(t);
    const deadlines = new ExecutionDeadlines(800);
    const ended: string[] = [];
    const add = (name: string) => deadlines.add(() => void ended.push(name));
    const dues = ['a', 'b', 'c', 'd'].map(add);
    deadlines.delete(dues[1]!);
    deadlines.delete(dues[1]!);
    pass(800);
    assert.deepEqual(ended, []);
    add('later');
    pass(100);
    assert.deepEqual(ended, ['a', 'c', 'd']);
    for (const due of dues) deadlines.delete(due);
    pass(700);
    assert.deepEqual(ended, ['a', 'c', 'd']);
    pass(100);
    assert.deepEqual(ended, ['a', 'c', 'd', 'later']);
  });

  it('gives an execution that begins during a deadline the full timeout', (t) => {
    const pass = mockedTime(t);
    const deadlines = new ExecutionDeadlines(80);
    const ended: number[] = [];
    const again = (count: number): void => {
      ended.push(count);
      if (count < 3) deadlines.add(() => again(count + 1));
    };
    deadlines.add(() => again(1));
    for (const count of [1, 2, 3]) {
      pass(80);
      assert.equal(ended.length, count - 1);
      pass(10);
      assert.equal(ended.length, count);
    }
  });

  it('restarts its timer after a period without executions', (t) => {
    const pass = mockedTime(t);
    const deadlines = new ExecutionDeadlines(80);
    deadlines.delete(deadlines.add(() => assert.fail('ended')));
    pass(1000);
    const ended: string[] = [];
    deadlines.add(() => void ended.push('next'));
    pass(80);
    assert.deepEqual(ended, []);
    pass(10);
    assert.deepEqual(ended, ['next']);
  });
});
