import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CompileQueue } from '../../../src/graph/execution/compile-queue.ts';
import { waitFor } from '../../support/wait-for.ts';

describe('CompileQueue', () => {
  it('compiles in order, never in the turn of the request, and one in a turn of the event loop (S-53)', async () => {
    const queue = new CompileQueue();
    const compiled: number[] = [];
    let turn = 0;
    const turns = new Set<number>();
    const count = () => {
      turn++;
      if (compiled.length < 5) setImmediate(count);
    };
    for (let i = 0; i < 5; i++) {
      queue.add(() => {
        compiled.push(i);
        turns.add(turn);
      });
    }
    assert.deepEqual(compiled, []);
    count();
    await waitFor('all compilations', () => compiled.length === 5);
    assert.deepEqual(compiled, [0, 1, 2, 3, 4]);
    assert.equal(turns.size, 5);
  });

  it('refuses operations beyond its bound, and accepts more after a compilation', async () => {
    const queue = new CompileQueue();
    let done = 0;
    const compile = () => void done++;
    let taken = 0;
    while (queue.add(compile)) taken++;
    assert.ok(taken > 0);
    await waitFor('the first compilation', () => done > 0);
    assert.ok(queue.add(compile));
  });

  it('charges the requester for the CPU time of a compilation', async () => {
    const queue = new CompileQueue();
    const charges: number[] = [];
    queue.add(
      () => {
        const before = process.cpuUsage();
        while (process.cpuUsage(before).user < 5000);
      },
      { charge: (cpuMs) => void charges.push(cpuMs) },
    );
    await waitFor('the charge', () => charges.length === 1);
    assert.ok(charges[0]! >= 5);
  });
});
