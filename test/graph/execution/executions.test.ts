import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { parse } from 'graphql';
import type { OperationDefinitionNode } from 'graphql';
import { Operation } from '../../../src/graph/documents/operation.ts';
import { Executions } from '../../../src/graph/execution/executions.ts';

/** Executions whose clock stands still, and what they observe: value in ms or number of requests, weight. */
function createObserved(t: TestContext) {
  const seconds: number[][] = [];
  const requests: number[][] = [];
  const clock = { now: 1000, reads: 0 };
  t.mock.method(performance, 'now', () => (clock.reads++, clock.now));
  const executions = new Executions({
    seconds: () => ({ observe: (value, weight = 1) => void seconds.push([Math.round(value * 1e9) / 1e6, weight]) }),
    backendRequests: () => ({ observe: (value, weight = 1) => void requests.push([value, weight]) }),
  });
  /** Executions that settle at once. Each takes `ms`. */
  const run = (operation: Operation, count: number, ms: number) => {
    for (let i = 0; i < count; i++) {
      executions.begin(operation);
      clock.now += ms;
    }
  };
  return { executions, run, clock, seconds, requests };
}

function operationOf(query: string): Operation {
  const document = parse(query);
  return new Operation({ key: '', document, bytes: 0 }, document.definitions[0] as OperationDefinitionNode);
}

const A = operationOf('subscription { a }');
const B = operationOf('subscription { b }');

describe('Executions', () => {
  it('observe executions of one operation together, each with their mean', (t) => {
    const { executions, run, clock, seconds, requests } = createObserved(t);
    run(A, 1, 4);
    run(A, 3, 8);
    executions.endTiming();
    assert.deepEqual([seconds, requests], [[[7, 4]], [[0, 4]]]);
    assert.equal(executions.ofEvents, 4);
    assert.equal(clock.reads, 2);
  });

  it('observe nothing twice, and nothing without an execution', (t) => {
    const { executions, run, seconds } = createObserved(t);
    executions.endTiming();
    run(A, 1, 1);
    executions.share();
    executions.share();
    executions.endTiming();
    assert.deepEqual(seconds, [[1, 1]]);
    assert.equal(executions.sharedResults, 2);
  });

  it('do not observe executions of two operations together', (t) => {
    const { executions, run, seconds } = createObserved(t);
    run(A, 2, 1);
    run(B, 1, 5);
    run(A, 1, 2);
    executions.endTiming();
    assert.deepEqual(seconds, [
      [1, 2],
      [5, 1],
      [2, 1],
    ]);
  });

  it('observe at most 16 executions together if they take half a millisecond', (t) => {
    const { executions, run, seconds } = createObserved(t);
    run(A, 16, 0.5 / 16);
    run(A, 20, 10);
    executions.endTiming();
    assert.deepEqual(seconds, [
      [0.5 / 16, 16],
      [10, 16],
      [10, 4],
    ]);
  });

  it('read the clock once in 16 short executions', (t) => {
    const { executions, run, clock, seconds } = createObserved(t);
    run(A, 64, 2 ** -10);
    executions.endTiming();
    assert.equal(clock.reads, 5);
    assert.deepEqual(seconds, [[Math.round(1e6 / 1024) / 1e6, 64]]);
  });

  it('time an execution that waits by itself, and share its synchronous part among those before it', (t) => {
    const { executions, run, clock, seconds, requests } = createObserved(t);
    run(A, 4, 3);
    const waiting = executions.suspend();
    assert.deepEqual(seconds, [[3, 3]]);
    run(B, 1, 5);
    executions.endTiming();
    clock.now += 10;
    executions.settle(waiting, 7);
    assert.deepEqual(seconds.slice(1), [
      [5, 1],
      [3 + 5 + 10, 1],
    ]);
    assert.deepEqual(requests, [
      [0, 3],
      [0, 1],
      [7, 1],
    ]);
  });

  it('time an execution that waits from its start if none was before it', (t) => {
    const { executions, run, clock, seconds } = createObserved(t);
    run(A, 1, 3);
    const waiting = executions.suspend();
    clock.now += 10;
    executions.settle(waiting);
    executions.endTiming();
    assert.deepEqual(seconds, [[13, 1]]);
  });

  it('observe the requests of an execution that settled at once, and 0 for the others', (t) => {
    const { executions, requests } = createObserved(t);
    executions.begin(A);
    executions.addRequests(executions.begin(A), 2);
    executions.begin(A);
    executions.endTiming();
    assert.deepEqual(requests, [
      [2, 1],
      [0, 2],
    ]);
  });
});
