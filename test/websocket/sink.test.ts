import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Sink } from '../../src/websocket/sink.ts';

async function drain(sink: Sink): Promise<string> {
  for await (const never of sink) throw new Error(`yielded ${String(never)}`);
  return 'done';
}

describe('Sink', () => {
  it('stays pending until it is returned, and calls onReturn once', async () => {
    let returns = 0;
    const sink = new Sink(() => returns++);
    const drained = drain(sink);
    await sink.return();
    await sink.return();
    assert.equal(await drained, 'done');
    assert.equal(returns, 1);
  });

  it('ends before it is iterated as well as after', async () => {
    const early = new Sink(() => assert.fail('the source ended it, nobody returned it'));
    early.end();
    assert.equal(await drain(early), 'done');
    const late = new Sink(() => assert.fail('the source ended it, nobody returned it'));
    const drained = drain(late);
    late.end();
    assert.equal(await drained, 'done');
  });

  it('fails before it is iterated as well as after', async () => {
    const early = new Sink(() => undefined);
    early.fail(new Error('early'));
    await assert.rejects(drain(early), /early/);
    const late = new Sink(() => undefined);
    const drained = drain(late);
    late.fail(new Error('late'));
    await assert.rejects(drained, /late/);
  });

  it('never rejects from return(), whatever happened before', async () => {
    const sink = new Sink(() => undefined);
    sink.fail(new Error('failed'));
    assert.deepEqual(await sink.return(), { done: true, value: undefined });
  });
});
