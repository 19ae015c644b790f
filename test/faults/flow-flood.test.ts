import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import type { PodProcess } from '../end-to-end/pod-process.ts';
import { withKafka } from '../support/with-kafka.ts';
import { halve } from './duty-cycle.ts';
import { isFull } from './form.ts';
import { RedisBuffers } from './redis-buffers.ts';
import { createStage } from './stage.ts';
import type { Stage } from './stage.ts';
import { Trial } from './trial.ts';

const PARTITIONS = 4;
/** Several times a gateway's rate: each record takes 1 ms twice, for the subscriber of its lane and for that of all lanes. */
const FLOOD = {
  records: isFull ? 6000 : 4000,
  recordsPerSecond: 4000,
  contentLength: 6000,
  work: 'work(ms: 1)',
};
const MAX_BUFFER_BYTES = 4 * 1024 * 1024;
const OFF = { DISABLE: 'flow-control' };

/** Starts pods with these settings. Resolves with those that serve sockets. */
type Form = (stage: Stage, settings: Readonly<Record<string, string>>, t: TestContext) => Promise<PodProcess[]>;

const start = (stage: Stage, settings: Readonly<Record<string, string>>, ...roles: ('all' | 'gateway' | 'worker')[]) =>
  Promise.all(roles.map((role) => stage.start(role, settings)));

const FORMS: Readonly<Record<string, Form>> = {
  'one pod': (stage, settings) => start(stage, settings, 'all'),
  'a worker and a gateway': async (stage, settings) => (await start(stage, settings, 'gateway', 'worker')).slice(0, 1),
  ...(isFull && {
    'two gateways, of which one gets half of a core,': async (stage, settings, t) => {
      const [gateway, half] = await start(stage, settings, 'gateway', 'gateway', 'worker');
      halve(t, half!);
      return [gateway!, half!];
    },
    'two workers and a gateway': async (stage, settings) => {
      const [gateway] = await start(stage, settings, 'gateway', 'worker', 'worker');
      await stage.hasWorkers(2);
      return [gateway!];
    },
  }),
};

describe('a flood of records, faster than the gateways', () => {
  let brokers: string;
  withKafka((started) => (brokers = started));

  async function flood(t: TestContext, form: Form, settings: Readonly<Record<string, string>> = {}) {
    const stage = await createStage(t, { brokers, partitions: PARTITIONS });
    const gateways = await form(stage, settings, t);
    const buffers = new RedisBuffers(t, stage.redis.url);
    const trial = await Trial.start(t, stage, gateways, FLOOD);
    await trial.isWritten();
    return { stage, gateways, buffers, trial };
  }

  for (const [name, form] of Object.entries(FORMS)) {
    it(`waits in Kafka for ${name}: every record reaches every socket once, in order`, async (t) => {
      const { trial, buffers } = await flood(t, form);
      const faults = await trial.finish();
      t.diagnostic(`Redis held ${Math.ceil(buffers.largest / 1024)} KB for a link at most`);
      assert.deepEqual(faults, []);
      assert.ok(buffers.largest <= MAX_BUFFER_BYTES, `${buffers.largest} bytes`);
    });

    it(`is partly lost by ${name} when flow control is off`, async (t) => {
      const { stage, gateways, buffers } = await flood(t, form, OFF);
      const hasGap = async () =>
        (await Promise.all(gateways.map((gateway) => gateway.metric('crier_bus_gaps_total')))).some((gaps) => gaps > 0);
      await stage.until('a gap', hasGap);
      t.diagnostic(`Redis held ${Math.ceil(buffers.largest / 1024)} KB for a link at most`);
    });
  }
});
