import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { blockLoop } from '../../../support/block-loop.ts';
import { backendsAt, hungBackend } from '../backend-server.ts';

const TIMEOUT_MS = 1000;
/** More than the breaker needs to open. */
const REQUESTS = 30;

/** A backend in another process, which a blocked event loop here does not stop. It answers /200 after 200 ms. */
async function separateBackend(t: TestContext): Promise<string> {
  const script = `
    const server = require('node:http').createServer((request, response) => {
      setTimeout(() => response.end('"answer"'), Number(request.url.slice(1)));
    });
    server.listen(0, '127.0.0.1', () => process.stdout.write('http://127.0.0.1:' + server.address().port));`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  const [url] = (await once(child.stdout, 'data')) as [Buffer];
  return url.toString();
}

function createStage(t: TestContext, url: string) {
  const stage = backendsAt(t, url, { timeoutMs: TIMEOUT_MS, breakerCooldownMs: 60_000, maxSockets: () => REQUESTS });
  const sendMany = (path: string) => Promise.allSettled(Array.from({ length: REQUESTS }, () => stage.send(path)));
  const outcomes = () => [...new Set(stage.answers.map(({ outcome }) => outcome))];
  return { ...stage, sendMany, outcomes };
}

describe('the deadline of a backend request', () => {
  for (const isConnected of [false, true]) {
    const how = isConnected ? 'on sockets that are open' : 'on new sockets';
    it(`waits for the answers to requests that a blocked event loop sent late, ${how}`, async (t) => {
      const { sendMany, outcomes, breakerStates } = createStage(t, await separateBackend(t));
      if (isConnected) await sendMany('/0');
      const sent = sendMany('/0');
      blockLoop(2 * TIMEOUT_MS);
      await sent;
      assert.deepEqual([outcomes(), breakerStates], [['OK'], []]);
    });
  }

  it('reads answers that came while the event loop was blocked', async (t) => {
    const { sendMany, outcomes, breakerStates } = createStage(t, await separateBackend(t));
    await sendMany('/0');
    const sent = sendMany('/300');
    await nextTurn();
    blockLoop(2 * TIMEOUT_MS);
    await sent;
    assert.deepEqual([outcomes(), breakerStates], [['OK'], []]);
  });

  it('gives a backend its time when the event loop was blocked for the most of it', async (t) => {
    const { sendMany, outcomes, breakerStates } = createStage(t, await separateBackend(t));
    await sendMany('/0');
    const sent = sendMany('/400');
    blockLoop(0.9 * TIMEOUT_MS);
    await sent;
    assert.deepEqual([outcomes(), breakerStates], [['OK'], []]);
  });

  it('counts a missing answer as an outage although the event loop was blocked once', async (t) => {
    const { sendMany, outcomes, breakerStates } = createStage(t, (await hungBackend(t)).url);
    const sent = sendMany('/');
    blockLoop(2 * TIMEOUT_MS);
    await sent;
    assert.deepEqual([outcomes(), breakerStates], [['BACKEND_TIMEOUT'], ['open']]);
  });

  it('ends requests while the event loop is blocked again and again, and counts no outage', async (t) => {
    const { backends, sendMany, outcomes, breakerStates, answers } = createStage(t, (await hungBackend(t)).url);
    await backends.load();
    let isSettled = false;
    void sendMany('/').then(() => (isSettled = true));
    let blocks = 0;
    while (!isSettled) {
      blockLoop(TIMEOUT_MS);
      blocks++;
      await nextTurn();
      await nextTurn();
    }
    assert.deepEqual([outcomes(), breakerStates, blocks], [['BACKEND_TIMEOUT'], [], 3]);
    const [, waitedMs] = /^no answer within (\d+) ms$/.exec(answers[0]!.reason!)!;
    assert.ok(Number(waitedMs) > 2 * TIMEOUT_MS, `the log says ${waitedMs} ms`);
  });
});
