import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { LoopLag } from '../../../src/gateway/http/loop-lag.ts';
import { PodHealth } from '../../../src/ops/processes/pod-health.ts';
import { startAdmin } from '../../support/admin.ts';
import { waitFor } from '../../support/wait-for.ts';
import { memberOf, membersOf, signal } from './stage.ts';

async function startHealth(t: TestContext) {
  const members = membersOf(t, { behaviours: () => 'serve' });
  let status: 'starting' | 'ready' = 'starting';
  const lag = new LoopLag();
  const health = new PodHealth({ status: () => status, members: () => members.all, lag, maxSilenceMs: 1000 });
  const { get } = await startAdmin(t, health.routes);
  assert.deepEqual([(await get('/startupz')).status, (await get('/readyz')).status], [503, 503]);
  await members.start();
  status = 'ready';
  const ask = async (path: string) => {
    const { status: code, text } = await get(path);
    return { code, body: JSON.parse(text) as Record<string, unknown> };
  };
  return { members, ask };
}

describe('the health of a pod of several processes', () => {
  it('fails while one of them is blocked, which nothing replaces, and comes back with it', async (t) => {
    const { members, ask } = await startHealth(t);
    assert.deepEqual((await ask('/healthz')).code, 200);
    signal(memberOf(members, 'gateway-2'), 'SIGSTOP');
    await waitFor('the failure', async () => {
      const { code, body } = await ask('/healthz');
      return code === 503 && JSON.stringify(body['stuck']) === '["gateway-2"]';
    });
    signal(memberOf(members, 'gateway-2'), 'SIGCONT');
    await waitFor('the recovery', async () => (await ask('/healthz')).code === 200);
  });

  it('succeeds when a process is busy at two probes, and has gone on between them', async (t) => {
    const { members, ask } = await startHealth(t);
    const member = memberOf(members, 'gateway-2');
    const firstAt = performance.now();
    for (let probe = 1; probe <= 2; probe++) {
      signal(member, 'SIGSTOP');
      assert.deepEqual((await ask('/healthz')).body['stuck'], []);
      signal(member, 'SIGCONT');
      await waitFor('more than the longest silence', async () => {
        const answer = await member.process!.ask('/readyz', 5000);
        return answer?.status === 200 && performance.now() - firstAt > 1100;
      });
    }
  });

  it('lets clients come while one gateway serves, and names the others', async (t) => {
    const { members, ask } = await startHealth(t);
    assert.equal((await ask('/startupz')).code, 200);
    signal(memberOf(members, 'gateway-1'), 'SIGSTOP');
    const { code, body } = await ask('/readyz');
    assert.deepEqual(
      [code, body],
      [
        200,
        {
          processes: {
            'gateway-1': { ends: 0, status: 'silent' },
            'gateway-2': { reasons: [], ends: 0, status: 'ready' },
          },
          status: 'ready',
        },
      ],
    );
    signal(memberOf(members, 'gateway-2'), 'SIGSTOP');
    const without = await ask('/readyz');
    assert.deepEqual([without.code, without.body['status'], without.body['reasons']], [503, 'overloaded', ['silent']]);
  });
});
