import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { redisServer } from '../support/services.ts';
import { Fleet } from './fleet.ts';
import { isFull } from './form.ts';
import type { Listener } from './listener.ts';

const LANES = 10;
const HELPERS = isFull ? 1000 : 100;
const STOCK_CLIENTS = isFull ? 2000 : 200;
const MAX_HELPER_ABSENCE_MS = 15_000;
const MAX_STOCK_ABSENCE_MS = 10_000;

async function startFleet(t: TestContext): Promise<Fleet> {
  const redis = await redisServer(t);
  return Fleet.start(t, { gateways: 2, lanes: LANES, redisUrl: redis.url });
}

function report(t: TestContext, what: string, listeners: readonly Listener[]): number {
  const absences = listeners.flatMap(({ absencesMs }) => absencesMs).sort((a, b) => a - b);
  const longest = absences.at(-1) ?? 0;
  const median = absences[Math.floor(absences.length / 2)] ?? 0;
  t.diagnostic(
    `${what}: ${absences.length} reconnects, away for ${Math.round(median)} ms (median), ${Math.round(longest)} ms (longest)`,
  );
  return longest;
}

describe('pods behind one address', () => {
  it('are killed: every client of @crier/client resumes at another pod without a loss', async (t) => {
    const fleet = await startFleet(t);
    const listeners = await fleet.listen(HELPERS, { kind: 'helper' });
    fleet.publisher.round();
    await fleet.until('the first entry', () => listeners.every(({ heard }) => heard.length > 0));
    fleet.publisher.begin(2 * LANES);
    const [victim] = fleet.pods as [Fleet['pods'][number]];
    const there = await victim.metric('crier_operations');
    victim.process.kill('SIGKILL');
    fleet.retire(victim);
    await fleet.until('every subscription on the other pod', async () => (await fleet.operations()) === HELPERS);
    await fleet.finish(listeners);
    const longest = report(t, `${there} of ${HELPERS} clients on the killed pod`, listeners);
    const { written } = fleet.publisher;
    assert.deepEqual(
      listeners.map((listener) => listener.shortcomings(written)).filter((text) => text !== ''),
      [],
    );
    const resumed = listeners.filter((listener) => listener.resumed(true) === 1).length;
    assert.deepEqual([there > 0, resumed], [true, there]);
    if (isFull) assert.ok(longest <= MAX_HELPER_ABSENCE_MS, `${longest} ms`);
  });

  it('are replaced one after the other: every stock client reconnects by itself', async (t) => {
    const fleet = await startFleet(t);
    const listeners = await fleet.listen(STOCK_CLIENTS, { kind: 'stock' });
    for (const old of [...fleet.pods]) {
      await fleet.addPod();
      fleet.retire(old);
      assert.equal(await old.stop(), 0);
      await fleet.until('every subscription on the others', async () => (await fleet.operations()) === STOCK_CLIENTS);
    }
    await fleet.finish(listeners);
    const longest = report(t, `${STOCK_CLIENTS} stock clients, two pods replaced`, listeners);
    assert.deepEqual(
      listeners.flatMap(({ failures }) => failures),
      [],
    );
    assert.ok(listeners.every(({ heard }) => heard.length > 0));
    if (isFull) assert.ok(longest <= MAX_STOCK_ABSENCE_MS, `${longest} ms`);
  });
});
