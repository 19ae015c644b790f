import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { startAdmin } from '../../support/admin.ts';
import { waitFor } from '../../support/wait-for.ts';
import { memberOf, membersOf, signal } from './stage.ts';

/** An admin port that passes `/readyz` on to a gateway, which is stopped. */
async function startForwarding(t: TestContext, timeoutMs: number) {
  const members = membersOf(t, { behaviours: () => 'serve' });
  await members.start();
  const gateway = memberOf(members, 'gateway-1');
  signal(gateway, 'SIGSTOP');
  let requests = 0;
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    requests++;
    return gateway.process!.forward(request, response, timeoutMs);
  };
  const { get } = await startAdmin(t, [['/readyz', { methods: ['GET'], isPublic: true, handle }]]);
  return { gateway, get, hasRequest: () => requests > 0 };
}

describe('a request that is passed on to a process of a pod', () => {
  it('is answered with 504 when the process does not answer in time', async (t) => {
    const { get } = await startForwarding(t, 200);
    const { status, text } = await get('/readyz');
    assert.deepEqual([status, text], [504, 'gateway-1 has not answered within 200 ms\n']);
  });

  it('is answered with 502, and without a word of the time, when the process ends before it answers', async (t) => {
    const { gateway, get, hasRequest } = await startForwarding(t, 60_000);
    const answer = get('/readyz');
    await waitFor('the request', hasRequest);
    signal(gateway, 'SIGKILL');
    const { status, text } = await answer;
    assert.deepEqual([status, text], [502, 'the connection to gateway-1 was lost before it answered\n']);
  });
});
