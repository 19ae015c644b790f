import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Inbox } from '../../../src/gateway/websocket/inbox.ts';
import { waitFor } from '../../support/wait-for.ts';

function busy(ms: number): void {
  const endsAt = performance.now() + ms;
  while (performance.now() < endsAt);
}

describe('Inbox', () => {
  it('handles a message at once while none waits', () => {
    const handled: string[] = [];
    const inbox = new Inbox();
    assert.ok(inbox.receive({ onTurn: (data) => handled.push(data.toString()) }, Buffer.from('a')));
    assert.deepEqual(handled, ['a']);
  });

  it('keeps the order of all messages and spreads them over turns of the event loop', async () => {
    const handled: string[] = [];
    const inbox = new Inbox();
    let turn = 0;
    const turns: number[] = [];
    const recipient = {
      onTurn: (data: Buffer) => {
        busy(2);
        handled.push(data.toString());
        turns.push(turn);
      },
    };
    const count = () => {
      turn++;
      if (handled.length < 12) setImmediate(count);
    };
    setImmediate(count);
    const names = Array.from({ length: 12 }, (_, i) => `${i}`);
    const atOnce = names.filter((name) => inbox.receive(recipient, Buffer.from(name)));
    assert.ok(atOnce.length < 12);
    await waitFor('all messages', () => handled.length === 12);
    assert.deepEqual(handled, names);
    for (const one of new Set(turns)) assert.ok(turns.filter((other) => other === one).length <= 2);
  });

  it('counts the promise callbacks of a message as its work', async () => {
    const inbox = new Inbox();
    let turn = 0;
    const turns: number[] = [];
    const recipient = {
      onTurn: () =>
        void (async () => {
          await Promise.resolve();
          await Promise.resolve();
          busy(2);
          turns.push(turn);
        })(),
    };
    const count = () => {
      turn++;
      if (turns.length < 12) setImmediate(count);
    };
    setImmediate(count);
    inbox.receive({ onTurn: () => busy(4) }, Buffer.from(''));
    for (let i = 0; i < 12; i++) assert.ok(!inbox.receive(recipient, Buffer.from('')));
    await waitFor('all messages', () => turns.length === 12);
    for (const one of new Set(turns)) assert.ok(turns.filter((other) => other === one).length <= 2);
  });
});
