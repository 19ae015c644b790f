import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { ledgerFaults } from '../../loadtest/rollout/ledger-faults.ts';
import { Rollout } from '../../loadtest/rollout/rollout.ts';
import { Upgrade } from '../../loadtest/rollout/upgrade.ts';
import { upgradeFaults } from '../../loadtest/rollout/upgrade-report.ts';
import { startKafkaBroker } from '../../stack/kafka-broker.ts';
import type { KafkaBroker } from '../../stack/kafka-broker.ts';
import { startRedisServer } from '../../stack/redis-server.ts';
import type { RedisServer } from '../../stack/redis-server.ts';

const CLIENTS = { stock: 40, resuming: 40 };
const DRAIN = { delayMs: 500, spreadMs: 4000 };
const PATIENCE_MS = 60_000;

/** What `bench:drain` and `bench:upgrade` do, with fewer clients, and without bounds that a busy machine exceeds. */
describe('a worker and two gateways under load', () => {
  /** Not that of all tests: the topics have fixed names. */
  let kafka: KafkaBroker;
  let redis: RedisServer;
  before(async () => {
    kafka = await startKafkaBroker();
    redis = await startRedisServer();
  });
  after(() => Promise.all([kafka.stop(), redis.stop()]));

  async function startRollout(t: TestContext): Promise<Rollout> {
    const rollout = new Rollout(
      {
        ...CLIENTS,
        ...{ kafkaBrokers: kafka.address, redisUrl: redis.url, signal: t.signal },
        ...{ seed: 1, auctions: 20, zipfExponent: 0.5, recordsPerSecond: 60 },
      },
      t,
    );
    await rollout.start();
    return rollout;
  }

  it('lose no event of @crier/client when a gateway is drained, whose sockets are closed one by one', async (t) => {
    const rollout = await startRollout(t);
    const environment = {
      DRAIN_DELAY_MS: String(DRAIN.delayMs),
      DRAIN_SPREAD_MS: String(DRAIN.spreadMs),
      LOG_LEVEL: 'error',
    };
    await rollout.startPod('worker', { environment });
    const pod = await rollout.startPod('gateway', { environment });
    const other = await rollout.startPod('gateway', { environment });
    await rollout.route(pod);
    await rollout.connect();
    await rollout.begin();
    const { signalledAt, ending } = await rollout.drain(pod, other);
    assert.equal(ending, 0);
    await rollout.allBack(PATIENCE_MS);
    const { normal, resuming } = await rollout.fleet.closings();
    const fleet = await rollout.settle();

    assert.deepEqual([normal.length, resuming.length], [CLIENTS.stock, CLIENTS.resuming]);
    const closings = [...normal, ...resuming].sort((a, b) => a.at - b.at);
    assert.deepEqual(new Set(closings.map(({ code }) => code)), new Set([1001]));
    const [first, last] = [closings[0]!.at, closings.at(-1)!.at];
    assert.ok(first - signalledAt >= DRAIN.delayMs, `${first - signalledAt} ms`);
    assert.ok(last - first > DRAIN.spreadMs / 2, `${last - first} ms`);
    assert.deepEqual([fleet.ready, fleet.resuming?.ready], [CLIENTS.stock, CLIENTS.resuming]);
    assert.deepEqual(ledgerFaults(fleet), []);
    // The ledger sees what a client loses that does not resume.
    assert.ok(fleet.missed > 0);
  });

  it('deliver everything to @crier/client once and in order when each of them is replaced', async (t) => {
    const rollout = await startRollout(t);
    const upgrade = new Upgrade(rollout, {
      base: resolve('dist/src/main.js'),
      stages: [
        ['old', 'new'],
        ['new', 'new'],
      ],
      secondsInStage: 1,
      signal: t.signal,
    });
    const stages = await upgrade.run();
    const fleet = await rollout.settle();
    const { endings } = upgrade;
    assert.deepEqual(upgradeFaults({ stages, endings, unrecognised: await upgrade.unrecognised(), fleet }), []);
    assert.deepEqual(
      endings.map(({ role }) => role),
      ['gateway', 'gateway', 'worker'],
    );
  });
});
