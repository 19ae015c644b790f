import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { Starter } from '../../../src/ops/processes/starter.ts';
import type { Order } from '../../../src/ops/processes/reports.ts';

function createStage(t: TestContext) {
  const starter = new Starter();
  const received: string[] = [];
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    starter.signals.on(signal, () => received.push(signal));
  const names = ['SIGTERM', 'SIGINT', 'SIGHUP', 'message'] as const;
  const before = new Map(names.map((name) => [name, process.listeners(name as 'SIGTERM')]));
  starter.listen();
  t.after(() => {
    for (const name of names)
      for (const listener of process.listeners(name as 'SIGTERM'))
        if (!before.get(name)!.includes(listener)) process.off(name, listener);
  });
  const own = (signal: 'SIGTERM' | 'SIGINT') => process.emit(signal, signal);
  const passOn = (signal: Order['signal']) => process.emit('message', { signal }, undefined);
  return { received, own, passOn };
}

describe('the signals of a process of a pod', () => {
  it('count once if the starter passes on what the process has received, too', (t) => {
    const { received, own, passOn } = createStage(t);
    own('SIGTERM');
    passOn('SIGTERM');
    assert.deepEqual(received, ['SIGTERM']);
    // Of a second SIGTERM the starter makes a SIGINT.
    own('SIGTERM');
    passOn('SIGINT');
    assert.deepEqual(received, ['SIGTERM', 'SIGTERM']);
  });

  it('count if only the starter has received them', (t) => {
    const { received, passOn } = createStage(t);
    passOn('SIGTERM');
    passOn('SIGINT');
    passOn('SIGHUP');
    assert.deepEqual(received, ['SIGTERM', 'SIGINT', 'SIGHUP']);
  });
});
