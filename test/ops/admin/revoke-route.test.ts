import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { revokeRoute } from '../../../src/ops/admin/revoke-route.ts';
import type { RevokeRouteOptions } from '../../../src/ops/admin/revoke-route.ts';
import { logLines } from '../../bus/log-lines.ts';

const DAY_MS = 86_400_000;

/** Revokes on a pod whose peers have seen tokens that live for 30 days. `outcomes`: of the writes to the bus, in their order. */
async function revokeWith(t: TestContext, outcomes: readonly ('kept' | 'full' | 'away')[]) {
  const left = [...outcomes];
  const counts = { refused: 0 };
  const answers = [{ pod: 'a', answer: { closed: 1, longestLifeMs: 30 * DAY_MS } }];
  const route = revokeRoute({
    peers: { ask: () => Promise.resolve({ answers, silent: [], isAsked: true }) },
    revocations: { isFull: false, longestLifeMs: 0 },
    shared: { keep: () => Promise.resolve(left.shift()) },
    log: logLines().log,
    onRefused: () => counts.refused++,
  } as unknown as RevokeRouteOptions);
  const server = createServer((request, response) => void route.handle(request, response, new URL('http://a/')));
  t.after(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}`, {
    method: 'POST',
    headers: { connection: 'close' },
    body: '{"sub":"ida"}',
  });
  const { until, note } = (await response.json()) as { until: string | null; note?: string };
  const days = until === null ? null : Math.round((Date.parse(until) - Date.now()) / DAY_MS);
  return { status: response.status, days, note, ...counts };
}

describe('a revocation of tokens that another pod has seen', () => {
  it('lasts as long as they live', async (t) => {
    const { status, days, note } = await revokeWith(t, ['kept', 'kept']);
    assert.deepEqual([status, days, note], [200, 30, undefined]);
  });

  for (const outcome of ['full', 'away'] as const) {
    it(`lasts for a day, and says so, if the longer one is ${outcome}`, async (t) => {
      const { status, days, note, refused } = await revokeWith(t, ['kept', outcome]);
      assert.deepEqual([status, days, refused], [202, 1, 0]);
      assert.match(note!, /some tokens live longer/);
    });
  }

  it('is not kept, and says so, if there are too many', async (t) => {
    const { status, days, note, refused } = await revokeWith(t, ['full']);
    assert.deepEqual([status, days, refused], [507, null, 1]);
    assert.match(note!, /tokens are accepted again/);
  });
});
