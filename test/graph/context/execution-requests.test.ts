import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { BackendPort } from '../../../src/graph/context/execution-backends.ts';
import { ExecutionRequests } from '../../../src/graph/context/execution-requests.ts';
import { collectGarbage } from '../../../src/ops/memory/collect-garbage.ts';

const KIB = 1024;

/** The requests of an execution to a backend that replies to a path such as /300/a with a JSON text of 300 KiB. */
function createStage() {
  const sent: string[] = [];
  const port: BackendPort = {
    send: (_name, { path }) => {
      sent.push(path);
      const length = Number(path.split('/')[1]) * KIB;
      // Text of its own for each reply: 'x'.repeat() would share its parts.
      const text = `"${Buffer.alloc(length - 2, 'x').toString('latin1')}"`;
      return Promise.resolve({ text, body: JSON.parse(text) as unknown });
    },
  };
  const requests = new ExecutionRequests(port);
  const send = (path: string, body?: string) =>
    requests.send('venue', { method: 'POST', path, body, callerHeader: () => undefined });
  return { requests, send, sent };
}

describe('the requests of an execution', () => {
  it('are sent again in a repeat once the replies exceed 1 MiB in all, and else not', async () => {
    const { requests, send, sent } = createStage();
    const paths = ['/400/a', '/400/b', '/400/c', '/100/d'];
    for (const path of paths) await send(path);
    for (let repeats = 1; repeats <= 2; repeats++) {
      requests.repeat();
      for (const path of paths) assert.equal((await send(path)).text.length, Number(path.split('/')[1]) * KIB);
      assert.deepEqual(sent, [...paths, ...Array<string>(repeats).fill('/400/c')]);
    }
    assert.equal(requests.count, 6);
  });

  it('are sent again in a repeat if their bodies exceed 1 MiB in all, and else not', async () => {
    const { requests, send, sent } = createStage();
    const bodies = ['x'.repeat(600 * KIB), 'y'.repeat(600 * KIB), 'z'];
    for (const body of bodies) await send(`/1/${body[0]}`, body);
    requests.repeat();
    for (const body of bodies) await send(`/1/${body[0]}`, body);
    assert.deepEqual(sent, ['/1/x', '/1/y', '/1/z', '/1/y']);
  });

  it('give a reply above 1 MiB to a repeat that begins before the reply comes, and not to the next one', async () => {
    const { requests, send, sent } = createStage();
    const first = send('/2000/a');
    requests.repeat();
    assert.deepEqual(await send('/2000/a'), await first);
    assert.equal(sent.length, 1);
    requests.repeat();
    await send('/2000/a');
    assert.equal(sent.length, 2);
  });

  it('keep at most 1 MiB of replies in memory', async () => {
    const { requests, send } = createStage();
    await collectGarbage();
    const before = process.memoryUsage().heapUsed;
    for (let i = 0; i < 50; i++) await send(`/${i % 2 === 0 ? 500 : 2000}/${i}`);
    await collectGarbage();
    const kept = process.memoryUsage().heapUsed - before;
    assert.ok(kept < 5000 * KIB, `${kept} bytes are kept of 62,500 KiB`);
    requests.repeat();
  });

  it('are kept when a backend fails, so that a repeat receives the error', async () => {
    let sent = 0;
    const requests = new ExecutionRequests({ send: () => Promise.reject(new Error(`failure ${++sent}`)) });
    const send = () => requests.send('venue', { method: 'GET', path: '/', callerHeader: () => undefined });
    await assert.rejects(send(), /failure 1/);
    requests.repeat();
    await assert.rejects(send(), /failure 1/);
    await assert.rejects(send(), /failure 2/);
  });
});
